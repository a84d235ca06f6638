package event

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	// Any 2xx accepts, 409 is a duplicate, every other status is refused.
	for status := 100; status < 600; status++ {
		want := Refused
		if status/100 == 2 {
			want = Accepted
		}
		if status == 409 {
			want = Duplicate
		}
		if got := OutcomeOf(status); got != want || !got.Responded() {
			t.Errorf("OutcomeOf(%d) = %s, want %s", status, got, want)
		}
	}
}

func TestOutcome_DeliveredAndResponded(t *testing.T) {
	t.Parallel()
	// Two outcomes mean that the receiver has the event, three that it responded.
	for _, c := range []struct {
		outcome              Outcome
		delivered, responded bool
	}{
		{Accepted, true, true}, {Duplicate, true, true}, {Refused, false, true},
		{TimedOut, false, false}, {Unreachable, false, false}, {Forbidden, false, false}, {GivenUp, false, false}, {InternalError, false, false},
	} {
		if c.outcome.Delivered() != c.delivered || c.outcome.Responded() != c.responded {
			t.Errorf("%s: delivered %v, responded %v", c.outcome, c.outcome.Delivered(), c.outcome.Responded())
		}
	}
}

func TestNextAttempt_BackoffBounds(t *testing.T) {
	t.Parallel()
	// The pause is never longer than 30 minutes nor than its doubling bound, the last
	// attempt is at the latest at the end of the seven days, and none is later.
	rapid.Check(t, func(t *rapid.T) {
		since := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "since"), 0)
		age := time.Duration(rapid.Int64Range(0, int64(8*24*time.Hour)).Draw(t, "age"))
		tries := rapid.IntRange(0, 2000).Draw(t, "tries")
		random := rapid.Uint64().Draw(t, "random")
		now := since.Add(age)

		next, ok := NextAttempt(OutgoingPaymentCompleted, tries, since, now, random)

		if ok != (age < RetryWindow) {
			t.Fatalf("age %v: ok %v", age, ok)
		}
		if !ok {
			return
		}
		bound := MaxBackoff
		if tries <= 10 {
			bound = min(bound, 2*time.Second<<(max(tries, 1)-1))
		}
		if pause := next.Sub(now); pause <= 0 || pause > bound {
			t.Fatalf("after %d tries a pause of %v, want up to %v", tries, pause, bound)
		}
		if next.After(since.Add(RetryWindow)) {
			t.Fatalf("next at %v, after the seven days", next)
		}
	})
}

func TestNextAttempt_JitterCoversWholeBackoff(t *testing.T) {
	t.Parallel()
	// The random number spreads the next attempt over the whole pause.
	now := time.Unix(1_000_000, 0)
	first, _ := NextAttempt(OutgoingPaymentFailed, 5, now, now, 0)
	last, _ := NextAttempt(OutgoingPaymentFailed, 5, now, now, uint64(32*time.Second)-1)
	if first.Sub(now) != 1 || last.Sub(now) != 32*time.Second {
		t.Errorf("from %v to %v", first.Sub(now), last.Sub(now))
	}
}

func TestNextAttempt_TestEventIsNotRetried(t *testing.T) {
	t.Parallel()
	// A test event is sent once.
	now := time.Unix(1_000_000, 0)
	if next, ok := NextAttempt(TestSent, 1, now, now, 7); ok {
		t.Errorf("again at %v", next)
	}
}

func TestStatusOf(t *testing.T) {
	t.Parallel()
	// A queued event is pending, whatever happened before; else the last attempt decides.
	accepted, refused := &Attempt{Number: 2, Outcome: Duplicate}, &Attempt{Number: 9, Outcome: Refused}
	for _, c := range []struct {
		waiting bool
		latest  *Attempt
		want    Status
	}{
		{true, nil, Pending}, {true, accepted, Pending}, {true, refused, Pending},
		{false, nil, Unsent}, {false, accepted, Delivered}, {false, refused, Failed},
		{false, &Attempt{Outcome: GivenUp}, Failed},
	} {
		if got := StatusOf(c.waiting, c.latest); got != c.want {
			t.Errorf("StatusOf(%v, %+v) = %s, want %s", c.waiting, c.latest, got, c.want)
		}
	}
}
