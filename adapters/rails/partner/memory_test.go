package partner_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"causeway/ports"
	"causeway/ports/portstest"
)

// memoryEvents keeps events in memory.
type memoryEvents struct {
	mu     sync.Mutex
	events []storedEvent
	err    error // of every call
}

type storedEvent struct {
	connection string
	ports.PartnerEvent
}

func (m *memoryEvents) SavePartnerEvents(_ context.Context, connection string, _ time.Time,
	events []ports.PartnerEvent) (differing []ports.PartnerEvent, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	for _, e := range events {
		if known := m.find(connection, e.ID); known == nil {
			e.Number = int64(len(m.events) + 1)
			m.events = append(m.events, storedEvent{connection, e})
		} else if !bytes.Equal(known.Body, e.Body) {
			differing = append(differing, known.PartnerEvent)
		}
	}
	return differing, nil
}

func (m *memoryEvents) find(connection, id string) *storedEvent {
	for i, known := range m.events {
		if known.connection == connection && known.ID == id {
			return &m.events[i]
		}
	}
	return nil
}

func (m *memoryEvents) PartnerEvents(_ context.Context, connection string, after int64,
	limit int) (events []ports.PartnerEvent, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if e.connection == connection && e.Number > after && len(events) < limit {
			events = append(events, e.PartnerEvent)
		}
	}
	return events, m.err
}

func TestMemoryEvents_Port(t *testing.T) {
	t.Parallel()
	portstest.PartnerEvents(t, &memoryEvents{}, now)
}

// worldClock is a clock that is moved.
type worldClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *worldClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *worldClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
