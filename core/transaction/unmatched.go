package transaction

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
)

// Unmatched is money that lies in funding/unmatched, because nobody knew whose it is, or
// because it could not be sent back.
type Unmatched struct {
	// Receipt is the payment that arrived. Where the refund of a transaction failed it says
	// what was to be refunded, by which rail (or from which account) that was paid, and
	// since when it is owed, under the transaction's own id.
	Receipt Receipt
	// Of is the transaction whose refund failed; zero for a payment that no transaction had.
	Of ident.Transaction
	// Posting is the one that put it there, Kind what that one is, Since when it was
	// recorded.
	Posting uuid.UUID
	Kind    ledger.Kind
	Since   time.Time
	// Assignment is nil while nobody has decided.
	Assignment *Assignment
}

// Assignment is what was decided about unmatched money. Without a transaction it goes
// back to its payer; without an account it pays the transaction's quote.
type Assignment struct {
	Transaction ident.Transaction
	Account     ident.InternalAccount
	Note        string
	By          ident.Token
	At          time.Time
}

// NotSentBackBefore tells whether the money lies there because a rail would not take
// it back.
func (u Unmatched) NotSentBackBefore() bool { return u.Kind == ledger.KindRefundFailed }

// DepositID is the id of the transaction that deposits the money: that of the receipt,
// or one that follows from the transaction whose refund failed. So it is deposited once.
func (u Unmatched) DepositID() (id ident.Transaction) {
	if !u.Of.IsZero() {
		return beside("causeway lost refund\x00", u.Of.UUID())
	}
	ident.Set(&id, u.Receipt.ID.UUID())
	return id
}

// Open is nil while nobody has decided, else CONFLICT.
func (u Unmatched) Open() error {
	if u.Assignment == nil {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Assigned already",
		Message: "The payment " + u.Receipt.ID.String() + " was assigned on " + u.Assignment.At.UTC().Format(time.RFC3339) + "; that stands. Read the list of unmatched funds again."}
}

// assigned takes the money out of funding/unmatched. Its id follows from the receipt,
// and from what put it there: at most once each.
func (u Unmatched) assigned(to, note string, t ident.Transaction, now time.Time) ledger.Posting {
	nth := 0
	if u.NotSentBackBefore() {
		nth = 1
	}
	header := ledger.Header{ID: ledger.DerivedID(u.Receipt.ID.UUID(), ledger.KindUnmatchedAssigned, nth), Platform: u.Receipt.Platform,
		Transaction: t, Effective: now, Memo: note}
	return ledger.UnmatchedAssigned(header, to, u.Receipt.Amount)
}

// Found decides about unmatched money that is found to be this transaction's: as if it
// had arrived with its reference, on this day. Faults: CONFLICT when it is assigned
// already, is a refund, or the transaction does not wait for exactly this amount.
func (t Transaction) Found(u Unmatched, note string, now time.Time) (Decision, error) {
	if err := u.Open(); err != nil {
		return Decision{}, err
	}
	switch {
	case !u.Of.IsZero():
		return Decision{}, notWaiting("This is the refund of %s, which could not be sent. Assign the money to an account.", u.Of)
	case t.State != Initial || t.Shape().Funding != JustInTime:
		return Decision{}, notWaiting("The transaction %s is %s and waits for no payment. Assign the money to an account, or send it back.", t.ID, t.State)
	case !now.Before(t.ExpiresAt):
		return Decision{}, notWaiting("The quote of %s expired at %s. Assign the money to an account, or send it back.", t.ID, t.ExpiresAt.UTC().Format(time.RFC3339))
	case u.Receipt.Amount != t.Pricing.Sent:
		return Decision{}, notWaiting("The transaction %s waits for %s, and this payment is of %s. Assign the money to an account, or send it back.",
			t.ID, t.Pricing.Sent, u.Receipt.Amount)
	}
	next, err := t.move(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.Funded, next.InRail = u.Receipt.Amount, u.Receipt.Rail
	return t.setOut(next, now, u.assigned(ledger.FundingJIT, note, t.ID, now), next.converted(now))
}

func notWaiting(format string, args ...any) error {
	refused := fault.New(fault.Conflict, format, args...)
	refused.Reason = "Transaction does not wait for this payment"
	return refused
}

// Found is the deposit of unmatched money that is found to be for the account; it
// arrives there now. Fault: CONFLICT when it is assigned already.
func (in Inflow) Found(u Unmatched, note string, now time.Time) (Decision, error) {
	if err := u.Open(); err != nil {
		return Decision{}, err
	}
	d := in.transaction(now).credited(now)
	d.Postings = []ledger.Posting{u.assigned(in.Path, note, in.ID, now)}
	return d, nil
}

// GoesBack is the posting with which unmatched money is owed to its payer. It is sent
// once. Fault: CONFLICT when it is assigned already, or a rail has refused to take it
// back.
func (u Unmatched) GoesBack(note string, now time.Time) (ledger.Posting, error) {
	if err := u.Open(); err != nil {
		return ledger.Posting{}, err
	}
	if u.NotSentBackBefore() {
		return ledger.Posting{}, &fault.Error{Code: fault.Conflict, Reason: "Not to be sent back",
			Message: "The rail has refused to take this payment back. Assign it to an account."}
	}
	return u.assigned(ledger.TransitRefunds, note, ident.Transaction{}, now), nil
}
