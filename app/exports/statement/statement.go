// Package statement renders an account statement as a self-contained HTML page or as a PDF. All
// text is treated as user-provided and escaped.
package statement

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"strings"
	"time"

	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/core/period"
)

// Company is who issues statements. Its fields may be empty.
type Company struct{ Name, Licence, Address string }

// lines returns what statements say about the company.
func (c Company) lines() []string {
	if c.Name == "" {
		return nil
	}
	issuedBy := "Issued by " + c.Name
	if c.Address != "" {
		issuedBy += ", " + c.Address
	}
	if c.Licence == "" {
		return []string{issuedBy}
	}
	return []string{issuedBy, c.Licence}
}

// Summary has the balances and totals of a statement. Amounts are in minor units, positive in
// favour of the owner.
type Summary struct {
	Company Company
	// Issuer is the name of the platform and Owner that of the customer; both may be empty.
	Issuer, Owner string
	// Account is the id of the account.
	Account  string
	Currency money.Currency
	period.Interval
	Opening, Closing int64
	// TotalIn and TotalOut are what really came and went, both positive: a payment that was refunded
	// counts with what is left of it. Fees is the part of TotalOut that was charged as fees, less those
	// that were given back.
	TotalIn, TotalOut, Fees int64
	// RefundedPayments is the number of payments of which some was refunded.
	RefundedPayments int64
	MovementCount    int64 // number of movements
	// AsOf is the recorded time of the last posting of the ledger.
	AsOf time.Time
}

// Movement is one line of a statement.
type Movement struct {
	At time.Time
	// Counterparty, Note and Transaction, the id of the payment, may be empty.
	Description, Counterparty, Note, Transaction string
	Exchange                                     Exchange
	// Refunded is set if the payment was refunded in the period; Net is then the sum of its movements.
	Refunded        bool
	Net             int64
	Amount, Balance int64 // Balance is the balance after it
}

// Exchange is what the other side of a payment sent or received; zero if there is nothing to say.
type Exchange struct {
	// Label says what Amount is, such as "Received".
	Label  string
	Amount money.Amount
	// From, To and Rate are set if currencies differ: Rate units of To are one of From.
	From, To money.Currency
	Rate     money.Rate // between major units
}

func (e Exchange) text() string {
	if e.Label == "" {
		return ""
	}
	text := fmt.Sprintf("%s %s %s", e.Label, formatAmount(e.Amount.Minor, e.Amount.Currency), e.Amount.Currency)
	if !e.Rate.IsZero() {
		text += fmt.Sprintf(", 1 %s = %s %s", e.From, e.Rate, e.To)
	}
	return text
}

// details returns what is printed below the description.
func (m Movement) details(currency money.Currency) []string {
	var lines []string
	for _, line := range []string{records.SingleLine(m.Note), m.Exchange.text(), m.refundText(currency), m.Transaction} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (m Movement) refundText(currency money.Currency) string {
	if !m.Refunded {
		return ""
	}
	return fmt.Sprintf("Refunded payment, %s %s in all", formatAmount(m.Net, currency), currency)
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

// number returns the number of the statement. It stays the same until something is posted into the
// period.
func (s Summary) number() string {
	sum := sha256.Sum256(fmt.Append(nil, s.Account, records.FormatTime(s.From), records.FormatTime(s.To), s.Opening, s.Closing, s.TotalIn,
		s.TotalOut, s.MovementCount))
	const day = "20060102"
	return fmt.Sprintf("%s-%s-%X", s.From.UTC().Format(day), s.Last().UTC().Format(day), sum[:4])
}

// refundsText says which payments are not counted.
func (s Summary) refundsText() string {
	switch s.RefundedPayments {
	case 0:
		return ""
	case 1:
		return "One refunded payment is counted with what is left of it."
	default:
		return fmt.Sprintf("%d refunded payments are counted with what is left of them.", s.RefundedPayments)
	}
}

// basisText returns the footer.
func (s Summary) basisText() string {
	text := "Dates are UTC. "
	if s.AsOf.IsZero() {
		return text + "No postings."
	}
	return text + "As recorded up to " + records.FormatTime(s.AsOf) + "."
}
