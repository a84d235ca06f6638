package webhooks

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"causeway/core/event"
	"causeway/ports"
)

func TestService_HandedOverEvents(t *testing.T) {
	t.Parallel()
	// Events that are handed over are sent without being fetched, in the order of their subjects, each once. If what came before in
	// the queue is not known here, or the endpoint is another one, or they were handed over late, they are fetched.
	for name, test := range map[string]struct {
		handOver func(env *testEnv, s *Service, first, second []ports.CommittedWebhook)
		fetches  bool
	}{
		"at once": {handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			s.HandOver(first)
			s.HandOver(second)
		}},
		"the second when the first was recorded": {handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			s.HandOver(first)
			time.Sleep(2 * maxRecordDelay)
			s.HandOver(second)
		}},
		"twice": {handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			s.HandOver(append(first, second...))
			time.Sleep(2 * maxRecordDelay)
			s.HandOver(append(first, second...))
		}},
		"the second alone": {fetches: true, handOver: func(_ *testEnv, s *Service, _, second []ports.CommittedWebhook) {
			s.HandOver(second)
		}},
		"the second first": {fetches: true, handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			s.HandOver(second)
			s.HandOver(first)
		}},
		"too many at once": {fetches: true, handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			s.HandOver(slices.Concat(slices.Repeat(first, maxHandedOver), second))
		}},
		"late": {fetches: true, handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			for i := range first {
				first[i].Since = first[i].Since.Add(-maxHandOverTime - 1)
			}
			s.HandOver(append(first, second...))
		}},
		"of before the platform was claimed": {fetches: true, handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			for i := range first {
				first[i].Since = first[i].Since.Add(-busyWindow)
			}
			s.HandOver(append(first, second...))
		}},
		"for another endpoint": {fetches: true, handOver: func(env *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			env.queue.SetEndpoint(first[0].Platform, env.endpoint+"new/"+first[0].Platform.String())
			for _, e := range append(first, second...) {
				e.Endpoint.URL = env.endpoint + "new/" + e.Platform.String()
				s.HandOver([]ports.CommittedWebhook{e})
			}
		}},
		"while the first is in the backlog": {fetches: true, handOver: func(_ *testEnv, s *Service, first, second []ports.CommittedWebhook) {
			s.HandOver(first)
			second[0].Blocked = true
			s.HandOver(second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newTestEnv()
				p := env.newPlatform()
				service := env.newService(Config{})
				defer startService(service)()
				warm := env.appendEvents(p, 9) // the platform is claimed for it, and busy since
				service.Wake(p)
				time.Sleep(3 * maxRecordDelay)
				before := env.queue.Fetches()
				events := []event.Event{env.newEvent(p, 1), env.newEvent(p, 1)}
				first, second := env.queue.Append(events[0]), env.queue.Append(events[1])

				test.handOver(env, service, first, second)
				time.Sleep(3 * maxRecordDelay)

				if got, want := env.acceptedIDs(), idsOf(append(warm, events...)); !slices.Equal(got, want) {
					t.Errorf("accepted %v, want %v", got, want)
				}
				if n := len(env.requests); n != 3 {
					t.Errorf("%d requests, want one for each event", n)
				}
				if fetched := env.queue.Fetches() > before; fetched != test.fetches {
					t.Errorf("fetched: %t", fetched)
				}
				if n := env.queue.Pending(); n != 0 {
					t.Errorf("%d events are pending", n)
				}
			})
		})
	}
}

func TestService_HandedOverAfterItsAttemptHasFailed(t *testing.T) {
	t.Parallel()
	// An event that was fetched, and has failed, before its hand-over arrives waits for its next attempt.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		env.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.Refused} }
		p := env.newPlatform()
		service := env.newService(Config{})
		defer startService(service)()
		service.Wake(p)
		env.queue.Append(env.newEvent(p, 1))
		time.Sleep(2 * maxRecordDelay) // the platform is claimed for it
		later := env.newEvent(p, 2)
		committed := env.queue.Append(later)
		service.Wake(p)
		time.Sleep(2 * maxRecordDelay)
		if d := env.delivery(t, later); len(d.Attempts) == 0 {
			t.Fatalf("it was not fetched and attempted: %+v", d)
		}

		service.HandOver(committed)
		time.Sleep(2 * maxRecordDelay)

		if env.early > 0 {
			t.Errorf("%d requests before an attempt was due", env.early)
		}
	})
}

func TestService_DatabaseChange(t *testing.T) {
	t.Parallel()
	// What was handed over and recorded before the database changed is not used after: its numbers may be those of other events. A new
	// session fetches all.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		service := env.newService(Config{})
		defer startService(service)()
		warm := env.appendEvents(p, 9)
		service.Wake(p)
		time.Sleep(2 * maxRecordDelay)
		before := env.queue.Fetches()
		created := env.newEvent(p, 1)
		service.HandOver(env.queue.Append(created))

		service.ForgetCommitted()
		time.Sleep(time.Second)

		if got, want := env.acceptedIDs(), idsOf(append(warm, created)); !slices.Equal(got, want) {
			t.Errorf("accepted %v, want %v", got, want)
		}
		if env.queue.Fetches() == before {
			t.Error("nothing was fetched")
		}
	})
}
