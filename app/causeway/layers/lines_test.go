package layers

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLine is the largest number of characters of a line of Go.
const maxLine = 140

func TestLines_AreNotLong(t *testing.T) {
	t.Parallel()
	// Lines are not longer than a screen is wide, but for SQL and other raw strings, and test data.
	tree, checked := os.DirFS(repoRoot(t)), 0
	_, err := walk(tree, "causeway", func(f *file) {
		name := f.set.File(f.ast.Pos()).Name()
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		data := linesOfData(source, strings.HasSuffix(name, "_test.go"))
		for i, line := range strings.Split(string(source), "\n") {
			checked++
			if n := utf8.RuneCountInString(line); n > maxLine && !data[i+1] {
				t.Errorf("%s:%d has %d characters", name, i+1, n)
			}
		}
	})
	if err != nil || checked < 100_000 {
		t.Errorf("%d lines were checked, %v", checked, err)
	}
}

// linesOfData returns the lines that have a raw string, a long word such as a key or, of a test, a long string.
func linesOfData(source []byte, isTest bool) map[int]bool {
	const long = 80
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	lines := map[int]bool{}
	for {
		pos, kind, text := s.Scan()
		switch {
		case kind == token.EOF:
			return lines
		case kind != token.STRING:
		case text[0] == '`' || len(text) > long && (isTest || !strings.Contains(text, " ")):
			for i := range strings.Count(text, "\n") + 1 {
				lines[file.Line(pos)+i] = true
			}
		}
	}
}
