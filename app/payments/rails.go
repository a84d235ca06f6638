package payments

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/plaintext"
	"causeway/core/transaction"
	"causeway/ports"
)

// noRailDelay is how long a payment waits at least while no rail is connected for its platform.
const noRailDelay = time.Minute

// callRails calls the rails, or the chains, of the platforms of items, each rail once and all at the same
// time, and returns one outcome for each item. An item whose rail cannot be called has the outcome Unknown.
func callRails[R comparable, T any](ctx context.Context, s *Service, items []T, railFor func(ident.Platform) (R, error),
	platformOf func(T) ident.Platform,
	call func(context.Context, R, []T) []ports.Outcome) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(items))
	byRail := map[R][]int{}
	for i, item := range items {
		rail, err := railFor(platformOf(item))
		if err != nil {
			s.Log.WithError(err).WithField("platform", platformOf(item).String()).Error("no rail for a payment; will retry")
			outcomes[i] = ports.Outcome{Verdict: ports.Unknown, RetryAt: s.Clock.Now().Add(noRailDelay)}
			continue
		}
		byRail[rail] = append(byRail[rail], i)
	}
	var calls sync.WaitGroup
	for rail, indexes := range byRail {
		calls.Go(func() {
			batch := make([]T, len(indexes))
			for n, i := range indexes {
				batch[n] = items[i]
			}
			replies, err := callRail(ctx, rail, batch, call)
			if err != nil {
				s.Log.WithError(err).Error("rail call failed; will retry")
			}
			for n, i := range indexes {
				outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
				if err == nil {
					outcomes[i] = storable(replies[n])
				}
			}
		})
	}
	calls.Wait()
	return outcomes
}

// storable returns an outcome whose texts, which are those of a partner, can be stored.
func storable(o ports.Outcome) ports.Outcome {
	o.PartnerID = plaintext.Clean(o.PartnerID, transaction.MaxPartnerID)
	o.Code, o.Text = plaintext.Clean(o.Code, transaction.MaxPartnerCode), plaintext.Clean(o.Text, transaction.MaxPartnerText)
	return o
}

// callRail calls one rail. It returns an error if the rail panics, or does not return one outcome for
// each item: then none of its outcomes can be trusted.
func callRail[R, T any](ctx context.Context, rail R, items []T, call func(context.Context, R, []T) []ports.Outcome) (
	outcomes []ports.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	outcomes = call(ctx, rail, items)
	if len(outcomes) != len(items) {
		return nil, fmt.Errorf("the rail returned %d outcomes for %d items", len(outcomes), len(items))
	}
	return outcomes, nil
}

// defaultRetryDelay is the delay before the next call of a rail that did not name one.
const defaultRetryDelay = 5 * time.Second

// callAgain continues the running job of a subject with one that calls the rail again: at the time
// that the rail named if the outcome is Waiting, else after a delay that grows with each attempt,
// until the job is dead. If what is running is a job of news, one of the step calls again at the time that
// the rail has named, so this one only has to reach the rail.
func (w work) callAgain(p ident.Platform, step transaction.Step, subject uuid.UUID, o ports.Outcome) {
	running := w.running[subject]
	if running.Step == transaction.StepCallAgain {
		if o.Verdict == ports.Waiting || w.repeated[subject] {
			return
		}
		w.repeated[subject], step = true, transaction.StepCallAgain
	}
	next := ports.Job{Platform: p, Step: step, Due: o.RetryAt, Trace: w.traces[subject]}
	switch {
	case o.Verdict != ports.Waiting:
		next.Attempts = max(running.Attempts, 1)
		next.Due, next.Dead = w.retry.Next(next.Attempts, w.Now)
		if next.Due.Before(o.RetryAt) {
			next.Due = o.RetryAt
		}
		next.LastError = cmp.Or(o.Text, "the rail could not be called, or did not report an outcome")
	case o.RetryAt.IsZero():
		next.Due = w.Now.Add(defaultRetryDelay)
	}
	w.Continue(running, subject, next)
}
