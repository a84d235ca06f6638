package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// maintenanceTask is a periodic task that any process can run. Running it twice is harmless.
type maintenanceTask struct {
	name     string
	interval time.Duration
	run      func(context.Context) error
}

// maintenanceTasks returns the periodic tasks of the service.
func (a *app) maintenanceTasks() []maintenanceTask {
	return []maintenanceTask{
		{"advance balance snapshots", 5 * time.Second, a.db.AdvanceBalanceSnapshots},
		{"create partitions", time.Hour, func(ctx context.Context) error { return a.db.CreatePartitions(ctx, a.WebhookRetention) }},
		{"keep market rates", time.Minute, a.accounting.KeepRates},
		{"count dead jobs", 15 * time.Second, a.countDeadJobs},
		{"count waiting mails", 15 * time.Second, a.countWaitingMails},
	}
}

// runRecovered runs the task and returns a panic as an error.
func (t maintenanceTask) runRecovered(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return t.run(ctx)
}

// runTasks runs tasks, one at a time, until ctx ends.
func (a *app) runTasks(ctx context.Context, tasks []maintenanceTask) {
	next := make([]time.Time, len(tasks))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for i, task := range tasks {
				if now.Before(next[i]) {
					continue
				}
				next[i] = now.Add(task.interval)
				if err := task.runRecovered(ctx); err != nil && ctx.Err() == nil {
					a.log.WithError(err).WithField("task", task.name).Warn("maintenance task failed; will retry")
				}
			}
		}
	}
}
