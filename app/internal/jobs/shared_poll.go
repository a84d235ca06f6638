package jobs

import (
	"context"
	"maps"
	"slices"
	"time"

	"causeway/core/transaction"
	"causeway/ports"
)

// sharedPoll is the jobs of several Workers of a process.
type sharedPoll struct {
	ports.Jobs
	turn  chan struct{} // holds a value while one asks
	known map[transaction.Step]bool
	due   []transaction.Step // of the known steps, when asked
	asked time.Time
}

// SharePoll returns the jobs for the Workers of one process. Those that look for due steps at about the same time share one statement:
// otherwise a quiet process with many Workers needs as many connections at once, and sends as many statements.
func SharePoll(jobs ports.Jobs) ports.Jobs {
	return &sharedPoll{Jobs: jobs, turn: make(chan struct{}, 1), known: map[transaction.Step]bool{}}
}

// DueSteps implements ports.Jobs. What it returns is up to half of pollInterval old.
func (p *sharedPoll) DueSteps(ctx context.Context, steps []transaction.Step, now time.Time) ([]transaction.Step, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	before := len(p.known)
	for _, step := range steps {
		p.known[step] = true
	}
	if len(p.known) > before || time.Since(p.asked) >= pollInterval/2 {
		due, err := p.Jobs.DueSteps(ctx, slices.Sorted(maps.Keys(p.known)), now)
		if err != nil {
			return nil, err
		}
		p.due, p.asked = due, time.Now()
	}
	return slices.DeleteFunc(slices.Clone(p.due), func(step transaction.Step) bool { return !slices.Contains(steps, step) }), nil
}
