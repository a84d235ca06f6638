package webhooks

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

func TestService_KeepsOrderPerSubject(t *testing.T) {
	t.Parallel()
	// With any responses, lost responses, lost sessions, and dispatchers that start and stop, every
	// event is accepted in the end, and those of a subject for the first time in their order. Events are handed over to any of the
	// dispatchers, at once, late, in another order than they were committed, or not at all. None is sent before its next attempt is
	// due, but by a dispatcher that has not noticed yet that its session is lost.
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"append", "append", "burst", "wait", "pause", "pause", "disconnect", "disconnect", "restart", "redeliver", "second", "endpoint",
		}), 1, 25).Draw(rt, "steps")
		var failed string
		synctest.Test(t, func(*testing.T) { failed = runOrderScenario(seed, steps) })
		if failed != "" {
			rt.Fatal(failed)
		}
	})
}

// runOrderScenario runs the steps and returns what is wrong in the end, if anything.
func runOrderScenario(seed uint64, steps []string) string {
	random := newRandomSource(seed)
	env := newTestEnv()
	platforms := []ident.Platform{env.newPlatform(), env.newPlatform()}
	responses := randomSource{state: seed + 1}
	env.respond = func(receivedRequest) receiverReply {
		r := receiverReply{delay: time.Duration(responses.intN(30)) * time.Millisecond}
		switch responses.intN(12) {
		case 0, 1:
			r.outcome = event.Refused
		case 2:
			r.outcome = event.Unreachable
		case 3:
			r.responseLost = true
		case 4:
			r.outcome = event.Duplicate
		case 5:
			r.silent = responses.intN(4) == 0
			r.outcome = event.Accepted
		default:
			r.outcome = event.Accepted
		}
		return r
	}
	var services []*Service
	start := func() func() {
		service := env.newService(Config{MaxConcurrency: 1 + random.intN(12), Grace: 20 * time.Millisecond})
		service.maxQueued, service.maxPerSubject = 8+random.intN(60), 1+random.intN(6)
		services = append(services, service)
		return startService(service)
	}
	stops := []func(){start()}
	if random.intN(2) == 0 {
		stops = append(stops, start())
	}
	want := map[ident.Platform]map[uuid.UUID][]ident.Webhook{}
	appendRandom := func(count int) {
		p := platforms[random.intN(2)]
		for range count {
			created := env.newEvent(p, byte(random.intN(3)))
			committed, to := env.queue.Append(created), services[random.intN(len(services))]
			switch random.intN(7) {
			case 0: // the hand-over is lost
			case 2: // it is late, and others have the events fetched meanwhile
				to.Wake(p)
				time.AfterFunc(time.Duration(1+random.intN(200))*time.Millisecond, func() { to.HandOver(committed) })
			case 1:
				time.AfterFunc(time.Duration(1+random.intN(2000))*time.Millisecond, func() { to.HandOver(committed) })
			default:
				to.HandOver(committed)
			}
			for _, e := range []event.Event{created} {
				if want[p] == nil {
					want[p] = map[uuid.UUID][]ident.Webhook{}
				}
				want[p][e.Subject] = append(want[p][e.Subject], e.ID)
			}
		}
	}
	for _, step := range steps {
		switch step {
		case "append":
			appendRandom(1 + random.intN(4))
		case "burst":
			appendRandom(60)
		case "wait":
			time.Sleep(time.Duration(random.intN(3000)) * time.Millisecond)
		case "pause":
			time.Sleep(time.Duration(random.intN(60)) * time.Millisecond)
		case "disconnect":
			env.queue.DropSessions()
		case "restart":
			stops[0]()
			stops[0] = start()
		case "second":
			stops = append(stops, start())
		case "redeliver":
			_, _ = env.queue.Redeliver(context.Background(), platforms[random.intN(2)], ports.Redelivery{}, env.clock.Now())
		case "endpoint":
			env.queue.SetEndpoint(platforms[0], env.endpoint+platforms[0].String())
		}
	}
	delivered := env.advanceUntilDelivered(6 * 24 * time.Hour)
	for _, stop := range stops {
		stop()
	}
	if !delivered {
		return fmt.Sprintf("%d events are pending", env.queue.Pending())
	}
	if env.early > 0 && !slices.Contains(steps, "disconnect") {
		return fmt.Sprintf("%d requests before an attempt was due", env.early)
	}
	accepted := env.acceptedIDs()
	for p, subjects := range want {
		for subject, ids := range subjects {
			var got []ident.Webhook
			for _, id := range accepted {
				if slices.Contains(ids, id) {
					got = append(got, id)
				}
			}
			if !slices.Equal(got, ids) {
				return fmt.Sprintf("platform %s, subject %s: accepted %v, want %v", p, subject, got, ids)
			}
		}
	}
	return ""
}

// randomSource is a small deterministic random generator.
type randomSource struct{ state uint64 }

func newRandomSource(seed uint64) *randomSource { return &randomSource{seed} }

func (r *randomSource) intN(n int) int {
	r.state = r.state*6364136223846793005 + 1442695040888963407
	return int((r.state >> 33) % uint64(n))
}

func TestService_BacklogWaitsForUnreadEvents(t *testing.T) {
	t.Parallel()
	// An event in the backlog is not sent before earlier events of its subject that a new owner has
	// not fetched yet.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		events := env.appendEvents(p, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
		session, err := env.queue.OpenSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Claim(t.Context(), []ident.Platform{p}); err != nil {
			t.Fatal(err)
		}
		due, err := session.Exchange(t.Context(), env.clock.Now(), nil, []ports.WebhookFetch{{Platform: p, Fresh: 10}})
		if err != nil {
			t.Fatal(err)
		}
		last := ports.WebhookResult{Event: due[0].Fresh[9], Outcome: ports.WebhookRetry, RetryAt: env.clock.Now()}
		if _, err := session.Exchange(t.Context(), env.clock.Now(), []ports.WebhookResult{last}, nil); err != nil {
			t.Fatal(err)
		}
		session.Close()

		service := env.newService(Config{})
		service.maxQueued = 6
		defer startService(service)()

		if !env.advanceUntilDelivered(time.Minute) {
			t.Fatalf("%d are pending", env.queue.Pending())
		}
		if got := env.acceptedIDs(); !slices.Equal(got, idsOf(events)) {
			t.Errorf("accepted %v, want %v", got, idsOf(events))
		}
	})
}
