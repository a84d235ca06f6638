package rail

import (
	"errors"
	"fmt"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
)

// Departure is whether a payment that an adapter has may leave.
type Departure string

// The departures.
const (
	Leaves    Departure = "LEAVES"    // now
	Left      Departure = "LEFT"      // before: what was begun goes on
	LeftHeld  Departure = "LEFT_HELD" // before, and its connection or rail is paused: it is asked about, and nothing is sent again
	Held      Departure = "HELD"      // it waits, because its connection or rail is paused
	Withdrawn Departure = "WITHDRAWN" // it is no longer a payment of the connection, or has ended: the adapter forgets it
)

// MayBeSent reports whether something irrevocable may happen.
func (d Departure) MayBeSent() bool { return d == Leaves || d == Left }

// IsHeld reports whether it is not to be sent as long as there is a pause.
func (d Departure) IsHeld() bool { return d == Held || d == LeftHeld }

// Depart decides whether a payment leaves over a connection, and returns it as it is then. Adapters ask in the unit of work
// from which on the payment can no longer be stopped. Paused: its connection or rail is.
func (p Payment) Depart(connection string, paused bool, now time.Time) (Payment, Departure) {
	switch {
	case p.Connection != connection || !p.State.IsInFlight():
		return p, Withdrawn
	case p.State == Sent && paused:
		return p, LeftHeld
	case p.State == Sent:
		p.SentAgain = true
		return p, Left
	case paused:
		return p, Held
	}
	left, err := p.To(Sent, now)
	if err != nil {
		return p, Withdrawn
	}
	return left, Leaves
}

// TakenAway reports whether a payment was taken away from its connection since that was called about it as it was then: what the
// connection answers settles nothing any more, because another one has the payment, or it waits again.
func (p Payment) TakenAway(called Payment) bool {
	return p.Connection != called.Connection || called.State.IsInFlight() && p.State.IsWaiting()
}

// NotTaken returns a payment that has left, after the partner has answered its first request that it did not take it: it can be
// stopped again. One that was sent again stays as it is, because the partner may have taken that request.
func (p Payment) NotTaken(connection string, now time.Time) Payment {
	if p.Connection != connection || p.State != Sent || p.SentAgain {
		return p
	}
	back, err := p.To(HandedOver, now)
	if err != nil {
		return p
	}
	return back
}

// stoppable returns why the payment can no longer be stopped; nil if it can.
func (p Payment) stoppable() error {
	if p.State.CanBeStopped() {
		return nil
	}
	if p.State == Sent {
		return fmt.Errorf("the payment has left over %s at %s, and can no longer be stopped", p.Connection, p.SentAt.Format(time.RFC3339))
	}
	return fmt.Errorf("the payment is %s, and there is nothing to stop", p.State)
}

// Withdraw returns the payment as an operator takes it back from its connection: it waits for a review, after which it can be
// released, moved or cancelled.
func (p Payment) Withdraw(now time.Time) (Payment, error) {
	if err := p.stoppable(); err != nil {
		return p, err
	}
	if p.State == InReview {
		return p, errors.New("the payment is in review already")
	}
	p, err := p.To(InReview, now)
	p.Wait, p.Reason, p.Reviewed, p.Forced = WaitsForReview, "withdrawn by an operator", false, false
	return p, err
}

// WithdrawForDoubt takes the payment back like Withdraw, because it may have left before.
func (p Payment) WithdrawForDoubt(doubt string, now time.Time) (Payment, error) {
	p, err := p.Withdraw(now)
	if err == nil {
		p.Reason = doubt
	}
	return p, err
}

// Move returns the payment as an operator gives it to another connection: it is then in the queue of that. A payment that waits
// for a review goes on waiting for it.
func (p Payment) Move(to Connection, now time.Time) (Payment, error) {
	if p.Kind != Payout {
		return p, fmt.Errorf("the payment is a %s, which goes back over the connection that its money came over", p.Kind)
	}
	if err := p.stoppable(); err != nil {
		return p, err
	}
	switch {
	case to.Name == p.Connection:
		return p, fmt.Errorf("the payment is one of %s already", to.Name)
	case !to.Serves(p.Route):
		return p, fmt.Errorf("%s does not carry %s over %s for this platform and country", to.Name, p.Currency, p.Rail)
	}
	if p.State == HandedOver {
		var err error
		if p, err = p.To(Queued, now); err != nil {
			return p, err
		}
	}
	if p.Connection = to.Name; p.State == Queued {
		p.Wait, p.Reason, p.Forced = WaitsForFunds, "moved by an operator", false
	}
	return p, nil
}

// TakeBack returns the payment as it ends because the money that was paid for it was taken back, and reports whether it has
// ended: one that has left has not, and stays as it is. One that was refused ends so too, so that its money goes nowhere else.
func (p Payment) TakeBack(reason string, now time.Time) (Payment, bool) {
	if p.State == Cancelled {
		return p, true
	}
	if !p.State.CanBeStopped() && p.State != Refused {
		return p, false
	}
	ended, err := p.To(Cancelled, now)
	if err != nil {
		return p, false
	}
	ended.Reason = reason
	return ended, true
}

// NotSentWindow is how long a report that a payment was not sent waits for the second person.
const NotSentWindow = 24 * time.Hour

// NotSentReport is the report of a person that a payment was not sent.
type NotSentReport struct {
	Actor string
	// Person is who has signed in; zero if nobody has.
	Person ident.Person
	At     time.Time
}

// isByAnother reports whether two reports are of two persons. Names tell two only if neither is of a person who has signed in.
func (r NotSentReport) isByAnother(other NotSentReport) bool {
	if r.Person.IsZero() != other.Person.IsZero() {
		return false
	}
	return r.Person != other.Person || r.Person.IsZero() && !platform.IsSameActor(r.Actor, other.Actor)
}

// MarkNotSent returns a payout that has left by the records as a person reports that it was not sent, and whether that confirms the
// report of another person within the window: then it is cancelled, and what the customer paid is refunded.
func (p Payment) MarkNotSent(by NotSentReport, earlier []NotSentReport) (after Payment, confirmed bool, err error) {
	switch {
	case p.Kind != Payout:
		return p, false, fmt.Errorf("the payment is a %s; only payouts can be marked as not sent", p.Kind)
	case p.State.CanBeStopped():
		return p, false, fmt.Errorf("the payment is %s and has not left; cancel or withdraw it", p.State)
	case p.State != Sent:
		return p, false, fmt.Errorf("the payment is %s, and not on its way", p.State)
	}
	own := false
	for _, r := range earlier {
		if r.At.Before(p.SentAt) || by.At.Sub(r.At) > NotSentWindow {
			continue
		}
		if !by.isByAnother(r) {
			own = true
			continue
		}
		after, err = p.To(Cancelled, by.At)
		after.Reason = fmt.Sprintf("it was not sent, as %s and %s have confirmed", r.Actor, by.Actor)
		return after, err == nil, err
	}
	if own {
		return p, false, errors.New("you have reported this already; another person has to confirm it with the same command")
	}
	return p, false, nil
}
