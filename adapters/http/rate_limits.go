package httpapi

import (
	"hash/maphash"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// Rate is a rate limit: the average rate and the burst size.
type Rate struct {
	PerSecond float64
	Burst     int
}

// DefaultRate is the rate limit of one token, and of one agent: enough for a busy service.
var DefaultRate = Rate{PerSecond: 500, Burst: 1000}

// platformShare is how many times the rate of one token all tokens of a platform have together, and so its agents: enough for a busy
// platform, and too little to slow down others, however many tokens it creates.
const platformShare = 4

// Unlimited is no limit.
var Unlimited = Rate{PerSecond: math.Inf(1), Burst: 1}

// tokenKey identifies a token or an agent.
type tokenKey uuid.UUID

func newTokenKey(p platform.Principal) tokenKey {
	if !p.Agent.IsZero() {
		return tokenKey(p.Agent.UUID())
	}
	return tokenKey(p.Token.UUID())
}

// callerGroup is the tokens of a platform, or its agents: those are programs of its customers, which must not use up what its own have.
type callerGroup struct {
	platform ident.Platform
	agents   bool
}

// callerLimiters limit the requests of a token or an agent, and those of all of its platform.
type callerLimiters struct {
	byCaller *limiters[tokenKey]
	byGroup  *limiters[callerGroup]
}

func newCallerLimiters(r Rate) callerLimiters {
	return callerLimiters{newLimiters[tokenKey](r),
		newLimiters[callerGroup](Rate{PerSecond: platformShare * r.PerSecond, Burst: platformShare * r.Burst})}
}

// take counts one request and returns zero, or returns who made too many and how long to wait.
func (l callerLimiters) take(p platform.Principal, now time.Time) (refused string, wait time.Duration) {
	if wait = l.byCaller.take(newTokenKey(p), now); wait > 0 {
		return "This token", wait
	}
	group := callerGroup{p.Platform, !p.Agent.IsZero()}
	if wait = l.byGroup.take(group, now); wait == 0 {
		return "", 0
	}
	if group.agents {
		return "The agents of this platform together", wait
	}
	return "The tokens of this platform together", wait
}

// limiters holds a rate limiter per key, in this process. Limiters of keys that have not
// been used for a while are removed, because they are full again.
type limiters[K comparable] struct {
	rate   Rate
	seed   maphash.Seed
	shards [16]limiterShard[K]
}

type limiterShard[K comparable] struct {
	mu      sync.Mutex
	keys    map[K]*rate.Limiter
	sweepAt time.Time
}

const (
	sweepInterval   = time.Minute
	maxKeysPerShard = 8192 // beyond it, arbitrary keys are removed
)

func newLimiters[K comparable](r Rate) *limiters[K] {
	l := &limiters[K]{rate: r, seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].keys = map[K]*rate.Limiter{}
	}
	return l
}

// LimitByAddress returns a function that limits pages: of each client address it serves the requests
// for all of these pages at a rate, and those beyond it with refused.
func (a *API) LimitByAddress(r Rate, refused http.Handler) (limit func(http.Handler) http.Handler) {
	addresses := newLimiters[netip.Addr](r)
	return func(page http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if wait := addresses.take(a.remoteAddr(r), time.Now()); wait > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
				refused.ServeHTTP(w, r)
				return
			}
			page.ServeHTTP(w, r)
		})
	}
}

// PublicLimit limits the requests to a public operation, so that nobody can guess a code in its path.
type PublicLimit struct {
	PerAddress Rate // of one client address
	PerPath    Rate // of one path, from all addresses; upper and lower case and hyphens do not matter
}

// publicLimiters are the limiters of one public operation.
type publicLimiters struct {
	byAddress *limiters[netip.Addr]
	byPath    *limiters[uint64] // a hash, because paths may be long
	seed      maphash.Seed
}

func newPublicLimiters(l PublicLimit) *publicLimiters {
	return &publicLimiters{byAddress: newLimiters[netip.Addr](l.PerAddress), byPath: newLimiters[uint64](l.PerPath), seed: maphash.MakeSeed()}
}

// limitPublic counts a request to a public operation with a limit, and returns RATE_LIMITED if it is
// beyond it.
func (x *exchange) limitPublic() error {
	l := x.route.publicLimiters
	if l == nil {
		return nil
	}
	wait := l.byAddress.take(x.api.remoteAddr(x.r), x.started)
	if wait == 0 {
		path := strings.ReplaceAll(strings.ToUpper(x.r.URL.Path), "-", "")
		wait = l.byPath.take(maphash.String(l.seed, path), x.started)
	}
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Code:       fault.RateLimited,
		Message:    "Too many requests to this operation. Wait for the number of seconds in Retry-After and try again.",
		RetryAfter: wait,
	}
}

// take counts one event and returns zero, or returns how long to wait for it.
func (l *limiters[K]) take(key K, now time.Time) time.Duration {
	if math.IsInf(l.rate.PerSecond, 1) {
		return 0
	}
	shard := l.shard(key)
	shard.mu.Lock()
	limiter, ok := shard.keys[key]
	if !ok {
		l.sweep(shard, now)
		limiter = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		shard.keys[key] = limiter
	}
	shard.mu.Unlock()
	if limiter.AllowN(now, 1) {
		return 0
	}
	return l.retryAfter(limiter, now)
}

func (l *limiters[K]) retryAfter(limiter *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - limiter.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(time.Millisecond, time.Duration(missing/l.rate.PerSecond*float64(time.Second)))
}

func (l *limiters[K]) shard(key K) *limiterShard[K] {
	return &l.shards[maphash.Comparable(l.seed, key)%uint64(len(l.shards))]
}

// sweep removes the limiters that are full again.
func (l *limiters[K]) sweep(shard *limiterShard[K], now time.Time) {
	if now.Before(shard.sweepAt) && len(shard.keys) < maxKeysPerShard {
		return
	}
	shard.sweepAt = now.Add(sweepInterval)
	for key, limiter := range shard.keys {
		if limiter.TokensAt(now) >= float64(l.rate.Burst) {
			delete(shard.keys, key)
		}
	}
	if len(shard.keys) < maxKeysPerShard {
		return
	}
	for key := range shard.keys {
		if delete(shard.keys, key); len(shard.keys) < maxKeysPerShard/2 {
			return
		}
	}
}

// len returns the number of keys.
func (l *limiters[K]) len() int {
	n := 0
	for i := range l.shards {
		l.shards[i].mu.Lock()
		n += len(l.shards[i].keys)
		l.shards[i].mu.Unlock()
	}
	return n
}
