package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/platform"
)

func TestRateLimit_PerToken(t *testing.T) {
	t.Parallel()
	// A token that exceeds its burst gets 429 with Retry-After; another token is not
	// affected.
	f := newFixture(t, func(c *Config) { c.Rate = Rate{PerSecond: 0.1, Burst: 3} })
	for range 3 {
		if got := f.do("GET", "/parcels", ""); got.status != 200 {
			t.Fatalf("within the burst: %d %s", got.status, got.body)
		}
	}

	refused, other := f.do("GET", "/parcels", ""), f.do("GET", "/parcels", "", asClient("viewer"))

	if refused.status != 429 || refused.error.Code != "RATE_LIMITED" || refused.header.Get("Retry-After") != "10" {
		t.Errorf("got %d %v %s", refused.status, refused.header, refused.body)
	}
	if other.status != 200 {
		t.Errorf("another token: %d", other.status)
	}
}

func TestRateLimit_OfThePlatform(t *testing.T) {
	t.Parallel()
	// However many tokens a platform has, together they are served at the rate of four. Its agents, which its customers have, are counted
	// apart, and another platform is not affected.
	l := newCallerLimiters(Rate{PerSecond: 0.1, Burst: 3})
	now := time.Unix(1e9, 0)
	token := func(platformID ident.Platform, n byte) platform.Principal {
		p := platform.Principal{Platform: platformID}
		p.Token.SetUUID(uuid.UUID{15: n})
		return p
	}
	agent := platform.Principal{Platform: platformID}
	agent.Agent.SetUUID(uuid.UUID{15: 99})
	served := 0
	for n := range byte(20) {
		if _, wait := l.take(token(platformID, n), now); wait == 0 {
			served++
		}
	}

	refused, wait := l.take(token(platformID, 30), now)

	if served != 12 || wait != 2500*time.Millisecond || !strings.Contains(refused, "together") {
		t.Errorf("served %d, and then %q waits for %s", served, refused, wait)
	}
	for name, other := range map[string]platform.Principal{"an agent": agent, "another platform": token(otherPlatformID, 31)} {
		if _, wait := l.take(other, now); wait != 0 {
			t.Errorf("%s waits for %s", name, wait)
		}
	}
	if _, wait := newCallerLimiters(Unlimited).take(agent, now); wait != 0 {
		t.Errorf("without a limit: %s", wait)
	}
}

func TestLimiters_RateHoldsInAnyWindow(t *testing.T) {
	t.Parallel()
	// In any interval at most the burst plus the rate is allowed, and a request after the
	// returned wait is allowed.
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{PerSecond: rapid.Float64Range(0.1, 100).Draw(t, "rate"), Burst: rapid.IntRange(1, 20).Draw(t, "burst")}
		l, now := newLimiters[string](r), time.Unix(1e9, 0)
		var passed []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "gap")) * time.Millisecond)
			wait := l.take("k", now)
			if wait == 0 {
				passed = append(passed, now)
				continue
			}
			if rapid.Bool().Draw(t, "patient") {
				now = now.Add(wait + time.Millisecond)
				if again := l.take("k", now); again != 0 {
					t.Fatalf("waited %s and must wait %s more", wait, again)
				}
				passed = append(passed, now)
			}
		}
		for i := range passed {
			for j := i; j < len(passed); j++ {
				allowed := float64(r.Burst) + r.PerSecond*passed[j].Sub(passed[i]).Seconds() + 1e-6
				if float64(j-i+1) > allowed {
					t.Fatalf("%d passed in %s, allowed %.2f", j-i+1, passed[j].Sub(passed[i]), allowed)
				}
			}
		}
	})
}

func TestLimiters_IdleKeysAreRemoved(t *testing.T) {
	t.Parallel()
	// Limiters that are full again are removed when new keys arrive; others stay.
	l, now := newLimiters[string](Rate{PerSecond: 1, Burst: 100}), time.Unix(1e9, 0)
	for i := range 1000 {
		l.take(fmt.Sprint("old", i), now)
	}
	for range 100 {
		l.take("busy", now.Add(sweepInterval))
	}

	for i := range 1000 {
		l.take(fmt.Sprint("new", i), now.Add(sweepInterval+time.Second))
	}

	if n := l.len(); n > 1001 {
		t.Errorf("%d keys", n)
	}
	if l.take("busy", now.Add(sweepInterval+10*time.Millisecond)) == 0 {
		t.Error("the busy key was forgotten")
	}
}

func TestLimiters_KeyCountIsBounded(t *testing.T) {
	t.Parallel()
	// A flood of new keys removes other keys and does not exhaust memory.
	l, now := newLimiters[int](Rate{PerSecond: 0.001, Burst: 1}), time.Unix(1e9, 0)

	for i := range maxKeysPerShard * len(l.shards) * 5 / 4 {
		l.take(i, now)
	}

	if n := l.len(); n > maxKeysPerShard*len(l.shards) {
		t.Errorf("%d keys, want at most %d", n, maxKeysPerShard*len(l.shards))
	}
}

func TestLimitByAddress_PagesOfOneAddressTogether(t *testing.T) {
	t.Parallel()
	// All limited pages share the rate of an address; another address is not affected. A refused request
	// learns when to come again.
	a := New(Config{Log: logrus.New(), Metrics: prometheus.NewRegistry()})
	limit := a.LimitByAddress(Rate{PerSecond: 0.1, Burst: 2},
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	first, second := limit(ok), limit(ok)
	get := func(page http.Handler, address string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/verify/x", nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		return w
	}
	for _, page := range []http.Handler{first, second} {
		if got := get(page, "192.0.2.1:1000"); got.Code != 200 {
			t.Fatalf("within the burst: %d", got.Code)
		}
	}

	refused, other := get(first, "192.0.2.1:2000"), get(first, "192.0.2.2:1000")

	if refused.Code != 429 || refused.Header().Get("Retry-After") == "" {
		t.Errorf("beyond it: %d, %v", refused.Code, refused.Header())
	}
	if other.Code != 200 {
		t.Errorf("another address: %d", other.Code)
	}
}
