package main

import (
	"context"
	"time"
)

// maintenanceTask is something that has to be done now and then, by any process; doing it
// twice does no harm.
type maintenanceTask struct {
	name     string
	interval time.Duration
	run      func(context.Context) error
}

// maintenanceTasks are those of the service.
func (h *app) maintenanceTasks() []maintenanceTask {
	return []maintenanceTask{
		{"move checkpoints", 5 * time.Second, h.db.AdvanceBalanceSnapshots},
		{"open months of the books", time.Hour, h.db.CreateMonthPartitions},
		{"forget old lookups", time.Minute, func(ctx context.Context) error {
			_, err := h.db.DeleteLookups(ctx, systemClock{}.Now().Add(-24*time.Hour))
			return err
		}},
		{"forget old answers", time.Hour, func(ctx context.Context) error {
			_, err := h.idempotency.DeleteExpired(ctx)
			return err
		}},
	}
}

// runMaintenance does the chores until ctx ends.
func (h *app) runMaintenance(ctx context.Context, chores []maintenanceTask) {
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
				next[i] = now.Add(c.interval)
				if err := c.run(ctx); err != nil && ctx.Err() == nil {
					h.log.WithError(err).WithField("chore", c.name).Warn("housekeeping failed and will be tried again")
				}
			}
		}
	}
}
