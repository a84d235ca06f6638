package xmlguard_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"causeway/core/formats/xmlguard"
)

// read reads a document, and returns its elements and texts.
func read(document string) (string, error) {
	var found strings.Builder
	for r := xmlguard.New(strings.NewReader(document)); ; {
		token, err := r.Token()
		if errors.Is(err, io.EOF) {
			return found.String(), nil
		}
		if err != nil {
			return found.String(), err
		}
		switch t := token.(type) {
		case xml.StartElement:
			found.WriteString("<" + t.Name.Local)
		case xml.EndElement:
			found.WriteString(">")
		case xml.CharData:
			found.Write(t)
		}
	}
}

func TestReader_Problems(t *testing.T) {
	t.Parallel()
	// Each way to exhaust or mislead a reader is refused with its line, and what is around a document is not.
	long := strings.Repeat("a", xmlguard.MaxElementBytes+1)
	for _, c := range []struct {
		name, document string
		want           xmlguard.Problem
		line           int
	}{
		{"nothing", "", xmlguard.Empty, 1},
		{"spaces", " \n ", xmlguard.Empty, 2},
		{"a text", "\nABC", xmlguard.TextOutside, 2},
		{"a text after the document", "<a/>\nABC", xmlguard.TextOutside, 2},
		{"a text that ends within an entity", "\nABC&am", xmlguard.TextOutside, 2},
		{"a text after the document that ends so", "<a/>\nABC&", xmlguard.TextOutside, 2},
		{"a truncated declaration", "<?xml ", xmlguard.Truncated, 1},
		{"a truncated first tag", "<a b='&", xmlguard.Truncated, 1},
		{"two documents", "<a/>\n<a/>", xmlguard.Continued, 2},
		{"truncated", "<a>\n<b>", xmlguard.Truncated, 2},
		{"other tags", "<a>\n</b>", xmlguard.Malformed, 2},
		{"another version", `<?xml version="2.0"?><a/>`, xmlguard.Malformed, 1},
		{"an unknown entity", "<a>&b;</a>", xmlguard.Malformed, 1},
		{"a document type", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`, xmlguard.Declaration, 1},
		{"another encoding", `<?xml version="1.0" encoding="UTF-16"?><a/>`, xmlguard.UnknownEncoding, 1},
		{"deep elements", strings.Repeat("<a>", xmlguard.MaxDepth+1), xmlguard.TooDeep, 1},
		{"a long text", "<a>" + long, xmlguard.ElementTooLarge, 1},
		{"a long tag", "<a b='" + long, xmlguard.ElementTooLarge, 1},
		{"a long comment", "<!--" + long, xmlguard.ElementTooLarge, 1},
	} {
		_, err := read(c.document)
		var problem *xmlguard.Error
		if !errors.As(err, &problem) || problem.Problem != c.want || problem.Line != c.line {
			t.Errorf("%s: %v, want problem %d in line %d", c.name, err, c.want, c.line)
		}
	}
	deep := strings.Repeat("<a>", xmlguard.MaxDepth) + strings.Repeat("</a>", xmlguard.MaxDepth)
	utf16 := "\xff\xfe<\x00a\x00>\x00\xfc\x00<\x00/\x00a\x00>\x00"
	for _, document := range []string{
		deep, utf16, "\ufeff<?xml version='1.0'?>\n<!-- c --><a>ü</a>\n", "<?xml version='1.0' encoding='latin1'?><a>\xfc</a>",
	} {
		if found, err := read(document); err != nil || document != deep && found != "<aü>" {
			t.Errorf("%.40q: %q, %v", document, found, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("<?xml version='1.0'?><a b='c'>d<e/></a>")
	f.Fuzz(func(t *testing.T, document string) {
		// Any bytes are read as a document whose elements all end, or refused with a line.
		found, err := read(document)
		var problem *xmlguard.Error
		if err != nil && (!errors.As(err, &problem) || problem.Line < 1) || err == nil && !strings.HasPrefix(found, "<") {
			t.Errorf("%q, %v", found, err)
		}
	})
}
