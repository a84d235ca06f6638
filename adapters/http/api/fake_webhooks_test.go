package api_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// fakeWebhooks is a log of deliveries in memory.
type fakeWebhooks struct {
	mu           sync.Mutex
	deliveries   []ports.Delivery // the oldest first
	redeliveries []ports.Redelivery
}

func newFakeWebhooks() *fakeWebhooks { return &fakeWebhooks{} }

func (p *fakeWebhooks) Keys(_ context.Context, env platform.Environment) ([]ports.WebhookKey, error) {
	return []ports.WebhookKey{
		{ID: uuid.UUID{1}, Environment: env, Algorithm: ports.Ed25519, PEM: "pem of " + string(env), Standard: "whpk_1", ValidFrom: noon},
		{ID: uuid.UUID{2}, Environment: env, Algorithm: ports.ECDSAP256, PEM: "old", ValidFrom: noon.Add(-time.Hour), ValidUntil: noon},
	}, nil
}

func (p *fakeWebhooks) Deliveries(_ context.Context, of ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var page ports.DeliveryPage
	all := slices.Clone(p.deliveries)
	if !f.Ascending {
		slices.Reverse(all)
	}
	begun := f.After.IsZero()
	for _, d := range all {
		switch {
		case !begun:
			begun = d.ID == f.After
		case d.Platform != of, f.Status != "" && d.Status != f.Status, f.Name != "" && d.Name != f.Name, f.Type != "" && d.Type != f.Type,
			f.Subject != uuid.Nil && d.Subject != f.Subject, !f.Created.From.IsZero() && d.Created.Before(f.Created.From),
			!f.Created.To.IsZero() && d.Created.After(f.Created.To):
		case len(page.Items) == f.Limit:
			page.More = true
		default:
			d.Body = nil
			page.Items = append(page.Items, d)
		}
	}
	return page, nil
}

func (p *fakeWebhooks) Delivery(_ context.Context, of ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.deliveries {
		if d.Platform == of && d.ID == id {
			return d, nil
		}
	}
	return ports.Delivery{}, fault.New(fault.NotFound, "There is no event %s.", id)
}

func (p *fakeWebhooks) Redeliver(_ context.Context, _ ident.Platform, which ports.Redelivery) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.redeliveries = append(p.redeliveries, which)
	return max(1, 2*len(which.IDs)), nil
}

// add puts an event about a transaction into the log.
func (p *fakeWebhooks) SendTest(_ context.Context, _ ident.Platform) (webhooks.TestResult, error) {
	return webhooks.TestResult{URL: "https://acme.example/hooks", StatusCode: 204, Response: "thanks"}, nil
}

func (p *fakeWebhooks) addDelivery(of ident.Platform, name string, status event.Status, attempts ...event.Attempt) ports.Delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind, _ := event.TypeOf(name)
	d := ports.Delivery{ID: ident.NewWebhook(idGenerator.New, noon), Platform: of, Type: kind, Name: name, Subject: uuid.UUID{7}, Created: noon,
		Body: []byte(`{"exactly":"this"}`), Status: status, Attempts: attempts}
	p.deliveries = append(p.deliveries, d)
	return d
}
