package csvcell_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/csvcell"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	// What OWASP lists as the beginning of a formula gets an apostrophe; other texts stay.
	for text, want := range map[string]string{
		"=HYPERLINK(1)": "'=HYPERLINK(1)", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"\n=1": "'\n=1", "＝1": "'＝1",
		"'=1": "''=1", "''=1": "'''=1",
		"": "", "a=1": "a=1", "'s-Gravenhage": "'s-Gravenhage", "'": "'", "1": "1", "\xff=": "\xff=",
	} {
		if got := csvcell.Escape(text); got != want || csvcell.Unescape(got) != text {
			t.Errorf("%q: escaped %q, want %q; unescaped %q", text, got, want, csvcell.Unescape(got))
		}
	}
}

func TestEscape_UnescapeReturnsText(t *testing.T) {
	t.Parallel()
	// Whatever a text is, it is read back as it was, and never begins like a formula.
	alphabet := rapid.SampledFrom([]rune("'=+-@\t\r\n＝a"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(alphabet)).Draw(t, "text")
		cell := csvcell.Escape(text)
		if csvcell.Unescape(cell) != text || strings.TrimLeft(cell, "=+-@\t\r\n＝＋－＠") != cell {
			t.Errorf("%q became %q and %q", text, cell, csvcell.Unescape(cell))
		}
	})
}
