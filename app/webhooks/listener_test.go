package webhooks

import (
	"testing"

	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
)

func TestService_SendAndWaitRelaysToListener(t *testing.T) {
	t.Parallel()
	// While a listener is there, an event that asks for an answer is listed and not sent; after its time it is sent again.
	env := newTestEnv()
	sent := 0
	env.respond = func(receivedRequest) receiverReply { sent++; return receiverReply{outcome: event.Accepted} }
	p, service := env.newPlatform(), env.newService(Config{})

	until, err := service.Listen(t.Context(), p)
	if err != nil || until.Sub(env.clock.Now()) > platform.ListenerTime {
		t.Fatalf("until %s, %v", until, err)
	}
	response, err := service.SendAndWait(t.Context(), env.newEvent(p, 1).Rendered([]byte("{}")))
	if err != nil || response != (ports.WebhookResponse{Relayed: true}) || sent != 0 {
		t.Errorf("with a listener: %+v, %v, sent %d", response, err, sent)
	}
	if page, err := service.Deliveries(t.Context(), p, ports.DeliveryFilter{}); err != nil || len(page.Items) != 1 {
		t.Errorf("listed %+v, %v", page.Items, err)
	}

	env.clock.advance(platform.ListenerTime)
	response, err = service.SendAndWait(t.Context(), env.newEvent(p, 2).Rendered([]byte("{}")))
	if err != nil || response.Relayed || sent != 1 {
		t.Errorf("without a listener: %+v, %v, sent %d", response, err, sent)
	}
}
