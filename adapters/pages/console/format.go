package console

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/transaction"
	"causeway/ports"
)

// functions are those of the templates.
var functions = template.FuncMap{
	// Those of the zone of a person replace these two.
	"moment": utc, "zone": func() string { return person.UTC },
	"utc": utc, "pieces": pieces, "machine": rfc3339, "major": major, "total": total, "lower": lower, "sent": sent, "short": short,
	"spans": spans, "factorTexts": factorTexts,
	"htmxConfig": func() string { return htmxConfig },
	"list":       func(base string, items []transaction.Transaction) paymentList { return paymentList{base, items} },
	"amount":     func(minor int64, c money.Currency) string { return major(money.Amount{Minor: minor, Currency: c}) },
	"jobStates":  func() []ports.JobState { return jobStates[1:] },
}

// paymentList is what the template of a list of payments shows.
type paymentList struct {
	Base  string
	Items []transaction.Transaction
}

// utc returns a time in UTC, as people read it; empty for none.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

// rfc3339 returns a time in UTC, as programs read it; empty for none.
func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// major returns an amount in major units without its currency, which has its own column.
func major(a money.Amount) string {
	text, _, _ := strings.Cut(a.String(), " ")
	return text
}

func total(t money.Total, c money.Currency) string { return t.Major(c) }

// lower returns a value of the API as a word: PENDING is pending.
func lower(value any) string { return strings.ToLower(strings.ReplaceAll(fmt.Sprint(value), "_", " ")) }

// sent returns what a payment sends; what an incoming one receives.
func sent(t transaction.Transaction) money.Amount {
	if t.Type == transaction.Outgoing {
		return t.Pricing.Sent
	}
	return t.Pricing.Received
}

// short returns the end of an id, which differs also between those of the same second.
func short(id string) string { return "…" + id[max(0, len(id)-8):] }

// counted returns a number of things with their name.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + one + "s"
}
