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

func TestOrder(t *testing.T) {
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
		synctest.Test(t, func(*testing.T) { failed = playOrder(seed, steps) })
		if failed != "" {
			rt.Fatal(failed)
		}
	})
}

// playOrder plays the steps and says what is wrong in the end.
func playOrder(seed uint64, steps []string) string {
	random := newDice(seed)
	town := newTown()
	platforms := []ident.Platform{town.platform(), town.platform()}
	answer := dice{state: seed + 1}
	town.answers = func(visit) reply {
		r := reply{after: time.Duration(answer.below(30)) * time.Millisecond}
		switch answer.below(12) {
		case 0, 1:
			r.outcome = event.Refused
		case 2:
			r.outcome = event.Unreachable
		case 3:
			r.lost = true
		case 4:
			r.outcome = event.Duplicate
		case 5:
			r.silent = answer.below(4) == 0
			r.outcome = event.Accepted
		default:
			r.outcome = event.Accepted
		}
		return r
	}
	start := func() func() {
		n := town.dispatcher(Config{Width: 1 + random.below(12), Grace: 20 * time.Millisecond})
		n.capacity, n.lineLength = 8+random.below(60), 1+random.below(6)
		return run(n)
	}
	stops := []func(){start()}
	if random.below(2) == 0 {
		stops = append(stops, start())
	}
	want := map[ident.Platform]map[uuid.UUID][]ident.Webhook{}
	tell := func(count int) {
		p := platforms[random.below(2)]
		for range count {
			for _, e := range town.tell(p, byte(random.below(3))) {
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
			tell(1 + random.below(4))
		case "burst":
			tell(60)
		case "wait":
			time.Sleep(time.Duration(random.below(3000)) * time.Millisecond)
		case "moment":
			time.Sleep(time.Duration(random.below(60)) * time.Millisecond)
		case "break":
			town.memory.DropSessions()
		case "restart":
			stops[0]()
			stops[0] = start()
		case "second":
			stops = append(stops, start())
		case "redeliver":
			_, _ = town.memory.Redeliver(context.Background(), platforms[random.below(2)], ports.Redelivery{}, town.clock.Now())
		case "move":
			town.memory.SetEndpoint(platforms[0], town.endpoint+platforms[0].String())
		}
	}
	settled := town.settle(6 * 24 * time.Hour)
	for _, stop := range stops {
		stop()
	}
	if !settled {
		return fmt.Sprintf("%d events still wait", town.memory.Pending())
	}
	accepted := town.accepted()
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

// dice is a small repeatable source of chance.
type dice struct{ state uint64 }

func newDice(seed uint64) *dice { return &dice{seed} }

func (d *dice) below(n int) int {
	d.state = d.state*6364136223846793005 + 1442695040888963407
	return int((d.state >> 33) % uint64(n))
}

func TestBacklogWaitsForTheUnread(t *testing.T) {
	t.Parallel()
	// What is due in the backlog is not sent before earlier events of its subject that
	// a new owner has not read yet.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		events := town.tell(p, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
		session, err := town.memory.OpenSession(t.Context())
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

		n := town.dispatcher(Config{})
		n.capacity = 6
		defer run(n)()

		if !town.settle(time.Minute) {
			t.Fatalf("%d still wait", town.memory.Pending())
		}
		if got := town.accepted(); !slices.Equal(got, idsOf(events)) {
			t.Errorf("accepted %v, told %v", got, idsOf(events))
		}
	})
}

func TestDeadEndpointDelaysNobody(t *testing.T) {
	t.Parallel()
	// One platform's receiver accepts connections and never answers. Another platform's
	// events still arrive within milliseconds, and the dead one costs little.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		dead, alive := town.platform(), town.platform()
		tries := 0
		town.answers = func(v visit) reply {
			if v.Endpoint.URL == town.endpoint+dead.String() {
				tries++
				return reply{silent: true}
			}
			return reply{after: time.Millisecond, outcome: event.Accepted}
		}
		n := town.dispatcher(Config{})
		defer run(n)()
		for i := range 2000 {
			town.tell(dead, byte(i))
		}
		n.Wake()

		var worst time.Duration
		for range 200 {
			e := town.tell(alive, 1)[0]
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
		if tries > 80 || town.crowd[dead] > firstWidth {
			t.Errorf("%d tries at the dead one, %d at once", tries, town.crowd[dead])
		}
	})
}

func TestSlowEventsDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	// Events of one subject that take long do not delay those of others of the same
	// platform, also when there are very many of them.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		slow := uuid.UUID{0: 1, 15: 1}
		town.answers = func(v visit) reply {
			if slices.Contains(idsOfSubject(town, p, slow), v.ID) {
				return reply{after: 9 * time.Second, outcome: event.Accepted}
			}
			return reply{after: time.Millisecond, outcome: event.Accepted}
		}
		for range 3000 {
			town.tell(p, 1)
		}
		quick := town.tell(p, 2, 3, 4, 2, 3, 4)
		defer run(town.dispatcher(Config{}))()

		time.Sleep(2 * time.Second)

		for _, e := range quick {
			if d := town.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("subject %v: %s", e.Subject, d.Status)
			}
		}
		if town.crowd[p] > 4 {
			t.Errorf("%d deliveries at once for four subjects", town.crowd[p])
		}
	})
}

func idsOfSubject(town *town, p ident.Platform, subject uuid.UUID) []ident.Webhook {
	page, _ := town.memory.Deliveries(context.Background(), p, ports.DeliveryFilter{Subject: subject, Limit: 1})
	var ids []ident.Webhook
	for _, d := range page.Items {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	// When a dead endpoint answers again, what waited for it arrives within a minute.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		dead := true
		town.answers = func(visit) reply {
			if dead {
				return reply{outcome: event.Unreachable}
			}
			return reply{after: time.Millisecond, outcome: event.Accepted}
		}
		meter := &meter{}
		defer run(town.dispatcher(Config{Meter: meter}))()
		for i := range 600 {
			town.tell(p, byte(i))
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

		time.Sleep(longestRest + 5*time.Second)
		if delivered := meter.get("delivered"); delivered < 500 || meter.get("resumed") != 1 {
			t.Errorf("%d delivered, resumed %d", delivered, meter.get("resumed"))
		}
		if !town.settle(event.MaxBackoff) { // those whose own pause is not over
			t.Errorf("%d still wait", town.memory.Pending())
		}
	})
}

func TestNewEndpointIsTriedAtOnce(t *testing.T) {
	t.Parallel()
	// A changed URL forgets how the old one failed.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		town.answers = func(v visit) reply {
			if strings.HasPrefix(v.Endpoint.URL, town.endpoint) {
				return reply{outcome: event.Unreachable}
			}
			return reply{outcome: event.Accepted}
		}
		defer run(town.dispatcher(Config{}))()
		for i := range 200 {
			town.tell(p, byte(i))
		}
		time.Sleep(time.Hour)
		town.memory.SetEndpoint(p, "https://other.example/"+p.String())
		fresh := town.tell(p, 250)[0]

		time.Sleep(2 * tick)

		if d := town.delivery(t, fresh); d.Status != event.Delivered {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
	})
}

func TestTestEventGoesToTheNewEndpoint(t *testing.T) {
	t.Parallel()
	// The event that announces a changed URL goes there, also while the platform is busy.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		n := town.dispatcher(Config{})
		defer run(n)()
		for i := range 50 {
			town.tell(p, 1)
			n.Wake()
			time.Sleep(3 * time.Millisecond)
			town.memory.SetEndpoint(p, fmt.Sprintf("https://number%d.example/%s", i, p))
			test := event.NewTest(ident.NewWebhook(town.New, time.Now()), p, town.clock.Now())
			town.memory.Append(test)
			n.Wake()
			synctest.Wait()
			time.Sleep(20 * time.Millisecond)

			town.mu.Lock()
			last := town.visits[len(town.visits)-1]
			town.mu.Unlock()
			if last.ID != test.ID || !strings.HasPrefix(last.Endpoint.URL, fmt.Sprintf("https://number%d.", i)) {
				t.Fatalf("change %d: %s went to %s", i, last.ID, last.Endpoint.URL)
			}
		}
	})
}

func TestNoEndpointAnyMore(t *testing.T) {
	t.Parallel()
	// When the URL is taken away nothing is sent and nothing counts as tried; with a new
	// one everything goes out; and after seven days without one it is given up.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		first := town.tell(p, 1, 2)
		town.memory.SetEndpoint(p, "")
		defer run(town.dispatcher(Config{}))()
		time.Sleep(time.Hour)
		if d := town.delivery(t, first[0]); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Fatalf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		town.memory.SetEndpoint(p, town.endpoint+p.String())
		if !town.settle(time.Minute) {
			t.Fatal("nothing came after the new URL")
		}

		second := town.tell(p, 1)[0]
		town.memory.SetEndpoint(p, "")
		time.Sleep(time.Second)
		third := town.tell(p, 1)[0] // not queued: nowhere to go
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

func TestParkedAfterSevenDays(t *testing.T) {
	t.Parallel()
	// An event that is always refused is tried for seven days, at most 30 minutes apart,
	// and then parked, visible; the next of its subject goes on.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		var refused ident.Webhook
		town.answers = func(v visit) reply {
			if v.ID == refused {
				return reply{outcome: event.Refused}
			}
			return reply{outcome: event.Accepted}
		}
		bad := town.event(p, 1)
		refused = bad.ID
		town.memory.Append(bad)
		next := town.tell(p, 1)[0]
		meter := &meter{}
		defer run(town.dispatcher(Config{Meter: meter}))()

		for town.memory.Pending() > 0 && town.clock.Now().Sub(bad.OccurredAt) < 8*24*time.Hour {
			if d := town.delivery(t, next); d.Status == event.Delivered && town.delivery(t, bad).Status == event.Pending {
				t.Fatal("the next one was sent before")
			}
			town.clock.advance(event.MaxBackoff / 2)
			time.Sleep(2 * tick)
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

func TestTestEventIsSentOnce(t *testing.T) {
	t.Parallel()
	// A test event that fails is not tried again, and one that is known counts as delivered.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		town.answers = func(v visit) reply {
			if len(v.Body) > 0 && v.ID.UUID()[15]%2 == 0 {
				return reply{outcome: event.Duplicate}
			}
			return reply{outcome: event.Refused}
		}
		defer run(town.dispatcher(Config{}))()
		for range 2 {
			e := event.NewTest(ident.NewWebhook(town.New, time.Now()), p, town.clock.Now())
			town.memory.Append(e)
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
