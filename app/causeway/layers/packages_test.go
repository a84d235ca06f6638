package layers

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/packages.md")

// The groups of docs/packages.md, in the order of the layers.
var packageGroups = []struct{ title, folder string }{
	{"Ledger", "ledger"},
	{"Core", "core"},
	{"Ports", "ports"},
	{"Use cases", "app"},
	{"Adapters", "adapters"},
	{"Schema", "migrations"},
	{"Guides", "docs"},
	{"End-to-end tests", "e2e"},
}

const packagesIntro = `# Packages

<!-- Written by make docs from the comments of the packages. Do not edit. -->

What each package contains, in the order of the [layers](architecture.md#layers).
`

func TestPackagesDoc_IsCurrent(t *testing.T) {
	t.Parallel()
	// Every package has a comment, and docs/packages.md has its first sentence; make docs writes it.
	const name = "../../../docs/packages.md"
	var text strings.Builder
	text.WriteString(packagesIntro)
	comments, err := packageComments(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for _, group := range packageGroups {
		fmt.Fprintf(&text, "\n## %s\n\n", group.title)
		for _, c := range comments {
			if c.folder != group.folder && !strings.HasPrefix(c.folder, group.folder+"/") {
				continue
			}
			if written++; c.synopsis == "" {
				t.Errorf("the package in %s has no comment", c.folder)
			}
			fmt.Fprintf(&text, "- `%s` %s\n", c.folder, c.synopsis)
		}
	}
	if written != len(comments) {
		t.Errorf("%d of %d packages belong to a group", written, len(comments))
	}
	if *update {
		if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if current, err := os.ReadFile(name); err != nil || string(current) != text.String() {
		t.Errorf("docs/packages.md is not current; run make docs (%v)", err)
	}
}

// packageComment is the first sentence about the package in a folder, without its beginning "Package x".
type packageComment struct{ folder, synopsis string }

// packageComments returns the comments of the packages of a tree, sorted by folder. Packages of tests alone have none.
func packageComments(tree fs.FS) ([]packageComment, error) {
	found := map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case isSkipped(tree, name, entry):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		if comment := parsed.Doc.Text(); comment != "" || found[folder] == "" {
			synopsis := new(doc.Package).Synopsis(comment)
			synopsis = strings.TrimPrefix(synopsis, "Package "+parsed.Name.Name+" ")
			found[folder] = strings.TrimPrefix(synopsis, "Command "+path.Base(folder)+" ")
		}
		return nil
	})
	comments := make([]packageComment, 0, len(found))
	for folder, synopsis := range found {
		comments = append(comments, packageComment{folder, synopsis})
	}
	slices.SortFunc(comments, func(a, b packageComment) int { return strings.Compare(a.folder, b.folder) })
	return comments, err
}
