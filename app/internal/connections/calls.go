package connections

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// AddCalls has the jobs run now that call about payments whose state has changed. A receipt that is sent back has no
// transaction, so its own job is made due; for the others one is added beside theirs.
func AddCalls(ctx context.Context, tx Tx, payments []rail.Payment, now time.Time, ids ports.IDs) error {
	receipts, others := map[ident.Platform][]uuid.UUID{}, map[ident.Platform][]uuid.UUID{}
	for _, p := range payments {
		if p.Kind == rail.SendBack {
			receipts[p.Platform] = append(receipts[p.Platform], p.ID)
		} else {
			others[p.Platform] = append(others[p.Platform], p.ID)
		}
	}
	for platform, subjects := range receipts {
		if err := tx.HastenJobs(ctx, platform, transaction.StepSendBack, subjects, now); err != nil {
			return err
		}
	}
	var jobs []ports.Job
	for platform, subjects := range others {
		jobs = append(jobs, ports.Job{ID: ids.New(now), Platform: platform, Step: transaction.StepCallAgain, Due: now, Subjects: subjects})
	}
	return tx.AddJobs(ctx, jobs)
}

// callOne calls the adapter of a connection about items of platforms.
func (c *Connections) callOne(name string, platforms []ident.Platform, call func(ports.Rail) []ports.Outcome) []ports.Outcome {
	same := func(o ports.Outcome) []ports.Outcome { return slices.Repeat([]ports.Outcome{o}, len(platforms)) }
	l, exists := c.named(name)
	switch {
	case !exists:
		return same(ports.Outcome{Verdict: ports.Waiting, Text: "this process does not know the connection " + name,
			RetryAt: c.Clock.Now().Add(notOpenDelay)})
	case l.Adapter == nil:
		return same(ports.Outcome{Verdict: ports.Waiting, Text: fmt.Sprintf("the connection %s cannot be opened", name),
			RetryAt: c.Clock.Now().Add(notOpenDelay)})
	}
	began := c.Clock.Now()
	outcomes := c.callRecovered(name, len(platforms), func() []ports.Outcome { return call(l.bounded) })
	if outcomes == nil {
		outcomes = same(ports.Outcome{Verdict: ports.Unknown})
	}
	if c.Called != nil {
		took, of := c.Clock.Now().Sub(began), map[ident.Platform][]ports.Outcome{}
		for i, p := range platforms {
			of[p] = append(of[p], outcomes[i])
		}
		for p, its := range of {
			c.Called(p, name, its, took)
		}
	}
	return outcomes
}

// callRecovered returns the outcomes of an adapter; nil if it panics, or does not return one for each item.
func (c *Connections) callRecovered(name string, items int, call func() []ports.Outcome) (outcomes []ports.Outcome) {
	log := c.Log.WithField("connection", name)
	defer func() {
		if p := recover(); p != nil {
			log.WithField("stack", string(debug.Stack())).Errorf("the adapter panicked: %v; will retry", p)
			outcomes = nil
		}
	}()
	if outcomes = call(); len(outcomes) != items {
		log.Errorf("the adapter returned %d outcomes for %d items; will retry", len(outcomes), items)
		return nil
	}
	return outcomes
}
