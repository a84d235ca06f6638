// Package statement renders an account statement as a self-contained HTML page or as a PDF. All
// text is treated as user-provided and escaped.
package statement

import (
	"iter"
	"strings"
	"time"

	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/core/period"
)

// Summary has the balances and totals of a statement. Amounts are in minor units, positive in
// favour of the owner.
type Summary struct {
	// Issuer is the name of the platform and Owner that of the customer; both may be empty.
	Issuer, Owner string
	// Account is the id of the account.
	Account  string
	Currency money.Currency
	period.Interval
	Opening, Closing  int64
	TotalIn, TotalOut int64 // sums of credits and of debits, both positive
	MovementCount     int64 // number of movements
	// AsOf is the recorded time of the last posting of the ledger.
	AsOf time.Time
}

// Movement is one line of a statement.
type Movement struct {
	At time.Time
	// Counterparty and Note may be empty.
	Description, Counterparty, Note string
	Amount, Balance                 int64 // Balance is the balance after it
}

// Movements are the lines of a statement in order.
type Movements = iter.Seq[Movement]

// formatAmount formats an amount with thousands separators: "-1,234.50".
func formatAmount(minor int64, currency money.Currency) string {
	whole, rest, fraction := strings.Cut(records.FormatMajor(minor, currency), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction {
		whole += "." + rest
	}
	return sign + whole
}

// formatSigned formats an amount with a sign.
func formatSigned(minor int64, currency money.Currency) string {
	if minor > 0 {
		return "+" + formatAmount(minor, currency)
	}
	return formatAmount(minor, currency)
}

func formatDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// lastDay returns the last day of the period.
func (s Summary) lastDay() string { return formatDay(s.Last()) }

// periodText returns the first and the last day of the period.
func (s Summary) periodText() string {
	if first, last := formatDay(s.From), s.lastDay(); first != last {
		return first + " – " + last
	}
	return formatDay(s.From)
}

// basisText returns the footer.
func (s Summary) basisText() string {
	text := "Dates are UTC. "
	if s.AsOf.IsZero() {
		return text + "No postings."
	}
	return text + "As recorded up to " + records.FormatTime(s.AsOf) + "."
}
