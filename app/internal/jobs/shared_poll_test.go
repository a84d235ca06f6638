package jobs

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"causeway/core/transaction"
	"causeway/ports"
)

// countedPolls counts the calls of DueSteps. Refunds are due, unless it fails.
type countedPolls struct {
	ports.Jobs
	calls int
	err   error
}

func (c *countedPolls) DueSteps(_ context.Context, steps []transaction.Step, _ time.Time) ([]transaction.Step, error) {
	c.calls++
	if c.err != nil || !slices.Contains(steps, transaction.StepRefund) {
		return nil, c.err
	}
	return []transaction.Step{transaction.StepRefund}, nil
}

func TestSharePoll_WorkersShareStatements(t *testing.T) {
	t.Parallel()
	// Workers that look at the same time need one statement once all have looked, and each is given its own steps. An error is not
	// kept, and an answer not for longer than half an interval.
	synctest.Test(t, func(t *testing.T) {
		counted := &countedPolls{}
		jobs := SharePoll(counted)
		look := func(wantCalls int, want []transaction.Step, steps ...transaction.Step) {
			t.Helper()
			got, err := jobs.DueSteps(t.Context(), steps, time.Now())
			if !errors.Is(err, counted.err) || !slices.Equal(got, want) || counted.calls != wantCalls {
				t.Errorf("%v are due, %v, after %d statements; want %v after %d", got, err, counted.calls, want, wantCalls)
			}
		}
		refund := []transaction.Step{transaction.StepRefund}

		look(1, nil, transaction.StepDeliver)
		look(2, refund, transaction.StepRefund, transaction.StepExpire)
		look(2, nil, transaction.StepDeliver)
		time.Sleep(pollInterval / 2)
		look(3, nil, transaction.StepDeliver)
		look(3, refund, transaction.StepRefund)
		time.Sleep(pollInterval)
		counted.err = errors.New("no answer")
		look(4, nil, transaction.StepRefund)
		look(5, nil, transaction.StepDeliver)
		counted.err = nil
		look(6, refund, transaction.StepRefund)
	})
}

func TestSharePoll_WaitEndsWithContext(t *testing.T) {
	t.Parallel()
	// A worker does not wait longer for the statement of another one than its own may take.
	waiting := SharePoll(&countedPolls{}).(*sharedPoll)
	waiting.turn <- struct{}{}
	ended, end := context.WithCancel(t.Context())
	end()

	if _, err := waiting.DueSteps(ended, nil, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
