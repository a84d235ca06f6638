// Package paper sets an account statement for people: as an HTML page that needs
// nothing beside it, and as a PDF.
//
// It reads nothing and adds nothing up; every number comes in. Whatever text comes in
// is foreign: it is shown and never obeyed.
package statement

import (
	"iter"
	"strings"
	"time"

	"causeway/app/exports/records"
	"causeway/core/money"
)

// Summary is what an account's owner is told of a period. Amounts are minor units of
// the currency: above zero is the owner's.
type Summary struct {
	// Issuer is the platform, Owner its customer; their names may be empty.
	Issuer, Owner string
	// Account is its id.
	Account  string
	Currency money.Currency
	// From belongs to the period; To is its end and belongs to it no more.
	From, To          time.Time
	Opening, Closing  int64
	TotalIn, TotalOut int64 // all that came, and all that went, both above zero
	MovementCount     int64 // of the movements
	// AsOf is up to when what was recorded is in it.
	AsOf time.Time
}

// Movement is one line of a statement.
type Movement struct {
	At time.Time
	// Description says what it is; Who is the other side and Note what was said about it, and
	// may be empty.
	Description, Counterparty, Note string
	Amount, Balance                 int64 // the balance after it
}

// Movements are the lines in their order.
type Movements = iter.Seq[Movement]

// formatAmount is grouped in thousands for reading: "-1,234.50".
func formatAmount(minor int64, currency money.Currency) string {
	whole, rest, fraction := strings.Cut(records.FormatMajor(minor, currency), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction {
		whole += "." + rest
	}
	return sign + whole
}

// formatSigned is an amount that always says which way it went.
func formatSigned(minor int64, currency money.Currency) string {
	if minor > 0 {
		return "+" + formatAmount(minor, currency)
	}
	return formatAmount(minor, currency)
}

func formatDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// lastDay is the day of the last moment of the period.
func (s Summary) lastDay() string { return formatDay(s.To.Add(-time.Microsecond)) }

// periodText is the first and the last day.
func (s Summary) periodText() string {
	if first, last := formatDay(s.From), s.lastDay(); first != last {
		return first + " – " + last
	}
	return formatDay(s.From)
}

// basisText says what the statement rests on.
func (s Summary) basisText() string {
	text := "Dates are UTC. "
	if s.AsOf.IsZero() {
		return text + "Nothing had been recorded."
	}
	return text + "As recorded up to " + records.FormatTime(s.AsOf) + "."
}
