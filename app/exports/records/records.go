// Package records is what the formats of an export have in common: what is written at
// the head of each, and how amounts, moments and foreign text are put into one line.
//
// It knows no format, reads nothing and never fails.
package records

import (
	"strings"
	"time"
	"unicode"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// Header is what an export is of.
type Header struct {
	Platform ident.Platform
	// LastPosting is the last posting in it: its moment is the one that the whole is as of.
	LastPosting ports.LedgerPosition
	Filter      ports.LedgerFilter
}

// FormatTime writes a time in UTC to the microsecond that the books keep, always as long;
// empty for none.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// FormatDate is the day of a moment in UTC.
func FormatDate(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// FormatMajor is an amount in major units with all digits of its currency and without its
// name: "-100.50".
func FormatMajor(minor int64, currency money.Currency) string {
	text, _, _ := strings.Cut(money.Amount{Minor: minor, Currency: currency}.String(), " ")
	return text
}

// SingleLine is foreign text on one line: what would break or turn it becomes a space, a run
// of spaces becomes one, and none stands at the ends.
func SingleLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}), " ")
}
