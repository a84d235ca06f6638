// Package webhookstest is for tests alone: a queue of webhooks in memory, and the
// tests that it and the one in the database must both pass.
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

// Memory is a queue and log of webhooks that forgets everything when the test ends.
type Memory struct {
	mu        sync.Mutex
	endpoints map[ident.Platform]ports.Endpoint
	events    []*stored // by seq, which is the index plus one
	owners    map[ident.Platform]*memorySession
}

var (
	_ ports.WebhookQueue = (*Memory)(nil)
	_ ports.WebhookLog   = (*Memory)(nil)
)

type place int

const (
	nowhere place = iota
	queue
	backlog
)

type stored struct {
	event    event.Event
	body     []byte
	seq      int64
	place    place
	next     time.Time // zero: stands back
	since    time.Time
	tries    int
	attempts []event.Attempt
}

// NewMemory makes an empty one.
func NewMemory() *Memory {
	return &Memory{endpoints: map[ident.Platform]ports.Endpoint{}, owners: map[ident.Platform]*memorySession{}}
}

// SetEndpoint makes a sandbox platform or changes where it wants its events.
func (m *Memory) SetEndpoint(p ident.Platform, url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endpoints[p] = ports.Endpoint{URL: url, Environment: platform.Sandbox}
}

// Append stores events and queues them.
func (m *Memory) Append(events ...event.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		s := &stored{event: e, body: e.Envelope(nil), seq: int64(len(m.events) + 1), since: e.At}
		if m.endpoints[e.Platform].URL != "" {
			s.place = queue
		}
		m.events = append(m.events, s)
	}
}

// Break ends every session as a lost connection does.
func (m *Memory) Break() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, owner := range m.owners {
		owner.end()
	}
}

// Waiting counts the events that are still to be delivered.
func (m *Memory) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.events {
		if s.place != nowhere {
			n++
		}
	}
	return n
}

// Attend opens a session.
func (m *Memory) Attend(context.Context) (ports.WebhookSession, error) {
	return &memorySession{memory: m, lost: make(chan struct{})}, nil
}

type memorySession struct {
	memory *Memory
	once   sync.Once
	lost   chan struct{}
}

var errLost = errors.New("the session is lost")

// end is called with the memory locked.
func (s *memorySession) end() {
	s.once.Do(func() { close(s.lost) })
	maps.DeleteFunc(s.memory.owners, func(_ ident.Platform, owner *memorySession) bool { return owner == s })
}

func (s *memorySession) lock() error {
	s.memory.mu.Lock()
	select {
	case <-s.lost:
		s.memory.mu.Unlock()
		return errLost
	default:
		return nil
	}
}

func (s *memorySession) Survey(_ context.Context, now time.Time, skip, watch []ident.Platform, limit int) (ports.WebhookSurvey, error) {
	if err := s.lock(); err != nil {
		return ports.WebhookSurvey{}, err
	}
	defer s.memory.mu.Unlock()
	survey := ports.WebhookSurvey{Endpoints: map[ident.Platform]ports.Endpoint{}}
	for _, one := range s.memory.events {
		p := one.event.Platform
		if len(survey.Due) < limit && one.due(now) && !slices.Contains(skip, p) && !slices.Contains(survey.Due, p) {
			survey.Due = append(survey.Due, p)
		}
	}
	for _, p := range watch {
		if endpoint, ok := s.memory.endpoints[p]; ok {
			survey.Endpoints[p] = endpoint
		}
	}
	return survey, nil
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

func (s *memorySession) Exchange(_ context.Context, now time.Time, done []ports.WebhookDone, wants []ports.WebhookWant) ([]ports.WebhookDue, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.memory.mu.Unlock()
	for _, d := range done {
		s.memory.record(d)
	}
	for _, d := range done {
		if d.Event.Followed {
			s.memory.promote(d.Event.Platform, d.Event.Subject, now)
		}
	}
	due := make([]ports.WebhookDue, len(wants))
	for i, want := range wants {
		due[i] = s.memory.read(now, want)
	}
	return due, nil
}

func (s *memorySession) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.lost:
		return errLost
	}
}

func (s *memorySession) Close() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.end()
}

func (s *stored) due(now time.Time) bool {
	return s.place == queue || s.place == backlog && !s.next.IsZero() && !s.next.After(now)
}

// record changes only what is where the outcome says it is.
func (m *Memory) record(d ports.WebhookDone) {
	s := m.events[d.Event.Seq-1]
	if s.place == nowhere || (s.place == backlog) != d.Event.Retry {
		return
	}
	if d.Attempt != nil {
		a := *d.Attempt
		a.N = len(s.attempts) + 1
		s.attempts = append(s.attempts, a)
		s.tries++
	}
	s.place, s.next = backlog, d.Next
	if d.Fate == ports.Settled {
		s.place = nowhere
	}
}

func (m *Memory) promote(p ident.Platform, subject uuid.UUID, now time.Time) {
	if head := m.head(p, subject); head != nil && head.next.IsZero() {
		head.next = now
		if head.tries == 0 {
			head.since = now
		}
	}
}

// head is the first of a subject in the backlog.
func (m *Memory) head(p ident.Platform, subject uuid.UUID) *stored {
	i := slices.IndexFunc(m.events, func(s *stored) bool {
		return s.place == backlog && s.event.Platform == p && s.event.Subject == subject
	})
	if i < 0 {
		return nil
	}
	return m.events[i]
}

func (m *Memory) read(now time.Time, want ports.WebhookWant) ports.WebhookDue {
	due := ports.WebhookDue{Endpoint: m.endpoints[want.Platform]}
	var retries []*stored
	for _, s := range m.events {
		held := slices.Contains(want.Held, s.seq)
		switch {
		case s.event.Platform != want.Platform:
		case s.place == backlog && s.next.After(now):
			if due.NextRetry.IsZero() || s.next.Before(due.NextRetry) {
				due.NextRetry = s.next
			}
		case held:
		case s.place == queue && len(due.Fresh) < want.Fresh:
			due.Fresh = append(due.Fresh, m.queued(s))
		case s.place == backlog && s.due(now):
			retries = append(retries, s)
		}
	}
	slices.SortStableFunc(retries, func(a, b *stored) int { return a.next.Compare(b.next) })
	for _, s := range retries[:min(want.Retries, len(retries))] {
		due.Retries = append(due.Retries, m.queued(s))
	}
	return due
}

func (m *Memory) queued(s *stored) ports.QueuedWebhook {
	q := ports.QueuedWebhook{
		Platform: s.event.Platform, Seq: s.seq, ID: s.event.ID, Subject: s.event.Subject, Name: s.event.Name, Body: s.body,
		Created: s.event.At, Since: s.since, Attempts: len(s.attempts), Tries: s.tries, Retry: s.place == backlog,
	}
	if head := m.head(q.Platform, q.Subject); head != nil {
		q.Behind, q.Followed = head.seq < s.seq, q.Retry || head.seq > s.seq
	}
	return q
}
