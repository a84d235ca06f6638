package customers

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"causeway/core/fault"
	"causeway/core/ident"
)

// A code has 59 random bits. A platform may ask for some unknown codes at once, and then for one every
// three seconds, in each process: with a million invitations, it finds one in fifty thousand years.
const (
	guessBurst    = 20
	guessInterval = 3 * time.Second
	// maxGuessers bounds the platforms that are remembered.
	maxGuessers = 10_000
)

// guessLimiter limits how often platforms ask for codes of no invitation, in this process.
type guessLimiter struct {
	mu        sync.Mutex
	platforms map[ident.Platform]*rate.Limiter // those that have guessed lately
}

func newGuessLimiter() *guessLimiter {
	return &guessLimiter{platforms: map[ident.Platform]*rate.Limiter{}}
}

// check returns RATE_LIMITED if a platform has guessed too often.
func (g *guessLimiter) check(p ident.Platform, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	limiter, ok := g.platforms[p]
	if !ok || limiter.TokensAt(now) >= 1 {
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, Reason: "Too many unknown codes", RetryAfter: guessInterval,
		Message: "Your platform has asked for too many invitations that do not exist. Wait some seconds."}
}

// count counts one guess.
func (g *guessLimiter) count(p ident.Platform, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limiter, ok := g.platforms[p]
	if !ok {
		g.forget(now)
		limiter = rate.NewLimiter(rate.Every(guessInterval), guessBurst)
		g.platforms[p] = limiter
	}
	limiter.AllowN(now, 1)
}

// forget makes room for a platform: it removes those that have not guessed for a while, or one.
func (g *guessLimiter) forget(now time.Time) {
	if len(g.platforms) < maxGuessers {
		return
	}
	for p, limiter := range g.platforms {
		if limiter.TokensAt(now) >= guessBurst {
			delete(g.platforms, p)
		}
	}
	for p := range g.platforms {
		if len(g.platforms) < maxGuessers {
			return
		}
		delete(g.platforms, p)
	}
}
