package api_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/http/api"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// fakeWebhooks is an in-memory log of deliveries.
type fakeWebhooks struct {
	mu           sync.Mutex
	deliveries   []ports.Delivery // the oldest first
	redeliveries []ports.Redelivery
}

func newFakeWebhooks() *fakeWebhooks { return &fakeWebhooks{} }

func (w *fakeWebhooks) Keys(_ context.Context, env platform.Environment) ([]ports.WebhookKey, error) {
	return []ports.WebhookKey{
		{ID: uuid.UUID{1}, Environment: env, Algorithm: ports.Ed25519, PEM: "pem of " + string(env), Standard: "whpk_1", ValidFrom: noon},
		{ID: uuid.UUID{2}, Environment: env, Algorithm: ports.ECDSAP256, PEM: "old", ValidFrom: noon.Add(-time.Hour), ValidUntil: noon},
	}, nil
}

func (w *fakeWebhooks) Deliveries(_ context.Context, platformID ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var page ports.DeliveryPage
	all := slices.Clone(w.deliveries)
	if !f.Ascending {
		slices.Reverse(all)
	}
	started := f.After.IsZero()
	for _, d := range all {
		switch {
		case !started:
			started = d.ID == f.After
		case d.Platform != platformID, f.Status != "" && d.Status != f.Status, f.Name != "" && d.Name != f.Name, f.Type != "" && d.Type != f.Type,
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

func (w *fakeWebhooks) Delivery(_ context.Context, platformID ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.deliveries {
		if d.Platform == platformID && d.ID == id {
			return d, nil
		}
	}
	return ports.Delivery{}, fault.New(fault.NotFound, "There is no event %s.", id)
}

func (w *fakeWebhooks) Redeliver(_ context.Context, _ ident.Platform, which ports.Redelivery) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.redeliveries = append(w.redeliveries, which)
	return max(1, 2*len(which.IDs)), nil
}

func (w *fakeWebhooks) Signed(ctx context.Context, platformID ident.Platform, id ident.Webhook) (webhooks.SignedRequest, error) {
	d, err := w.Delivery(ctx, platformID, id)
	return webhooks.SignedRequest{ID: id, Header: http.Header{"webhook-id": {id.String()}}, Body: d.Body}, err
}

func (w *fakeWebhooks) Listen(context.Context, ident.Platform) (time.Time, error) {
	return time.Date(2026, 1, 15, 9, 0, 15, 0, time.UTC), nil
}

func (w *fakeWebhooks) SendTest(_ context.Context, _ ident.Platform) (webhooks.TestResult, error) {
	return webhooks.TestResult{URL: "https://acme.example/hooks", StatusCode: 204, Response: "thanks"}, nil
}

func (w *fakeWebhooks) addDelivery(platformID ident.Platform, name string, status event.Status, attempts ...event.Attempt) ports.Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind, _ := api.Events.TypeOf(name)
	d := ports.Delivery{ID: ident.NewWebhook(idGenerator.New, noon), Platform: platformID, Type: kind, Name: name,
		Subject: uuid.UUID{7}, Created: noon,
		Body: []byte(`{"exactly":"this"}`), Status: status, Attempts: attempts}
	w.deliveries = append(w.deliveries, d)
	return d
}

// fakeSecretTexts makes secrets that are not encrypted.
type fakeSecretTexts struct{ ports.WebhookKeys }

func (fakeSecretTexts) NewSecret(_ ident.Platform, id ident.WebhookSecret) (string, []byte, error) {
	return "whsec_" + id.String(), []byte("sealed"), nil
}
