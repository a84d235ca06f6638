package main

import (
	"context"
	"time"

	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/postgres/outbox"
	webhooksender "causeway/adapters/webhooks"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/ports"
)

// approvals implements ports.Approvals with the webhooks of platforms.
type approvals struct{ webhooks *webhooks.Service }

// RequestApproval sends an event to the platform's endpoint once and waits for the response.
func (a approvals) RequestApproval(ctx context.Context, e event.Event) (ports.WebhookResponse, error) {
	rendered, err := api.Events.Render(e)
	if err != nil {
		return ports.WebhookResponse{}, err
	}
	return a.webhooks.SendAndWait(ctx, rendered)
}

// openWebhooks creates the webhook dispatcher. Its signing keys are encrypted in the database.
func (a *app) openWebhooks(sealer ports.Sealer, idGenerator *ids.Generator) {
	keys := webhooksender.NewKeyring(outbox.NewKeys(a.db.Pool()), a.db, sealer, systemClock{}, idGenerator)
	a.db.OnDatabaseChange(keys.Forget)
	a.webhooks = webhooks.New(webhooks.Config{
		Store: a.db, Queue: outbox.NewQueue(a.db.Connect, a.db.Cipher()),
		Log:      outbox.NewLog(a.db.Pool(), a.db.Cipher()),
		Webhooks: webhooksender.NewSender(keys, webhooksender.Options{AllowPrivate: a.AllowPrivateWebhooks, Wrap: a.reachTestHosts}),
		Keys:     keys, Events: api.Events, Clock: systemClock{}, IDs: idGenerator, Metrics: newWebhookMetrics(a.metrics, a.log),
		Delivered: a.db.RememberDelivery, Spans: a.traces.spans(),
		Grace: 3 * time.Second, ShowTestResponses: a.AllowPrivateWebhooks,
	})
	a.db.OnDatabaseChange(a.webhooks.ForgetCommitted)
}
