package person_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestAttempts_DelaysGrowAndEnd(t *testing.T) {
	t.Parallel()
	// Five attempts are free. Each later one waits twice as long as that before it, up to 15 minutes, and is refused until then
	// with the time to wait. A day without an attempt forgets them.
	delays := []time.Duration{0, 0, 0, 0, 0, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute,
		8 * time.Minute, 15 * time.Minute, 15 * time.Minute}
	for range 60 { // also where a shift would overflow
		delays = append(delays, 15*time.Minute)
	}
	var a person.Attempts
	now := noon
	for n, delay := range delays {
		if delay > 0 {
			early, err := a.Count(now.Add(delay - time.Nanosecond))
			f, ok := fault.As(err)
			if !ok || f.Code != fault.RateLimited || f.RetryAfter != time.Nanosecond || early != a ||
				!strings.Contains(f.Message, "Try again in 1s") {
				t.Fatalf("attempt %d: %+v, %v", n, early, err)
			}
			if _, err := a.Count(now); !fault.Is(err, fault.RateLimited) || !strings.Contains(err.Error(), delay.String()) {
				t.Fatalf("attempt %d: %v, want to wait %s", n, err, delay)
			}
		}
		now = now.Add(delay)
		next, err := a.Count(now)
		if err != nil || next.Failed != n+1 || !next.LastAt.Equal(now) {
			t.Fatalf("attempt %d: %+v, %v", n, next, err)
		}
		a = next
	}
	forgotten, err := a.Count(now.Add(person.AttemptsRetention))
	if err != nil || forgotten.Failed != 1 {
		t.Errorf("a day later: %+v, %v", forgotten, err)
	}
	kept, err := a.Count(now.Add(person.AttemptsRetention - time.Nanosecond))
	if err != nil || kept.Failed != a.Failed+1 {
		t.Errorf("almost a day later: %+v, %v", kept, err)
	}
}

func TestAttempts_NeverMoreThanTheSchedule(t *testing.T) {
	t.Parallel()
	// Whenever attempts are made, as many as anybody likes, no more of them are let through in a time than by the schedule: one
	// who tries as soon as he may gets the most. Refused attempts change nothing.
	most := func(in time.Duration) (n int) {
		var a person.Attempts
		for at := noon; at.Sub(noon) <= in; {
			next, err := a.Count(at)
			if f, ok := fault.As(err); ok {
				at = at.Add(f.RetryAfter)
				continue
			}
			a, n = next, n+1
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		var a person.Attempts
		now, passed := noon, 0
		for _, pause := range rapid.SliceOfN(rapid.Int64Range(0, int64(10*time.Minute)), 1, 80).Draw(t, "pauses") {
			now = now.Add(time.Duration(pause))
			next, err := a.Count(now)
			if err != nil {
				if next != a {
					t.Fatalf("a refused attempt made %+v of %+v", next, a)
				}
				continue
			}
			a, passed = next, passed+1
		}
		if limit := most(now.Sub(noon)); passed > limit {
			t.Fatalf("%d attempts in %s, want at most %d", passed, now.Sub(noon), limit)
		}
	})
	if n := most(24 * time.Hour); n < 90 || n > 110 {
		t.Errorf("%d attempts in a day", n)
	}
}

func TestFactors_RecoveryCodesCountOnce(t *testing.T) {
	t.Parallel()
	// Each of ten codes is accepted once, in groups or not, in small letters too; in any order, and nothing else is.
	rapid.Check(t, func(t *rapid.T) {
		random := [100]byte(rapid.SliceOfN(rapid.Byte(), 100, 100).Draw(t, "random"))
		codes := person.NewRecoveryCodes(random)
		slices.Sort(codes)
		if codes = slices.Compact(codes); len(codes) < 10 {
			t.Skip("two codes are the same")
		}
		f := person.Factors{RecoveryCodes: slices.Clone(codes), TOTPStep: 7}
		left := len(codes)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 25).Draw(t, "order") {
			isLeft := slices.Contains(f.RecoveryCodes, codes[i])
			text := rapid.SampledFrom([]string{codes[i], person.GroupRecoveryCode(codes[i]), strings.ToLower(codes[i]),
				" " + strings.ReplaceAll(person.GroupRecoveryCode(codes[i]), "-", " ") + " "}).Draw(t, "text")
			if !person.IsRecoveryCode(text) {
				t.Fatalf("%q is no recovery code", text)
			}
			next, used := f.UseRecoveryCode(text, noon)
			if used != isLeft {
				t.Fatalf("%q was used: %t", text, used)
			}
			if used {
				left--
			}
			if len(next.RecoveryCodes) != left || next.TOTPStep != 7 {
				t.Fatalf("%+v is left, want %d codes", next, left)
			}
			f = next
		}
	})
}

func TestNewRecoveryCodes_AreDistinctAndReadable(t *testing.T) {
	t.Parallel()
	// Codes have 80 random bits in 16 characters without I, O, 0 and 1, in four groups. None is as long as a code of a second factor.
	var random [100]byte
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	codes := person.NewRecoveryCodes(random)
	for i, code := range codes {
		if len(code) != 16 || strings.ContainsAny(code, "IO01-= ") || slices.Contains(codes[:i], code) {
			t.Errorf("code %q", code)
		}
		if shown := person.GroupRecoveryCode(code); shown != code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:] {
			t.Errorf("%q is shown as %q", code, shown)
		}
	}
	changed := random
	changed[99] ^= 1
	if slices.Equal(person.NewRecoveryCodes(changed), codes) {
		t.Error("the last random byte is not used")
	}
	for _, text := range []string{"", "123456", "123 456", "12345678", strings.Repeat("-", 16), strings.Repeat("A", 15),
		strings.Repeat("A", 17)} {
		if person.IsRecoveryCode(text) {
			t.Errorf("%q is a recovery code", text)
		}
	}
	if _, used := (person.Factors{}).UseRecoveryCode("", noon); used {
		t.Error("nothing is a recovery code of one who has none")
	}
}

func TestFactors_TOTPStepCountsOnce(t *testing.T) {
	t.Parallel()
	// No step is accepted twice, nor one before the last that was: of any steps, those that are accepted grow.
	rapid.Check(t, func(t *rapid.T) {
		var f person.Factors
		for _, step := range rapid.SliceOf(rapid.Int64Range(1, 20)).Draw(t, "steps") {
			next, ok := f.UseTOTPStep(step, noon)
			if ok != (step > f.TOTPStep) || ok && next.TOTPStep != step || !ok && next.TOTPStep != f.TOTPStep {
				t.Fatalf("step %d after %d: %t, %d", step, f.TOTPStep, ok, next.TOTPStep)
			}
			f = next
		}
	})
}

func TestCheckPassword(t *testing.T) {
	t.Parallel()
	// A password has 12 to 128 characters of any script, and neither the name nor the address of the person.
	for password, bad := range map[string]string{
		"correct horse battery":              "",
		"пароль из слов":                     "",
		"🐎🔋📎🏠 four signs":                    "",
		strings.Repeat("ab12XY.-", 16):       "",
		strings.Repeat("ab12XY.-", 16) + "a": "12 to 128",
		"elevenchars":                        "12 to 128",
		"\xff\xfe twelve bytes":              "12 to 128",
		"":                                   "12 to 128",
		"silva is my name 1":                 "your name",
		"my name is SILVA 1":                 "your name",
		"I am Ana.M.Silva 26":                "your name",
		"banana bread is good":               "", // a name of three letters is in too many words
	} {
		got := person.CheckPassword(password, "ana.m.silva@example.com", "Ana Silva")
		if (got == "") != (bad == "") || !strings.Contains(got, bad) {
			t.Errorf("%q: %q, want %q", password, got, bad)
		}
	}
	if got := person.CheckPassword("correct horse battery", "", ""); got != "" {
		t.Error(got)
	}
}

func TestFactors_WrongCodesAreLimited(t *testing.T) {
	t.Parallel()
	// Whatever right codes are used in between, at most 50 wrong ones are within 30 days; then no code is accepted until the window is
	// over, or a recovery code was used. The last one is reported once.
	codes := person.NewRecoveryCodes([100]byte{1, 2, 3})
	rapid.Check(t, func(t *rapid.T) {
		f, now, wrong := person.Factors{RecoveryCodes: codes}, noon, 0
		var since time.Time
		for range rapid.IntRange(0, 200).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(36*time.Hour)).Draw(t, "pause")))
			if !since.IsZero() && now.Sub(since) >= person.WrongCodesWindow {
				since, wrong = time.Time{}, 0
			}
			if f.AcceptsCodes(now) != (wrong < person.MaxWrongCodes) {
				t.Fatalf("after %d wrong codes: %t", wrong, f.AcceptsCodes(now))
			}
			switch rapid.IntRange(0, 20).Draw(t, "attempt") {
			case 0:
				if used, ok := f.UseRecoveryCode(codes[0], now); ok {
					f, since, wrong = used, time.Time{}, 0
					f.RecoveryCodes = codes
				}
			case 1:
				f, _ = f.UseTOTPStep(f.TOTPStep+1, now)
			default:
				if since.IsZero() {
					since = now
				}
				wrong++
				counted, isLast := f.CountWrongCode(now)
				if isLast != (wrong == person.MaxWrongCodes) {
					t.Fatalf("the wrong code %d is the last: %t", wrong, isLast)
				}
				f = counted
			}
		}
	})
}
