package payments

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// deliver hands payouts to their rails and settles what they answer.
func (p *Payments) deliver(ctx context.Context, jobs []ports.Job) error {
	return p.ask(ctx, jobs, transaction.Processing, ports.Rail.Send)
}

// watch asks the rails whether delivered payouts came back.
func (p *Payments) watch(ctx context.Context, jobs []ports.Job) error {
	return p.ask(ctx, jobs, transaction.Completed, ports.Rail.Status)
}

// ask puts the payouts of jobs that are still in a status to their rails, outside of
// any unit of work, and settles the answers in one.
func (p *Payments) ask(ctx context.Context, jobs []ports.Job, status transaction.Status,
	question func(ports.Rail, context.Context, []ports.Payout) []ports.Outcome) error {
	payouts, err := p.Store.Payouts(ctx, transactionKeys(jobs))
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for rail, batch := range p.byRail(payouts, status, outcomes) {
		for i, outcome := range question(rail, ctx, batch) {
			t := batch[i].Transaction
			outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = outcome
		}
	}
	return p.settle(ctx, jobs, outcomes, func(w *work, t transaction.Transaction, o ports.Outcome) error {
		if t.State.Status != status || t.State.Refund != transaction.NoRefund {
			return nil // settled by an earlier attempt
		}
		return w.answer(t, o)
	})
}

// answer decides about what a rail said of a payout.
func (w *work) answer(t transaction.Transaction, o ports.Outcome) error {
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		if t.State.Status == transaction.Processing {
			d, err = t.Deliver(w.now)
		}
		if !o.Again.IsZero() {
			w.later(t.Platform, transaction.StepWatch, t.ID.UUID(), o.Again)
		}
		if t.State.Status != transaction.Processing {
			return nil
		}
	case ports.Refused:
		d, err = t.Refuse(o.Reason, w.now)
	case ports.CancelledByUser:
		d, err = t.Cancel(w.now)
	case ports.CameBack:
		d, err = t.Return(w.now)
	default: // waiting, or the rail could not be asked
		step := transaction.StepDeliver
		if t.State.Status == transaction.Completed {
			step = transaction.StepWatch
		}
		again := o.Again
		if again.IsZero() {
			again = w.now.Add(5 * time.Second)
		}
		w.later(t.Platform, step, t.ID.UUID(), again)
		return nil
	}
	if err != nil {
		return err
	}
	w.add(d)
	return nil
}

// settle decides about all transactions of jobs in one unit of work, and ends the
// jobs in it.
func (p *Payments) settle(ctx context.Context, jobs []ports.Job, outcomes map[ports.TransactionKey]ports.Outcome,
	decide func(*work, transaction.Transaction, ports.Outcome) error) error {
	keys := make([]ports.TransactionKey, 0, len(outcomes))
	for key := range outcomes {
		keys = append(keys, key)
	}
	var done *work
	err := p.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		done = p.newWork()
		if len(keys) > 0 {
			locked, err := tx.LockTransactions(ctx, keys)
			if err != nil {
				return err
			}
			for key, t := range locked {
				if err := decide(done, t, outcomes[key]); err != nil {
					return err
				}
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return done.write(ctx, tx)
	})
	if err != nil {
		return err
	}
	p.follow(done)
	return nil
}

// noRail is how long a payout waits when nothing is connected that could carry it.
const noRail = time.Minute

// byRail sorts payouts that are in a status by the rail of their environment. For
// one that has no rail it notes that it could not be asked about.
func (p *Payments) byRail(payouts []ports.Payout, status transaction.Status, outcomes map[ports.TransactionKey]ports.Outcome) map[ports.Rail][]ports.Payout {
	sorted := map[ports.Rail][]ports.Payout{}
	for _, payout := range payouts {
		t := payout.Transaction
		if t.State.Status != status {
			continue
		}
		rail, err := p.Rails.RailFor(t.Platform)
		if err != nil {
			p.Log.WithError(err).WithField("transaction", t.ID.String()).Error("no rail for a payout")
			outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = ports.Outcome{Verdict: ports.Unknown, Again: p.Clock.Now().Add(noRail)}
			continue
		}
		sorted[rail] = append(sorted[rail], payout)
	}
	return sorted
}

func transactionKeys(jobs []ports.Job) []ports.TransactionKey {
	var keys []ports.TransactionKey
	for _, j := range jobs {
		for _, subject := range j.Subjects {
			key := ports.TransactionKey{Platform: j.Platform}
			ident.Set(&key.ID, subject)
			keys = append(keys, key)
		}
	}
	return keys
}
