package receivable

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
)

// State is the state of a receivable.
type State string

// The states. A receivable is OPEN while something is owed.
const (
	Open       State = "OPEN"
	Settled    State = "SETTLED"     // collected in full
	WrittenOff State = "WRITTEN_OFF" // the rest was given up
)

// States lists every state.
func States() []State { return []State{Open, Settled, WrittenOff} }

// Receivable is what is owed for one collection that was returned.
type Receivable struct {
	ID       ident.Receivable
	Platform ident.Platform
	// Transaction is the one whose collection was returned.
	Transaction ident.Transaction
	// Customer owes the amount; zero for the platform.
	Customer ident.Customer
	// Account is the internal account whose money pays, and AccountPath the ledger path of its balance.
	Account     ident.InternalAccount
	AccountPath string
	// Partner is the ledger path of the account at the partner that had received the collection.
	Partner string
	// Reference is that of the transaction. It is the memo of the postings.
	Reference string
	Amount    money.Amount
	// Collected and WrittenOff are in the currency of Amount, and never exceed it together.
	Collected, WrittenOff int64
	State                 State
	Return
	CreatedAt, UpdatedAt time.Time
}

// Return is what is known about the return of a collection.
type Return struct {
	// ReasonCode is the partner's, such as R01.
	ReasonCode string
	// PartnerID is the partner's id of the return, with which its statement names it; empty if unknown.
	PartnerID string
	// ReturnedAt is when the partner took the money back.
	ReturnedAt time.Time
	Note       string
	By         platform.Author
}

// ChangeKind says what a change of a receivable records.
type ChangeKind string

// The kinds of changes.
const (
	Returned  ChangeKind = "RETURNED"    // the first change: the partner took the money back
	Collected ChangeKind = "COLLECTED"   // money of the account has paid
	GivenUp   ChangeKind = "WRITTEN_OFF" // finance has given up the rest
)

// Change is one change of a receivable, with its posting.
type Change struct {
	Receivable ident.Receivable
	// Number counts the changes of the receivable from 1 on.
	Number int
	Kind   ChangeKind
	Amount int64
	// Posting is the id of its posting.
	Posting uuid.UUID
	// Effective is when it counts. Its posting may be effective later, if that month is closed.
	Effective time.Time
	At        time.Time
	By        platform.Author // zero for a collection from later money
	// Approval is the proposal of a write-off and who approved it; zero without four eyes.
	Approval platform.Approval
	Note     string
}

// Owed returns what is still owed, in minor units.
func (r Receivable) Owed() int64 { return r.Amount.Minor - r.Collected - r.WrittenOff }

// Open returns the first change of a new receivable, for the whole amount.
func (r Receivable) Open(now time.Time) (Receivable, Change) {
	r.State, r.Collected, r.WrittenOff, r.CreatedAt, r.UpdatedAt = Open, 0, 0, now, now
	return r, Change{Receivable: r.ID, Number: 1, Kind: Returned, Amount: r.Amount.Minor,
		Posting:   ledger.DerivedID(r.Transaction.UUID(), ledger.KindCollectionReturned, 0),
		Effective: r.ReturnedAt, At: now, By: r.By, Note: r.Note}
}

// Collect pays what is owed with a balance, or as much of it as there is. last is the number of the last change.
// It returns false if there is nothing to collect.
func (r Receivable) Collect(balance int64, last int, now time.Time) (Receivable, Change, bool) {
	amount := min(balance, r.Owed())
	if r.State != Open || amount <= 0 {
		return r, Change{}, false
	}
	r.Collected += amount
	if r.Owed() == 0 {
		r.State = Settled
	}
	return r.changed(Collected, ledger.KindReceivableCollected, amount, last, now)
}

// WriteOff gives up what is still owed. It returns false if the receivable is not open.
func (r Receivable) WriteOff(by platform.Author, note string, last int, now time.Time) (Receivable, Change, bool) {
	if r.State != Open {
		return r, Change{}, false
	}
	amount := r.Owed()
	r.WrittenOff, r.State = amount, WrittenOff
	r, c, ok := r.changed(GivenUp, ledger.KindReceivableWrittenOff, amount, last, now)
	c.By, c.Note = by, note
	return r, c, ok
}

func (r Receivable) changed(kind ChangeKind, posted ledger.Kind, amount int64, last int, now time.Time) (Receivable, Change, bool) {
	r.UpdatedAt = now
	n := last + 1
	return r, Change{Receivable: r.ID, Number: n, Kind: kind, Amount: amount, Posting: ledger.DerivedID(r.ID.UUID(), posted, n),
		Effective: now, At: now}, true
}

// PostingFor returns the posting of a change.
func (r Receivable) PostingFor(c Change) ledger.Posting {
	header := ledger.Header{ID: c.Posting, Platform: r.Platform, Effective: c.Effective, Memo: r.Reference}
	amount := money.Amount{Minor: c.Amount, Currency: r.Amount.Currency}
	switch c.Kind {
	case Returned:
		return ledger.CollectionReturned(header, r.Partner, r.Account, amount)
	case Collected:
		return ledger.ReceivableCollected(header, r.AccountPath, r.Account, amount)
	default:
		return ledger.ReceivableWrittenOff(header, r.Account, amount)
	}
}

// Event returns the event of a change, after which the receivable is as it is.
func (r Receivable) Event(id ident.Webhook, c Change) event.Event {
	name := event.ReceivableOpened
	switch c.Kind {
	case Collected:
		name = event.ReceivableCollected
	case GivenUp:
		name = event.ReceivableWrittenOff
	case Returned:
	}
	return event.Event{ID: id, Platform: r.Platform, Type: event.Receivable, Name: name, Subject: r.ID.UUID(), OccurredAt: c.At, Resource: r}
}

// LedgerAccount returns the account whose money pays.
func (r Receivable) LedgerAccount() ledger.Account {
	return ledger.Account{Platform: r.Platform, Path: r.AccountPath, Currency: r.Amount.Currency}
}

// CheckChanges returns an error unless the changes of a receivable, in their order, explain its amounts and its state.
func (r Receivable) CheckChanges(changes []Change) error {
	var collected, writtenOff int64
	state := Open
	for i, c := range changes {
		switch {
		case c.Number != i+1:
			return fmt.Errorf("its change number %d is missing", i+1)
		case (c.Kind == Returned) != (i == 0), i == 0 && c.Amount != r.Amount.Minor, c.Amount <= 0, state != Open:
			return fmt.Errorf("its change number %d, %s of %d, cannot follow from those before it", c.Number, c.Kind, c.Amount)
		case c.Kind == Collected:
			collected += c.Amount
		case c.Kind == GivenUp:
			writtenOff, state = c.Amount, WrittenOff
		}
		if collected+writtenOff == r.Amount.Minor && state == Open {
			state = Settled
		}
	}
	if len(changes) == 0 || collected != r.Collected || writtenOff != r.WrittenOff || state != r.State || r.Owed() < 0 ||
		state != Open && r.Owed() != 0 {
		return fmt.Errorf("it is %s with %d collected and %d written off of %d; its changes come to %s with %d and %d",
			r.State, r.Collected, r.WrittenOff, r.Amount.Minor, state, collected, writtenOff)
	}
	return nil
}
