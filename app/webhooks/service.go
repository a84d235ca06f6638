// Package notify tells platforms what happened. It sends the events that wait in the
// queue, each subject's in their order, until they are delivered or their time is
// over; and it shows what was sent, sends it again on request, and publishes the keys
// that receivers verify with.
//
// It never makes an event: those come with the change they tell of, in its commit.
package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what Notify works with. The durations and numbers may be zero.
type Config struct {
	Queue    ports.WebhookQueue
	Log      ports.WebhookLog
	Webhooks ports.Webhooks
	Keys     ports.WebhookKeys
	Clock    ports.Clock
	IDs      ports.IDs
	Metrics  Metrics // nil: nobody counts

	// MaxConcurrency is how many deliveries to one platform run side by side at most; 64.
	MaxConcurrency int
	// MaxTenants is how many platforms this process serves at once; 1000. While there are
	// more, those whose endpoints fail make room.
	MaxTenants int
	// Overlap is how long a replaced key stays valid; 24 hours.
	Overlap time.Duration
	// Grace is how long deliveries that run may take when the program stops; 5 seconds.
	Grace time.Duration
}

// Metrics counts what the dispatcher does. Its methods are called from many
// goroutines and must be quick.
type Metrics interface {
	// Attempted: one delivery was tried.
	Attempted(outcome event.Outcome, took time.Duration)
	// Delivered: an event reached its receiver, so long after it happened.
	Delivered(after time.Duration)
	// Abandoned: an event was given up.
	Abandoned()
	// Paused and Resumed: a platform's endpoint fails so steadily that it is only
	// probed, and answers again.
	Paused(p ident.Platform, outcome event.Outcome)
	Resumed(p ident.Platform)
	// Disconnected: the queue was lost; it is looked for again.
	Disconnected(err error)
}

// Service is the use cases around webhooks.
type Service struct {
	Config
	// maxQueued is how many events of one platform are in memory at most, lineLength
	// how many of one subject: more go to the backlog, so that a subject with very
	// many of them leaves room for others.
	maxQueued, maxPerSubject int
	wakeup                   wakeup
}

// New makes the use cases; Run sends.
func New(c Config) *Service {
	if c.MaxConcurrency == 0 {
		c.MaxConcurrency = 64
	}
	if c.MaxTenants == 0 {
		c.MaxTenants = 1000
	}
	if c.Overlap == 0 {
		c.Overlap = 24 * time.Hour
	}
	if c.Grace == 0 {
		c.Grace = 5 * time.Second
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	return &Service{Config: c, maxQueued: 512, maxPerSubject: 16}
}

// Keys are the public keys that verify deliveries of an environment.
func (n *Service) Keys(ctx context.Context, env platform.Environment) ([]ports.WebhookKey, error) {
	return n.Config.Keys.Keys(ctx, env, n.Clock.Now())
}

// Rotate makes new signing keys for an environment; the present ones stay valid for
// the overlap.
func (n *Service) Rotate(ctx context.Context, env platform.Environment) error {
	return n.Config.Keys.Rotate(ctx, env, n.Clock.Now(), n.Overlap)
}

// Deliveries lists a platform's events with their attempts, the newest first unless
// asked otherwise.
func (n *Service) Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
	var bad []fault.Field
	if f.Status != "" && !slices.Contains(event.Statuses, f.Status) {
		bad = append(bad, oneOf("status", event.Statuses))
	}
	if f.Type != "" && !slices.Contains(event.Types, f.Type) {
		bad = append(bad, oneOf("type", event.Types))
	}
	if _, known := event.TypeOf(f.Name); f.Name != "" && !known {
		bad = append(bad, fault.Field{Field: "event", Message: "must be the name of an event, such as " + event.OutgoingPaymentCompleted})
	}
	if len(bad) > 0 {
		return ports.DeliveryPage{}, fault.Invalid(bad...)
	}
	if f.Limit <= 0 {
		f.Limit = 20
	}
	f.Limit = min(f.Limit, 100)
	return n.Log.Deliveries(ctx, p, f)
}

// Delivery is one event with its attempts and its body.
func (n *Service) Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	return n.Log.Delivery(ctx, p, id)
}

// Redeliver sends events again, under their ids and for another seven days, and says
// how many. Those that wait to be sent anyway are left as they are.
func (n *Service) Redeliver(ctx context.Context, p ident.Platform, which ports.Redelivery) (int, error) {
	if len(which.IDs) == 0 && (which.Created.From.IsZero() || which.Created.To.IsZero()) {
		return 0, fault.Invalid(
			fault.Field{Field: "startDate", Message: "give a span of time, or name events"},
			fault.Field{Field: "endDate", Message: "give a span of time, or name events"})
	}
	if which.Status != "" && !slices.Contains(event.Statuses, which.Status) {
		return 0, fault.Invalid(oneOf("status", event.Statuses))
	}
	count, err := n.Log.Redeliver(ctx, p, which, n.Clock.Now())
	if count > 0 {
		n.Wake()
	}
	return count, err
}

// TestResult is what a receiver said to a test event.
type TestResult struct {
	URL        string
	StatusCode int
	Response   string
}

// SendTest sends a test event at once and waits for the answer. Faults:
// WEBHOOK_ENDPOINT_NOT_SET; WEBHOOK_DELIVERY_ERROR when there was no answer.
func (n *Service) SendTest(ctx context.Context, p ident.Platform) (TestResult, error) {
	now := n.Clock.Now()
	test := event.NewTest(ident.NewWebhook(n.IDs.New, now), p, now)
	endpoint, answer, err := n.sendNow(ctx, test, test.Envelope(nil), 0)
	if err != nil {
		return TestResult{}, err
	}
	if !answer.Outcome.Responded() {
		return TestResult{}, &fault.Error{
			Code:    fault.WebhookDeliveryError,
			Message: fmt.Sprintf("The webhook endpoint gave no answer: %s. Check that it is reachable and try again.", answer.Error),
			Reason:  string(answer.Outcome), Details: map[string]any{"url": endpoint.URL, "error": answer.Error},
		}
	}
	return TestResult{URL: endpoint.URL, StatusCode: answer.StatusCode, Response: answer.Response}, nil
}

// keptOfAnswer is the beginning of an answer to a question that is shown with the
// delivery, mostOfAnswer what is read of it, in bytes.
const (
	maxStoredResponse = 1 << 10
	maxResponse       = 64 << 10
)

// SendAndWait sends an event at once, outside of the queue, and gives the answer to whoever
// asks with it. It stands among the deliveries, with one attempt for each time it is
// asked. The fault is WEBHOOK_ENDPOINT_NOT_SET; an answer that did not come is no fault.
func (n *Service) SendAndWait(ctx context.Context, e event.Event, body []byte) (ports.WebhookResponse, error) {
	_, answer, err := n.sendNow(ctx, e, body, maxResponse)
	return answer, err
}

func (n *Service) sendNow(ctx context.Context, e event.Event, body []byte, keep int) (ports.Endpoint, ports.WebhookResponse, error) {
	endpoint, err := n.Log.Endpoint(ctx, e.Platform)
	if err != nil {
		return endpoint, ports.WebhookResponse{}, err
	}
	if endpoint.URL == "" {
		return endpoint, ports.WebhookResponse{}, fault.New(fault.WebhookEndpointNotSet,
			"No webhook endpoint is set. Set webhookEndpoint in the platform's configuration first.")
	}
	now := n.Clock.Now()
	answer := n.Webhooks.Deliver(ctx, ports.WebhookDelivery{Endpoint: endpoint, ID: e.ID, Body: body, At: now, MaxResponseBytes: keep})
	n.Metrics.Attempted(answer.Outcome, answer.Duration)
	shown := answer
	shown.Response = strings.ToValidUTF8(shown.Response[:min(len(shown.Response), maxStoredResponse)], "")
	return endpoint, answer, n.Log.Record(ctx, e, body, newAttempt(now, shown))
}

func newAttempt(at time.Time, a ports.WebhookResponse) event.Attempt {
	return event.Attempt{AttemptedAt: at, Duration: a.Duration, Outcome: a.Outcome, StatusCode: a.StatusCode, Error: a.Error, Response: a.Response}
}

func oneOf[T ~string](field string, values []T) fault.Field {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return fault.Field{Field: field, Message: "must be one of " + strings.Join(texts, ", ")}
}

// noMetrics counts nothing.
type noMetrics struct{}

func (noMetrics) Attempted(event.Outcome, time.Duration) {}
func (noMetrics) Delivered(time.Duration)                {}
func (noMetrics) Abandoned()                             {}
func (noMetrics) Paused(ident.Platform, event.Outcome)   {}
func (noMetrics) Resumed(ident.Platform)                 {}
func (noMetrics) Disconnected(error)                     {}
