package webhooks

import (
	"context"
	"net/http"
	"slices"
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
	// A test event is sent at once and listed. The status of the response is the result, and its
	// body where the service shows it.
	env := newTestEnv()
	p, service := env.newPlatform(), env.newService(Config{ShowTestResponses: true})
	env.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.Refused} }

	result, err := service.SendTest(context.Background(), p)

	if err != nil || result != (TestResult{URL: env.endpoint + p.String(), StatusCode: 500, Response: "no"}) {
		t.Errorf("got %+v, %v", result, err)
	}
	page, err := service.Deliveries(context.Background(), p, ports.DeliveryFilter{Type: event.Test})
	if result, err := env.newService(Config{}).SendTest(context.Background(), p); err != nil || result.StatusCode != 500 ||
		result.Response != "" {
		t.Errorf("without bodies: %+v, %v", result, err)
	}
	if err != nil || len(page.Items) != 1 || page.Items[0].Status != event.Failed || len(page.Items[0].Attempts) != 1 {
		t.Errorf("logged %+v, %v", page, err)
	}
	if env.queue.Pending() != 0 {
		t.Error("the test event is queued")
	}
}

func TestService_SendTestFailures(t *testing.T) {
	t.Parallel()
	// A missing endpoint and a missing response have faults of their own.
	env := newTestEnv()
	service := env.newService(Config{})
	env.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.Unreachable} }
	unreachable, withoutEndpoint := env.newPlatform(), env.newPlatform()
	env.queue.SetEndpoint(withoutEndpoint, "")

	if _, err := service.SendTest(context.Background(), withoutEndpoint); !fault.Is(err, fault.WebhookEndpointNotSet) {
		t.Errorf("without an endpoint: %v", err)
	}
	if _, err := service.SendTest(context.Background(), unreachable); !fault.Is(err, fault.WebhookDeliveryError) {
		t.Errorf("without a response: %v", err)
	}
	if _, err := service.SendTest(context.Background(), ident.Platform{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown platform: %v", err)
	}
}

func TestService_InvalidFiltersAreRejected(t *testing.T) {
	t.Parallel()
	// All invalid values of a filter are reported. A redelivery without a time range is rejected.
	env := newTestEnv()
	p, service := env.newPlatform(), env.newService(Config{})
	ctx := context.Background()

	_, err := service.Deliveries(ctx, p, ports.DeliveryFilter{Status: "LOST", Type: "OTHER", Name: "OTHER.THING"})
	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) != 3 {
		t.Errorf("got %v", err)
	}
	for _, r := range []ports.Redelivery{{}, {Status: event.Failed}, {Created: period.Interval{From: time.Now()}},
		{Created: period.Interval{To: time.Now()}}} {
		if _, err := service.Redeliver(ctx, p, r); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := service.Redeliver(ctx, p, ports.Redelivery{IDs: []ident.Webhook{{}}, Status: "LOST"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("got %v", err)
	}
}

func TestService_DeliveriesPageSize(t *testing.T) {
	t.Parallel()
	// A page has 20 deliveries by default and 100 at most.
	env := newTestEnv()
	p, service := env.newPlatform(), env.newService(Config{})
	for i := range 120 {
		env.appendEvents(p, byte(i))
	}
	for limit, want := range map[int]int{0: 20, 7: 7, 1000: 100} {
		page, err := service.Deliveries(context.Background(), p, ports.DeliveryFilter{Limit: limit})
		if err != nil || len(page.Items) != want || !page.More {
			t.Errorf("limit %d: %d, %v, %v", limit, len(page.Items), page.More, err)
		}
	}
}

// fakeKeys records rotations.
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

func (k *fakeKeys) Headers(_ context.Context, d ports.WebhookDelivery) (http.Header, error) {
	return http.Header{"Signed": {d.Endpoint.Platform.String(), d.ID.String(), string(d.Body)}}, nil
}

func (k *fakeKeys) NewSecret(ident.Platform, ident.WebhookSecret) (string, []byte, error) {
	return "whsec_", []byte("sealed"), nil
}

func TestService_SignedIsNotRecorded(t *testing.T) {
	t.Parallel()
	// An event is returned as it would be sent now, with the body that is stored. That is no attempt. An unknown event, and
	// that of another platform, do not exist.
	env := newTestEnv()
	p := env.newPlatform()
	service := env.newService(Config{Keys: &fakeKeys{}})
	e := env.appendEvents(p, 1)[0]
	stored, err := service.Delivery(context.Background(), p, e.ID)
	if err != nil {
		t.Fatal(err)
	}

	signed, err := service.Signed(context.Background(), p, e.ID)

	want := []string{p.String(), e.ID.String(), string(stored.Body)}
	if err != nil || signed.ID != e.ID || string(signed.Body) != string(stored.Body) || !slices.Equal(signed.Header["Signed"], want) {
		t.Errorf("%v, %+v, want %v", err, signed, want)
	}
	if after, err := service.Delivery(context.Background(), p, e.ID); err != nil || len(after.Attempts) != 0 || after.Status != event.Pending {
		t.Errorf("%v, %+v", err, after)
	}
	for _, of := range []struct {
		platform ident.Platform
		id       ident.Webhook
	}{{p, ident.Webhook{}}, {env.newPlatform(), e.ID}} {
		if _, err := service.Signed(context.Background(), of.platform, of.id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	}
}

func TestService_KeysAndRotation(t *testing.T) {
	t.Parallel()
	// Keys are those of the environment. After a rotation the old ones are valid for the overlap.
	keys := &fakeKeys{}
	service := newTestEnv().newService(Config{Keys: keys})

	got, err := service.Keys(context.Background(), platform.Production)
	if err != nil || len(got) != 1 || got[0].Environment != platform.Production {
		t.Errorf("got %v, %v", got, err)
	}
	if err := service.Rotate(context.Background(), platform.Sandbox, 24*time.Hour); err != nil || keys.environment != platform.Sandbox ||
		keys.overlap != 24*time.Hour {
		t.Errorf("rotated %s with %v, %v", keys.environment, keys.overlap, err)
	}
}
