package rail

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/money"
)

// Kind is what a payment of a connection is for.
type Kind string

// The kinds.
const (
	Payout     Kind = "PAYOUT"
	Collection Kind = "COLLECTION"
	Refund     Kind = "REFUND"
	SendBack   Kind = "SEND_BACK" // of a receipt
)

// Word returns what the payment is called in messages.
func (k Kind) Word() string { return strings.ToLower(strings.ReplaceAll(string(k), "_", " ")) }

// IsOutgoing reports whether the payment takes money out of the account of its connection.
func (k Kind) IsOutgoing() bool { return k != Collection }

// IsReturn reports whether the payment sends money back to where it came from.
func (k Kind) IsReturn() bool { return k == Refund || k == SendBack }

// State is the state of a payment of a connection.
type State string

// The states.
const (
	InReview   State = "REVIEW"      // waits for the review of an operator
	Queued     State = "QUEUED"      // waits, see Wait
	HandedOver State = "HANDED_OVER" // the adapter has it, and asks before it leaves: until then it can be stopped
	Sent       State = "SENT"        // it has left, and can no longer be stopped; the adapter is asked about it until it is done
	Done       State = "DONE"        // paid, or collected
	Refused    State = "REFUSED"     // will never be done, and no money has moved
	Returned   State = "RETURNED"    // was done, and the money came back, or was taken back
	Cancelled  State = "CANCELLED"   // by an operator, or because its money was taken back, before it has left
)

// States lists all states, for tests of the transitions.
var States = []State{InReview, Queued, HandedOver, Sent, Done, Refused, Returned, Cancelled}

// next lists the states that may follow a state.
var next = map[State][]State{
	InReview:   {Queued, Cancelled},
	Queued:     {HandedOver, InReview, Cancelled},
	HandedOver: {Sent, Queued, InReview, Done, Refused, Returned, Cancelled},
	Sent:       {HandedOver, Done, Refused, Returned, Cancelled},
	Done:       {Returned},
	Refused:    {Cancelled}, // its money was taken back too
}

// IsWaiting reports whether the payment was not handed over yet.
func (s State) IsWaiting() bool { return s == InReview || s == Queued }

// CanBeStopped reports whether the payment exists and has not left.
func (s State) CanBeStopped() bool { return s.IsWaiting() || s == HandedOver }

// IsInFlight reports whether the payment was handed over and is not settled.
func (s State) IsInFlight() bool { return s == HandedOver || s == Sent }

// Wait is what a queued payment waits for.
type Wait string

// What payments wait for.
const (
	WaitsForNothing    Wait = ""
	WaitsForReview     Wait = "REVIEW"     // of an operator
	WaitsForFunds      Wait = "FUNDS"      // on the account of its connection, or for an older payment that does
	WaitsForResumption Wait = "RESUMPTION" // of its connection or rail, which is paused
	WaitsForOpening    Wait = "OPENING"    // of its rail, by the schedule of its connection
	WaitsForConnection Wait = "CONNECTION" // that serves it
)

// Waits are what payments can wait for.
var Waits = []Wait{WaitsForReview, WaitsForFunds, WaitsForResumption, WaitsForOpening, WaitsForConnection}

// Payment is a payment that takes a connection.
type Payment struct {
	// ID is the id of the transaction or receipt. It is unique with the platform and the kind.
	ID uuid.UUID
	Route
	Kind Kind
	// Connection is recorded before the first call, and stays also if the connections change. It is empty as long as
	// none serves the payment.
	Connection string
	Amount     money.Amount
	State      State
	Wait       Wait
	// Reason says why the payment waits, in words for operators.
	Reason string
	// Reviewed: an operator has released it from review. Forced: an operator sends it without regard to the queue and the
	// balance.
	Reviewed, Forced bool
	// SentAgain: after it left it was asked for again, so that what is not taken may be a repeat of what was.
	SentAgain bool
	// PartnerID is the partner's id of the payment.
	PartnerID string
	// RecordedAt is when it was first decided, HandedOverAt when the adapter got it, and SentAt when it left. They and
	// SettledAt and ReturnedAt are zero until then; SettledAt is set when it is done, refused or cancelled.
	RecordedAt, HandedOverAt, SentAt, SettledAt, ReturnedAt time.Time
}

// MayHaveLeft reports whether a partner may know the payment: it was handed over, also if it was marked as not sent since.
func (p Payment) MayHaveLeft() bool {
	return !p.State.IsWaiting() && (p.State != Cancelled || !p.SentAt.IsZero())
}

// Account returns the account that the payment takes money from, or brings it to.
func (p Payment) Account() AccountKey { return AccountKey{p.Connection, p.Currency} }

// To returns the payment in another state, or an error if that cannot follow.
func (p Payment) To(state State, now time.Time) (Payment, error) {
	allowed := false
	for _, s := range next[p.State] {
		allowed = allowed || s == state
	}
	if !allowed {
		return p, fmt.Errorf("payment %s of %s is %s, and cannot become %s", EndToEndID(p.ID), p.Connection, p.State, state)
	}
	p.State, p.Wait, p.Reason = state, WaitsForNothing, ""
	switch state {
	case InReview, Queued:
		p.HandedOverAt = time.Time{}
	case HandedOver:
		if p.SentAt, p.SentAgain = (time.Time{}), false; p.HandedOverAt.IsZero() {
			p.HandedOverAt = now
		}
	case Sent:
		p.SentAt = now
	case Refused, Cancelled:
		p.SettledAt = now
	case Done, Returned:
		if p.SentAt.IsZero() { // left and done since the last call
			p.SentAt = now
		}
		if p.SettledAt.IsZero() {
			p.SettledAt = now
		}
		if state == Returned {
			p.ReturnedAt = now
		}
	}
	return p, nil
}

// releasedFromReview is the reason of a payment until the queue is next looked at.
const releasedFromReview = "released from review"

// Release returns the payment as an operator releases it: from review, or from the queue for money or an opening. It is sent
// when the queue is next looked at.
func (p Payment) Release() (Payment, error) {
	switch {
	case p.State == InReview:
		p.State, p.Wait, p.Reason, p.Reviewed = Queued, WaitsForFunds, releasedFromReview, true
	case p.State == Queued && (p.Forced || p.Reason == releasedFromReview):
		// Two operators who release it at once mean one release, and not that the balance does not count.
		return p, errors.New("the payment was released already, and is sent when the queue is next looked at")
	case p.State == Queued && p.Wait == WaitsForFunds:
		p.Forced, p.Reason = true, "released without regard to the balance"
	case p.State == Queued && p.Wait == WaitsForOpening:
		p.Forced, p.Reason = true, "released without regard to the schedule and the balance"
	case p.State == Queued && p.Wait == WaitsForResumption:
		return p, fmt.Errorf("the payment waits because %s; resume it with: causeway rails resume", p.Reason)
	case p.State == Queued:
		return p, fmt.Errorf("the payment waits for a connection: %s", p.Reason)
	default:
		return p, fmt.Errorf("the payment is %s and waits for nothing", p.State)
	}
	return p, nil
}

// Cancel returns the payment as an operator cancels it. What the customer paid is refunded by the job that calls about it.
func (p Payment) Cancel(now time.Time) (Payment, error) {
	if p.Kind != Payout {
		return p, fmt.Errorf("the payment is a %s; only payouts can be cancelled", p.Kind)
	}
	if err := p.stoppable(); err != nil {
		return p, err
	}
	return p.To(Cancelled, now)
}
