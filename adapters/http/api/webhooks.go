package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Webhooks are the use cases behind the operations on deliveries and keys.
type Webhooks interface {
	Keys(ctx context.Context, env platform.Environment) ([]ports.WebhookKey, error)
	Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error)
	Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error)
	Redeliver(ctx context.Context, p ident.Platform, which ports.Redelivery) (int, error)
	SendTest(ctx context.Context, p ident.Platform) (webhooks.TestResult, error)
}

type webhookKeyListResponse struct {
	Data []webhookKey `json:"data" doc:"The keys, the newest first. Accept a signature of any of them."`
}

type webhookKey struct {
	ID         string        `json:"id" doc:"The key." example:"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Algorithm  string        `json:"algorithm" enum:"ECDSA_P256_SHA256,ED25519" doc:"ECDSA_P256_SHA256 makes the header Service-Webhook-Signature, over the raw body. ED25519 makes webhook-signature (v1a) after Standard Webhooks, over id, timestamp and body."`
	PublicKey  string        `json:"publicKey" doc:"The public key in PEM (SubjectPublicKeyInfo)."`
	Standard   string        `json:"standardWebhooksKey,omitempty" doc:"The same key as Standard Webhooks libraries take it. ED25519 only." example:"whpk_MCowBQYDK2VwAyEA"`
	ValidFrom  httpapi.Time  `json:"validFrom" doc:"Since when it signs."`
	ValidUntil *httpapi.Time `json:"validUntil,omitempty" doc:"Until when its signatures count; left out while it signs."`
}

func renderWebhookKeys(keys []ports.WebhookKey) webhookKeyListResponse {
	body := webhookKeyListResponse{Data: make([]webhookKey, len(keys))}
	for i, k := range keys {
		body.Data[i] = webhookKey{
			ID: k.ID.String(), Algorithm: string(k.Algorithm), PublicKey: k.PEM, Standard: k.Standard,
			ValidFrom: httpapi.NewTime(k.ValidFrom), ValidUntil: optionalTime(k.ValidUntil),
		}
	}
	return body
}

type webhookDeliveryBody struct {
	WebhookID     httpapi.ID[ident.Webhook]     `json:"webhookId" doc:"The event; receivers are sent it with this id every time."`
	Type          string                        `json:"type" doc:"What kind of resource it is about." example:"OUTGOING_PAYMENT"`
	Event         string                        `json:"event" doc:"What happened." example:"OUTGOING_PAYMENT.COMPLETED"`
	TransactionID httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"The transaction it is about, if it is about one."`
	Status        deliveryStatus                `json:"status" doc:"PENDING: it will be sent, or sent again. DELIVERED: the receiver has it. FAILED: it was tried for seven days and is parked. UNSENT: there was no webhook endpoint when it happened."`
	NextAttemptAt *httpapi.Time                 `json:"nextAttemptAt,omitempty" doc:"When a PENDING one is sent again; left out when that is now, or as soon as the event before it is settled."`
	Attempts      []deliveryAttemptBody         `json:"attempts" doc:"Every attempt, the first one first."`
	CreatedAt     httpapi.Time                  `json:"createdAt" doc:"When it happened."`
	Body          rawJSON                       `json:"body,omitempty" doc:"What is sent, byte for byte. Only where one delivery is asked for."`
}

type deliveryAttemptBody struct {
	Number     int            `json:"number" doc:"Counted from 1." example:"1"`
	At         httpapi.Time   `json:"at" doc:"When it began."`
	DurationMs int64          `json:"durationMs" doc:"How long it took, in milliseconds." example:"84"`
	Outcome    attemptOutcome `json:"outcome" doc:"ACCEPTED: answered with 2xx. DUPLICATE: answered with 409, it was known. REFUSED: any other answer. TIMED_OUT: none within 10 seconds. UNREACHABLE: no connection. FORBIDDEN: the address is none that we send to. GIVEN_UP: not sent any more."`
	StatusCode int            `json:"statusCode,omitempty" doc:"The HTTP status of the answer." example:"200"`
	Error      string         `json:"error,omitempty" doc:"Why there was no answer."`
	Response   string         `json:"response,omitempty" doc:"The beginning of the answer."`
}

// The texts from tables of core.
type (
	deliveryStatus string
	attemptOutcome string
)

// Schema and its sibling list the values.
func (deliveryStatus) Schema(huma.Registry) *huma.Schema {
	return enumSchema(toStrings(event.Statuses))
}
func (attemptOutcome) Schema(huma.Registry) *huma.Schema {
	return enumSchema(toStrings(event.Outcomes))
}

// rawJSON is JSON that was written before.
type rawJSON []byte

// MarshalJSON writes it as it is.
func (b rawJSON) MarshalJSON() ([]byte, error) { return json.RawMessage(b).MarshalJSON() }

// Schema says that it is an object.
func (rawJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

func renderDelivery(d ports.Delivery) webhookDeliveryBody {
	body := webhookDeliveryBody{
		WebhookID: httpapi.NewID(d.ID), Type: string(d.Type), Event: d.Name, Status: deliveryStatus(d.Status), NextAttemptAt: optionalTime(d.NextAttempt),
		Attempts: make([]deliveryAttemptBody, len(d.Attempts)), CreatedAt: httpapi.NewTime(d.Created), Body: d.Body,
	}
	if d.Type.ResourceKey() == "transaction" {
		ident.SetUUID(&body.TransactionID.Value, d.Subject)
	}
	for i, a := range d.Attempts {
		body.Attempts[i] = renderAttempt(a)
	}
	return body
}

func renderAttempt(a event.Attempt) deliveryAttemptBody {
	return deliveryAttemptBody{
		Number: a.Number, At: httpapi.NewTime(a.AttemptedAt), DurationMs: a.Duration.Round(time.Millisecond).Milliseconds(),
		Outcome: attemptOutcome(a.Outcome), StatusCode: a.StatusCode, Error: a.Error, Response: a.Response,
	}
}

type listDeliveriesParams struct {
	httpapi.Paging
	httpapi.Sorting
	Status        deliveryStatus                `query:"status" doc:"That stand like this."`
	Type          string                        `query:"type" doc:"About this kind of resource." example:"OUTGOING_PAYMENT"`
	Event         string                        `query:"event" doc:"That tell of this event." example:"OUTGOING_PAYMENT.COMPLETED"`
	TransactionID httpapi.ID[ident.Transaction] `query:"transactionId" doc:"About this transaction."`
	StartDate     httpapi.Time                  `query:"startDate" doc:"Of events at this moment or later."`
	EndDate       httpapi.Time                  `query:"endDate" doc:"Of events at this moment or earlier."`
}

type redeliveryRequest struct {
	StartDate httpapi.Time   `json:"startDate" doc:"Events at this moment or later."`
	EndDate   httpapi.Time   `json:"endDate" doc:"Events at this moment or earlier."`
	Status    deliveryStatus `json:"status,omitempty" doc:"Only those that stand like this." example:"FAILED"`
}

// Resolve finds a span that ends before it begins.
func (r redeliveryRequest) Resolve(huma.Context) []error {
	if r.StartDate.IsZero() || r.EndDate.IsZero() || !r.EndDate.Before(r.StartDate.Time) {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "endDate", Message: "must not lie before startDate"}))
}

type redeliveryResponse struct {
	Count int `json:"count" doc:"How many events will be sent again; those that wait to be sent anyway are not counted." example:"3"`
}

func renderRedelivery(n int) redeliveryResponse { return redeliveryResponse{n} }

func registerDeliveries(a *httpapi.API, webhooks Webhooks) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listWebhookKeys", Path: "/webhook-keys", Tag: tagWebhooks, Summary: "List the signing keys", Permission: platform.View,
		Description: "The public keys that verify what the service sends. Keys are replaced now and then; the old one stays valid for a while, so fetch them again when a signature does not verify.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]ports.WebhookKey, error) {
		return webhooks.Keys(ctx, call.Principal.Environment)
	}, renderWebhookKeys)

	httpapi.Get(a, httpapi.Operation{
		ID: "listWebhookDeliveries", Path: "/webhook-deliveries", Tag: tagWebhooks, Summary: "List deliveries", Permission: platform.View,
		Description: "Every event with what became of it, the newest first unless asked otherwise.",
	}, func(ctx context.Context, call httpapi.Call, in *listDeliveriesParams) (ports.DeliveryPage, error) {
		after, err := httpapi.CursorID[ident.Webhook](in.Cursor)
		if err != nil {
			return ports.DeliveryPage{}, err
		}
		return webhooks.Deliveries(ctx, call.Principal.Platform, ports.DeliveryFilter{
			Limit: in.Limit, After: after, Ascending: in.Ascending(), Status: event.Status(in.Status), Type: event.Type(in.Type), Name: in.Event,
			Subject: in.TransactionID.Value.UUID(), Created: inclusiveInterval(in.StartDate, in.EndDate),
		})
	}, renderDeliveryPage)

	type one struct {
		WebhookID httpapi.ID[ident.Webhook] `path:"webhookId" doc:"The event."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getWebhookDelivery", Path: "/webhook-deliveries/{webhookId}", Tag: tagWebhooks, Summary: "Get a delivery", Permission: platform.View,
		Description: "One event with its attempts and the body that is sent.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (ports.Delivery, error) {
		return webhooks.Delivery(ctx, call.Principal.Platform, in.WebhookID.Value)
	}, renderDelivery)

	httpapi.Post(a, httpapi.Operation{
		ID: "redeliverWebhook", Path: "/webhook-deliveries/{webhookId}/redeliver", Tag: tagWebhooks, Summary: "Send an event again", Permission: platform.Manage,
		Description: "The event is sent again with the same webhookId, and tried for another seven days. One that waits to be sent anyway is left as it is.",
		Errors:      []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (int, error) {
		if _, err := webhooks.Delivery(ctx, call.Principal.Platform, in.WebhookID.Value); err != nil {
			return 0, err
		}
		return webhooks.Redeliver(ctx, call.Principal.Platform, ports.Redelivery{IDs: []ident.Webhook{in.WebhookID.Value}})
	}, renderRedelivery)

	type many struct{ Body redeliveryRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "redeliverWebhooks", Path: "/webhook-deliveries/redeliver", Tag: tagWebhooks, Summary: "Send events again", Permission: platform.Manage,
		Description: "Sends every event of a span of time again, for instance after an outage of your own. Each keeps its webhookId, so a receiver can tell what it had.",
	}, func(ctx context.Context, call httpapi.Call, in *many) (int, error) {
		return webhooks.Redeliver(ctx, call.Principal.Platform, ports.Redelivery{
			Created: inclusiveInterval(in.Body.StartDate, in.Body.EndDate), Status: event.Status(in.Body.Status),
		})
	}, renderRedelivery)
}

// renderDeliveryPage renders one part of a list; it does not count the whole.
func renderDeliveryPage(p ports.DeliveryPage) httpapi.Page[webhookDeliveryBody] {
	page := renderPage(ports.Page[ports.Delivery]{Items: p.Items, More: p.More}, renderDelivery, func(d ports.Delivery) string { return d.ID.String() })
	page.TotalCount = nil
	return page
}
