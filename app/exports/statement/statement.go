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

// Statement is what an account's owner is told of a period. Amounts are minor units of
// the currency: above zero is the owner's.
type Statement struct {
	// Issuer is the platform, Owner its customer; their names may be empty.
	Issuer, Owner string
	// Account is its id.
	Account  string
	Currency money.Currency
	// From belongs to the period; To is its end and belongs to it no more.
	From, To         time.Time
	Opening, Closing int64
	In, Out          int64 // all that came, and all that went, both above zero
	Count            int64 // of the movements
	// AsOf is up to when what was recorded is in it.
	AsOf time.Time
}

// Movement is one line of a statement.
type Movement struct {
	At time.Time
	// What says what it is; Who is the other side and Note what was said about it, and
	// may be empty.
	What, Who, Note string
	Amount, Balance int64 // the balance after it
}

// Movements are the lines in their order.
type Movements = iter.Seq[Movement]

// amount is grouped in thousands for reading: "-1,234.50".
func amount(minor int64, currency money.Currency) string {
	whole, rest, fraction := strings.Cut(records.Major(minor, currency), ".")
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

// signed is an amount that always says which way it went.
func signed(minor int64, currency money.Currency) string {
	if minor > 0 {
		return "+" + amount(minor, currency)
	}
	return amount(minor, currency)
}

func day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// last is the day of the last moment of the period.
func (s Statement) last() string { return day(s.To.Add(-time.Microsecond)) }

// period is the first and the last day.
func (s Statement) period() string {
	if first, last := day(s.From), s.last(); first != last {
		return first + " – " + last
	}
	return day(s.From)
}

// basis says what the statement rests on.
func (s Statement) basis() string {
	text := "Dates are UTC. "
	if s.AsOf.IsZero() {
		return text + "Nothing had been recorded."
	}
	return text + "As recorded up to " + records.Moment(s.AsOf) + "."
}
