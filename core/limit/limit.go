// Package limit defines how much a platform and its customers may send, as the operator of the service allows it: at most an
// amount with one payment, and at most an amount on one day (UTC).
//
// A rule is about payments that send one currency. Of several rules that match a payment each holds, so the strictest of a kind
// decides. It moves no money; who commits a payment keeps the counters, with it.
package limit

import (
	"fmt"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Key names a rule.
type Key struct {
	Platform ident.Platform
	Currency money.Currency // which the payments send
	// Customer is the id of a customer, or EachCustomer; empty for all payments of the platform together.
	Customer string
	// Region is that of the customers, ISO 3166-1 alpha-2; empty for any.
	Region string
}

// EachCustomer is the customer of a rule that holds for each customer alone.
const EachCustomer = "each"

// Rule is what a platform, or a customer of it, may send. Amounts are in minor units, with fees; zero does not limit.
type Rule struct {
	Key
	PerPayment int64
	Daily      int64
	ChangedAt  time.Time
}

// Cleared reports whether the rule was removed. It is kept to the end of the day, because it counts until then.
func (r Rule) Cleared() bool { return r.PerPayment == 0 && r.Daily == 0 }

// counts reports whether payments of a day are counted for the rule. Each rule that was changed on the day counts, so that a daily limit
// that is removed and set again on one day includes what was sent between.
func (r Rule) counts(day string) bool { return r.Daily > 0 || DayOf(r.ChangedAt) == day }

// DayOf returns the day of a time, such as "2026-03-14".
func DayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Payment is a payment that is to be sent.
type Payment struct {
	Customer ident.Customer // whose payment it is, also if the platform pays for it; zero for one of the platform alone
	Region   string         // of the customer; empty if it has none
	Sent     money.Amount   // with fees
}

// Counter names what is counted on a day: what a scope has sent in one currency.
type Counter struct {
	Scope    Scope
	Currency money.Currency
}

// Scope is whose payments a counter adds up: those of a platform, of its customers of a region, or of one customer. It has no spaces.
type Scope string

// WholePlatform is the scope of all payments of a platform.
const WholePlatform Scope = "platform"

func scopeOfRegion(region string) Scope { return Scope("region:" + region) }

func scopeOfCustomer(c ident.Customer) Scope { return Scope(c.String()) }

// Rules are those of one platform.
type Rules []Rule

// ofAnyRegion reports whether the rules of every region hold: the customer has none, and does not escape all of them so.
func (p Payment) ofAnyRegion() bool { return p.Region == "" && !p.Customer.IsZero() }

// matching returns the rules about a payment.
func (rs Rules) matching(p Payment) Rules {
	var found Rules
	for _, r := range rs {
		if r.Currency == p.Sent.Currency && (r.Region == "" || r.Region == p.Region || p.ofAnyRegion()) &&
			(r.Customer == "" || !p.Customer.IsZero() && (r.Customer == EachCustomer || r.Customer == p.Customer.String())) {
			found = append(found, r)
		}
	}
	return found
}

// counter returns the counter of the rule for a payment that it matches. The region of a customer never changes, so that one counter of
// the customer serves all rules about it.
func (r Rule) counter(p Payment) Counter {
	scope := WholePlatform
	switch {
	case r.Customer != "":
		scope = scopeOfCustomer(p.Customer)
	case r.Region != "":
		scope = scopeOfRegion(r.Region) // also of a customer without one, who counts in each
	}
	return Counter{scope, p.Sent.Currency}
}

// Scopes returns the scopes of the counters to which a payment of a day is added, each once and in order.
func (rs Rules) Scopes(p Payment, day string) []Scope {
	var scopes []Scope
	for _, r := range rs.matching(p) {
		if r.counts(day) {
			scopes = append(scopes, r.counter(p).Scope)
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// Count is how much was sent on a day.
type Count struct {
	Transactions int64
	Sent         int64 // minor units
}

// Counts are those of the counters of one day; a counter without payments has no entry.
type Counts map[Counter]Count

// Add adds a payment that Check allows to the counters of scopes.
func (cs Counts) Add(scopes []Scope, sent money.Amount) {
	for _, s := range scopes {
		c := Counter{s, sent.Currency}
		cs[c] = Count{cs[c].Transactions + 1, cs[c].Sent + sent.Minor}
	}
}

// Check returns TRANSACTION_SIZE_LIMIT_EXCEEDED or DAILY_VOLUME_LIMIT_EXCEEDED if a payment that starts now exceeds a limit after what was
// sent on the day, and AMOUNT_OUT_OF_RANGE if the sum could not be counted.
func (rs Rules) Check(p Payment, sent Counts) error {
	var size, left, daily *int64
	for _, r := range rs.matching(p) {
		if _, err := money.AddMinor(sent[r.counter(p)].Sent, p.Sent.Minor); err != nil {
			return fault.New(fault.AmountOutOfRange, "More was sent today than can be counted with this payment. Wait until the next day (UTC).")
		}
		if r.PerPayment > 0 && (size == nil || r.PerPayment < *size) {
			size = &r.PerPayment
		}
		if r.Daily > 0 {
			if l := r.left(sent[r.counter(p)]); left == nil || l < *left {
				left, daily = &l, &r.Daily
			}
		}
	}
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: p.Sent.Currency} }
	switch {
	case size != nil && p.Sent.Minor > *size:
		return &fault.Error{Code: fault.TransactionSizeLimitExceeded, Details: details(p.Sent, *size, *size),
			Message: fmt.Sprintf("The payment sends %s, and at most %s can be sent with one payment. Send less.", p.Sent, amount(*size))}
	case left != nil && p.Sent.Minor > *left:
		return &fault.Error{Code: fault.DailyVolumeLimitExceeded, Details: details(p.Sent, *daily, *left),
			Message: fmt.Sprintf("The payment sends %s, and %s of the daily limit of %s is left. Send less, or wait until the next day (UTC).",
				p.Sent, amount(*left), amount(*daily))}
	}
	return nil
}

// details are in minor units, as everywhere.
func details(sent money.Amount, limit, remaining int64) map[string]any {
	return map[string]any{"currency": string(sent.Currency), "amount": sent.Minor, "limit": limit, "remaining": remaining}
}

// left returns what can still be sent on a day.
func (r Rule) left(sent Count) int64 { return max(r.Daily-sent.Sent, 0) }

// Headroom is a rule that is in force, and what was sent on a day that it limits.
type Headroom struct {
	Rule
	// Counter is the one of the rule. Its scope is empty for that of whichever customer has sent most.
	Counter Counter
	Sent    Count
	Left    int64 // of the daily limit; zero without one
}

// Headroom returns the rules that are in force for a customer or, if it is zero, all of the platform, with nothing sent.
func (rs Rules) Headroom(c ident.Customer, region string) []Headroom {
	p := Payment{Customer: c, Region: region}
	var found []Headroom
	for _, r := range rs.InForce() {
		p.Sent.Currency = r.Currency
		h := Headroom{Rule: r, Left: r.Daily}
		switch {
		case !c.IsZero() && len(Rules{r}.matching(p)) == 0:
			continue
		case !c.IsZero() || r.Customer == "":
			h.Counter = r.counter(p)
		case r.Customer == EachCustomer:
			h.Counter = Counter{Currency: r.Currency}
		default:
			h.Counter = Counter{Scope(r.Customer), r.Currency}
		}
		found = append(found, h)
	}
	return found
}

// With returns the headroom after what was sent.
func (h Headroom) With(sent Count) Headroom {
	h.Sent, h.Left = sent, h.left(sent)
	return h
}
