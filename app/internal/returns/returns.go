// Package returns records collections that a payer's bank has taken back: the receivable, its postings and events.
// Finance records them by hand, and payments when a partner reports them.
package returns

import (
	"context"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Recorder records returns.
type Recorder struct {
	Accounts Accounts
	IDs      ports.IDs
}

// Record opens the receivable of a transaction, whose collection is posted against the partner in full, and collects what
// the customer has. If there is a receivable it is returned, and is not new. If the money is unmatched, because its refund has failed,
// it goes back to the partner instead, and the details are zero: nobody owes it. Faults: TRANSACTION_NOT_FOUND; those of
// receivable.CheckReturnable and of returnedAs, which gets the locked transaction. It returns uow.ErrChanged if the refund fails meanwhile.
func (r Recorder) Record(ctx context.Context, tx Tx, w *uow.Work, key ports.TransactionKey,
	returnedAs func(transaction.Transaction) (receivable.Return, error)) (details ports.ReceivableDetails, isNew bool, err error) {
	keys := []ports.TransactionKey{key}
	failed, err := LockFailedRefunds(ctx, tx, keys)
	if err != nil {
		return details, false, err
	}
	locked, err := tx.LockTransactions(ctx, keys)
	if err != nil {
		return details, false, err
	}
	t, found := locked[key]
	if !found {
		return details, false, fault.New(fault.TransactionNotFound, "No transaction has the id %s.", key.ID)
	}
	existing, found, err := tx.LockReceivableOf(ctx, key.Platform, key.ID)
	if err != nil || found {
		return existing, false, err
	}
	returned, err := returnedAs(t)
	if err != nil {
		return details, false, err
	}
	if err := receivable.CheckReturnable(t, returned.ReturnedAt); err != nil {
		return details, false, err
	}
	u, unmatched, err := failed.Of(t)
	switch {
	case err != nil:
		return details, false, err
	case unmatched && u.Assignment == nil:
		v := transaction.NewReceiptReversal(u.Receipt, returned.PartnerID, returned.ReasonCode, returned.Note, returned.ReturnedAt, w.Now)
		v.By = returned.By
		return details, true, TakeBackRefund(ctx, tx, w, v, u, t)
	case unmatched && u.Assignment.IsSentBack():
		return details, false, nil
	}
	if details, err = r.Open(ctx, tx, w, t, t.Pricing.Sent.Currency, returned,
		func(opened receivable.Receivable) receivable.Receivable { return opened }); err != nil {
		return details, false, err
	}
	return details, true, r.Collect(ctx, tx, w, &details)
}

// Open opens a receivable for money of a transaction in a currency that was taken back; as changes what is special to it.
func (r Recorder) Open(ctx context.Context, tx Tx, w *uow.Work, t transaction.Transaction, currency money.Currency,
	returned receivable.Return,
	as func(receivable.Receivable) receivable.Receivable) (details ports.ReceivableDetails, err error) {
	owedBy, err := r.payingAccount(ctx, tx, t, currency, w.Now)
	if err != nil {
		return details, err
	}
	opened, change := as(receivable.New(ident.NewReceivable(r.IDs.New, w.Now), t, owedBy, returned)).Open(w.Now)
	if err := tx.CreateReceivable(ctx, opened); err != nil {
		return details, err
	}
	err = r.Add(ctx, tx, w, &details, opened, change)
	return details, err
}

// payingAccount returns the account whose money pays: the one that was credited or, for others and for an embedded
// wallet, from which only its owner can pay, the account of the customer in the currency that was taken back. It is
// opened if there is none.
func (r Recorder) payingAccount(ctx context.Context, tx Tx, t transaction.Transaction, currency money.Currency,
	now time.Time) (account.Internal, error) {
	if t.Type == transaction.Incoming && !ledger.IsWallet(t.DestinationAccount) {
		return r.Accounts.InternalAccount(ctx, t.Platform, t.Destination.InternalAccount)
	}
	opened, err := account.NewRefundAccount(ident.NewInternalAccount(r.IDs.New, now), t.Platform, t.Customer, currency, now)
	if err != nil {
		return opened, err
	}
	return uow.EnsureAccount(ctx, tx, opened)
}

// Add writes a change with its posting and its event, and puts it into the details.
func (r Recorder) Add(ctx context.Context, tx Tx, w *uow.Work, details *ports.ReceivableDetails, changed receivable.Receivable,
	c receivable.Change) error {
	details.Receivable, details.Changes = changed, append(details.Changes, c)
	w.Post(changed.PostingFor(c))
	w.Emit(changed.Event(ident.NewWebhook(r.IDs.New, w.Now), c))
	return tx.AddReceivableChange(ctx, changed, c)
}

// Collect pays what is owed with the balance of the account, as far as it goes. The receivable must be locked.
func (r Recorder) Collect(ctx context.Context, tx Tx, w *uow.Work, details *ports.ReceivableDetails) error {
	balances, err := w.LockBalances(ctx, tx, []ledger.Account{details.LedgerAccount()})
	if err != nil {
		return err
	}
	return r.collect(ctx, tx, w, details, balances[details.LedgerAccount()])
}

// Refund decides on the refund of a transaction whose money was taken back, and adds the decision to the work: the refund is
// paid to the account that owes the money, and pays at once what is owed. If that was written off, the refund fails, so that
// the money is unmatched and finance decides. It returns false if the transaction has no receivable.
func (r Recorder) Refund(ctx context.Context, tx Tx, w *uow.Work, t transaction.Transaction) (bool, error) {
	details, owed, err := tx.LockReceivableOf(ctx, t.Platform, t.ID)
	if err != nil || !owed {
		return false, err
	}
	if details.State == receivable.WrittenOff {
		failed, err := t.RefundFailed(w.Now)
		if err == nil {
			w.Update(failed)
		}
		return true, err
	}
	paid, err := t.RefundPaid(details.AccountPath, w.Now)
	if err != nil {
		return true, err
	}
	w.Update(paid)
	return true, r.collect(ctx, tx, w, &details, t.Refundable().Minor)
}

// collect pays what is owed with an amount that the account has, or gets by the same work.
func (r Recorder) collect(ctx context.Context, tx Tx, w *uow.Work, details *ports.ReceivableDetails, available int64) error {
	changed, change, ok := details.Receivable.Collect(available, len(details.Changes), w.Now.Truncate(time.Microsecond))
	if !ok {
		return nil
	}
	if err := tx.UpdateReceivable(ctx, changed); err != nil {
		return err
	}
	return r.Add(ctx, tx, w, details, changed, change)
}
