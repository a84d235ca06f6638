package httpapi

import (
	"html"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	markdownparser "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// descriptionMarkdown has what descriptions use: paragraphs, lists, `code`, **bold** and [links](https://example.com). Without HTML, a
// name in angle brackets is text.
var descriptionMarkdown = goldmark.New(goldmark.WithParser(markdownparser.NewParser(
	markdownparser.WithBlockParsers(util.Prioritized(markdownparser.NewListParser(), 1),
		util.Prioritized(markdownparser.NewListItemParser(), 2), util.Prioritized(markdownparser.NewParagraphParser(), 3)),
	markdownparser.WithInlineParsers(util.Prioritized(markdownparser.NewCodeSpanParser(), 1),
		util.Prioritized(markdownparser.NewLinkParser(), 2), util.Prioritized(markdownparser.NewEmphasisParser(), 3)),
)))

// markdown renders a description.
func markdown(text string) template.HTML {
	var out strings.Builder
	if err := descriptionMarkdown.Convert([]byte(text), &out); err != nil {
		panic(err) // a strings.Builder accepts every write
	}
	return template.HTML(strings.TrimSpace(out.String())) //nolint:gosec // goldmark escapes text, and leaves out addresses of scripts
}

var jsonToken = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)`)

// highlight returns JSON as HTML with syntax highlighting.
func highlight(text []byte) template.HTML {
	var out strings.Builder
	end := 0
	source := string(text)
	for _, m := range jsonToken.FindAllStringSubmatchIndex(source, -1) {
		out.WriteString(html.EscapeString(source[end:m[0]]))
		end = m[1]
		class := "n"
		switch {
		case m[2] >= 0 && m[4] >= 0:
			class = "k"
		case m[2] >= 0:
			class = "s"
		}
		out.WriteString(`<i class="` + class + `">` + html.EscapeString(source[m[0]:m[1]]) + `</i>`)
	}
	out.WriteString(html.EscapeString(source[end:]))
	return template.HTML(out.String()) //nolint:gosec // every part is escaped
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
