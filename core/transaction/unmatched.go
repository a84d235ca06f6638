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
	// RefundOf is the transaction whose refund failed; zero for a payment that no transaction had.
	RefundOf ident.Transaction
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

// IsFailedRefund tells whether the money lies there because a rail would not take
// it back.
func (u Unmatched) IsFailedRefund() bool { return u.Kind == ledger.KindRefundFailed }

// DepositID is the id of the transaction that deposits the money: that of the receipt,
// or one that follows from the transaction whose refund failed. So it is deposited once.
func (u Unmatched) DepositID() (id ident.Transaction) {
	if !u.RefundOf.IsZero() {
		return deriveID("causeway lost refund\x00", u.RefundOf.UUID())
	}
	ident.SetUUID(&id, u.Receipt.ID.UUID())
	return id
}

// CheckUnassigned is nil while nobody has decided, else CONFLICT.
func (u Unmatched) CheckUnassigned() error {
	if u.Assignment == nil {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Assigned already",
		Message: "The payment " + u.Receipt.ID.String() + " was assigned on " + u.Assignment.At.UTC().Format(time.RFC3339) + "; that stands. Read the list of unmatched funds again."}
}

// assignmentPosting takes the money out of funding/unmatched. Its id follows from the receipt,
// and from what put it there: at most once each.
func (u Unmatched) assignmentPosting(to, note string, t ident.Transaction, now time.Time) ledger.Posting {
	nth := 0
	if u.IsFailedRefund() {
		nth = 1
	}
	header := ledger.Header{ID: ledger.DerivedID(u.Receipt.ID.UUID(), ledger.KindUnmatchedAssigned, nth), Platform: u.Receipt.Platform,
		Transaction: t, Effective: now, Memo: note}
	return ledger.UnmatchedAssigned(header, to, u.Receipt.Amount)
}

// AssignUnmatched decides about unmatched money that is found to be this transaction's: as if it
// had arrived with its reference, on this day. Faults: CONFLICT when it is assigned
// already, is a refund, or the transaction does not wait for exactly this amount.
func (t Transaction) AssignUnmatched(u Unmatched, note string, now time.Time) (Decision, error) {
	if err := u.CheckUnassigned(); err != nil {
		return Decision{}, err
	}
	switch {
	case !u.RefundOf.IsZero():
		return Decision{}, errNotWaiting("This is the refund of %s, which could not be sent. Assign the money to an account.", u.RefundOf)
	case t.State != Initial || t.Flow().Funding != JustInTime:
		return Decision{}, errNotWaiting("The transaction %s is %s and waits for no payment. Assign the money to an account, or send it back.", t.ID, t.State)
	case !now.Before(t.ExpiresAt):
		return Decision{}, errNotWaiting("The quote of %s expired at %s. Assign the money to an account, or send it back.", t.ID, t.ExpiresAt.UTC().Format(time.RFC3339))
	case u.Receipt.Amount != t.Pricing.Sent:
		return Decision{}, errNotWaiting("The transaction %s waits for %s, and this payment is of %s. Assign the money to an account, or send it back.",
			t.ID, t.Pricing.Sent, u.Receipt.Amount)
	}
	next, err := t.transition(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.Funded, next.SourceAccount = u.Receipt.Amount, u.Receipt.PartnerAccount
	return t.dispatch(next, now, u.assignmentPosting(ledger.FundingJIT, note, t.ID, now), next.converted(now))
}

func errNotWaiting(format string, args ...any) error {
	refused := fault.New(fault.Conflict, format, args...)
	refused.Reason = "Transaction does not wait for this payment"
	return refused
}

// AssignUnmatched is the deposit of unmatched money that is found to be for the account; it
// arrives there now. Fault: CONFLICT when it is assigned already.
func (in IncomingPayment) AssignUnmatched(u Unmatched, note string, now time.Time) (Decision, error) {
	if err := u.CheckUnassigned(); err != nil {
		return Decision{}, err
	}
	d := in.newTransaction(now).credited(now)
	d.Postings = []ledger.Posting{u.assignmentPosting(in.AccountPath, note, in.ID, now)}
	return d, nil
}

// SendBack is the posting with which unmatched money is owed to its payer. It is sent
// once. Fault: CONFLICT when it is assigned already, or a rail has refused to take it
// back.
func (u Unmatched) SendBack(note string, now time.Time) (ledger.Posting, error) {
	if err := u.CheckUnassigned(); err != nil {
		return ledger.Posting{}, err
	}
	if u.IsFailedRefund() {
		return ledger.Posting{}, &fault.Error{Code: fault.Conflict, Reason: "Not to be sent back",
			Message: "The rail has refused to take this payment back. Assign it to an account."}
	}
	return u.assignmentPosting(ledger.TransitRefunds, note, ident.Transaction{}, now), nil
}
