package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// clockInterval is how often the clock is compared with the database's.
const clockInterval = 5 * time.Second

// outageInterval is how often it is tried again while the database is not available.
const outageInterval = time.Second

// watchClock compares the clock with the database's until ctx ends, and logs when the process
// begins to refuse postings and when it accepts them again.
func (a *app) watchClock(ctx context.Context) {
	tick := time.NewTicker(clockInterval)
	defer tick.Stop()
	var refused error
	for {
		a.measureClock(ctx)
		switch now := a.db.CheckClock(); {
		case now != nil && refused == nil:
			a.log.WithField("offset", a.db.ClockOffset().String()).Error("the clock differs from the database's by more than 2s; no payments " +
				"until it is corrected")
		case now == nil && refused != nil:
			a.log.WithField("offset", a.db.ClockOffset().String()).Info("the clock agrees with the database's again")
		}
		refused = a.db.CheckClock()
		if a.outage.isActive() {
			tick.Reset(outageInterval)
		} else {
			tick.Reset(clockInterval)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// measureClock measures once. After a failure the last measurement stays valid, because a process
// without a database posts nothing.
func (a *app) measureClock(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			a.log.WithField("stack", string(debug.Stack())).Errorf("panic while comparing the clock: %v", p)
		}
	}()
	err := a.db.MeasureClock(ctx)
	if err == nil {
		if lasted := a.outage.end(time.Now()); lasted > 0 {
			a.log.WithField("seconds", lasted.Round(time.Millisecond).Seconds()).Info("the database is available again")
		}
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", errSilentDatabase, err)
	}
	if ctx.Err() == nil {
		a.log.WithError(err).Warn("cannot compare the clock with the database's; will retry")
	}
}

// ready returns an error if this process cannot serve payments.
func (a *app) ready(ctx context.Context) error {
	if err := a.db.Ping(ctx); err != nil {
		return fmt.Errorf("the database does not respond: %w", err)
	}
	return a.db.CheckClock()
}

// registerClockMetric exports the difference of the clocks.
func (a *app) registerClockMetric() {
	a.metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "causeway_clock_offset_seconds",
		Help: "How far the clock of this process is ahead of the database's. Beyond 2 seconds it records no payments.",
	}, func() float64 { return a.db.ClockOffset().Seconds() }))
}
