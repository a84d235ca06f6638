package portstest

import (
	"sync"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// FakeClock is a clock that a test moves.
type FakeClock struct {
	mu  sync.Mutex
	now time.Time
}

var _ ports.Clock = (*FakeClock)(nil)

// NewFakeClock stands at a moment.
func NewFakeClock(at time.Time) *FakeClock { return &FakeClock{now: at} }

// Now returns where the test has moved it.
func (h *FakeClock) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Advance moves it on.
func (h *FakeClock) Advance(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

// SingleRail is one rail for every platform.
type SingleRail struct{ ports.Rail }

// RailFor returns the rail.
func (e SingleRail) RailFor(ident.Platform) (ports.Rail, error) { return e.Rail, nil }
