package main

import (
	"io"
	"runtime/debug"
	"strings"
	"testing"
)

func TestImportCollector_CollectsMoreDuringLargeImports(t *testing.T) {
	t.Setenv("GOGC", "")
	// While at least one large file is imported the collector runs more often, and as before afterwards;
	// a small file changes nothing.
	before := debug.SetGCPercent(180)
	defer debug.SetGCPercent(before)
	current := func() int {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent
	}
	var c importCollector
	begun := 0
	read := func(size int) {
		t.Helper()
		file := &largeFile{source: strings.NewReader(strings.Repeat("x", size)), onLarge: func() { begun++; c.begin() }}
		if n, err := io.Copy(io.Discard, file); err != nil || n != int64(size) {
			t.Fatalf("read %d bytes, %v", n, err)
		}
	}

	read(largeFileBytes)
	if begun != 0 || current() != 180 {
		t.Errorf("a small file: %d begun, %d %%", begun, current())
	}
	read(3 * largeFileBytes)
	read(2 * largeFileBytes)
	if begun != 2 || current() != importGCPercent {
		t.Errorf("two large files: %d begun, %d %%", begun, current())
	}
	c.end()
	if current() != importGCPercent {
		t.Errorf("one of them is imported: %d %%", current())
	}
	c.end()
	if current() != 180 {
		t.Errorf("both are imported: %d %%", current())
	}
}
