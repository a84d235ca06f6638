package httpapi

import (
	"bytes"
	_ "embed" // guide.html
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	markdownparser "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed guide.html
var guideHTML string

var guideTemplate = template.Must(template.New("guide").Parse(guideHTML))

// guide is one of Config.Guides, rendered.
type guide struct {
	Name, Title string // of the file, without .md, and of its first heading
	Headings    []guideHeading
	testValues  []guideTestValue
	body        template.HTML
}

// guideHeading is a heading below the title.
type guideHeading struct {
	Level    int
	Text, ID string
}

// guideTestValue is a row of a table below a heading "Test values", with the head of the table.
type guideTestValue struct{ head, text, id string }

// testValues is the heading of the tables whose rows the search finds.
const testValues = "Test values"

// guideNames returns the names of the guides in a folder.
func guideNames(files fs.FS) ([]string, error) {
	if files == nil {
		return nil, nil
	}
	names, err := fs.Glob(files, "*.md")
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".md")
	}
	return names, err
}

// readGuides renders all guides, sorted by title.
func readGuides(files fs.FS) ([]*guide, error) {
	names, err := guideNames(files)
	if err != nil {
		return nil, err
	}
	guides := make([]*guide, 0, len(names))
	for _, name := range names {
		source, err := fs.ReadFile(files, name+".md")
		if err != nil {
			return nil, err
		}
		g, err := parseGuide(name, source, names)
		if err != nil {
			return nil, fmt.Errorf("render the guide %s: %w", name, err)
		}
		guides = append(guides, g)
	}
	slices.SortFunc(guides, func(a, b *guide) int { return strings.Compare(a.Title, b.Title) })
	return guides, nil
}

var guideMarkdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(markdownparser.WithAutoHeadingID()))

func parseGuide(name string, source []byte, names []string) (*guide, error) {
	g := &guide{Name: name, Title: name}
	root := guideMarkdown.Parser().Parse(text.NewReader(source))
	var links []*ast.Link
	var below string // the id of the heading above
	var head string  // of the table
	inTestValues := false
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, n)
		case *ast.Heading:
			title := plainText(n, source)
			if n.Level == 1 {
				g.Title = title
				return ast.WalkContinue, nil
			}
			id, _ := n.AttributeString("id")
			idText, _ := id.([]byte)
			below, inTestValues = string(idText), title == testValues
			g.Headings = append(g.Headings, guideHeading{n.Level, title, below})
		case *extast.TableHeader:
			head = cellText(n, source)
		case *extast.TableRow:
			if inTestValues {
				g.testValues = append(g.testValues, guideTestValue{head, cellText(n, source), below})
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		redirect(link, names)
	}
	var body bytes.Buffer
	if err := guideMarkdown.Renderer().Render(&body, source, root); err != nil {
		return nil, err
	}
	g.body = template.HTML(body.String()) //nolint:gosec // goldmark escapes text and leaves out HTML
	return g, nil
}

// redirect lets a link to another guide lead to where that is served. One to a file that is not served becomes its text.
func redirect(link *ast.Link, names []string) {
	target, fragment, hasFragment := strings.Cut(string(link.Destination), "#")
	if target == "" || strings.Contains(target, "://") {
		return
	}
	name := strings.TrimSuffix(path.Clean(target), ".md")
	if slices.Contains(names, name) {
		if link.Destination = []byte(name); hasFragment {
			link.Destination = []byte(name + "#" + fragment)
		}
		return
	}
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}
	parent.RemoveChild(parent, link)
}

// cellText returns the text of the cells of a row.
func cellText(row ast.Node, source []byte) string {
	var cells []string
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		cells = append(cells, plainText(cell, source))
	}
	return strings.Join(cells, ": ")
}

// plainText returns the text of a node without its markup.
func plainText(node ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // which returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				out.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// renderGuide renders the page of a guide.
func renderGuide(g *guide, all []*guide) ([]byte, error) {
	var page bytes.Buffer
	err := guideTemplate.Execute(&page, struct {
		*guide
		All  []*guide
		Body template.HTML
		CSS  template.CSS
	}{g, all, g.body, template.CSS(referenceCSS)}) //nolint:gosec // an embedded file
	return page.Bytes(), err
}
