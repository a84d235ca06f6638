// Package processes shows how the service runs: its processes, what waits on a platform, and what has waited over time.
package processes

import (
	"context"
	"errors"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// RenewInterval is how often a process renews its record. One that was not renewed for goneAfter has vanished.
const (
	RenewInterval = 15 * time.Second
	goneAfter     = 4 * RenewInterval
	// keptFor is how long the record of a process is kept after it was renewed last.
	keptFor = 7 * 24 * time.Hour
)

// Store keeps the records of processes.
type Store interface {
	// SaveProcess stores the record of a process, and deletes those that were renewed last before a time.
	SaveProcess(ctx context.Context, p ports.Process, deleteBefore time.Time) error
	// Processes returns all records, those that were renewed last first.
	Processes(ctx context.Context) ([]ports.Process, error)
	WebhookBacklog(ctx context.Context, p ident.Platform) (ports.WebhookBacklog, error)
	// HourFigures returns the figures of hours that begin at these times.
	HourFigures(ctx context.Context, p ident.Platform, hours []time.Time) ([]ports.HourFigures, error)
	// TakeSamples counts the queues of all platforms, unless they were in the same minute.
	TakeSamples(ctx context.Context, now time.Time) error
	// AddRailCalls adds calls to those of other processes. They are in the order in which rows are locked.
	AddRailCalls(ctx context.Context, calls []ports.Sample) error
	// SampleTimes returns the minutes since a time in which queues were counted, oldest first.
	SampleTimes(ctx context.Context, from time.Time) ([]time.Time, error)
	// EachSample calls each with what was not zero of a platform since a time, oldest first.
	EachSample(ctx context.Context, p ident.Platform, from time.Time, each func(ports.Sample)) error
}

// Service holds the use cases of one process.
type Service struct {
	Store
	clock   ports.Clock
	process ports.Process
	calls   railCalls
}

// New returns a Service for a process that starts now.
func New(store Store, clock ports.Clock, ids ports.IDs, host, version string, ownershipLimits []string) *Service {
	now := clock.Now()
	return &Service{Store: store, clock: clock, process: ports.Process{ID: ids.New(now), Host: host, Version: version,
		OwnershipLimits: ownershipLimits, StartedAt: now}}
}

// LastHours returns the figures of the last hours of a platform, the present one included, oldest first.
func (s *Service) LastHours(ctx context.Context, p ident.Platform, n int) ([]ports.HourFigures, error) {
	hours := make([]time.Time, n)
	for i := range hours {
		hours[i] = s.clock.Now().UTC().Truncate(time.Hour).Add(time.Duration(i-n+1) * time.Hour)
	}
	return s.HourFigures(ctx, p, hours)
}

// Renew records that the process runs.
func (s *Service) Renew(ctx context.Context) error { return s.save(ctx, s.process) }

// Stop records that the process ends, and its last calls.
func (s *Service) Stop(ctx context.Context) error {
	p := s.process
	p.StoppedAt = s.clock.Now()
	return errors.Join(s.save(ctx, p), s.storeCalls(ctx))
}

func (s *Service) save(ctx context.Context, p ports.Process) error {
	p.SeenAt = s.clock.Now()
	return s.SaveProcess(ctx, p, p.SeenAt.Add(-keptFor))
}

// State is whether a process runs.
type State string

// The states.
const (
	Running  State = "RUNNING"
	Stopped  State = "STOPPED"
	Vanished State = "VANISHED"
)

// StateOf returns whether a process runs: it has vanished if it did not end in order and is no longer renewed.
func StateOf(p ports.Process, now time.Time) State {
	switch {
	case !p.StoppedAt.IsZero():
		return Stopped
	case now.Sub(p.SeenAt) > goneAfter:
		return Vanished
	}
	return Running
}
