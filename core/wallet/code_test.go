package wallet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
)

func TestCode_MatchesOnceInTime(t *testing.T) {
	t.Parallel()
	// The newest code is valid until it expires, was used, or five wrong ones were tried.
	right, wrong := CodeHash{1}, CodeHash{2}
	sent := func(edits ...func(*Code)) Code {
		c, err := Code{}.Sent(right, 5*time.Minute, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, edit := range edits {
			edit(&c)
		}
		return c
	}
	tries := func(n int) func(*Code) {
		return func(c *Code) {
			for range n {
				*c = c.Failed(noon)
			}
		}
	}
	for name, c := range map[string]struct {
		code  Code
		tried CodeHash
		at    time.Duration
		want  bool
	}{
		"at once":               {sent(), right, 0, true},
		"at the end":            {sent(), right, 5*time.Minute - time.Microsecond, true},
		"expired":               {sent(), right, 5 * time.Minute, false},
		"wrong":                 {sent(), wrong, 0, false},
		"after four wrong ones": {sent(tries(4)), right, 0, true},
		"after five wrong ones": {sent(tries(5)), right, 0, false},
		"used":                  {sent().Used(), right, 0, false},
		"used, without a hash":  {sent().Used(), CodeHash{}, 0, false},
		"never sent":            {Code{}, CodeHash{}, 0, false},
	} {
		if got := c.code.Matches(c.tried, noon.Add(c.at)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}

	// A new code ends the one before it, and is tried anew.
	next, err := sent(tries(5)).Sent(wrong, time.Minute, noon.Add(time.Minute))
	if err != nil || next.Matches(right, noon.Add(time.Minute)) || !next.Matches(wrong, noon.Add(time.Minute)) || next.Tries != 0 {
		t.Errorf("next %+v, %v", next, err)
	}
}

func TestCode_FailuresOverCodesDelay(t *testing.T) {
	t.Parallel()
	// Wrong codes are counted over all codes that were sent. The fifth is followed by a delay of a minute, each further one by
	// twice that, up to a day; meanwhile no code is sent, and the fault says when the next one can be. A right code ends it.
	now, code := noon, Code{}
	var waits []time.Duration
	for range 20 {
		sent, err := code.Sent(CodeHash{1}, time.Minute, now)
		if f, limited := fault.As(err); limited {
			waits = append(waits, f.RetryAfter)
			if f.Code != fault.RateLimited || !strings.Contains(f.Message, now.Add(f.RetryAfter).Format(time.RFC3339)) {
				t.Fatalf("%v", err)
			}
			if early := code.CheckDelay(now.Add(f.RetryAfter - time.Microsecond)); early == nil {
				t.Errorf("accepted before the time that the fault names, after %s", f.RetryAfter)
			}
			now = now.Add(f.RetryAfter)
			if sent, err = code.Sent(CodeHash{1}, time.Minute, now); err != nil {
				t.Fatal(err)
			}
		}
		code, now = sent.Failed(now), now.Add(time.Hour/sendHourlyBurst)
		if now.Before(code.BlockedUntil) {
			now = now.Add(-time.Hour / sendHourlyBurst)
		}
	}
	// Delays that are over when the next code is sent are not seen here: those below six minutes.
	want := []time.Duration{8 * time.Minute, 16 * time.Minute, 32 * time.Minute, 64 * time.Minute, 128 * time.Minute, 256 * time.Minute,
		512 * time.Minute, 1024 * time.Minute}
	for len(want) < len(waits) {
		want = append(want, 24*time.Hour)
	}
	if !slices.Equal(waits, want) || len(waits) < 10 {
		t.Errorf("waited %v, want %v", waits, want)
	}
	if used := code.Used(); used.Failures != 0 || used.CheckDelay(now) != nil {
		t.Errorf("after the right one %+v", used)
	}
	if ended := code.Failed(now).Ended(); ended.Failures != 21 || ended.CheckDelay(now) == nil {
		t.Errorf("after an end without use %+v", ended)
	}
}

func TestCode_GuessesAreFew(t *testing.T) {
	t.Parallel()
	// In whatever rhythm codes are asked for and guessed, wrong ones are few: 17 on the first day, and then one a day.
	rapid.Check(t, func(t *rapid.T) {
		code, now, guesses := Code{}, noon, 0
		for range rapid.IntRange(1, 400).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "seconds")) * time.Second)
			if sent, err := code.Sent(CodeHash{1}, 5*time.Minute, now); err == nil {
				code = sent
			}
			if code.CheckDelay(now) == nil && code.Valid(now) {
				code, guesses = code.Failed(now), guesses+1
			}
		}
		if most := 17 + int(now.Sub(noon)/(24*time.Hour)); guesses > most {
			t.Fatalf("%d guesses within %s", guesses, now.Sub(noon))
		}
	})
}

func TestCode_SendingIsLimited(t *testing.T) {
	t.Parallel()
	// Five codes can be sent at once, then one in 15 seconds, and ten in an hour; the fault says when the
	// next one can be.
	var code Code
	var err error
	now := noon
	for i := range 12 {
		if code, err = code.Sent(CodeHash{byte(i + 1)}, time.Minute, now); err == nil {
			continue
		}
		f, _ := fault.As(err)
		if f.Code != fault.RateLimited || f.RetryAfter <= 0 || i < 5 {
			t.Fatalf("code %d: %v", i, err)
		}
		if i == 5 && f.RetryAfter != 15*time.Second {
			t.Errorf("the sixth code: wait %s", f.RetryAfter)
		}
		if _, early := code.Sent(CodeHash{1}, time.Minute, now.Add(f.RetryAfter-time.Microsecond)); early == nil {
			t.Errorf("code %d: sent before the time that the fault names", i)
		}
		now = now.Add(f.RetryAfter)
		if code, err = code.Sent(CodeHash{byte(i + 1)}, time.Minute, now); err != nil {
			t.Fatalf("code %d after the wait: %v", i, err)
		}
	}
	if waited := now.Sub(noon); waited < 11*time.Minute || waited > 13*time.Minute {
		t.Errorf("twelve codes took %s", waited)
	}
}

func TestCode_NeverMoreThanLimits(t *testing.T) {
	t.Parallel()
	// In whatever rhythm codes are asked for, there are at most ten and the regained ones in any hour.
	rapid.Check(t, func(t *rapid.T) {
		var code Code
		now := noon
		var sent []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "seconds")) * time.Second)
			next, err := code.Sent(CodeHash{1}, time.Minute, now)
			if err != nil {
				continue
			}
			code, sent = next, append(sent, now)
			for window, most := range map[time.Duration]int{time.Minute: 9, time.Hour: 20} {
				n := 0
				for _, at := range sent {
					if now.Sub(at) < window {
						n++
					}
				}
				if n > most {
					t.Fatalf("%d codes within %s", n, window)
				}
			}
		}
	})
}
