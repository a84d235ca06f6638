package webhooks

import (
	"context"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

func TestSendTest(t *testing.T) {
	t.Parallel()
	// A test event is sent at once, its answer is the result, and the log has it.
	town := newTown()
	p, n := town.platform(), town.dispatcher(Config{})
	town.answers = func(visit) reply { return reply{outcome: event.Refused} }

	result, err := n.SendTest(context.Background(), p)

	if err != nil || result != (TestResult{URL: town.endpoint + p.String(), StatusCode: 500, Response: "no"}) {
		t.Errorf("got %+v, %v", result, err)
	}
	page, err := n.Deliveries(context.Background(), p, ports.DeliveryFilter{Type: event.Test})
	if err != nil || len(page.Items) != 1 || page.Items[0].Status != event.Failed || len(page.Items[0].Attempts) != 1 {
		t.Errorf("logged %+v, %v", page, err)
	}
	if town.memory.Pending() != 0 {
		t.Error("it is queued")
	}
}

func TestSendTestRefusals(t *testing.T) {
	t.Parallel()
	// Without an endpoint, or without an answer from it, the fault says so.
	town := newTown()
	n := town.dispatcher(Config{})
	town.answers = func(visit) reply { return reply{outcome: event.Unreachable} }
	silentOne, without := town.platform(), town.platform()
	town.memory.SetEndpoint(without, "")

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

func TestFiltersAreChecked(t *testing.T) {
	t.Parallel()
	// Values that no delivery can have are refused, all at once; so is sending
	// everything again by leaving the span of time out.
	town := newTown()
	p, n := town.platform(), town.dispatcher(Config{})
	ctx := context.Background()

	_, err := n.Deliveries(ctx, p, ports.DeliveryFilter{Status: "LOST", Type: "OTHER", Name: "OTHER.THING"})
	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) != 3 {
		t.Errorf("got %v", err)
	}
	for _, which := range []ports.Redelivery{{}, {Status: event.Failed}, {Created: ports.Span{From: time.Now()}}, {Created: ports.Span{To: time.Now()}}} {
		if _, err := n.Redeliver(ctx, p, which); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", which, err)
		}
	}
	if _, err := n.Redeliver(ctx, p, ports.Redelivery{IDs: []ident.Webhook{{}}, Status: "LOST"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("got %v", err)
	}
}

func TestDeliveriesArePaged(t *testing.T) {
	t.Parallel()
	// A page has twenty when nobody says how many, and a hundred at most.
	town := newTown()
	p, n := town.platform(), town.dispatcher(Config{})
	for i := range 120 {
		town.tell(p, byte(i))
	}
	for limit, want := range map[int]int{0: 20, 7: 7, 1000: 100} {
		page, err := n.Deliveries(context.Background(), p, ports.DeliveryFilter{Limit: limit})
		if err != nil || len(page.Items) != want || !page.More {
			t.Errorf("limit %d: %d, %v, %v", limit, len(page.Items), page.More, err)
		}
	}
}

// keys remembers what it was asked.
type keys struct {
	rotated time.Duration
	env     platform.Environment
}

func (k *keys) Keys(_ context.Context, env platform.Environment, _ time.Time) ([]ports.WebhookKey, error) {
	return []ports.WebhookKey{{Environment: env}}, nil
}

func (k *keys) Rotate(_ context.Context, env platform.Environment, _ time.Time, overlap time.Duration) error {
	k.env, k.rotated = env, overlap
	return nil
}

func TestKeys(t *testing.T) {
	t.Parallel()
	// Keys are those of the environment, and a rotation leaves the old ones a day.
	asked := &keys{}
	n := newTown().dispatcher(Config{Keys: asked})

	got, err := n.Keys(context.Background(), platform.Production)
	if err != nil || len(got) != 1 || got[0].Environment != platform.Production {
		t.Errorf("got %v, %v", got, err)
	}
	if err := n.Rotate(context.Background(), platform.Sandbox); err != nil || asked.env != platform.Sandbox || asked.rotated != 24*time.Hour {
		t.Errorf("rotated %s with %v, %v", asked.env, asked.rotated, err)
	}
}
