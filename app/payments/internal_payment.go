package payments

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

// internalRetryDelay is the delay before an undecided payment is checked again. Its decision settles
// both sides, unless it is made by an earlier release.
const internalRetryDelay = time.Second

// receiveInternal receives a payment from a customer to the UMA address of another customer of the
// same platform, like one from another provider, and returns its outcome. A repeated call is for the
// same payment, also if the customer has lost the address meanwhile. It returns false, and does nothing,
// if no customer of the platform has the address.
func (s *Service) receiveInternal(ctx context.Context, sent transaction.Transaction) (outcome ports.Outcome, onUs bool, err error) {
	to, err := s.customerByAddress(ctx, sent.Platform, sent.Destination.UMA)
	if err != nil {
		return ports.Outcome{}, false, err
	}
	arrived, err := s.Store.Transaction(ctx, sent.Platform, transaction.CounterpartID(sent.ID))
	if fault.Is(err, fault.TransactionNotFound) {
		if to == nil {
			return ports.Outcome{}, false, nil
		}
		arrived, err = s.createInternal(ctx, sent, *to)
	}
	if fault.IsFinal(err) {
		arrived, err = s.refuseInternal(ctx, sent)
	}
	if err != nil {
		return ports.Outcome{}, true, err
	}
	switch arrived.State.Status {
	case transaction.Completed:
		return ports.Outcome{Verdict: ports.Done}, true, nil
	case transaction.Pending:
		return ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: s.Clock.Now().Add(internalRetryDelay)}, true, nil
	default:
		return refusedInternally, true, nil
	}
}

var refusedInternally = ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed}

// refuseInternal ends a payment that cannot be received, unless another process has received it
// meanwhile: then it returns the received payment. It settles the refusal itself, because a process
// that lost its lease could receive the payment before the outcome is settled.
func (s *Service) refuseInternal(ctx context.Context, sent transaction.Transaction) (arrived transaction.Transaction, err error) {
	key, counterpart := transactionKey(sent), ports.TransactionKey{Platform: sent.Platform, ID: transaction.CounterpartID(sent.ID)}
	var w work
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		w = s.newWork()
		locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key, counterpart})
		if err != nil {
			return err
		}
		found, exists := locked[counterpart]
		arrived = found
		if t := locked[key]; !exists && t.State.InTransit() {
			arrived.State.Status = transaction.Failed
			if err := w.settlePayout(t, refusedInternally); err != nil {
				return err
			}
		}
		return w.Write(ctx, tx)
	})
	if err == nil {
		s.afterCommit(w)
	}
	return arrived, err
}

// checkInTransit locks a payment and returns an error if it is settled.
func checkInTransit(ctx context.Context, tx Tx, key ports.TransactionKey) error {
	locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
	if err == nil && !locked[key].State.InTransit() {
		err = fmt.Errorf("%s was settled meanwhile", key.ID)
	}
	return err
}

func (s *Service) createInternal(ctx context.Context, sent transaction.Transaction, to customer.Customer) (transaction.Transaction, error) {
	if err := to.CheckReady(); err != nil {
		return transaction.Transaction{}, err
	}
	payer, err := s.Store.Customer(ctx, sent.Platform, sent.Customer)
	if err != nil {
		return transaction.Transaction{}, err
	}
	in := UMAPayment{Sender: payer.UMAAddress, Receiver: to.UMAAddress, Currency: sent.Pricing.Received.Currency,
		Amount: sent.Pricing.Received.Minor}
	on, err := s.Store.Platform(ctx, sent.Platform)
	if err != nil {
		return transaction.Transaction{}, err
	}
	settings, err := in.checkCurrency(on)
	if err != nil {
		return transaction.Transaction{}, err
	}
	sender := ports.Counterparty{Address: in.Sender, Facts: payer.Facts()}
	maps.Copy(sender.Facts, sent.Payer)
	wanted := fieldNames(settings.RequiredCounterpartyFields)
	maps.DeleteFunc(sender.Facts, func(name, _ string) bool { return !slices.Contains(wanted, name) })
	return s.createUMAPayment(ctx, transaction.CounterpartID(sent.ID), in, to, sender, nil, sent)
}

// lockReceived locks incoming payments, each with the one of its sender if that is a customer of the same platform.
func lockReceived(ctx context.Context, tx Tx, received ...transaction.Transaction) (
	map[ports.TransactionKey]transaction.Transaction, error) {
	var keys []ports.TransactionKey
	for _, t := range received {
		if keys = append(keys, transactionKey(t)); !t.SentBy.IsZero() {
			keys = append(keys, senderKey(t))
		}
	}
	return tx.LockTransactions(ctx, keys)
}

// settleReceived adds a decision about an incoming payment, and the one that follows for its sender, if the sender
// is locked. It returns the first of them.
func (w work) settleReceived(d transaction.Decision, locked map[ports.TransactionKey]transaction.Transaction) (
	transaction.Decision, error) {
	decisions := []transaction.Decision{d}
	if sent, internal := locked[senderKey(d.Transaction)]; internal {
		var err error
		if decisions, err = d.WithSender(sent, w.Now); err != nil {
			return d, err
		}
	}
	for _, d := range decisions {
		w.Update(d)
	}
	return decisions[0], nil
}

// settleReceivedJobs is settle for incoming payments. decide returns nil if there is nothing to decide.
func (s *Service) settleReceivedJobs(ctx context.Context, jobs []ports.Job, received []transaction.Transaction,
	decide func(work, transaction.Transaction) (*transaction.Decision, error)) error {
	var done work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		done = s.newJobWork(jobs)
		locked, err := lockReceived(ctx, tx, received...)
		if err != nil {
			return err
		}
		for _, t := range received {
			d, err := decide(done, locked[transactionKey(t)])
			if err == nil && d != nil {
				_, err = done.settleReceived(*d, locked)
			}
			if err != nil {
				return err
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	if err == nil {
		s.afterCommit(done)
	}
	return err
}

func senderKey(received transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: received.Platform, ID: received.SentBy}
}
