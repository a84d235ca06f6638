package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// CancelTransaction cancels a transfer that a bank carries, unless it has left. Any number of calls cancel it once. Faults:
// TRANSACTION_NOT_FOUND, INVALID_INPUT, TRANSACTION_NOT_CANCELLABLE.
func (s *Service) CancelTransaction(ctx context.Context, p ident.Platform, id ident.Transaction, reason string,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if len(reason) > MaxNote {
		return transaction.Transaction{}, fault.Invalid(fault.Field{Field: "reason", Message: "must not be longer than 500 bytes"})
	}
	simulated, err := s.simulatedPayment(ctx, ports.TransactionKey{Platform: p, ID: id})
	if err != nil {
		return transaction.Transaction{}, err
	}
	return s.change(ctx, p, id, claim, func(ctx context.Context, tx Tx, w work, t transaction.Transaction) (transaction.Transaction, error) {
		return s.cancel(ctx, tx, w, t, reason, simulated)
	})
}

// ConfirmReceipt records that the platform has given the payer the receipt of a transaction: at a time or, if that is zero, now. Faults:
// TRANSACTION_NOT_FOUND, INVALID_INPUT.
func (s *Service) ConfirmReceipt(ctx context.Context, p ident.Platform, id ident.Transaction, at time.Time,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	return s.change(ctx, p, id, claim, func(ctx context.Context, tx Tx, w work, t transaction.Transaction) (transaction.Transaction, error) {
		confirmed, err := t.ConfirmReceipt(at, w.Now)
		if err != nil {
			return t, err
		}
		return confirmed, tx.ConfirmReceipt(ctx, confirmed)
	})
}

// change locks a transaction, changes it, and saves the response.
func (s *Service) change(ctx context.Context, p ident.Platform, id ident.Transaction, claim *ports.IdempotentRequest,
	change func(context.Context, Tx, work, transaction.Transaction) (transaction.Transaction, error)) (transaction.Transaction, error) {
	key := ports.TransactionKey{Platform: p, ID: id}
	var result transaction.Transaction
	var done work
	attempt := func(ctx context.Context, tx Tx) error {
		done = s.newWork()
		locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
		if err != nil {
			return err
		}
		t, exists := locked[key]
		if !exists {
			return fault.New(fault.TransactionNotFound, "There is no transaction %s.", id)
		}
		if result, err = change(ctx, tx, done, t); err != nil {
			return err
		}
		if err := tx.SaveResponse(ctx, claim, result, nil); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	}
	if err := uow.Repeat(func() error {
		err := ports.Do(ctx, s.Store, attempt)
		if errors.Is(err, ports.ErrRailPaymentRecorded) { // it leaves at this moment
			err = uow.ErrChanged
		}
		return err
	}); err != nil {
		return transaction.Transaction{}, err
	}
	s.afterCommit(done)
	return result, nil
}

// cancel stops the payment of a locked transaction and ends it. One that was cancelled before stays as it is.
func (s *Service) cancel(ctx context.Context, tx Tx, w work, t transaction.Transaction, reason string, simulated simulatedPayment) (
	transaction.Transaction, error) {
	if t.IsCancelled() {
		return t, nil
	}
	stops, err := t.Cancellable()
	if err != nil {
		return t, err
	}
	note := "cancelled by the platform"
	if reason != "" {
		note = fmt.Sprintf("%s: %s", note, reason)
	}
	stopped := false
	if s.canStop(t.Platform) {
		stopped, err = s.stop(ctx, tx, stops.Kind, t.Platform, t.ID.UUID(), stops.Rail, stops.Amount, note)
	} else {
		stopped = simulated.waits(s.Simulated, t, stops.Kind)
	}
	if err != nil {
		return t, err
	}
	if !stopped {
		return t, t.NotStopped()
	}
	d, err := t.Cancel(w.Now)
	if err != nil {
		return t, err
	}
	call := ports.CallSend
	if stops.Kind == rail.Collection {
		call = ports.CallCollect
	}
	w.RecordReply(ports.RailReply{Platform: t.Platform, Subject: t.ID.UUID(), Call: call, At: w.Now,
		Outcome: ports.Outcome{Verdict: ports.CancelledByUser, NotCalled: true, Text: note}})
	w.Update(d)
	return d.Transaction, nil
}

// simulatedPayment is what the simulated rail of a sandbox platform has to know of a transaction; empty on other platforms.
type simulatedPayment struct {
	payouts     []ports.Payout
	collections []ports.Collection
}

func (s *Service) simulatedPayment(ctx context.Context, key ports.TransactionKey) (p simulatedPayment, err error) {
	if s.canStop(key.Platform) {
		return p, nil
	}
	keys := []ports.TransactionKey{key}
	if p.payouts, err = s.Store.Payouts(ctx, keys); err == nil {
		p.collections, err = s.Store.Collections(ctx, keys)
	}
	return p, err
}

// waits reports whether the payment of a locked transaction can still be stopped.
func (p simulatedPayment) waits(on ports.SimulatedRail, t transaction.Transaction, kind rail.Kind) bool {
	if kind == rail.Collection {
		return len(p.collections) == 1 && on.WaitsToCollect(ports.Collection{Transaction: t, Account: p.collections[0].Account})
	}
	return len(p.payouts) == 1 && on.Waits(ports.Payout{Transaction: t, Account: p.payouts[0].Account})
}
