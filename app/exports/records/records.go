// Package records has what the formats of an export share: the header, and the formatting of
// amounts, times and user-provided text. It depends on no format.
package records

import (
	"strings"
	"time"
	"unicode"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// Header describes an export.
type Header struct {
	Platform ident.Platform
	// LastPosting is the last posting of the ledger at the time of the export, which is as of its
	// recorded time.
	LastPosting ports.LedgerPosition
	Filter      ports.LedgerFilter
	// Names says that accounts of customers have the present names of their holders.
	Names bool
}

// FormatTime formats a time in UTC with microseconds; empty for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// FormatDate formats the day of a time in UTC.
func FormatDate(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// FormatMajor formats an amount in major units with all decimals and without the currency:
// "-100.50".
func FormatMajor(minor int64, currency money.Currency) string {
	text, _, _ := strings.Cut(money.Amount{Minor: minor, Currency: currency}.String(), " ")
	return text
}

// SingleLine returns user-provided text on one line: line breaks, control and direction characters
// and runs of spaces become one space, and none is at the ends.
func SingleLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == unicode.ReplacementChar || unicode.IsControl(r) ||
			unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	}), " ")
}
