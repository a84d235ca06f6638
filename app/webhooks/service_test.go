package webhooks

import (
	"context"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

func TestService_SendTestReturnsResponse(t *testing.T) {
	t.Parallel()
	// A test event is sent at once, its answer is the result, and the log has it.
	town := newTestEnv()
	p, n := town.newPlatform(), town.newService(Config{})
	town.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.Refused} }

	result, err := n.SendTest(context.Background(), p)

	if err != nil || result != (TestResult{URL: town.endpoint + p.String(), StatusCode: 500, Response: "no"}) {
		t.Errorf("got %+v, %v", result, err)
	}
	page, err := n.Deliveries(context.Background(), p, ports.DeliveryFilter{Type: event.Test})
	if err != nil || len(page.Items) != 1 || page.Items[0].Status != event.Failed || len(page.Items[0].Attempts) != 1 {
		t.Errorf("logged %+v, %v", page, err)
	}
	if town.queue.Pending() != 0 {
		t.Error("it is queued")
	}
}

func TestService_SendTestFailures(t *testing.T) {
	t.Parallel()
	// Without an endpoint, or without an answer from it, the fault says so.
	town := newTestEnv()
	n := town.newService(Config{})
	town.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.Unreachable} }
	silentOne, without := town.newPlatform(), town.newPlatform()
	town.queue.SetEndpoint(without, "")

	if _, err := n.SendTest(context.Background(), without); !fault.Is(err, fault.WebhookEndpointNotSet) {
		t.Errorf("without an endpoint: %v", err)
	}
	if _, err := n.SendTest(context.Background(), silentOne); !fault.Is(err, fault.WebhookDeliveryError) {
		t.Errorf("without an answer: %v", err)
	}
	if _, err := n.SendTest(context.Background(), ident.Platform{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("of nobody: %v", err)
	}
}

func TestService_InvalidFiltersAreRejected(t *testing.T) {
	t.Parallel()
	// Values that no delivery can have are refused, all at once; so is sending
	// everything again by leaving the span of time out.
	town := newTestEnv()
	p, n := town.newPlatform(), town.newService(Config{})
	ctx := context.Background()

	_, err := n.Deliveries(ctx, p, ports.DeliveryFilter{Status: "LOST", Type: "OTHER", Name: "OTHER.THING"})
	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) != 3 {
		t.Errorf("got %v", err)
	}
	for _, which := range []ports.Redelivery{{}, {Status: event.Failed}, {Created: period.Interval{From: time.Now()}}, {Created: period.Interval{To: time.Now()}}} {
		if _, err := n.Redeliver(ctx, p, which); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", which, err)
		}
	}
	if _, err := n.Redeliver(ctx, p, ports.Redelivery{IDs: []ident.Webhook{{}}, Status: "LOST"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("got %v", err)
	}
}

func TestService_DeliveriesPageSize(t *testing.T) {
	t.Parallel()
	// A page has twenty when nobody says how many, and a hundred at most.
	town := newTestEnv()
	p, n := town.newPlatform(), town.newService(Config{})
	for i := range 120 {
		town.appendEvents(p, byte(i))
	}
	for limit, want := range map[int]int{0: 20, 7: 7, 1000: 100} {
		page, err := n.Deliveries(context.Background(), p, ports.DeliveryFilter{Limit: limit})
		if err != nil || len(page.Items) != want || !page.More {
			t.Errorf("limit %d: %d, %v, %v", limit, len(page.Items), page.More, err)
		}
	}
}

// fakeKeys remembers what it was asked.
type fakeKeys struct {
	overlap     time.Duration
	environment platform.Environment
}

func (k *fakeKeys) Keys(_ context.Context, env platform.Environment, _ time.Time) ([]ports.WebhookKey, error) {
	return []ports.WebhookKey{{Environment: env}}, nil
}

func (k *fakeKeys) Rotate(_ context.Context, env platform.Environment, _ time.Time, overlap time.Duration) error {
	k.environment, k.overlap = env, overlap
	return nil
}

func TestService_KeysAndRotation(t *testing.T) {
	t.Parallel()
	// Keys are those of the environment, and a rotation leaves the old ones a day.
	asked := &fakeKeys{}
	n := newTestEnv().newService(Config{Keys: asked})

	got, err := n.Keys(context.Background(), platform.Production)
	if err != nil || len(got) != 1 || got[0].Environment != platform.Production {
		t.Errorf("got %v, %v", got, err)
	}
	if err := n.Rotate(context.Background(), platform.Sandbox); err != nil || asked.environment != platform.Sandbox || asked.overlap != 24*time.Hour {
		t.Errorf("rotated %s with %v, %v", asked.environment, asked.overlap, err)
	}
}
