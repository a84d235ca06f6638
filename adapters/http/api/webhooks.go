package api

import (
	"context"
	"encoding/json"
	"reflect"
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

// Webhooks holds the use cases of webhook deliveries and signing keys.
type Webhooks interface {
	Keys(ctx context.Context, env platform.Environment) ([]ports.WebhookKey, error)
	Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error)
	Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error)
	Redeliver(ctx context.Context, p ident.Platform, which ports.Redelivery) (int, error)
	Signed(ctx context.Context, p ident.Platform, id ident.Webhook) (webhooks.SignedRequest, error)
	SendTest(ctx context.Context, p ident.Platform) (webhooks.TestResult, error)
	Listen(ctx context.Context, p ident.Platform) (time.Time, error)
}

type webhookKeyListResponse struct {
	Data []webhookKey `json:"data" doc:"Keys, newest first. Accept a signature by any of them."`
}

type webhookKey struct {
	ID         string        `json:"id" doc:"Id of the key." example:"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	Algorithm  string        `json:"algorithm" enum:"ECDSA_P256_SHA256,ED25519" doc:"Signature algorithm. ECDSA_P256_SHA256 signs the raw body, in the header Service-Webhook-Signature. ED25519 signs id, timestamp and body as in Standard Webhooks (v1a), in the header webhook-signature."`
	PublicKey  string        `json:"publicKey" doc:"Public key in PEM format (SubjectPublicKeyInfo)."`
	Standard   string        `json:"standardWebhooksKey,omitempty" doc:"ED25519 only: the public key in the format of Standard Webhooks libraries." example:"whpk_MCowBQYDK2VwAyEA"`
	ValidFrom  httpapi.Time  `json:"validFrom" doc:"Time the key became valid."`
	ValidUntil *httpapi.Time `json:"validUntil,omitempty" doc:"Time the key stops being valid. Omitted for the current key."`
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
	WebhookID     httpapi.ID[ident.Webhook]     `json:"webhookId" doc:"Id of the event, the same for every attempt."`
	Type          string                        `json:"type" doc:"Type of resource that the event is about." example:"OUTGOING_PAYMENT"`
	Event         string                        `json:"event" doc:"Name of the event." example:"OUTGOING_PAYMENT.COMPLETED"`
	TransactionID httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"Id of the transaction that the event is about, if any."`
	Status        deliveryStatus                `json:"status" doc:"Status of the delivery. PENDING: waiting to be sent or retried. DELIVERED: accepted by the endpoint. FAILED: not accepted within seven days. UNSENT: no webhook endpoint was set at the time of the event."`
	NextAttemptAt *httpapi.Time                 `json:"nextAttemptAt,omitempty" doc:"Time of the next attempt of a PENDING delivery. Omitted if it is due now or waits for an earlier event."`
	Attempts      []deliveryAttemptBody         `json:"attempts" doc:"Attempts, oldest first."`
	CreatedAt     httpapi.Time                  `json:"createdAt" doc:"Time of the event."`
	Body          eventJSON                     `json:"body,omitempty" doc:"Exact body that is sent. Only in GET /webhook-deliveries/{webhookId}."`
}

type deliveryAttemptBody struct {
	Number     int            `json:"number" doc:"Number of the attempt, from 1." example:"1"`
	At         httpapi.Time   `json:"at" doc:"Start time of the attempt."`
	DurationMs int64          `json:"durationMs" doc:"Duration of the attempt, in milliseconds." example:"84"`
	Outcome    attemptOutcome `json:"outcome" doc:"Outcome of the attempt. ACCEPTED: 2xx response. DUPLICATE: 409 response. REFUSED: any other response. TIMED_OUT: no response within 10 seconds. UNREACHABLE: no connection. FORBIDDEN: the address is not allowed. GIVEN_UP: no further attempts."`
	StatusCode int            `json:"statusCode,omitempty" doc:"HTTP status of the response." example:"200"`
	Error      string         `json:"error,omitempty" doc:"Reason there was no response."`
	Response   string         `json:"response,omitempty" doc:"First bytes of the response body."`
}

// Enum fields of a delivery; core defines their values.
type (
	deliveryStatus string
	attemptOutcome string
)

// Schema returns the enum of values.
func (deliveryStatus) Schema(huma.Registry) *huma.Schema { return enumSchema(event.Statuses) }
func (attemptOutcome) Schema(huma.Registry) *huma.Schema { return enumSchema(event.Outcomes) }

// eventJSON is the body of an event, already encoded.
type eventJSON []byte

// MarshalJSON returns the JSON unchanged.
func (b eventJSON) MarshalJSON() ([]byte, error) { return json.RawMessage(b).MarshalJSON() }

// Schema returns the union of all bodies of events.
func (eventJSON) Schema(r huma.Registry) *huma.Schema {
	var values []string
	var bodies []reflect.Type
	for _, w := range webhookKinds {
		values, bodies = append(values, string(w.Type)), append(bodies, w.body)
	}
	return httpapi.UnionOf(r, "WebhookEvent", "Event that is sent to your webhook endpoint.", "type", values, bodies)
}

func renderDelivery(d ports.Delivery) webhookDeliveryBody {
	body := webhookDeliveryBody{
		WebhookID: httpapi.NewID(d.ID), Type: string(d.Type), Event: d.Name, Status: deliveryStatus(d.Status),
		NextAttemptAt: optionalTime(d.NextAttempt),
		Attempts:      make([]deliveryAttemptBody, len(d.Attempts)), CreatedAt: httpapi.NewTime(d.Created), Body: d.Body,
	}
	if d.Type == event.OutgoingPayment || d.Type == event.IncomingPayment {
		body.TransactionID.Value.SetUUID(d.Subject)
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
	Status        deliveryStatus                `query:"status" doc:"Status of the delivery."`
	Type          string                        `query:"type" doc:"Type of resource." example:"OUTGOING_PAYMENT"`
	Event         string                        `query:"event" doc:"Name of the event." example:"OUTGOING_PAYMENT.COMPLETED"`
	TransactionID httpapi.ID[ident.Transaction] `query:"transactionId" doc:"Id of the transaction."`
	StartDate     httpapi.Time                  `query:"startDate" doc:"Events at or after this time."`
	EndDate       httpapi.Time                  `query:"endDate" doc:"Events at or before this time."`
}

type redeliveryRequest struct {
	StartDate httpapi.Time   `json:"startDate" doc:"Start of the time range, inclusive."`
	EndDate   httpapi.Time   `json:"endDate" doc:"End of the time range, inclusive."`
	Status    deliveryStatus `json:"status,omitempty" doc:"Status of the deliveries to send again. Defaults to all." example:"FAILED"`
}

// Resolve refuses a time range that ends before it begins.
func (r redeliveryRequest) Resolve(huma.Context) []error {
	if r.StartDate.IsZero() || r.EndDate.IsZero() || !r.EndDate.Before(r.StartDate.Time) {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "endDate", Message: "must not be before startDate"}))
}

type redeliveryResponse struct {
	Count int `json:"count" doc:"Number of events that will be sent again, without those already waiting to be sent." example:"3"`
}

func renderRedelivery(n int) redeliveryResponse { return redeliveryResponse{n} }

func registerDeliveries(a *httpapi.API, service Webhooks) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listWebhookKeys", Path: "/webhook-keys", Tag: tagWebhooks, Summary: "List webhook signing keys", Permission: platform.View,
		Description: "Returns the public keys that verify the signatures ECDSA_P256_SHA256 and ED25519. Those of HMAC_SHA256 are verified with " +
			"a secret (`POST /webhook-secrets`). Keys are rotated, and the previous key stays valid for a while. If a signature does not verify, " +
			"fetch the keys again.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]ports.WebhookKey, error) {
		return service.Keys(ctx, call.Principal.Environment)
	}, renderWebhookKeys)

	httpapi.Get(a, httpapi.Operation{
		ID: "listWebhookDeliveries", Path: "/webhook-deliveries", Tag: tagWebhooks, Summary: "List webhook deliveries", Permission: platform.View,
		Description: "Returns events with their delivery status and attempts, newest first by default.",
	}, func(ctx context.Context, call httpapi.Call, in *listDeliveriesParams) (ports.DeliveryPage, error) {
		after, err := httpapi.CursorID[ident.Webhook](in.Cursor)
		if err != nil {
			return ports.DeliveryPage{}, err
		}
		return service.Deliveries(ctx, call.Principal.Platform, ports.DeliveryFilter{
			Limit: in.Limit, After: after, Ascending: in.Ascending(), Status: event.Status(in.Status), Type: event.Type(in.Type), Name: in.Event,
			Subject: in.TransactionID.Value.UUID(), Created: inclusiveInterval(in.StartDate, in.EndDate),
		})
	}, renderDeliveryPage)

	type getParams struct {
		WebhookID httpapi.ID[ident.Webhook] `path:"webhookId" doc:"Id of the event."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getWebhookDelivery", Path: "/webhook-deliveries/{webhookId}", Tag: tagWebhooks, Summary: "Get a webhook delivery",
		Permission:  platform.View,
		Description: "Returns an event with its attempts and the exact body that is sent.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (ports.Delivery, error) {
		return service.Delivery(ctx, call.Principal.Platform, in.WebhookID.Value)
	}, renderDelivery)

	httpapi.Post(a, httpapi.Operation{
		ID: "redeliverWebhook", Path: "/webhook-deliveries/{webhookId}/redeliver", Tag: tagWebhooks, Summary: "Redeliver an event",
		Permission: platform.Manage,
		Description: "Sends the event again with the same webhookId, with retries for another seven days. An event that is already waiting to " +
			"be sent is not changed.",
		Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (int, error) {
		if _, err := service.Delivery(ctx, call.Principal.Platform, in.WebhookID.Value); err != nil {
			return 0, err
		}
		return service.Redeliver(ctx, call.Principal.Platform, ports.Redelivery{IDs: []ident.Webhook{in.WebhookID.Value}})
	}, renderRedelivery)

	type redeliverInput struct{ Body redeliveryRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "redeliverWebhooks", Path: "/webhook-deliveries/redeliver", Tag: tagWebhooks, Summary: "Redeliver events of a time range",
		Permission: platform.Manage,
		Description: "Sends all events of a time range again, for example after an outage of your endpoint. Each event keeps its webhookId, so " +
			"the endpoint can ignore duplicates.",
	}, func(ctx context.Context, call httpapi.Call, in *redeliverInput) (int, error) {
		return service.Redeliver(ctx, call.Principal.Platform, ports.Redelivery{
			Created: inclusiveInterval(in.Body.StartDate, in.Body.EndDate), Status: event.Status(in.Body.Status),
		})
	}, renderRedelivery)
}

// renderDeliveryPage renders one page of a list, without a total count.
func renderDeliveryPage(p ports.DeliveryPage) httpapi.Page[webhookDeliveryBody] {
	page := httpapi.RenderPage(ports.Page[ports.Delivery]{Items: p.Items, More: p.More}, renderDelivery,
		func(d ports.Delivery) string { return d.ID.String() })
	page.TotalCount = nil
	return page
}
