package httpapi

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// markdown renders the subset of Markdown that descriptions use: paragraphs, lists with
// dashes, `code`, **bold** and [links](https://example.com).
func markdown(text string) template.HTML {
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(block, "\n")
		list := false
		for i, line := range lines {
			item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
			switch {
			case isItem && !list:
				if i > 0 {
					out.WriteString("</p>")
				}
				out.WriteString("<ul><li>" + inlineMarkdown(item))
				list = true
			case isItem:
				out.WriteString("</li><li>" + inlineMarkdown(item))
			case i == 0 && line != "":
				out.WriteString("<p>" + inlineMarkdown(line))
			case line != "":
				out.WriteString("\n" + inlineMarkdown(line))
			}
		}
		switch {
		case list:
			out.WriteString("</li></ul>")
		case block != "":
			out.WriteString("</p>")
		}
	}
	return template.HTML(out.String()) //nolint:gosec // inline escapes everything
}

var (
	codeText = regexp.MustCompile("`([^`]+)`")
	boldText = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	linkText = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^)\s]+|#[\w-]+)\)`)
)

func inlineMarkdown(text string) string {
	text = html.EscapeString(text)
	text = codeText.ReplaceAllString(text, "<code>$1</code>")
	text = boldText.ReplaceAllString(text, "<strong>$1</strong>")
	return linkText.ReplaceAllString(text, `<a href="$2">$1</a>`)
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
