package wallet

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// MaxCodeTries is how many wrong codes end a code.
const MaxCodeTries = 5

// CodeHash is a keyed hash of a one-time code.
type CodeHash [sha256.Size]byte

// Code is the latest one-time code of a credential. Only its hash is known.
type Code struct {
	Platform   ident.Platform
	Credential ident.AuthMethod
	// Hash is zero if there is no code: none was sent, or it was used.
	Hash CodeHash
	// Tries is how many wrong codes were tried.
	Tries     int
	ExpiresAt time.Time
	Sending   CodeSending
	// Failures is how many wrong codes were tried since the last right one, whatever was sent meanwhile.
	Failures int
	// BlockedUntil is until when no code is sent or tried, because of failures; zero if there was no delay.
	BlockedUntil time.Time
}

// Valid reports whether the code can still be used.
func (c Code) Valid(now time.Time) bool {
	return c.Hash != (CodeHash{}) && c.Tries < MaxCodeTries && now.Before(c.ExpiresAt)
}

// Matches reports whether a code that somebody tries is this one, and can still be used. It takes the same
// time for each.
func (c Code) Matches(tried CodeHash, now time.Time) bool {
	equal := subtle.ConstantTimeCompare(c.Hash[:], tried[:]) == 1
	return equal && c.Valid(now)
}

// The fifth wrong code since the last right one is followed by a delay of a minute, and each further one by twice the
// delay before it, up to a day: so in the long run one code a day can be guessed.
const (
	freeFailures = MaxCodeTries - 1
	firstDelay   = time.Minute
	maxDelay     = 24 * time.Hour
	maxDoublings = 11 // after which a minute is more than a day
)

// Failed returns the code after a wrong one was tried.
func (c Code) Failed(now time.Time) Code {
	c.Tries++
	c.Failures++
	if delayed := c.Failures - freeFailures; delayed > 0 {
		c.BlockedUntil = now.Add(min(maxDelay, firstDelay<<min(delayed-1, maxDoublings)))
	}
	return c
}

// CheckDelay returns RATE_LIMITED if wrong codes were tried so often that none is sent or tried now, also not the right one.
func (c Code) CheckDelay(now time.Time) error {
	wait := c.BlockedUntil.Sub(now)
	if wait <= 0 {
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, Reason: "Too many wrong codes", RetryAfter: wait,
		Message: fmt.Sprintf("Too many wrong codes were tried. Request a new code after %s.",
			c.BlockedUntil.UTC().Format(time.RFC3339))}
}

// Used returns the code after it was used: there is none then, and no failures count.
func (c Code) Used() Code {
	c = c.Ended()
	c.Failures, c.BlockedUntil = 0, time.Time{}
	return c
}

// Ended returns the code after it became invalid without being used: there is none then.
func (c Code) Ended() Code {
	c.Hash, c.Tries = CodeHash{}, 0
	return c
}

// Sent returns the code that replaces this one. Fault: RATE_LIMITED if too many were sent, or too many wrong ones tried.
func (c Code) Sent(hash CodeHash, lifetime time.Duration, now time.Time) (Code, error) {
	if err := c.CheckDelay(now); err != nil {
		return c, err
	}
	sending, err := c.Sending.Next(now)
	if err != nil {
		return c, err
	}
	c.Hash, c.Tries, c.ExpiresAt, c.Sending = hash, 0, now.Add(lifetime), sending
	return c, nil
}

// Five codes can be sent to a credential at once, and then one in 15 seconds; and ten in an hour.
const (
	sendBurst        = 5
	sendInterval     = 15 * time.Second
	sendHourlyBurst  = 10
	sendHourInterval = time.Hour / sendHourlyBurst
)

// CodeSending remembers how many codes were sent, as the times at which both limits are without use again.
type CodeSending struct{ BurstUntil, HourUntil time.Time }

// Next returns the limits after one more code, or RATE_LIMITED.
func (s CodeSending) Next(now time.Time) (CodeSending, error) {
	burst, wait := spend(s.BurstUntil, now, sendInterval, sendBurst)
	hour, hourWait := spend(s.HourUntil, now, sendHourInterval, sendHourlyBurst)
	if wait = max(wait, hourWait); wait > 0 {
		return s, &fault.Error{Code: fault.RateLimited, Reason: "Too many codes", RetryAfter: wait,
			Message: "Too many codes were sent. Wait, and use the latest code meanwhile."}
	}
	return CodeSending{BurstUntil: burst, HourUntil: hour}, nil
}

// spend counts one use of a limit of so many uses, each of which is regained after an interval. It returns
// when the limit is without use again, and how long to wait if it is exhausted.
func spend(until, now time.Time, interval time.Duration, uses int) (next time.Time, wait time.Duration) {
	if until.Before(now) {
		until = now
	}
	next = until.Add(interval)
	return next, max(0, next.Sub(now)-time.Duration(uses)*interval)
}
