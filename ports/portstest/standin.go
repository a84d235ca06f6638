package portstest

import (
	"sync"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// Hands is a clock that a test moves.
type Hands struct {
	mu  sync.Mutex
	now time.Time
}

var _ ports.Clock = (*Hands)(nil)

// NewHands stands at a moment.
func NewHands(at time.Time) *Hands { return &Hands{now: at} }

// Now is where the test has moved it.
func (h *Hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Move moves it on.
func (h *Hands) Move(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

// Everywhere is one rail for every platform.
type Everywhere struct{ ports.Rail }

// RailFor is the rail.
func (e Everywhere) RailFor(ident.Platform) (ports.Rail, error) { return e.Rail, nil }
