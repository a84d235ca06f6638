// Package bankorder holds the rules on payment orders that are given to a bank in files: what state an order is in, and
// what a report of the bank changes.
package bankorder

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/rail"
)

// Kind is what an order is for.
type Kind string

// The kinds.
const (
	Payout     Kind = "PAYOUT"
	Refund     Kind = "REFUND"
	Collection Kind = "COLLECTION" // it pulls money
)

// State is the state of an order.
type State string

// The states. A bank need not report each: an order can go from InFile to any later one.
const (
	Queued   State = "QUEUED"
	InFile   State = "IN_FILE"  // it belongs to a file for the bank
	Accepted State = "ACCEPTED" // the bank has accepted it
	Pending  State = "PENDING"  // the bank has accepted it, and holds or processes it
	Settled  State = "SETTLED"
	Rejected State = "REJECTED" // no money has moved
	Returned State = "RETURNED" // the other bank has returned it
)

// Order is one payment order.
type Order struct {
	Platform ident.Platform
	// ID is unique in the platform, see IDOf. Subject is the transaction, or the receipt that is sent back.
	ID, Subject uuid.UUID
	Kind        Kind
	Connection  string
	Rail        corridor.Rail
	// Batch groups the orders of a file, such as PPD; empty if the files of the rail have no groups.
	Batch  string
	Amount money.Amount
	// EndToEndID is how the payment is named towards the bank, and Key where there is no room for it.
	EndToEndID, Key string
	// Counterparty is the beneficiary or, for a collection, the payer.
	Counterparty Counterparty
	// Remittance is the text for the beneficiary.
	Remittance string
	// Addenda is the text in an ACH entry; empty for the end-to-end id.
	Addenda string

	State State
	// File is the number of its file, and Position its place in it, from 1; zero if it is in none yet.
	File     int64
	Position int
	// PartnerID is the bank's id of the payment, and Code and Text what it gave as the reason of the state.
	PartnerID, Code, Text string
	// ReturnID is the bank's id of the credit or debit that brought a return onto the account; empty if none was booked.
	ReturnID   string
	QueuedAt   time.Time
	AcceptedAt time.Time // zero if the bank has not said so
	SettledAt  time.Time // also of one that was returned later
	ReturnedAt time.Time
}

// Counterparty is the owner of the other account.
type Counterparty struct {
	Name     string
	Business bool
	Address  *party.Address
	// Fields are those of the account by their names in the catalogue of accounts, such as iban.
	Fields map[string]string
}

// IDOf returns the id of the order for a subject. A payout and its refund have the same subject.
func IDOf(k Kind, subject uuid.UUID) uuid.UUID {
	if k == Refund {
		return uuid.NewSHA1(subject, []byte("refund"))
	}
	return subject
}

// refundSuffix tells the end-to-end id of a refund from that of the payment. What is before it is a word of its own, by
// which reconciliations find the transaction.
const refundSuffix = "-R"

// EndToEndIDOf returns the end-to-end id of an order.
func EndToEndIDOf(k Kind, subject uuid.UUID) string {
	if k == Refund {
		return rail.EndToEndID(subject) + refundSuffix
	}
	return rail.EndToEndID(subject)
}

// Report is what a bank says about an order.
type Report struct {
	State State // Accepted, Pending, Settled, Rejected or Returned
	// Settles are the rails whose payments a report of Settled settles; nil for all. A payment of another rail is then pending, and
	// an entry on the account says nothing of it.
	Settles               []corridor.Rail
	PartnerID, Code, Text string
	At                    time.Time // zero if the bank has not named it
	// Amount is what was booked or came back, without charges that were booked with it; zero if the bank has not named it.
	Amount money.Amount
	// Booked: it is an entry on the account, with a PartnerID of its own, and not only a message about the payment.
	Booked bool
	// Charges are what the bank says that it has deducted from a payment that came back; zero if it does not say.
	Charges money.Amount
}

// Effect is what a report does to an order.
type Effect int

// The effects.
const (
	Repeats     Effect = iota // it says what is known, or what was true before
	Changes                   // the order has a new state
	Contradicts               // it cannot be true of the order: somebody has to ask the bank
)

// effects has what a report of a state does to an order in a state. Banks send reports twice and in any order.
var effects = map[State]map[State]Effect{
	Queued:   {Accepted: Contradicts, Pending: Contradicts, Settled: Contradicts, Rejected: Contradicts, Returned: Contradicts},
	InFile:   {Accepted: Changes, Pending: Changes, Settled: Changes, Rejected: Changes, Returned: Changes},
	Accepted: {Accepted: Repeats, Pending: Changes, Settled: Changes, Rejected: Changes, Returned: Changes},
	Pending:  {Accepted: Repeats, Pending: Repeats, Settled: Changes, Rejected: Changes, Returned: Changes},
	// A rejection after the settlement would give the money back although it has left.
	Settled:  {Accepted: Repeats, Pending: Repeats, Settled: Repeats, Rejected: Contradicts, Returned: Changes},
	Rejected: {Accepted: Repeats, Pending: Repeats, Settled: Contradicts, Rejected: Repeats, Returned: Repeats},
	Returned: {Accepted: Repeats, Pending: Repeats, Settled: Repeats, Rejected: Repeats, Returned: Repeats},
}

// Reportable are the states in which a report of a state changes an order.
func Reportable(reported State) []State {
	var states []State
	for _, s := range []State{Queued, InFile, Accepted, Pending, Settled, Rejected, Returned} {
		if effects[s][reported] == Changes {
			states = append(states, s)
		}
	}
	return states
}

// Apply returns the order after a report that was read at a time, and what the report did.
func (o Order) Apply(r Report, now time.Time) (Order, Effect) {
	if r.State == Settled && r.Settles != nil && !slices.Contains(r.Settles, o.Rail) {
		if r.Booked {
			return o, Repeats
		}
		r.State = Pending
	}
	effect, known := effects[o.State][r.State]
	switch {
	case !known || o.differsFrom(r) || o.isBookedAgain(r):
		return o, Contradicts
	case effect != Changes:
		if r.State == Returned && r.Booked && o.ReturnID == "" {
			o.ReturnID = r.PartnerID
		}
		return o, effect
	}
	at := r.At
	if at.IsZero() || at.After(now) {
		at = now
	}
	o.State, o.Code, o.Text = r.State, r.Code, r.Text
	if r.PartnerID != "" && r.State != Returned { // a return has an id of its own
		o.PartnerID = r.PartnerID
	}
	switch r.State {
	case Accepted, Pending:
		if o.AcceptedAt.IsZero() {
			o.AcceptedAt = at
		}
	case Settled:
		o.SettledAt = at
	case Returned:
		if o.ReturnedAt = at; r.Booked {
			o.ReturnID = r.PartnerID
		}
	default: // a rejected one has no time of its own
	}
	return o, effect
}

// isBookedAgain reports whether a report is an entry on the account beside one that was reported before: money that was returned
// twice, or that has left twice. The entry of a payment that was returned before is reported late if none was reported.
func (o Order) isBookedAgain(r Report) bool {
	switch {
	case !r.Booked || r.PartnerID == "":
		return false
	case r.State == Returned:
		return o.ReturnID != "" && o.ReturnID != r.PartnerID
	case r.State == Settled:
		return !o.SettledAt.IsZero() && o.PartnerID != "" && o.PartnerID != r.PartnerID
	default:
		return false
	}
}

// maxDeduction is the part of a payment (a tenth) up to which what is missing of a return counts as deducted by banks that do
// not say so. With more, it is a return of a part.
const maxDeduction = 10

// differsFrom reports whether a report names an amount that cannot be of the order. Banks deduct charges from a payment that
// comes back. What is taken back of a collection is what was collected.
func (o Order) differsFrom(r Report) bool {
	switch {
	case r.Amount == (money.Amount{}) || r.State != Settled && r.State != Returned:
		return false
	case r.State == Returned && o.Kind != Collection && r.Amount.Currency == o.Amount.Currency:
		missing := o.Amount.Minor - r.Amount.Minor
		return missing < 0 || missing > o.Amount.Minor/maxDeduction && missing != r.Charges.Minor
	default:
		return r.Amount != o.Amount
	}
}

// Deducted returns what banks have kept of a payment that came back, according to a report of that; zero if nothing.
func (o Order) Deducted(r Report) money.Amount {
	if r.State != Returned || r.Amount == (money.Amount{}) || o.differsFrom(r) {
		return money.Amount{}
	}
	return money.Amount{Minor: o.Amount.Minor - r.Amount.Minor, Currency: o.Amount.Currency}
}

// IsRefundReturned reports whether a report is the return of a refund that is done: its payer has been paid back according to
// the books, and the transaction has ended. It stays so after the return was recorded.
func (o Order) IsRefundReturned(r Report) bool {
	return o.Kind == Refund && r.State == Returned && !o.SettledAt.IsZero()
}
