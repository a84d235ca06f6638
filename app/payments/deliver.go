package payments

import (
	"context"
	"errors"
	"slices"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/core/transaction"
	"causeway/ports"
)

// deliver sends payouts and settles the outcomes.
func (s *Service) deliver(ctx context.Context, jobs []ports.Job) error {
	return s.callAbout(ctx, jobs, s.askDeliver)
}

func (s *Service) askDeliver(ctx context.Context, keys []ports.TransactionKey) (answers, error) {
	return s.askPayouts(ctx, keys, ports.CallSend, transaction.State.InTransit, s.send)
}

// checkReturns calls the rails to check whether delivered payouts were returned.
func (s *Service) checkReturns(ctx context.Context, jobs []ports.Job) error {
	return s.callAbout(ctx, jobs, s.askReturns)
}

func (s *Service) askReturns(ctx context.Context, keys []ports.TransactionKey) (answers, error) {
	return s.askPayouts(ctx, keys, ports.CallStatus, transaction.State.IsDelivered,
		func(ctx context.Context, rail ports.Rail, payouts []ports.Payout) []ports.Outcome {
			return rail.Status(ctx, payouts)
		})
}

// callAbout calls the rails about the transactions of jobs, outside of any unit of work, and settles the outcomes in one.
func (s *Service) callAbout(ctx context.Context, jobs []ports.Job,
	ask func(context.Context, []ports.TransactionKey) (answers, error)) error {
	replied, err := ask(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	return s.settleAnswers(ctx, jobs, replied)
}

// askPayouts calls the rails about payouts whose state is still the one that the call is for.
func (s *Service) askPayouts(ctx context.Context, keys []ports.TransactionKey, call ports.RailCall, applies func(transaction.State) bool,
	callRail func(context.Context, ports.Rail, []ports.Payout) []ports.Outcome) (answers, error) {
	began := time.Now()
	var payouts []ports.Payout
	if call == ports.CallSend {
		payouts, keys = s.due.take(keys)
	}
	if len(keys) > 0 {
		read, err := s.Store.Payouts(ctx, keys)
		if err != nil {
			return answers{}, err
		}
		payouts = append(payouts, read...)
	}
	payouts = dueOf(payouts, func(t transaction.Transaction) bool { return applies(t.State) })
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	if call == ports.CallSend {
		payouts = slices.DeleteFunc(payouts, func(p ports.Payout) bool { return s.refuseChanged(p.Transaction, outcomes) })
	}
	var started callSpans
	for i := range payouts {
		s.startCall(&started, began, call, &payouts[i].Transaction)
	}
	for i, o := range callRails(ctx, s, payouts, s.Rails.RailFor, platformOfPayout, callRail) {
		outcomes[transactionKey(payouts[i].Transaction)] = o
	}
	started.endCalls(outcomes)
	return answers{call: call, outcomes: outcomes, spans: started, applies: func(t transaction.Transaction) bool { return applies(t.State) },
		settle: work.settlePayout}, nil
}

// dueOf returns those of some payouts about which a rail is still to be called: the others were settled by an earlier attempt.
func dueOf(payouts []ports.Payout, due func(transaction.Transaction) bool) []ports.Payout {
	return slices.DeleteFunc(payouts, func(p ports.Payout) bool { return !due(p.Transaction) })
}

// refuseChanged reports whether the payee of a payment is not the one that was accepted. Then nothing is handed over: the
// payment waits until an operator has put the payee back, and its job is dead after the last attempt.
func (s *Service) refuseChanged(t transaction.Transaction, outcomes map[ports.TransactionKey]ports.Outcome) bool {
	if !t.PayeeChanged {
		return false
	}
	err := t.ErrPayeeChanged()
	s.Log.WithError(err).WithField("transaction", t.ID.String()).Error("a payment is not handed over")
	outcomes[transactionKey(t)] = ports.Outcome{Verdict: ports.Unknown, Text: err.Error()}
	return true
}

func platformOfPayout(p ports.Payout) ident.Platform { return p.Transaction.Platform }

// send delivers on-us payouts within the service and sends all others to the rail. The outcomes
// are in the order of the payouts; none if the rail returned another number than it was sent.
func (s *Service) send(ctx context.Context, rail ports.Rail, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	var external []ports.Payout
	var externalIndex []int
	for i, p := range payouts {
		if p.Transaction.Destination.UMA != "" && p.Transaction.UMA == nil {
			outcome, onUs, err := s.receiveInternal(ctx, p.Transaction)
			if err != nil {
				s.Log.WithError(err).WithField("transaction", p.Transaction.ID.String()).Warn("internal payment failed; will retry")
				outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
				if errors.Is(err, ports.ErrStoreUnavailable) { // not an attempt
					outcomes[i] = ports.Outcome{Verdict: ports.Waiting, RetryAt: s.Clock.Now().Add(defaultRetryDelay)}
				}
				continue
			}
			if onUs {
				outcomes[i] = outcome
				continue
			}
		}
		external, externalIndex = append(external, p), append(externalIndex, i)
	}
	if len(external) == 0 {
		return outcomes
	}
	sent := rail.Send(ctx, external)
	if len(sent) != len(external) {
		return nil // refused by callRail; on-us payouts are found when the call is repeated
	}
	for n, outcome := range sent {
		outcomes[externalIndex[n]] = outcome
	}
	return outcomes
}

// settlePayout decides what follows from a rail's outcome for a payout.
func (w work) settlePayout(t transaction.Transaction, o ports.Outcome) error {
	if o.TransactionHash != "" {
		t.DestinationHash = o.TransactionHash
	}
	if o.Accepted || o.Verdict == ports.Done || o.Verdict == ports.Returned {
		submitted, err := t.Submitted(w.Now)
		if err != nil {
			return err
		}
		submitted.Transaction.InReview = o.InReview
		if len(submitted.Events) > 0 {
			w.Update(submitted)
		}
		t = submitted.Transaction
	}
	if t.State.IsDelivered() {
		return w.settleDelivered(t, o)
	}
	switch o.Verdict {
	case ports.Done:
		if !o.RetryAt.IsZero() {
			w.EnqueueAt(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), o.RetryAt)
		}
		return w.update(t.Deliver(w.Now))
	case ports.Returned: // it was delivered first
		delivered, err := t.Deliver(w.Now)
		if err != nil {
			return err
		}
		w.Update(delivered)
		return w.update(withRejection(delivered.Transaction, o).Return(w.Now))
	case ports.Refused:
		return w.update(withRejection(t, o).Refuse(o.Reason, w.Now))
	case ports.CancelledByUser:
		return w.update(t.Cancel(w.Now))
	default: // waiting, or the rail could not be called
		w.expect(t, o)
		w.callAgain(t.Platform, t.DeliveryStep(), t.ID.UUID(), o)
		return nil
	}
}

// withRejection returns a payment with what its partner says, for which it is to be ended.
func withRejection(t transaction.Transaction, o ports.Outcome) transaction.Transaction {
	if o.NotCalled {
		return t
	}
	return t.WithRejection(o.Code, o.Text)
}

// expect records when a payout is expected to settle: as the rail says (by the partner, or by the schedule of its connection),
// or else by the usual schedule of the rail from its first call on.
func (w work) expect(t transaction.Transaction, o ports.Outcome) {
	expected := o.ExpectedAt
	if expected.IsZero() && t.ExpectedSettlementAt.IsZero() {
		expected = w.timetable.SettlesAt(settlement.DefaultFor(t.DestinationRail), w.Now)
	}
	w.wait(t, o, expected)
}

// wait records what an outcome says about a payment that is not settled.
func (w work) wait(t transaction.Transaction, o ports.Outcome, expected time.Time) {
	inReview := o.InReview || t.InReview && o.Verdict == ports.Unknown
	if d, changed := t.Wait(expected, inReview); changed {
		w.Update(d)
	}
}

// settleDelivered decides what follows from a rail's outcome for a payout that was delivered.
func (w work) settleDelivered(t transaction.Transaction, o ports.Outcome) error {
	switch {
	case o.Verdict == ports.Returned:
		return w.update(withRejection(t, o).Return(w.Now))
	case w.compare(ports.CallStatus, t, o, rail.Said{}):
		if !w.isNews(t) {
			w.EnqueueAt(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), w.Now.Add(contradictedDelay))
		}
	case o.Verdict != ports.Done:
		w.callAgain(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), o)
	case !o.RetryAt.IsZero() && !w.isNews(t):
		w.EnqueueAt(t.Platform, transaction.StepCheckReturn, t.ID.UUID(), o.RetryAt)
	}
	return nil
}
