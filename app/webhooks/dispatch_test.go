package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

func TestService_DeadEndpointDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	// One platform's endpoint never responds. Another platform's events still arrive within
	// milliseconds, and few attempts are made at the dead endpoint.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		dead, alive := env.newPlatform(), env.newPlatform()
		attempts := 0
		env.respond = func(v receivedRequest) receiverReply {
			if v.Endpoint.URL == env.endpoint+dead.String() {
				attempts++
				return receiverReply{silent: true}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		service := env.newService(Config{})
		defer startService(service)()
		for i := range 2000 {
			env.appendEvents(dead, byte(i))
		}
		service.Wake(dead)

		var maxLatency time.Duration
		for range 200 {
			e := env.appendEvents(alive, 1)[0]
			service.Wake(alive)
			for env.delivery(t, e).Status != event.Delivered {
				time.Sleep(time.Millisecond)
			}
			maxLatency = max(maxLatency, time.Since(e.OccurredAt))
			time.Sleep(300 * time.Millisecond)
		}

		if maxLatency > 150*time.Millisecond {
			t.Errorf("an event took %v beside a dead endpoint", maxLatency)
		}
		// In about a minute: those until the circuit breaker opens, then a few probes.
		if attempts > 80 || env.maxActive[dead] > initialConcurrency {
			t.Errorf("%d attempts at the dead endpoint, %d at once", attempts, env.maxActive[dead])
		}
	})
}

func TestService_SlowSubjectDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	// Slow events of one subject do not delay those of other subjects of the platform, also if there
	// are very many of them.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		slow := uuid.UUID{0: 1, 15: 1}
		env.respond = func(v receivedRequest) receiverReply {
			if slices.Contains(idsOfSubject(env, p, slow), v.ID) {
				return receiverReply{delay: 9 * time.Second, outcome: event.Accepted}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		for range 3000 {
			env.appendEvents(p, 1)
		}
		others := env.appendEvents(p, 2, 3, 4, 2, 3, 4)
		defer startService(env.newService(Config{}))()

		time.Sleep(2 * time.Second)

		for _, e := range others {
			if d := env.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("subject %v: %s", e.Subject, d.Status)
			}
		}
		if env.maxActive[p] > 4 {
			t.Errorf("%d deliveries at once for four subjects", env.maxActive[p])
		}
	})
}

func idsOfSubject(env *testEnv, p ident.Platform, subject uuid.UUID) []ident.Webhook {
	page, _ := env.queue.Deliveries(context.Background(), p, ports.DeliveryFilter{Subject: subject, Limit: 1})
	var ids []ident.Webhook
	for _, d := range page.Items {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestService_DeliversAfterEndpointRecovers(t *testing.T) {
	t.Parallel()
	// When a dead endpoint responds again, the pending events are delivered within a minute.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		dead := true
		env.respond = func(receivedRequest) receiverReply {
			if dead {
				return receiverReply{outcome: event.Unreachable}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		metrics := &countingMetrics{}
		defer startService(env.newService(Config{Metrics: metrics}))()
		for i := range 600 {
			env.appendEvents(p, byte(i))
		}
		time.Sleep(time.Hour)
		if metrics.get("paused") != 1 || metrics.get("resumed") != 0 {
			t.Fatalf("paused %d, resumed %d", metrics.get("paused"), metrics.get("resumed"))
		}
		attempts := metrics.get("UNREACHABLE")
		if attempts > 300 {
			t.Errorf("%d attempts in an hour", attempts)
		}

		env.mu.Lock()
		dead = false
		env.mu.Unlock()

		time.Sleep(maxProbeDelay + 5*time.Second)
		if delivered := metrics.get("delivered"); delivered < 500 || metrics.get("resumed") != 1 {
			t.Errorf("%d delivered, resumed %d", delivered, metrics.get("resumed"))
		}
		if !env.advanceUntilDelivered(event.MaxBackoff) { // those whose own backoff is not over
			t.Errorf("%d are pending", env.queue.Pending())
		}
	})
}

func TestService_NewEndpointIsTriedImmediately(t *testing.T) {
	t.Parallel()
	// Failures of the old URL do not delay deliveries to a new one.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		env.respond = func(v receivedRequest) receiverReply {
			if strings.HasPrefix(v.Endpoint.URL, env.endpoint) {
				return receiverReply{outcome: event.Unreachable}
			}
			return receiverReply{outcome: event.Accepted}
		}
		defer startService(env.newService(Config{}))()
		for i := range 200 {
			env.appendEvents(p, byte(i))
		}
		time.Sleep(time.Hour)
		env.queue.SetEndpoint(p, "https://other.example/"+p.String())
		created := env.appendEvents(p, 250)[0]

		time.Sleep(2 * pollInterval)

		if d := env.delivery(t, created); d.Status != event.Delivered {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
	})
}

func TestService_TestEventGoesToNewEndpoint(t *testing.T) {
	t.Parallel()
	// The test event of a new URL is sent to it, also while the platform is busy.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		service := env.newService(Config{})
		defer startService(service)()
		time.Sleep(minScanInterval) // a first scan may have found nothing: the next one is due now
		for i := range 50 {
			env.appendEvents(p, 1)
			service.Wake(p)
			time.Sleep(3 * time.Millisecond)
			env.queue.SetEndpoint(p, fmt.Sprintf("https://number%d.example/%s", i, p))
			test := event.NewTest(ident.NewWebhook(env.New, time.Now()), p, env.clock.Now())
			env.queue.Append(test)
			service.Wake(p)
			synctest.Wait()
			time.Sleep(20 * time.Millisecond)

			env.mu.Lock()
			last := env.requests[len(env.requests)-1]
			env.mu.Unlock()
			if last.ID != test.ID || !strings.HasPrefix(last.Endpoint.URL, fmt.Sprintf("https://number%d.", i)) {
				t.Fatalf("change %d: %s went to %s", i, last.ID, last.Endpoint.URL)
			}
		}
	})
}

func TestService_RemovedEndpointSendsNothing(t *testing.T) {
	t.Parallel()
	// Without an endpoint nothing is sent and no attempt is counted. With a new one everything is
	// sent. After seven days without one an event is given up.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		first := env.appendEvents(p, 1, 2)
		env.queue.SetEndpoint(p, "")
		defer startService(env.newService(Config{}))()
		time.Sleep(time.Hour)
		if d := env.delivery(t, first[0]); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Fatalf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		env.queue.SetEndpoint(p, env.endpoint+p.String())
		if !env.advanceUntilDelivered(time.Minute) {
			t.Fatal("nothing was delivered to the new URL")
		}

		second := env.appendEvents(p, 1)[0]
		env.queue.SetEndpoint(p, "")
		time.Sleep(time.Second)
		third := env.appendEvents(p, 1)[0] // not queued, because there is no endpoint
		env.clock.advance(event.RetryWindow)
		time.Sleep(time.Second)

		if d := env.delivery(t, second); d.Status == event.Pending {
			t.Errorf("%s", d.Status)
		}
		if d := env.delivery(t, third); d.Status != event.Unsent {
			t.Errorf("%s", d.Status)
		}
	})
}

func TestService_AbandonsAfterSevenDays(t *testing.T) {
	t.Parallel()
	// An event that is always rejected is retried for seven days, at most 30 minutes apart, and then
	// given up as FAILED. The next of its subject is sent then.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		var rejected ident.Webhook
		env.respond = func(v receivedRequest) receiverReply {
			if v.ID == rejected {
				return receiverReply{outcome: event.Refused}
			}
			return receiverReply{outcome: event.Accepted}
		}
		failing := env.newEvent(p, 1)
		rejected = failing.ID
		env.queue.Append(failing)
		next := env.appendEvents(p, 1)[0]
		metrics := &countingMetrics{}
		defer startService(env.newService(Config{Metrics: metrics}))()

		for env.queue.Pending() > 0 && env.clock.Now().Sub(failing.OccurredAt) < 8*24*time.Hour {
			if d := env.delivery(t, next); d.Status == event.Delivered && env.delivery(t, failing).Status == event.Pending {
				t.Fatal("the next event was sent first")
			}
			env.clock.advance(event.MaxBackoff / 2)
			time.Sleep(2 * pollInterval)
		}

		d := env.delivery(t, failing)
		last := d.Attempts[len(d.Attempts)-1]
		if d.Status != event.Failed || last.AttemptedAt.Sub(failing.OccurredAt) < event.RetryWindow || last.Outcome != event.GivenUp &&
			last.Outcome != event.Refused || metrics.get("abandoned") != 1 {
			t.Errorf("%s, %d attempts, the last after %v, abandoned %d", d.Status, len(d.Attempts), last.AttemptedAt.Sub(failing.OccurredAt),
				metrics.get("abandoned"))
		}
		for i := 1; i < len(d.Attempts); i++ {
			if gap := d.Attempts[i].AttemptedAt.Sub(d.Attempts[i-1].AttemptedAt); gap > event.MaxBackoff+event.MaxBackoff/2+time.Second {
				t.Errorf("attempt %d was %v after the one before", i+1, gap)
			}
		}
		if d := env.delivery(t, next); d.Status != event.Delivered || len(d.Attempts) != 1 {
			t.Errorf("the next event: %s", d.Status)
		}
	})
}

func TestService_TestEventIsNotRetried(t *testing.T) {
	t.Parallel()
	// A failed test event is not retried, and a duplicate counts as delivered.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		env.respond = func(v receivedRequest) receiverReply {
			if len(v.Body) > 0 && v.ID.UUID()[15]%2 == 0 {
				return receiverReply{outcome: event.Duplicate}
			}
			return receiverReply{outcome: event.Refused}
		}
		defer startService(env.newService(Config{}))()
		for range 2 {
			e := event.NewTest(ident.NewWebhook(env.New, time.Now()), p, env.clock.Now())
			env.queue.Append(e)
			time.Sleep(time.Hour)
			want := event.Failed
			if e.ID.UUID()[15]%2 == 0 {
				want = event.Delivered
			}
			if d := env.delivery(t, e); d.Status != want || len(d.Attempts) != 1 {
				t.Errorf("%s after %d attempts, want %s", d.Status, len(d.Attempts), want)
			}
		}
	})
}
