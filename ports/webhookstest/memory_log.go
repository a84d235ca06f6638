package webhookstest

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// Deliveries lists as the port says.
func (m *Memory) Deliveries(_ context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var items []ports.Delivery
	for _, s := range m.events {
		if d := s.delivery(); s.event.Platform == p && matches(d, f) {
			d.Body = nil
			items = append(items, d)
		}
	}
	slices.SortFunc(items, func(a, b ports.Delivery) int {
		if f.Ascending {
			return a.ID.Compare(b.ID)
		}
		return b.ID.Compare(a.ID)
	})
	if f.Limit > 0 && len(items) > f.Limit {
		return ports.DeliveryPage{Items: items[:f.Limit], More: true}, nil
	}
	return ports.DeliveryPage{Items: items}, nil
}

// Delivery finds one.
func (m *Memory) Delivery(_ context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.events {
		if s.event.Platform == p && s.event.ID == id {
			return s.delivery(), nil
		}
	}
	return ports.Delivery{}, fault.New(fault.NotFound, "There is no webhook %s.", id)
}

// Redeliver queues again.
func (m *Memory) Redeliver(_ context.Context, p ident.Platform, which ports.Redelivery, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.events {
		d := s.delivery()
		if s.event.Platform != p || s.place != nowhere || which.Status != "" && which.Status != d.Status ||
			len(which.IDs) > 0 && !slices.Contains(which.IDs, d.ID) || !inside(d.Created, which.Created) {
			continue
		}
		s.place, s.next, s.since, s.tries = backlog, now, now, 0
		n++
	}
	return n, nil
}

// Endpoint is where the platform wants its events.
func (m *Memory) Endpoint(_ context.Context, p ident.Platform) (ports.Endpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.endpoints[p]; ok {
		return e, nil
	}
	return ports.Endpoint{}, fault.New(fault.NotFound, "There is no platform %s.", p)
}

// Record stores an event that was sent outside the queue.
func (m *Memory) Record(_ context.Context, e event.Event, body []byte, a event.Attempt) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range m.events {
		if known.event.ID == e.ID && known.event.Platform == e.Platform {
			a.N = len(known.attempts) + 1
			known.attempts = append(known.attempts, a)
			return nil
		}
	}
	a.N = 1
	m.events = append(m.events, &stored{event: e, body: body, seq: int64(len(m.events) + 1), attempts: []event.Attempt{a}})
	return nil
}

func (s *stored) delivery() ports.Delivery {
	d := ports.Delivery{
		ID: s.event.ID, Platform: s.event.Platform, Type: s.event.Type, Name: s.event.Name, Subject: s.event.Subject,
		Created: s.event.At, Body: s.body, Attempts: slices.Clone(s.attempts),
	}
	if s.place == backlog {
		d.Next = s.next
	}
	var latest *event.Attempt
	if n := len(s.attempts); n > 0 {
		latest = &s.attempts[n-1]
	}
	d.Status = event.StatusOf(s.place != nowhere, latest)
	return d
}

func matches(d ports.Delivery, f ports.DeliveryFilter) bool {
	return (f.After.IsZero() || f.Ascending == (d.ID.Compare(f.After) > 0) && d.ID != f.After) &&
		(f.Status == "" || f.Status == d.Status) && (f.Type == "" || f.Type == d.Type) && (f.Name == "" || f.Name == d.Name) &&
		(f.Subject == uuid.Nil || f.Subject == d.Subject) && inside(d.Created, f.Created)
}

func inside(at time.Time, span ports.Span) bool {
	return (span.From.IsZero() || !at.Before(span.From)) && (span.To.IsZero() || !at.After(span.To))
}
