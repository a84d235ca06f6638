package rail

import (
	"fmt"
	"time"

	"causeway/core/corridor"
	"causeway/core/money"
)

// AccountKey names what a connection holds in one currency.
type AccountKey struct {
	Connection string
	Currency   money.Currency
}

// Account is what is known about the money of a connection in one currency, in minor units.
type Account struct {
	AccountKey
	// Balance is the last balance that the partner has reported, or an operator has set, at BalanceAt; without one, the
	// time is zero.
	Balance   int64
	BalanceAt time.Time
	// InFlight is what was handed over and is not settled.
	InFlight int64
	// Moved is what was paid in since BalanceAt, less what was paid out.
	Moved int64
	// Waiting: a payment waits for money, so that no later one may be sent.
	Waiting bool
	// Usage is what was paid out in the present hour and day, by rail.
	Usage map[corridor.Rail]Usage
}

// Available returns what can be paid out, or false if no balance is known.
func (a Account) Available() (money.Amount, bool) {
	return money.Amount{Minor: a.Balance + a.Moved - a.InFlight, Currency: a.Currency}, !a.BalanceAt.IsZero()
}

// usage returns what was paid out on a rail, or on all if it is empty.
func (a Account) usage(r corridor.Rail) Usage {
	if r != "" {
		return a.Usage[r]
	}
	var all Usage
	for _, u := range a.Usage {
		all.Hour += u.Hour
		all.Day += u.Day
	}
	return all
}

// Holds say why a payment is not handed over now; each is empty if it does not hold the payment.
type Holds struct {
	// Doubt is why the payment may have left before, so that an operator decides.
	Doubt string
	// Paused is why its rail or connection is paused, and Closed when the schedule opens the rail.
	Paused, Closed string
}

// Dispatch decides whether a payment that is new or queued is handed over now, and what it waits for if it is not. The
// account is that of the payment, and is changed for the next decision.
func (a *Account) Dispatch(p Payment, c Connection, h Holds, now time.Time) Payment {
	if p.RecordedAt.IsZero() {
		p.RecordedAt = now
	}
	wait, reason := a.wait(p, c, h)
	switch wait {
	case WaitsForNothing:
		p.State, p.HandedOverAt = HandedOver, now
		if p.Kind.IsOutgoing() {
			a.InFlight += p.Amount.Minor
			a.use(p.Rail, p.Amount.Minor)
		}
	case WaitsForReview:
		p.State = InReview
	default:
		p.State = Queued
		// What waits for a resumption or opening keeps its place, but does not hold up payments on other rails.
		a.Waiting = a.Waiting || wait == WaitsForFunds
	}
	p.Wait, p.Reason = wait, reason
	return p
}

func (a *Account) wait(p Payment, c Connection, h Holds) (Wait, string) {
	if h.Doubt != "" && !p.Reviewed {
		return WaitsForReview, h.Doubt
	}
	if p.Kind.IsOutgoing() && !p.Reviewed {
		if limit := c.Exceeded(p.Rail, p.Amount, a.usage); limit != "" {
			return WaitsForReview, limit
		}
	}
	if h.Paused != "" {
		return WaitsForResumption, h.Paused
	}
	if !p.Kind.IsOutgoing() || p.Forced {
		return WaitsForNothing, ""
	}
	if h.Closed != "" {
		return WaitsForOpening, h.Closed
	}
	available, known := a.Available()
	switch {
	case a.Waiting:
		return WaitsForFunds, "behind an older payment that waits for money"
	case known && p.Amount.Minor > available.Minor:
		return WaitsForFunds, fmt.Sprintf("%s has %s available", a.Connection, available)
	}
	return WaitsForNothing, ""
}

func (a *Account) use(r corridor.Rail, minor int64) {
	if a.Usage == nil {
		a.Usage = map[corridor.Rail]Usage{}
	}
	u := a.Usage[r]
	u.Hour += minor
	u.Day += minor
	a.Usage[r] = u
}

// Receive counts money that was paid in at a time or, below zero, taken back. What was paid in before the last balance is in
// it.
func (a *Account) Receive(minor int64, at time.Time) {
	if a.BalanceAt.IsZero() || at.After(a.BalanceAt) {
		a.Moved += minor
	}
}

// Settle counts that a payment which was handed over has got another state. Other changes, such as that of the partner's
// id or that it has left, move nothing.
func (a *Account) Settle(before, after Payment) {
	if before.State == after.State {
		return
	}
	sign := int64(1)
	if before.Kind.IsOutgoing() {
		sign = -1
		if before.State.IsInFlight() && !after.State.IsInFlight() {
			a.InFlight -= before.Amount.Minor
		}
	}
	switch {
	case after.State == Done:
		a.Moved += sign * after.Amount.Minor
	case before.State == Done && after.State == Returned:
		a.Moved -= sign * after.Amount.Minor
	}
}
