package transaction

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ledger"
)

// Unmatched is money in funding/unmatched: a payment without a known owner, or a refund that could not
// be paid.
type Unmatched struct {
	// Receipt is the payment that was received. For a failed refund it has the amount, rail and
	// time of the refund, and the id of the transaction.
	Receipt Receipt
	// SourceAccount is the ledger path of the source of the money: that of the receipt's rail, or of
	// the internal account that paid for the transaction.
	SourceAccount string
	// RefundOf is the transaction whose refund failed; zero for a payment without a transaction.
	RefundOf ident.Transaction
	// FundedBy is the receipt that paid for RefundOf; zero if an account did, or a collection.
	FundedBy ident.Receipt
	// Posting is the id of the posting that credited funding/unmatched, Kind its kind, and Since its
	// recorded time.
	Posting uuid.UUID
	Kind    ledger.Kind
	Since   time.Time
	// Assignment is nil until the money is assigned.
	Assignment *Assignment
}

// Assignment is the decision about unmatched money. Without a transaction it is returned to its payer;
// without an account it funds the quote of the transaction.
type Assignment struct {
	Transaction ident.Transaction
	Account     ident.InternalAccount
	Note        string
	By          platform.Author
	Approval    platform.Approval
	At          time.Time
}

// IsFailedRefund reports whether the money is unmatched because its refund failed.
func (u Unmatched) IsFailedRefund() bool { return u.Kind == ledger.KindRefundFailed }

// DepositID returns the id of the transaction that deposits the money. It is derived from the receipt,
// or from the transaction whose refund failed, so that the money is deposited once.
func (u Unmatched) DepositID() (id ident.Transaction) {
	if !u.RefundOf.IsZero() {
		return deriveID("causeway lost refund\x00", u.RefundOf.UUID())
	}
	id.SetUUID(u.Receipt.ID.UUID())
	return id
}

// IsSentBack reports whether the money goes, or went, back to its payer.
func (a Assignment) IsSentBack() bool { return a.Account.IsZero() && a.Transaction.IsZero() }

// SentBack is the receipt that is sent back if the money is assigned to its payer: each is sent back once, under an id that no rail has
// had. That of a failed refund is the one that had paid for the transaction. It is zero if a rail has refused to send back the money
// itself, or nothing was received for it.
func (u Unmatched) SentBack() ident.Receipt {
	switch {
	case !u.IsFailedRefund():
		return u.Receipt.ID
	case u.RefundOf.IsZero():
		return ident.Receipt{}
	}
	return u.FundedBy
}

// CheckUnassigned returns a CONFLICT fault if the money is already assigned.
func (u Unmatched) CheckUnassigned() error {
	if u.Assignment == nil {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Already assigned",
		Message: "The payment " + u.Receipt.ID.String() + " was assigned on " + u.Assignment.At.UTC().Format(time.RFC3339) +
			". List the unmatched funds again."}
}

// assignmentPosting returns the posting that moves the money out of funding/unmatched. Its id is
// derived from the receipt and from the kind of the posting that credited the account, so that it is
// posted at most once.
func (u Unmatched) assignmentPosting(to, note string, t ident.Transaction, now time.Time) ledger.Posting {
	sequence := 0
	if u.IsFailedRefund() {
		sequence = 1
	}
	header := ledger.Header{ID: ledger.DerivedID(u.Receipt.ID.UUID(), ledger.KindUnmatchedAssigned, sequence), Platform: u.Receipt.Platform,
		Transaction: t, Effective: now, Memo: note}
	return ledger.UnmatchedAssigned(header, to, u.Receipt.Amount)
}

// AssignUnmatched funds this transaction with unmatched money, as if it had been received now with the
// reference. Faults: CONFLICT if the money is already assigned or is a refund, or if the transaction
// does not wait for exactly this amount; those of CheckParties.
func (t Transaction) AssignUnmatched(u Unmatched, p Parties, note string, now time.Time) (Decision, error) {
	if err := u.CheckUnassigned(); err != nil {
		return Decision{}, err
	}
	switch {
	case !u.RefundOf.IsZero():
		return Decision{}, errNotWaiting("This is the refund of %s, which could not be sent. Assign the money to an account, or send it back "+
			"again.", u.RefundOf)
	case t.isChallenged():
		return Decision{}, errNotWaiting("The payer of %s has not authorised it. Assign the money once it has, before the quote expires.", t.ID)
	case t.Type != Outgoing || t.State != Initial || t.Flow().Funding != JustInTime:
		return Decision{}, errNotWaiting("The transaction %s is %s and does not wait for a payment. Assign the money to an account, or send it "+
			"back.", t.ID, t.State)
	case !now.Before(t.ExpiresAt):
		return Decision{}, errNotWaiting("The quote of %s expired at %s. Assign the money to an account, or send it back.", t.ID,
			t.ExpiresAt.UTC().Format(time.RFC3339))
	case u.Receipt.Amount != t.Pricing.Sent:
		return Decision{}, errNotWaiting("The transaction %s waits for %s, and this payment is of %s. Assign the money to an account, or send "+
			"it back.",
			t.ID, t.Pricing.Sent, u.Receipt.Amount)
	}
	if err := t.CheckParties(p); err != nil {
		return Decision{}, err
	}
	next, err := t.transition(Fund, "", now)
	if err != nil {
		return Decision{}, err
	}
	next.fundedBy(u.Receipt)
	return t.dispatch(next, now, u.assignmentPosting(ledger.FundingJIT, note, t.ID, now), next.converted(now))
}

func errNotWaiting(format string, args ...any) error {
	refused := fault.New(fault.Conflict, format, args...)
	refused.Reason = "Transaction does not wait for this payment"
	return refused
}

// AssignUnmatched deposits unmatched money in the account now. Fault: CONFLICT if it is already
// assigned.
func (in IncomingPayment) AssignUnmatched(u Unmatched, note string, now time.Time) (Decision, error) {
	if err := u.CheckUnassigned(); err != nil {
		return Decision{}, err
	}
	in.Reference = ledger.MemoOf(in.Reference) // a reference is found by the memo of its postings
	deposit := in.newTransaction(now)
	deposit.SourceAccount = u.SourceAccount
	d := deposit.credited(now)
	d.Postings = []ledger.Posting{u.assignmentPosting(in.AccountPath, note, in.ID, now)}
	return d, nil
}

// BeforeSendBack is what is known before unmatched money is sent back to its payer.
type BeforeSendBack struct {
	// PayerHasIt: a rail has refused to send back the receipt SentBack before, or it was taken back.
	PayerHasIt bool
	// SaidPaid: the partner said after the refund had failed that it was paid, and nobody has settled that with it.
	SaidPaid bool
}

// SendBack returns the posting that opens the refund of unmatched money to its payer. Fault: CONFLICT if the money is already assigned, or
// cannot be sent back.
func (u Unmatched) SendBack(before BeforeSendBack, note string, now time.Time) (ledger.Posting, error) {
	if err := u.CheckUnassigned(); err != nil {
		return ledger.Posting{}, err
	}
	refuse := func(message string) (ledger.Posting, error) {
		return ledger.Posting{}, &fault.Error{Code: fault.Conflict, Reason: "Cannot be sent back", Message: message}
	}
	switch {
	case before.PayerHasIt || u.SentBack().IsZero():
		return refuse("The rail refused to return this payment, or its payer has it already. Assign it to an account.")
	case before.SaidPaid:
		return refuse("The partner has said since that the refund which failed was paid, so its payer may have the money. Ask the partner; " +
			"if it was not paid, discard the contradiction that stands about it, or assign the money to an account.")
	}
	return u.assignmentPosting(ledger.TransitRefunds, note, ident.Transaction{}, now), nil
}
