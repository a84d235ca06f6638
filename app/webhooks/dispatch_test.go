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
	"pgregory.net/rapid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

func TestService_KeepsOrderPerSubject(t *testing.T) {
	t.Parallel()
	// Whatever receivers answer, however often answers or the queue are lost and
	// dispatchers come and go: every event is accepted, and those of a subject for the
	// first time in their order.
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"tell", "tell", "burst", "wait", "moment", "moment", "break", "break", "restart", "redeliver", "second", "move",
		}), 1, 25).Draw(rt, "steps")
		var failed string
		synctest.Test(t, func(*testing.T) { failed = runOrderScenario(seed, steps) })
		if failed != "" {
			rt.Fatal(failed)
		}
	})
}

// runOrderScenario plays the steps and says what is wrong in the end.
func runOrderScenario(seed uint64, steps []string) string {
	random := newRandomSource(seed)
	town := newTestEnv()
	platforms := []ident.Platform{town.newPlatform(), town.newPlatform()}
	answer := randomSource{state: seed + 1}
	town.respond = func(receivedRequest) receiverReply {
		r := receiverReply{delay: time.Duration(answer.intN(30)) * time.Millisecond}
		switch answer.intN(12) {
		case 0, 1:
			r.outcome = event.Refused
		case 2:
			r.outcome = event.Unreachable
		case 3:
			r.responseLost = true
		case 4:
			r.outcome = event.Duplicate
		case 5:
			r.silent = answer.intN(4) == 0
			r.outcome = event.Accepted
		default:
			r.outcome = event.Accepted
		}
		return r
	}
	start := func() func() {
		n := town.newService(Config{MaxConcurrency: 1 + random.intN(12), Grace: 20 * time.Millisecond})
		n.maxQueued, n.maxPerSubject = 8+random.intN(60), 1+random.intN(6)
		return startService(n)
	}
	stops := []func(){start()}
	if random.intN(2) == 0 {
		stops = append(stops, start())
	}
	want := map[ident.Platform]map[uuid.UUID][]ident.Webhook{}
	tell := func(count int) {
		p := platforms[random.intN(2)]
		for range count {
			for _, e := range town.appendEvents(p, byte(random.intN(3))) {
				if want[p] == nil {
					want[p] = map[uuid.UUID][]ident.Webhook{}
				}
				want[p][e.Subject] = append(want[p][e.Subject], e.ID)
			}
		}
	}
	for _, step := range steps {
		switch step {
		case "tell":
			tell(1 + random.intN(4))
		case "burst":
			tell(60)
		case "wait":
			time.Sleep(time.Duration(random.intN(3000)) * time.Millisecond)
		case "moment":
			time.Sleep(time.Duration(random.intN(60)) * time.Millisecond)
		case "break":
			town.queue.DropSessions()
		case "restart":
			stops[0]()
			stops[0] = start()
		case "second":
			stops = append(stops, start())
		case "redeliver":
			_, _ = town.queue.Redeliver(context.Background(), platforms[random.intN(2)], ports.Redelivery{}, town.clock.Now())
		case "move":
			town.queue.SetEndpoint(platforms[0], town.endpoint+platforms[0].String())
		}
	}
	settled := town.advanceUntilDelivered(6 * 24 * time.Hour)
	for _, stop := range stops {
		stop()
	}
	if !settled {
		return fmt.Sprintf("%d events still wait", town.queue.Pending())
	}
	accepted := town.acceptedIDs()
	for p, subjects := range want {
		for subject, ids := range subjects {
			var got []ident.Webhook
			for _, id := range accepted {
				if slices.Contains(ids, id) {
					got = append(got, id)
				}
			}
			if !slices.Equal(got, ids) {
				return fmt.Sprintf("platform %s, subject %s: accepted %v, told %v", p, subject, got, ids)
			}
		}
	}
	return ""
}

// randomSource is a small repeatable source of chance.
type randomSource struct{ state uint64 }

func newRandomSource(seed uint64) *randomSource { return &randomSource{seed} }

func (d *randomSource) intN(n int) int {
	d.state = d.state*6364136223846793005 + 1442695040888963407
	return int((d.state >> 33) % uint64(n))
}

func TestService_BacklogWaitsForUnreadEvents(t *testing.T) {
	t.Parallel()
	// What is due in the backlog is not sent before earlier events of its subject that
	// a new owner has not read yet.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		events := town.appendEvents(p, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
		session, err := town.queue.OpenSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Claim(t.Context(), []ident.Platform{p}); err != nil {
			t.Fatal(err)
		}
		due, err := session.Exchange(t.Context(), town.clock.Now(), nil, []ports.WebhookFetch{{Platform: p, Fresh: 10}})
		if err != nil {
			t.Fatal(err)
		}
		last := ports.WebhookResult{Event: due[0].Fresh[9], Outcome: ports.WebhookRetry, RetryAt: town.clock.Now()}
		if _, err := session.Exchange(t.Context(), town.clock.Now(), []ports.WebhookResult{last}, nil); err != nil {
			t.Fatal(err)
		}
		session.Close()

		n := town.newService(Config{})
		n.maxQueued = 6
		defer startService(n)()

		if !town.advanceUntilDelivered(time.Minute) {
			t.Fatalf("%d still wait", town.queue.Pending())
		}
		if got := town.acceptedIDs(); !slices.Equal(got, idsOf(events)) {
			t.Errorf("accepted %v, told %v", got, idsOf(events))
		}
	})
}

func TestService_DeadEndpointDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	// One platform's receiver accepts connections and never answers. Another platform's
	// events still arrive within milliseconds, and the dead one costs little.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		dead, alive := town.newPlatform(), town.newPlatform()
		tries := 0
		town.respond = func(v receivedRequest) receiverReply {
			if v.Endpoint.URL == town.endpoint+dead.String() {
				tries++
				return receiverReply{silent: true}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		n := town.newService(Config{})
		defer startService(n)()
		for i := range 2000 {
			town.appendEvents(dead, byte(i))
		}
		n.Wake()

		var worst time.Duration
		for range 200 {
			e := town.appendEvents(alive, 1)[0]
			n.Wake()
			for town.delivery(t, e).Status != event.Delivered {
				time.Sleep(time.Millisecond)
			}
			worst = max(worst, time.Since(e.OccurredAt))
			time.Sleep(300 * time.Millisecond)
		}

		if worst > 150*time.Millisecond {
			t.Errorf("an event took %v beside a dead endpoint", worst)
		}
		// In about a minute: the first ones until the gate closes, then one now and then.
		if tries > 80 || town.maxActive[dead] > initialConcurrency {
			t.Errorf("%d tries at the dead one, %d at once", tries, town.maxActive[dead])
		}
	})
}

func TestService_SlowSubjectDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	// Events of one subject that take long do not delay those of others of the same
	// platform, also when there are very many of them.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		slow := uuid.UUID{0: 1, 15: 1}
		town.respond = func(v receivedRequest) receiverReply {
			if slices.Contains(idsOfSubject(town, p, slow), v.ID) {
				return receiverReply{delay: 9 * time.Second, outcome: event.Accepted}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		for range 3000 {
			town.appendEvents(p, 1)
		}
		quick := town.appendEvents(p, 2, 3, 4, 2, 3, 4)
		defer startService(town.newService(Config{}))()

		time.Sleep(2 * time.Second)

		for _, e := range quick {
			if d := town.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("subject %v: %s", e.Subject, d.Status)
			}
		}
		if town.maxActive[p] > 4 {
			t.Errorf("%d deliveries at once for four subjects", town.maxActive[p])
		}
	})
}

func idsOfSubject(town *testEnv, p ident.Platform, subject uuid.UUID) []ident.Webhook {
	page, _ := town.queue.Deliveries(context.Background(), p, ports.DeliveryFilter{Subject: subject, Limit: 1})
	var ids []ident.Webhook
	for _, d := range page.Items {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestService_DeliversAfterEndpointRecovers(t *testing.T) {
	t.Parallel()
	// When a dead endpoint answers again, what waited for it arrives within a minute.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		dead := true
		town.respond = func(receivedRequest) receiverReply {
			if dead {
				return receiverReply{outcome: event.Unreachable}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		meter := &countingMetrics{}
		defer startService(town.newService(Config{Metrics: meter}))()
		for i := range 600 {
			town.appendEvents(p, byte(i))
		}
		time.Sleep(time.Hour)
		if meter.get("paused") != 1 || meter.get("resumed") != 0 {
			t.Fatalf("paused %d, resumed %d", meter.get("paused"), meter.get("resumed"))
		}
		tries := meter.get("UNREACHABLE")
		if tries > 300 {
			t.Errorf("%d tries in an hour", tries)
		}

		town.mu.Lock()
		dead = false
		town.mu.Unlock()

		time.Sleep(maxProbeDelay + 5*time.Second)
		if delivered := meter.get("delivered"); delivered < 500 || meter.get("resumed") != 1 {
			t.Errorf("%d delivered, resumed %d", delivered, meter.get("resumed"))
		}
		if !town.advanceUntilDelivered(event.MaxBackoff) { // those whose own pause is not over
			t.Errorf("%d still wait", town.queue.Pending())
		}
	})
}

func TestService_NewEndpointIsTriedImmediately(t *testing.T) {
	t.Parallel()
	// A changed URL forgets how the old one failed.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		town.respond = func(v receivedRequest) receiverReply {
			if strings.HasPrefix(v.Endpoint.URL, town.endpoint) {
				return receiverReply{outcome: event.Unreachable}
			}
			return receiverReply{outcome: event.Accepted}
		}
		defer startService(town.newService(Config{}))()
		for i := range 200 {
			town.appendEvents(p, byte(i))
		}
		time.Sleep(time.Hour)
		town.queue.SetEndpoint(p, "https://other.example/"+p.String())
		fresh := town.appendEvents(p, 250)[0]

		time.Sleep(2 * pollInterval)

		if d := town.delivery(t, fresh); d.Status != event.Delivered {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
	})
}

func TestService_TestEventGoesToNewEndpoint(t *testing.T) {
	t.Parallel()
	// The event that announces a changed URL goes there, also while the platform is busy.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		n := town.newService(Config{})
		defer startService(n)()
		for i := range 50 {
			town.appendEvents(p, 1)
			n.Wake()
			time.Sleep(3 * time.Millisecond)
			town.queue.SetEndpoint(p, fmt.Sprintf("https://number%d.example/%s", i, p))
			test := event.NewTest(ident.NewWebhook(town.New, time.Now()), p, town.clock.Now())
			town.queue.Append(test)
			n.Wake()
			synctest.Wait()
			time.Sleep(20 * time.Millisecond)

			town.mu.Lock()
			last := town.requests[len(town.requests)-1]
			town.mu.Unlock()
			if last.ID != test.ID || !strings.HasPrefix(last.Endpoint.URL, fmt.Sprintf("https://number%d.", i)) {
				t.Fatalf("change %d: %s went to %s", i, last.ID, last.Endpoint.URL)
			}
		}
	})
}

func TestService_RemovedEndpointSendsNothing(t *testing.T) {
	t.Parallel()
	// When the URL is taken away nothing is sent and nothing counts as tried; with a new
	// one everything goes out; and after seven days without one it is given up.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		first := town.appendEvents(p, 1, 2)
		town.queue.SetEndpoint(p, "")
		defer startService(town.newService(Config{}))()
		time.Sleep(time.Hour)
		if d := town.delivery(t, first[0]); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Fatalf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		town.queue.SetEndpoint(p, town.endpoint+p.String())
		if !town.advanceUntilDelivered(time.Minute) {
			t.Fatal("nothing came after the new URL")
		}

		second := town.appendEvents(p, 1)[0]
		town.queue.SetEndpoint(p, "")
		time.Sleep(time.Second)
		third := town.appendEvents(p, 1)[0] // not queued: nowhere to go
		town.clock.advance(event.RetryWindow)
		time.Sleep(time.Second)

		if d := town.delivery(t, second); d.Status == event.Pending {
			t.Errorf("%s", d.Status)
		}
		if d := town.delivery(t, third); d.Status != event.Unsent {
			t.Errorf("%s", d.Status)
		}
	})
}

func TestService_AbandonsAfterSevenDays(t *testing.T) {
	t.Parallel()
	// An event that is always refused is tried for seven days, at most 30 minutes apart,
	// and then parked, visible; the next of its subject goes on.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		var refused ident.Webhook
		town.respond = func(v receivedRequest) receiverReply {
			if v.ID == refused {
				return receiverReply{outcome: event.Refused}
			}
			return receiverReply{outcome: event.Accepted}
		}
		bad := town.newEvent(p, 1)
		refused = bad.ID
		town.queue.Append(bad)
		next := town.appendEvents(p, 1)[0]
		meter := &countingMetrics{}
		defer startService(town.newService(Config{Metrics: meter}))()

		for town.queue.Pending() > 0 && town.clock.Now().Sub(bad.OccurredAt) < 8*24*time.Hour {
			if d := town.delivery(t, next); d.Status == event.Delivered && town.delivery(t, bad).Status == event.Pending {
				t.Fatal("the next one was sent before")
			}
			town.clock.advance(event.MaxBackoff / 2)
			time.Sleep(2 * pollInterval)
		}

		d := town.delivery(t, bad)
		last := d.Attempts[len(d.Attempts)-1]
		if d.Status != event.Failed || last.AttemptedAt.Sub(bad.OccurredAt) < event.RetryWindow || last.Outcome != event.GivenUp && last.Outcome != event.Refused || meter.get("parked") != 1 {
			t.Errorf("%s, %d attempts, the last after %v, parked %d", d.Status, len(d.Attempts), last.AttemptedAt.Sub(bad.OccurredAt), meter.get("parked"))
		}
		for i := 1; i < len(d.Attempts); i++ {
			if gap := d.Attempts[i].AttemptedAt.Sub(d.Attempts[i-1].AttemptedAt); gap > event.MaxBackoff+event.MaxBackoff/2+time.Second {
				t.Errorf("attempt %d came %v after the one before", i+1, gap)
			}
		}
		if d := town.delivery(t, next); d.Status != event.Delivered || len(d.Attempts) != 1 {
			t.Errorf("the next one: %s", d.Status)
		}
	})
}

func TestService_TestEventIsNotRetried(t *testing.T) {
	t.Parallel()
	// A test event that fails is not tried again, and one that is known counts as delivered.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		town.respond = func(v receivedRequest) receiverReply {
			if len(v.Body) > 0 && v.ID.UUID()[15]%2 == 0 {
				return receiverReply{outcome: event.Duplicate}
			}
			return receiverReply{outcome: event.Refused}
		}
		defer startService(town.newService(Config{}))()
		for range 2 {
			e := event.NewTest(ident.NewWebhook(town.New, time.Now()), p, town.clock.Now())
			town.queue.Append(e)
			time.Sleep(time.Hour)
			want := event.Failed
			if e.ID.UUID()[15]%2 == 0 {
				want = event.Delivered
			}
			if d := town.delivery(t, e); d.Status != want || len(d.Attempts) != 1 {
				t.Errorf("%s after %d attempts, want %s", d.Status, len(d.Attempts), want)
			}
		}
	})
}
