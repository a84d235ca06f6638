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

// Deliveries implements ports.WebhookLog.
func (m *MemoryQueue) Deliveries(_ context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
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

// Delivery implements ports.WebhookLog.
func (m *MemoryQueue) Delivery(_ context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.events {
		if s.event.Platform == p && s.event.ID == id {
			return s.delivery(), nil
		}
	}
	return ports.Delivery{}, fault.New(fault.NotFound, "There is no webhook %s.", id)
}

// Redeliver implements ports.WebhookLog.
func (m *MemoryQueue) Redeliver(_ context.Context, p ident.Platform, selection ports.Redelivery, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.events {
		d := s.delivery()
		if s.event.Platform != p || s.state != notQueued || selection.Status != "" && selection.Status != d.Status ||
			len(selection.IDs) > 0 && !slices.Contains(selection.IDs, d.ID) || !selection.Created.Contains(d.Created) {
			continue
		}
		s.state, s.nextAttempt, s.dueSince, s.attemptsSinceDue = inBacklog, now, now, 0
		n++
	}
	return n, nil
}

// Endpoint implements ports.WebhookLog.
func (m *MemoryQueue) Endpoint(_ context.Context, p ident.Platform) (ports.Endpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.endpoints[p]; ok {
		return e, nil
	}
	return ports.Endpoint{}, fault.New(fault.NotFound, "There is no platform %s.", p)
}

// Record implements ports.WebhookLog.
func (m *MemoryQueue) Record(_ context.Context, e event.Rendered, a event.Attempt) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, stored := range m.events {
		if stored.event.ID == e.ID && stored.event.Platform == e.Platform {
			a.Number = len(stored.attempts) + 1
			stored.attempts = append(stored.attempts, a)
			return nil
		}
	}
	a.Number = 1
	m.events = append(m.events, &storedEvent{event: e, seq: int64(len(m.events) + 1), attempts: []event.Attempt{a}})
	return nil
}

func (s *storedEvent) delivery() ports.Delivery {
	d := ports.Delivery{
		ID: s.event.ID, Platform: s.event.Platform, Type: s.event.Type, Name: s.event.Name, Subject: s.event.Subject,
		Created: s.event.OccurredAt, Body: s.event.Body, Attempts: slices.Clone(s.attempts),
	}
	if s.state == inBacklog {
		d.NextAttempt = s.nextAttempt
	}
	var latest *event.Attempt
	if n := len(s.attempts); n > 0 {
		latest = &s.attempts[n-1]
	}
	d.Status = event.StatusOf(s.state != notQueued, latest)
	return d
}

func matches(d ports.Delivery, f ports.DeliveryFilter) bool {
	return (f.After.IsZero() || f.Ascending == (d.ID.Compare(f.After) > 0) && d.ID != f.After) &&
		(f.Status == "" || f.Status == d.Status) && (f.Type == "" || f.Type == d.Type) && (f.Name == "" || f.Name == d.Name) &&
		(f.Subject == uuid.Nil || f.Subject == d.Subject) && f.Created.Contains(d.Created)
}
