package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"causeway/app/processes"
	"causeway/core/platform"
)

// maintenanceTask is a periodic task that any process can run. Running it twice is harmless.
type maintenanceTask struct {
	name     string
	interval time.Duration
	run      func(context.Context) error
	// delay is the time from the start to the first run.
	delay time.Duration
}

// maintenanceTasks returns the periodic tasks of the service.
func (a *app) maintenanceTasks() []maintenanceTask {
	of := func(run func(context.Context, platform.Environment) error, environment platform.Environment) func(context.Context) error {
		return func(ctx context.Context) error { return run(ctx, environment) }
	}
	return []maintenanceTask{
		{name: "advance balance snapshots", interval: 5 * time.Second, run: a.db.AdvanceBalanceSnapshots},
		{name: "make keys of the search", interval: 2 * time.Second, run: a.search.Index},
		{name: "create partitions", interval: time.Hour,
			run: func(ctx context.Context) error { return a.db.CreatePartitions(ctx, a.WebhookRetention) }},
		{name: "keep market rates", interval: time.Minute, run: a.accounting.KeepRates},
		{name: "keep safeguarding reports", interval: 5 * time.Minute, run: of(a.treasury.KeepDueReports, platform.Production)},
		{name: "announce overdrawn assets", interval: time.Minute, run: of(a.treasury.AnnounceOverdrafts, platform.Production)},
		// The rails of sandbox platforms are overdrawn by design, and their events are not urgent.
		{name: "keep safeguarding reports of sandboxes", interval: time.Hour, delay: time.Hour,
			run: of(a.treasury.KeepDueReports, platform.Sandbox)},
		{name: "announce overdrawn assets of sandboxes", interval: time.Hour, delay: time.Hour,
			run: of(a.treasury.AnnounceOverdrafts, platform.Sandbox)},
		{name: "collect receivables", interval: time.Minute, run: a.receivables.CollectDue},
		{name: "post recurring adjustments", interval: time.Minute, run: a.periods.PostRecurring},
		{name: "sample queues", interval: processes.SampleInterval, run: a.processes.TakeSample},
		{name: "count dead jobs", interval: 15 * time.Second, run: a.countDeadJobs},
		{name: "count waiting mails", interval: 15 * time.Second, run: a.countWaitingMails},
	}
}

// railTasks returns the periodic tasks of payments over connections. The other tasks do not delay them.
func (a *app) railTasks() []maintenanceTask {
	return []maintenanceTask{{name: "send queued payments", interval: 5 * time.Second, run: a.connectedRail.SendQueued}}
}

// processTasks returns what every process does, also one without workers.
func (a *app) processTasks() []maintenanceTask {
	return []maintenanceTask{{name: "renew the record of the process", interval: processes.RenewInterval, run: a.processes.Renew}}
}

// recordStop records that the process ends in order. Without a database it is seen as one that has vanished.
func (a *app) recordStop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := a.processes.Stop(ctx); err != nil {
		a.log.WithError(err).Debug("the end of the process is not recorded")
	}
}

// proofTasks returns the daily proof, which reads the ledgers of all production platforms.
func (a *app) proofTasks() []maintenanceTask {
	return []maintenanceTask{
		{name: "reconcile statements of partners", interval: time.Minute,
			run: func(ctx context.Context) error { return a.reconciliation.ReconcileQueued(ctx, a.db) }},
		{name: "prove rails", interval: 10 * time.Minute, delay: time.Minute, run: a.rails.ProveYesterday},
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
	for i, task := range tasks {
		next[i] = time.Now().Add(task.delay)
	}
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
