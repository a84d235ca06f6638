package main

import (
	"context"
	"time"
)

// chore is something that has to be done now and then, by any process; doing it
// twice does no harm.
type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// chores are those of the service.
func (h *house) chores() []chore {
	return []chore{
		{"move checkpoints", 5 * time.Second, h.db.MoveCheckpoints},
		{"open months of the books", time.Hour, h.db.OpenMonths},
		{"forget old lookups", time.Minute, func(ctx context.Context) error {
			_, err := h.db.ForgetLookups(ctx, clock{}.Now().Add(-24*time.Hour))
			return err
		}},
		{"forget old answers", time.Hour, func(ctx context.Context) error {
			_, err := h.memory.Forget(ctx)
			return err
		}},
	}
}

// keepHouse does the chores until ctx ends.
func (h *house) keepHouse(ctx context.Context, chores []chore) {
	next := make([]time.Time, len(chores))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for i, c := range chores {
				if now.Before(next[i]) {
					continue
				}
				next[i] = now.Add(c.every)
				if err := c.do(ctx); err != nil && ctx.Err() == nil {
					h.log.WithError(err).WithField("chore", c.name).Warn("housekeeping failed and will be tried again")
				}
			}
		}
	}
}
