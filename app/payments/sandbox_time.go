package payments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// ExpireQuote ends a quote that waits to be paid or executed, as if its time were over: for the tests of sandbox platforms, and one that
// nobody can execute any more. Faults: QUOTE_NOT_FOUND, and CONFLICT if it does not wait.
func (s *Service) ExpireQuote(ctx context.Context, p ident.Platform, id ident.Quote,
	claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	var expired quote.WithStatus
	var done work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		done = s.newWork()
		done.Now = done.Now.Truncate(time.Microsecond)
		key := ports.QuoteKey{Platform: p, ID: id}
		locked, err := tx.LockQuotes(ctx, []ports.QuoteKey{key})
		if err != nil {
			return err
		}
		state, exists := locked[key]
		if !exists {
			return fault.New(fault.QuoteNotFound, "There is no quote %s.", id)
		}
		d, err := state.Transaction.ExpireEarly(done.Now)
		if err != nil {
			return err
		}
		if d.Transaction.ExpiresAt.Before(state.Quote.ExpiresAt) {
			if state.Quote.ExpiresAt, err = d.Transaction.ExpiresAt, tx.ExpireQuoteEarly(ctx, p, id, d.Transaction.ExpiresAt); err != nil {
				return err
			}
		}
		done.Update(d)
		expired = state.Quote.Of(d.Transaction)
		if err := tx.SaveResponse(ctx, claim, expired, nil); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return quote.WithStatus{}, err
	}
	s.afterCommit(done)
	return expired, nil
}

// SettleNow makes the simulated rail answer about a payment of a sandbox platform at once what it would answer after all its
// delays. Faults: TRANSACTION_NOT_FOUND, and CONFLICT if the payment waits for no rail.
func (s *Service) SettleNow(ctx context.Context, p ident.Platform, id ident.Transaction,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	return s.simulate(ctx, p, id, claim, simulation{
		rail: s.Simulated.WithoutDelays(), steps: []transaction.Step{transaction.StepPull, transaction.StepCollect, transaction.StepDeliver,
			transaction.StepRefund},
		refusal: "so nothing waits to be settled",
	})
}

// ReturnNow makes the beneficiary's bank return a payout of a sandbox platform, as one does after days. Faults:
// TRANSACTION_NOT_FOUND, and CONFLICT if no bank has the money.
func (s *Service) ReturnNow(ctx context.Context, p ident.Platform, id ident.Transaction,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	return s.simulate(ctx, p, id, claim, simulation{
		rail: s.Simulated.Returning(), steps: []transaction.Step{transaction.StepCheckReturn},
		refusal: "so there is no payout that a bank could return",
	})
}

// TakeBackNow makes the payer's bank take back what was collected for a payment of a sandbox platform, as one does after days.
// Faults: TRANSACTION_NOT_FOUND, and CONFLICT if nothing was collected that can still be taken back.
func (s *Service) TakeBackNow(ctx context.Context, p ident.Platform, id ident.Transaction,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	return s.simulate(ctx, p, id, claim, simulation{
		rail: s.Simulated.Returning(), steps: []transaction.Step{transaction.StepCheckCollection},
		refusal: "so there is no collection that a bank could take back",
	})
}

// simulation is what a rail is to say about a payment now.
type simulation struct {
	rail    ports.Rail
	steps   []transaction.Step // the first of them that the payment is in
	refusal string             // why there is nothing to say, after the state of the payment
}

// simulate asks the rail of a simulation about a payment, and settles the answer as that of the payment's own rail. The job that
// waits finds the payment settled, and ends.
func (s *Service) simulate(ctx context.Context, p ident.Platform, id ident.Transaction, claim *ports.IdempotentRequest,
	sim simulation) (transaction.Transaction, error) {
	key := ports.TransactionKey{Platform: p, ID: id}
	read, err := s.Store.TransactionsByKey(ctx, []ports.TransactionKey{key})
	if err != nil {
		return transaction.Transaction{}, err
	}
	t, exists := read[key]
	if !exists {
		return transaction.Transaction{}, fault.New(fault.TransactionNotFound, "There is no transaction %s.", id)
	}
	errNothing := fault.New(fault.Conflict, "The transaction %s is %s, %s.", id, t.State, sim.refusal)
	steps := t.RailSteps()
	i := slices.IndexFunc(sim.steps, func(step transaction.Step) bool { return slices.Contains(steps, step) })
	if i < 0 {
		return t, errNothing
	}
	if sim.steps[i] == transaction.StepCheckCollection {
		if _, taken, err := s.Store.ReceivableOf(ctx, p, id); err != nil || taken || !t.State.IsFinal() {
			return t, cmp.Or(err, error(errNothing))
		}
	}
	simulated := *s
	simulated.Rails = onlyRail{sim.rail}
	replied, err := simulated.askNow(ctx, sim.steps[i], key, errNothing)
	if err != nil {
		return t, err
	}
	var settled *transaction.Transaction
	settle := replied.settle
	replied.settle = func(w work, t transaction.Transaction, o ports.Outcome) error {
		if settled = nil; o.Verdict == ports.Waiting || o.Verdict == ports.Unknown {
			return fault.New(fault.Conflict, "The transaction %s waits for something other than a simulated rail. Try again later.", id)
		}
		if err := settle(w, t, o); err != nil {
			return err
		}
		w.decideAtWrite(func(ctx context.Context, tx Tx) error {
			settled = new(w.Latest(t))
			return tx.SaveResponse(ctx, claim, *settled, nil)
		})
		return nil
	}
	if err := s.settleAnswers(ctx, nil, replied); err != nil {
		return t, err
	}
	if settled == nil { // its job was faster
		return t, errNothing
	}
	return *settled, nil
}

// askNow is ask for one transaction, all of which is decided in the unit of work that settles it: a collection that is taken back is
// recorded there too, or refused with an error if it was before.
func (s *Service) askNow(ctx context.Context, step transaction.Step, key ports.TransactionKey, errNothing error) (answers, error) {
	keys := []ports.TransactionKey{key}
	if step != transaction.StepCheckCollection {
		return s.ask(ctx, step, keys)
	}
	return s.askCollections(ctx, keys, ports.CallCollectionStatus, transaction.Transaction.HasCollected,
		func(w work, t transaction.Transaction, o ports.Outcome) error {
			if o.Verdict != ports.Returned {
				return errNothing
			}
			w.decideAtWrite(func(ctx context.Context, tx Tx) error {
				isNew, err := s.addReturn(ctx, tx, w, key, o)
				if err == nil && !isNew {
					err = errNothing
				}
				return err
			})
			return nil
		}, ports.Rail.CollectionStatus)
}

// ask calls the rails about transactions in one step.
func (s *Service) ask(ctx context.Context, step transaction.Step, keys []ports.TransactionKey) (answers, error) {
	switch step {
	case transaction.StepCollect:
		return s.askCollect(ctx, keys)
	case transaction.StepPull:
		return s.askPull(ctx, keys)
	case transaction.StepDeliver:
		return s.askDeliver(ctx, keys)
	case transaction.StepCheckReturn:
		return s.askReturns(ctx, keys)
	case transaction.StepRefund:
		return s.askRefunds(ctx, keys)
	case transaction.StepCheckCollection:
		return s.askCollectionReturns(ctx, keys)
	default:
		return answers{}, fmt.Errorf("no rail is called in the step %s", step)
	}
}

// onlyRail is one rail for every platform.
type onlyRail struct{ ports.Rail }

// RailFor implements ports.Rails.
func (r onlyRail) RailFor(ident.Platform) (ports.Rail, error) { return r.Rail, nil }

// Carries implements ports.Rails.
func (onlyRail) Carries(rail.Route) error { return nil }
