// Package webhooks delivers events to the webhook endpoints of platforms. It sends the events of each
// subject in their order, and retries them until they are delivered or their retry window is over.
// It also lists deliveries, redelivers events on request, and publishes the keys with which
// receivers verify signatures.
//
// It creates no events: those are stored by the unit of work that makes the change.
package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"causeway/app/internal/spans"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/tracing"
	"causeway/ports"
)

// Config configures the Service. Durations and numbers may be zero; their defaults are given.
type Config struct {
	Store    Store
	Queue    ports.WebhookQueue
	Log      WebhookLog
	Webhooks ports.Webhooks
	Keys     ports.WebhookKeys
	Events   event.Registry // which types and names there are
	Clock    ports.Clock
	IDs      ports.IDs
	Metrics  Metrics // may be nil
	// Delivered is called with each event that was delivered; it may be nil. It must not block.
	Delivered func(ports.QueuedWebhook)
	// Spans records the attempts to deliver events that are traced.
	Spans spans.Tracer

	// MaxConcurrency is the maximum number of concurrent deliveries to one platform; 64.
	MaxConcurrency int
	// MaxTenants is the maximum number of platforms that this process serves at once; 1000. If
	// there are more, those whose endpoints fail are released.
	MaxTenants int
	// ShowTestResponses includes the body of the response in the result of SendTest. Where
	// webhooks reach public addresses only, nobody needs it.
	ShowTestResponses bool
	// Grace is how long running deliveries may take when the program stops; 5 seconds.
	Grace time.Duration
}

// Metrics counts what the dispatcher does. Its methods are called from many
// goroutines and must be quick.
type Metrics interface {
	// Attempted counts one attempt.
	Attempted(outcome event.Outcome, duration time.Duration)
	// Delivered counts a delivered event, with the time since it happened.
	Delivered(latency time.Duration)
	// Abandoned counts an event that was given up, except test events.
	Abandoned()
	// InternalError records that an attempt for a platform failed in this service, and will be
	// repeated. It is called for the first of several in a row.
	InternalError(p ident.Platform, reason string)
	// Paused and Resumed record that the circuit breaker of a platform opened and closed.
	Paused(p ident.Platform, outcome event.Outcome)
	Resumed(p ident.Platform)
	// Disconnected records that the session with the queue was lost. Run reconnects.
	Disconnected(err error)
}

// Service is the use cases around webhooks.
type Service struct {
	Config
	// maxQueued is the maximum number of events of one platform in memory, and maxPerSubject of one
	// subject. More go to the backlog, so that a subject with very many events leaves room for
	// others.
	maxQueued, maxPerSubject int
	wakeup                   wakeup
}

// New returns the use cases. Run delivers events.
func New(c Config) *Service {
	if c.MaxConcurrency == 0 {
		c.MaxConcurrency = 64
	}
	if c.MaxTenants == 0 {
		c.MaxTenants = 1000
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	return &Service{Config: c, maxQueued: 512, maxPerSubject: 16}
}

// Keys returns the public keys that verify deliveries of an environment.
func (s *Service) Keys(ctx context.Context, env platform.Environment) ([]ports.WebhookKey, error) {
	return s.Config.Keys.Keys(ctx, env, s.Clock.Now())
}

// Rotate creates new signing keys for an environment. The present keys stay valid for the overlap.
func (s *Service) Rotate(ctx context.Context, env platform.Environment, overlap time.Duration) error {
	return s.Config.Keys.Rotate(ctx, env, s.Clock.Now(), overlap)
}

// Deliveries lists the events of a platform with their attempts, newest first unless f.Ascending.
func (s *Service) Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
	var invalid []fault.Field
	if f.Status != "" && !slices.Contains(event.Statuses, f.Status) {
		invalid = append(invalid, oneOf("status", event.Statuses))
	}
	if types := s.Events.Types(); f.Type != "" && !slices.Contains(types, f.Type) {
		invalid = append(invalid, oneOf("type", types))
	}
	if _, known := s.Events.TypeOf(f.Name); f.Name != "" && !known {
		invalid = append(invalid, fault.Field{Field: "event", Message: "must be an event name, such as " + event.OutgoingPaymentCompleted})
	}
	if len(invalid) > 0 {
		return ports.DeliveryPage{}, fault.Invalid(invalid...)
	}
	if f.Limit <= 0 {
		f.Limit = 20
	}
	f.Limit = min(f.Limit, 100)
	return s.Log.Deliveries(ctx, p, f)
}

// Delivery returns one event with its attempts and its body.
func (s *Service) Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	return s.Log.Delivery(ctx, p, id)
}

// SignedRequest is an event as an attempt sends it.
type SignedRequest struct {
	ID     ident.Webhook
	Header http.Header
	Body   []byte
}

// Signed returns the request that would send an event now. It is for who forwards events to a program that the service does
// not reach; nothing is sent or recorded. The fault is NOT_FOUND.
func (s *Service) Signed(ctx context.Context, p ident.Platform, id ident.Webhook) (SignedRequest, error) {
	delivery, err := s.Log.Delivery(ctx, p, id)
	if err != nil {
		return SignedRequest{}, err
	}
	endpoint, err := s.Log.Endpoint(ctx, p)
	if err != nil {
		return SignedRequest{}, err
	}
	header, err := s.Config.Keys.Headers(ctx, ports.WebhookDelivery{Endpoint: endpoint, ID: id, Body: delivery.Body, At: s.Clock.Now()})
	return SignedRequest{id, header, delivery.Body}, err
}

// Redeliver queues events again, under their ids and for another retry window, and returns how many.
// Events that are still pending are left as they are.
func (s *Service) Redeliver(ctx context.Context, p ident.Platform, r ports.Redelivery) (int, error) {
	if len(r.IDs) == 0 && (r.Created.From.IsZero() || r.Created.To.IsZero()) {
		return 0, fault.Invalid(
			fault.Field{Field: "startDate", Message: "give startDate and endDate, or list event ids"},
			fault.Field{Field: "endDate", Message: "give startDate and endDate, or list event ids"})
	}
	if r.Status != "" && !slices.Contains(event.Statuses, r.Status) {
		return 0, fault.Invalid(oneOf("status", event.Statuses))
	}
	count, err := s.Log.Redeliver(ctx, p, r, s.Clock.Now())
	if count > 0 {
		s.Wake(p)
	}
	return count, err
}

// TestResult is the response of an endpoint to a test event. Response is empty unless the service
// shows it.
type TestResult struct {
	URL        string
	StatusCode int
	Response   string
}

// SendTest sends a test event at once and waits for the response. Faults: WEBHOOK_ENDPOINT_NOT_SET,
// and WEBHOOK_DELIVERY_ERROR if there was no response.
func (s *Service) SendTest(ctx context.Context, p ident.Platform) (TestResult, error) {
	now := s.Clock.Now()
	test := event.NewTest(ident.NewWebhook(s.IDs.New, now), p, now)
	endpoint, response, err := s.sendNow(ctx, test.Rendered(test.Envelope()), 0)
	if err != nil {
		return TestResult{}, err
	}
	if !response.Outcome.Responded() {
		return TestResult{}, &fault.Error{
			Code:    fault.WebhookDeliveryError,
			Message: fmt.Sprintf("The webhook endpoint did not respond: %s. Check that it is reachable and try again.", response.Error),
			Reason:  string(response.Outcome), Details: map[string]any{"url": endpoint.URL, "error": response.Error},
		}
	}
	result := TestResult{URL: endpoint.URL, StatusCode: response.StatusCode}
	if s.ShowTestResponses {
		result.Response = response.Response
	}
	return result, nil
}

const (
	// maxStoredResponse is how much of a response body is stored with the delivery, in bytes.
	maxStoredResponse = 1 << 10
	// maxResponse is how much of the response body SendAndWait returns, in bytes.
	maxResponse = 64 << 10
)

// SendAndWait sends an event at once, outside of the queue, and returns the response. The event is
// listed among the deliveries, with one attempt for each call. The fault is
// WEBHOOK_ENDPOINT_NOT_SET; a missing response is not a fault. Any other error says
// nothing about the endpoint: the call has to be repeated, unless there is a response, which could
// not be listed.
//
// A listener of the platform takes the place of its endpoint. It answers later, so the result is relayed, without a response.
func (s *Service) SendAndWait(ctx context.Context, e event.Rendered) (ports.WebhookResponse, error) {
	if relayed, err := s.relay(ctx, e); relayed || err != nil {
		return ports.WebhookResponse{Relayed: relayed}, err
	}
	_, response, err := s.sendNow(ctx, e, maxResponse)
	return response, err
}

func (s *Service) sendNow(ctx context.Context, e event.Rendered, maxResponseBytes int) (ports.Endpoint, ports.WebhookResponse, error) {
	endpoint, err := s.Log.Endpoint(ctx, e.Platform)
	if err != nil {
		return endpoint, ports.WebhookResponse{}, err
	}
	if endpoint.URL == "" {
		return endpoint, ports.WebhookResponse{}, fault.New(fault.WebhookEndpointNotSet,
			"No webhook endpoint is set. Set webhookEndpoint in the platform's configuration first.")
	}
	now := s.Clock.Now()
	response := s.deliver(ctx, e.Name, e.Trace, ports.WebhookDelivery{Endpoint: endpoint, ID: e.ID, Body: e.Body, At: now,
		MaxResponseBytes: maxResponseBytes})
	s.Metrics.Attempted(response.Outcome, response.Duration)
	if response.Outcome == event.InternalError {
		return endpoint, response, fmt.Errorf("send webhook %s: %s", e.ID, response.Error)
	}
	stored := response
	stored.Response = strings.ToValidUTF8(stored.Response[:min(len(stored.Response), maxStoredResponse)], "")
	return endpoint, response, s.Log.Record(ctx, e, newAttempt(now, stored))
}

// deliver makes one attempt, with a span if the event is traced.
func (s *Service) deliver(ctx context.Context, name string, parent tracing.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	if parent == "" {
		return s.Webhooks.Deliver(ctx, d)
	}
	place, span := s.Spans.Resume(parent, "webhook "+name, trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(spans.Platform(d.Endpoint.Platform.String()), attribute.String("causeway.webhook", d.ID.String())))
	d.Trace = place
	response := s.Webhooks.Deliver(ctx, d)
	span.SetAttributes(attribute.String("causeway.outcome", string(response.Outcome)), attribute.Int("http.response.status_code",
		response.StatusCode))
	if !response.Outcome.Delivered() {
		span.SetStatus(codes.Error, "")
	}
	span.End()
	return response
}

func newAttempt(at time.Time, r ports.WebhookResponse) event.Attempt {
	return event.Attempt{AttemptedAt: at, Duration: r.Duration, Outcome: r.Outcome, StatusCode: r.StatusCode, Error: r.Error,
		Response: r.Response}
}

func oneOf[T ~string](field string, values []T) fault.Field {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return fault.Field{Field: field, Message: "must be one of " + strings.Join(texts, ", ")}
}

// noMetrics discards all metrics.
type noMetrics struct{}

func (noMetrics) Attempted(event.Outcome, time.Duration) {}
func (noMetrics) Delivered(time.Duration)                {}
func (noMetrics) Abandoned()                             {}
func (noMetrics) InternalError(ident.Platform, string)   {}
func (noMetrics) Paused(ident.Platform, event.Outcome)   {}
func (noMetrics) Resumed(ident.Platform)                 {}
func (noMetrics) Disconnected(error)                     {}
