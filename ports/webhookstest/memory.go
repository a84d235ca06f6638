// Package webhookstest is for tests: it has an in-memory webhook queue, and the conformance
// tests for it and for the one in the database.
package webhookstest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// MemoryQueue is an in-memory webhook queue and log.
type MemoryQueue struct {
	mu        sync.Mutex
	endpoints map[ident.Platform]ports.Endpoint
	events    []*storedEvent // by seq, which is the index plus one
	owners    map[ident.Platform]*memorySession
	fetches   int
}

var (
	_ ports.WebhookQueue = (*MemoryQueue)(nil)
	_ ports.WebhookLog   = (*MemoryQueue)(nil)
)

type queueState int

const (
	notQueued queueState = iota
	inQueue
	inBacklog
)

type storedEvent struct {
	event            event.Rendered
	seq              int64
	state            queueState
	nextAttempt      time.Time // zero: deferred
	dueSince         time.Time
	attemptsSinceDue int
	attempts         []event.Attempt
}

// NewMemoryQueue returns an empty queue.
func NewMemoryQueue() *MemoryQueue {
	return &MemoryQueue{endpoints: map[ident.Platform]ports.Endpoint{}, owners: map[ident.Platform]*memorySession{}}
}

// SetEndpoint adds a sandbox platform or changes its endpoint.
func (m *MemoryQueue) SetEndpoint(p ident.Platform, url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endpoints[p] = ports.Endpoint{Platform: p, URL: url, Environment: platform.Sandbox, Signatures: platform.DefaultWebhookSignatures}
}

// Append stores events and queues them. It returns those that can be handed over.
func (m *MemoryQueue) Append(events ...event.Event) (committed []ports.CommittedWebhook) {
	since := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		previous := int64(0)
		for _, s := range m.events {
			if s.state == inQueue && s.event.Platform == e.Platform && s.event.Subject == e.Subject {
				previous = s.seq
			}
		}
		s := &storedEvent{event: e.Rendered(e.Envelope()), seq: int64(len(m.events) + 1), dueSince: e.OccurredAt}
		if m.endpoints[e.Platform].URL != "" {
			s.state = inQueue
		}
		m.events = append(m.events, s)
		if s.state == inQueue {
			committed = append(committed, ports.CommittedWebhook{QueuedWebhook: m.queuedWebhook(s), Previous: previous,
				Endpoint: m.endpoints[e.Platform], Since: since})
		}
	}
	return committed
}

// DropSessions ends every session, as a lost connection does.
func (m *MemoryQueue) DropSessions() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, owner := range m.owners {
		owner.end()
	}
}

// Fetches returns how often due events were read.
func (m *MemoryQueue) Fetches() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fetches
}

// Pending returns the number of events in the queue.
func (m *MemoryQueue) Pending() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.events {
		if s.state != notQueued {
			n++
		}
	}
	return n
}

// Waits reports whether an event is in the backlog and not due.
func (m *MemoryQueue) Waits(id ident.Webhook, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.events, func(s *storedEvent) bool { return s.event.ID == id && s.state == inBacklog && !s.due(now) })
}

// OpenSession opens a session.
func (m *MemoryQueue) OpenSession(context.Context) (ports.WebhookSession, error) {
	return &memorySession{memory: m, lost: make(chan struct{})}, nil
}

type memorySession struct {
	memory *MemoryQueue
	once   sync.Once
	lost   chan struct{}
}

var errSessionLost = errors.New("the session is lost")

// end is called with the queue locked.
func (s *memorySession) end() {
	s.once.Do(func() { close(s.lost) })
	maps.DeleteFunc(s.memory.owners, func(_ ident.Platform, owner *memorySession) bool { return owner == s })
}

func (s *memorySession) lock() error {
	s.memory.mu.Lock()
	select {
	case <-s.lost:
		s.memory.mu.Unlock()
		return errSessionLost
	default:
		return nil
	}
}

func (s *memorySession) Scan(_ context.Context, now time.Time, skip, watch []ident.Platform, limit int) (ports.WebhookScan, error) {
	if err := s.lock(); err != nil {
		return ports.WebhookScan{}, err
	}
	defer s.memory.mu.Unlock()
	scan := ports.WebhookScan{Endpoints: map[ident.Platform]ports.Endpoint{}}
	for _, one := range s.memory.events {
		p := one.event.Platform
		if len(scan.Due) < limit && one.due(now) && !slices.Contains(skip, p) && !slices.Contains(scan.Due, p) {
			scan.Due = append(scan.Due, p)
		}
	}
	for _, p := range watch {
		if endpoint, ok := s.memory.endpoints[p]; ok {
			scan.Endpoints[p] = endpoint
		}
	}
	return scan, nil
}

func (s *memorySession) Claim(_ context.Context, platforms []ident.Platform) (map[ident.Platform]ports.Endpoint, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.memory.mu.Unlock()
	claimed := map[ident.Platform]ports.Endpoint{}
	for _, p := range platforms {
		endpoint, exists := s.memory.endpoints[p]
		if s.memory.owners[p] == nil && exists {
			s.memory.owners[p], claimed[p] = s, endpoint
		}
	}
	return claimed, nil
}

func (s *memorySession) Release(_ context.Context, platforms []ident.Platform) error {
	if err := s.lock(); err != nil {
		return err
	}
	defer s.memory.mu.Unlock()
	for _, p := range platforms {
		delete(s.memory.owners, p)
	}
	return nil
}

func (s *memorySession) Exchange(_ context.Context, now time.Time, results []ports.WebhookResult,
	fetches []ports.WebhookFetch) ([]ports.DueWebhooks, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.memory.mu.Unlock()
	for _, d := range results {
		s.memory.record(d)
	}
	for _, d := range results {
		if d.Event.HasSuccessor {
			s.memory.promote(d.Event.Platform, d.Event.Subject, now)
		}
	}
	due := make([]ports.DueWebhooks, len(fetches))
	s.memory.fetches += len(fetches)
	for i, fetch := range fetches {
		due[i] = s.memory.read(now, fetch)
	}
	return due, nil
}

func (s *memorySession) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.lost:
		return errSessionLost
	}
}

func (s *memorySession) Close() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.end()
}

func (s *storedEvent) due(now time.Time) bool {
	return s.state == inQueue || s.state == inBacklog && !s.nextAttempt.IsZero() && !s.nextAttempt.After(now)
}

// record records an outcome unless it was recorded before.
func (m *MemoryQueue) record(d ports.WebhookResult) {
	s := m.events[d.Event.Seq-1]
	if s.state == notQueued || (s.state == inBacklog) != d.Event.InBacklog {
		return
	}
	if d.Attempt != nil {
		a := *d.Attempt
		a.Number = len(s.attempts) + 1
		s.attempts = append(s.attempts, a)
		s.attemptsSinceDue++
	}
	s.state, s.nextAttempt = inBacklog, d.RetryAt
	if d.Outcome == ports.WebhookSettled {
		s.state = notQueued
	}
}

func (m *MemoryQueue) promote(p ident.Platform, subject uuid.UUID, now time.Time) {
	if head := m.firstInBacklog(p, subject); head != nil && head.nextAttempt.IsZero() {
		head.nextAttempt = now
		if head.attemptsSinceDue == 0 {
			head.dueSince = now
		}
	}
}

// firstInBacklog returns the first event of a subject in the backlog; nil if there is none.
func (m *MemoryQueue) firstInBacklog(p ident.Platform, subject uuid.UUID) *storedEvent {
	i := slices.IndexFunc(m.events, func(s *storedEvent) bool {
		return s.state == inBacklog && s.event.Platform == p && s.event.Subject == subject
	})
	if i < 0 {
		return nil
	}
	return m.events[i]
}

func (m *MemoryQueue) read(now time.Time, fetch ports.WebhookFetch) ports.DueWebhooks {
	due := ports.DueWebhooks{Endpoint: m.endpoints[fetch.Platform]}
	var retries []*storedEvent
	for _, s := range m.events {
		inFlight := slices.Contains(fetch.InFlight, s.seq)
		switch {
		case s.event.Platform != fetch.Platform:
		case s.state == inBacklog && s.nextAttempt.After(now):
			if due.NextRetry.IsZero() || s.nextAttempt.Before(due.NextRetry) {
				due.NextRetry = s.nextAttempt
			}
		case inFlight:
		case s.state == inQueue && len(due.Fresh) < fetch.Fresh:
			due.Fresh = append(due.Fresh, m.queuedWebhook(s))
		case s.state == inBacklog && s.due(now):
			retries = append(retries, s)
		}
	}
	slices.SortStableFunc(retries, func(a, b *storedEvent) int { return a.nextAttempt.Compare(b.nextAttempt) })
	for _, s := range retries[:min(fetch.Retries, len(retries))] {
		due.Retries = append(due.Retries, m.queuedWebhook(s))
	}
	return due
}

func (m *MemoryQueue) queuedWebhook(s *storedEvent) ports.QueuedWebhook {
	q := ports.QueuedWebhook{
		Platform: s.event.Platform, Seq: s.seq, ID: s.event.ID, Subject: s.event.Subject, Name: s.event.Name, Body: s.event.Body,
		Trace: s.event.Trace, Created: s.event.OccurredAt, DueSince: s.dueSince, Attempts: len(s.attempts), AttemptsSinceDue: s.attemptsSinceDue,
		InBacklog: s.state == inBacklog,
	}
	if head := m.firstInBacklog(q.Platform, q.Subject); head != nil {
		q.Blocked, q.HasSuccessor = head.seq < s.seq, q.InBacklog || head.seq > s.seq
	}
	return q
}
