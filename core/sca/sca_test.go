package sca_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/sca"
	"causeway/core/wallet"
)

var (
	start    = time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)
	subject  = sca.Digest{1}
	customer = ident.NewCustomer(func(time.Time) uuid.UUID { return uuid.UUID{1} }, start)
)

// checks accept the code "right" of TOTP once in 30 seconds, and a passkey that signs "right".
var checks = sca.Checks{
	IsTestCode: func(code string) bool { return code == "test" },
	TOTPStep: func(_, code string, now time.Time) (int64, bool) {
		return now.Unix() / 30, code == "right"
	},
	Passkey: func(key wallet.PasskeyKey, challenge []byte, a wallet.Assertion) (wallet.PasskeyKey, error) {
		if a.Signature != "right" || len(challenge) != 64 {
			return key, errors.New("not signed")
		}
		key.SignCount++
		key.UserVerified = a.UserHandle != "unverified"
		return key, nil
	},
}

func hash(code string) wallet.CodeHash { return sha256.Sum256([]byte(code)) }

func challenge(p sca.Purpose, f sca.Factor, now time.Time) *sca.Challenge {
	c := sca.NewChallenge(sca.Challenge{Customer: customer, Purpose: p, Factor: f, CreatedAt: now, ExpiresAt: now.Add(sca.LoginLifetime)},
		[32]byte{7})
	if p != sca.Login {
		c.Subject = subject
	}
	if f == sca.SMSOTP {
		c.CodeHash = hash("right")
	}
	return &c
}

func proof(f sca.Factor, text string) sca.Proof {
	return sca.Proof{Factor: f, Code: text, CodeHash: hash(text), Assertion: wallet.Assertion{Signature: text}}
}

var enrolled = []sca.Credential{
	{Factor: sca.TOTP, TOTPSecret: "secret", RecoveryCodes: sca.HashRecoveryCodes([]string{"ABCDEFGHJKLMNPQR"})},
	{Factor: sca.Passkey, Passkey: &wallet.PasskeyKey{CredentialID: []byte{1}}},
}

func attempt(a sca.Account, c *sca.Challenge, p sca.Proof) sca.Attempt {
	made := sca.Attempt{Account: a, Credentials: enrolled, Purpose: sca.Login, Challenge: c, Proof: p}
	if c != nil {
		made.Purpose, made.Subject = c.Purpose, c.Subject
	}
	return made
}

func TestFail_LocksAndSuspends(t *testing.T) {
	t.Parallel()
	// Four failures change nothing. The fifth locks for 15 minutes, the sixth for 30, the seventh for an hour, the eighth for a day,
	// and the ninth suspends for good.
	account := sca.Account{Customer: customer}
	for i, want := range []time.Duration{0, 0, 0, 0, 15 * time.Minute, 30 * time.Minute, time.Hour, 24 * time.Hour} {
		account = account.Fail("", start)
		if want > 0 != !account.LockedUntil.IsZero() || want > 0 && account.LockedUntil.Sub(start) != want {
			t.Errorf("failure %d locks until %v, want %v", i+1, account.LockedUntil, want)
		}
		if before := account.CheckLock(start.Add(want - time.Second)); want > 0 && !fault.Is(before, fault.AccountLocked) ||
			account.CheckLock(start.Add(want)) != nil {
			t.Errorf("failure %d: the lock does not end after %v", i+1, want)
		}
	}
	account = account.Fail("", start)
	locked, _ := fault.As(account.CheckLock(start.AddDate(10, 0, 0)))
	if locked == nil || locked.Details["suspended"] != true || locked.Details["failedAttempts"] != 9 || locked.Details["lockedUntil"] != nil {
		t.Errorf("after nine: %+v", locked)
	}
	if cleared := account.Clear(start); cleared.CheckLock(start) != nil || cleared.Failures.Total() != 0 {
		t.Errorf("cleared: %+v", cleared)
	}
}

func TestCheckLock_SaysUntilWhen(t *testing.T) {
	t.Parallel()
	// The answer to a locked customer has until when, and after how many attempts.
	account := sca.Account{Failures: sca.Failures{SMS: 4}}.Fail(sca.SMSOTP, start)
	locked, _ := fault.As(account.CheckLock(start))
	if want := map[string]any{"suspended": false, "failedAttempts": 5, "lockedUntil": "2026-08-03T09:15:00Z"}; locked == nil ||
		fmt.Sprint(locked.Details) != fmt.Sprint(want) {
		t.Errorf("details %+v", locked)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	// A proof counts for the challenge, purpose and subject that it answers, once and in time. What is wrong is a failure; what cannot be
	// answered is none.
	const (
		ok       = fault.Code("")
		invalid  = fault.InvalidInput
		conflict = fault.Conflict
	)
	var none sca.Account
	code := func(p sca.Purpose, change func(*sca.Challenge)) *sca.Challenge {
		c := challenge(p, sca.SMSOTP, start)
		change(c)
		return c
	}
	asked := func(*sca.Challenge) {}
	other := func(p sca.Purpose, s sca.Digest) sca.Attempt {
		a := attempt(none, code(sca.Payout, asked), proof(sca.SMSOTP, "right"))
		a.Purpose, a.Subject = p, s
		return a
	}
	right, wrong := proof(sca.SMSOTP, "right"), proof(sca.SMSOTP, "wrong")
	unverified := proof(sca.Passkey, "right")
	unverified.Assertion.UserHandle = "unverified"
	locked := sca.Account{Failures: sca.Failures{SMS: 4}}.Fail(sca.SMSOTP, start)
	for name, test := range map[string]struct {
		attempt sca.Attempt
		want    fault.Code
		counts  bool
	}{
		"code":         {attempt(none, code(sca.Login, asked), right), ok, false},
		"wrong code":   {attempt(none, code(sca.Login, asked), wrong), invalid, true},
		"test code":    {attempt(none, code(sca.Login, asked), proof(sca.SMSOTP, "test")), invalid, true},
		"no code sent": {attempt(none, code(sca.Login, func(c *sca.Challenge) { c.CodeHash = wallet.CodeHash{} }), right), invalid, true},
		"no challenge": {attempt(none, nil, right), invalid, false},
		"expired":      {attempt(none, code(sca.Login, func(c *sca.Challenge) { c.ExpiresAt = start }), right), invalid, false},
		"answered":     {attempt(none, code(sca.Payout, func(c *sca.Challenge) { c.EndedAt = start }), right), conflict, false},
		"tried too often": {attempt(none, code(sca.Payout, func(c *sca.Challenge) { c.Attempts = sca.MaxAttempts }), right), conflict,
			false},
		"of another customer": {attempt(none, code(sca.Payout, func(c *sca.Challenge) { c.Customer = ident.Customer{} }), right), conflict,
			false},
		"payment":             {attempt(none, challenge(sca.Payout, sca.Passkey, start), proof(sca.Passkey, "right")), ok, false},
		"other payment":       {other(sca.Payout, sca.Digest{2}), conflict, false},
		"other purpose":       {other(sca.Trust, subject), conflict, false},
		"TOTP for a payment":  {attempt(none, code(sca.Payout, asked), proof(sca.TOTP, "right")), invalid, false},
		"TOTP":                {attempt(none, nil, proof(sca.TOTP, "right")), ok, false},
		"TOTP of the sandbox": {attempt(none, nil, proof(sca.TOTP, "test")), ok, false},
		"wrong TOTP":          {attempt(none, nil, proof(sca.TOTP, "wrong")), invalid, true},
		"recovery code":       {attempt(none, nil, proof(sca.TOTP, "abcd-efgh-jklm-npqr")), ok, false},
		"wrong recovery code": {attempt(none, nil, proof(sca.TOTP, "abcd-efgh-jklm-npqq")), invalid, true},
		"wrong signature":     {attempt(none, challenge(sca.Login, sca.Passkey, start), proof(sca.Passkey, "wrong")), invalid, true},
		"unverified passkey":  {attempt(none, challenge(sca.Login, sca.Passkey, start), unverified), invalid, true},
		"locked":              {attempt(locked, code(sca.Login, asked), right), fault.AccountLocked, false},
		"TOTP without challenge": {sca.Attempt{Credentials: enrolled, Purpose: sca.Payout, Proof: proof(sca.TOTP, "right")}, conflict,
			false},
	} {
		test.attempt.Account.Customer = customer
		before := test.attempt.Account.Failures.Total()
		outcome := sca.Decide(test.attempt, checks, start)
		got := ok
		if refused, is := fault.As(outcome.Refused); is {
			got = refused.Code
		}
		if got != test.want {
			t.Errorf("%s: %v, want %q", name, outcome.Refused, test.want)
		}
		if counted := outcome.Account != nil && outcome.Account.Failures.Total() == before+1; counted != test.counts {
			t.Errorf("%s: counted %v, want %v", name, counted, test.counts)
		}
		if outcome.Refused == nil && test.attempt.Challenge != nil && (outcome.Challenge == nil || outcome.Challenge.Open(start)) {
			t.Errorf("%s: the challenge is still open", name)
		}
	}
}

func TestDecide_OnlyAnEnrolledFactorCounts(t *testing.T) {
	t.Parallel()
	// A proof with a factor that the customer does not have is refused, and is no failure.
	for _, f := range []sca.Factor{sca.TOTP, sca.Passkey} {
		a := attempt(sca.Account{Customer: customer}, challenge(sca.Login, f, start), proof(f, "right"))
		a.Credentials = nil
		if outcome := sca.Decide(a, checks, start); !fault.Is(outcome.Refused, fault.Conflict) || outcome.Account != nil {
			t.Errorf("%s: %+v", f, outcome)
		}
	}
}

func TestDecide_PasskeyIsForItsOrigin(t *testing.T) {
	t.Parallel()
	// The platform says on which page the passkey was used. An assertion that says another one is wrong.
	const data = "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQUEiLCJvcmlnaW4iOiJodHRwczovL2EuZXhhbXBsZSJ9" // https://a.example
	for origin, right := range map[string]bool{"https://a.example": true, "https://b.example": false, "": false} {
		p := sca.Proof{Factor: sca.Passkey, Origin: origin, Assertion: wallet.Assertion{Signature: "right", ClientDataJSON: data}}
		outcome := sca.Decide(attempt(sca.Account{Customer: customer}, challenge(sca.Login, sca.Passkey, start), p), checks, start)
		if (outcome.Refused == nil) != right {
			t.Errorf("%q: %v", origin, outcome.Refused)
		}
	}
}

func TestDecide_CodesOfApplicationsCountOnce(t *testing.T) {
	t.Parallel()
	// A code of TOTP and a recovery code are accepted once.
	for _, text := range []string{"right", "ABCDEFGHJKLMNPQR"} {
		first := sca.Decide(attempt(sca.Account{Customer: customer}, nil, proof(sca.TOTP, text)), checks, start)
		if first.Refused != nil || first.Credential == nil || first.Credential.LastUsedAt != start {
			t.Fatalf("%s: %+v", text, first)
		}
		again := attempt(sca.Account{Customer: customer}, nil, proof(sca.TOTP, text))
		again.Credentials = []sca.Credential{*first.Credential}
		if second := sca.Decide(again, checks, start); !fault.Is(second.Refused, fault.InvalidInput) {
			t.Errorf("%s is accepted twice: %v", text, second.Refused)
		}
	}
}

func TestDecide_GuessesAreAsFewAsTheTableAllows(t *testing.T) {
	t.Parallel()
	// Whatever somebody tries, in any order, with other factors that it has and uses rightly in between, and as long as nobody resets the
	// password: until the right proof of a factor it has guessed it nine times at most, and never more often than the locks allow.
	rapid.Check(t, func(t *rapid.T) {
		account, now := sca.Account{Customer: customer}, start
		guessed := rapid.SampledFrom(sca.Factors).Draw(t, "guessed")
		var guesses []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Minute, time.Hour, 25 * time.Hour}).Draw(t, "wait"))
			f := rapid.SampledFrom(sca.Factors).Draw(t, "factor")
			p := proof(f, "right")
			if f == guessed {
				p = proof(f, "wrong")
			}
			var c *sca.Challenge
			if f != sca.TOTP {
				c = challenge(rapid.SampledFrom([]sca.Purpose{sca.Login, sca.Payout}).Draw(t, "purpose"), f, now)
			}
			outcome := sca.Decide(attempt(account, c, p), checks, now)
			if outcome.Account == nil {
				continue
			}
			account = *outcome.Account
			if f == guessed {
				guesses = append(guesses, now)
			}
		}
		if len(guesses) > 9 {
			t.Fatalf("%d guesses", len(guesses))
		}
		for i, wait := range []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 24 * time.Hour} {
			if n := 5 + i; len(guesses) > n && guesses[n].Sub(guesses[n-1]) < wait {
				t.Fatalf("guess %d came %v after the one before", n+1, guesses[n].Sub(guesses[n-1]))
			}
		}
	})
}

func TestNewChallenge_PasskeySignsTheSubject(t *testing.T) {
	t.Parallel()
	// What a passkey signs differs with the random bytes, the purpose and the subject.
	seen := map[string]bool{}
	for _, c := range []sca.Challenge{
		{}, {Subject: subject}, {Purpose: sca.Payout, Subject: subject}, {Purpose: sca.Trust, Subject: subject},
	} {
		c.Factor = sca.Passkey
		for _, random := range [][32]byte{{1}, {2}} {
			seen[string(sca.NewChallenge(c, random).PasskeyChallenge)] = true
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d challenges, want 8", len(seen))
	}
}

func TestSent_ReplacesTheCodeAndDoesNotExtend(t *testing.T) {
	t.Parallel()
	// A code that is sent again replaces the one before, and lives as long as the challenge. Five are sent at once, not six.
	c, account := *challenge(sca.Payout, sca.SMSOTP, start), sca.Account{}
	expires := c.ExpiresAt
	for i := range 6 {
		next, counted, err := c.Sent(hash(fmt.Sprint(i)), account, start)
		if (err == nil) != (i < 5) || err != nil && !fault.Is(err, fault.RateLimited) {
			t.Fatalf("code %d: %v", i+1, err)
		}
		if err == nil && (next.CodeHash != hash(fmt.Sprint(i)) || next.ExpiresAt != expires) {
			t.Errorf("code %d: %+v", i+1, next)
		}
		c, account = next, counted
	}
	if _, _, err := c.Sent(hash("late"), sca.Account{}, expires); !fault.Is(err, fault.Conflict) {
		t.Errorf("after the end: %v", err)
	}
	if _, _, err := challenge(sca.Payout, sca.Passkey, start).Sent(hash("x"), sca.Account{}, start); !fault.Is(err, fault.Conflict) {
		t.Errorf("to a passkey: %v", err)
	}
}

func TestAvailable(t *testing.T) {
	t.Parallel()
	// The phone counts if it is verified, what is enrolled counts, and TOTP counts for logins only.
	for _, test := range []struct {
		phone    bool
		enrolled []sca.Credential
		purpose  sca.Purpose
		want     []sca.Factor
	}{
		{true, nil, sca.Login, []sca.Factor{sca.SMSOTP}},
		{true, enrolled, sca.Login, sca.Factors},
		{true, enrolled, sca.Payout, []sca.Factor{sca.SMSOTP, sca.Passkey}},
		{false, enrolled[:1], sca.Login, []sca.Factor{sca.TOTP}},
		{false, enrolled[:1], sca.Trust, nil},
		{false, nil, sca.Login, nil},
	} {
		got, err := sca.Available(test.phone, test.enrolled, test.purpose)
		if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
			t.Errorf("%+v: %v, %v", test, got, err)
		}
	}
	if f, err := sca.Choose("", sca.Factors); f != sca.SMSOTP || err != nil {
		t.Errorf("the first: %v, %v", f, err)
	}
	if _, err := sca.Choose(sca.TOTP, []sca.Factor{sca.SMSOTP}); !fault.Is(err, fault.Conflict) {
		t.Errorf("not available: %v", err)
	}
}

func TestCheckEnroll_OneOfEach(t *testing.T) {
	t.Parallel()
	// A customer has one passkey and one application.
	if err := sca.CheckEnroll(sca.Passkey, enrolled[:1]); err != nil {
		t.Error(err)
	}
	if err := sca.CheckEnroll(sca.Passkey, enrolled); !fault.Is(err, fault.PasskeyAlreadyEnrolled) {
		t.Error(err)
	}
	if err := sca.CheckEnroll(sca.TOTP, enrolled); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}

func TestCheckResets_FiveInADay(t *testing.T) {
	t.Parallel()
	// Five resets can be started within 24 hours; the next one can when the first is a day old.
	var latest []sca.Reset
	for i := range 5 {
		now := start.Add(time.Duration(i) * time.Hour)
		if err := sca.CheckResets(latest, now); err != nil {
			t.Fatal(err)
		}
		latest = slices.Insert(latest, 0, sca.NewReset(sca.Reset{}, now))
	}
	limited, _ := fault.As(sca.CheckResets(latest, start.Add(6*time.Hour)))
	if limited == nil || limited.Code != fault.RateLimited || limited.RetryAfter != 18*time.Hour {
		t.Errorf("the sixth: %+v", limited)
	}
	if err := sca.CheckResets(latest, start.Add(24*time.Hour)); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

func TestReset_EveryPairOfStatuses(t *testing.T) {
	t.Parallel()
	// Only what follows a status is taken from the check. A reset that has ended never changes, one that has passed waits for its
	// completion, and what is open expires.
	follows := map[sca.ResetStatus]string{
		sca.ResetInitiated:     "INITIATED PENDING_REVIEW LIVENESS_PASSED REJECTED EXPIRED",
		sca.ResetPendingReview: "PENDING_REVIEW LIVENESS_PASSED REJECTED EXPIRED",
	}
	for _, before := range sca.ResetStatuses {
		for _, checked := range sca.ResetStatuses {
			r := sca.NewReset(sca.Reset{}, start)
			r.Status = before
			want := before
			if slices.Contains(strings.Fields(follows[before]), string(checked)) {
				want = checked
			}
			if got := r.At(checked, start).Status; got != want {
				t.Errorf("%s, %s: %s, want %s", before, checked, got, want)
			}
			if follows[before] != "" || before == sca.ResetLivenessPassed {
				want = sca.ResetExpired
			} else {
				want = before
			}
			if got := r.At(checked, r.ExpiresAt).Status; got != want {
				t.Errorf("%s, %s, late: %s, want %s", before, checked, got, want)
			}
		}
	}
}

func TestReset_DecideAndComplete(t *testing.T) {
	t.Parallel()
	// An operator decides what waits for a review. What has passed is completed once; before, it is an invalid request.
	for status, want := range map[sca.ResetStatus][2]fault.Code{
		sca.ResetInitiated: {fault.Conflict, fault.InvalidInput}, sca.ResetPendingReview: {"", fault.InvalidInput},
		sca.ResetLivenessPassed: {fault.Conflict, ""}, sca.ResetCompleted: {fault.Conflict, fault.Conflict},
		sca.ResetRejected: {fault.Conflict, fault.Conflict}, sca.ResetExpired: {fault.Conflict, fault.Conflict},
	} {
		r := sca.Reset{Status: status}
		decided, err := r.Decide(true, start)
		if want[0] == "" && decided.Status != sca.ResetLivenessPassed || want[0] != "" && !fault.Is(err, want[0]) {
			t.Errorf("decide %s: %+v, %v", status, decided, err)
		}
		completed, err := r.Complete(start)
		if want[1] == "" && (completed.Status != sca.ResetCompleted || completed.CompletedAt != start) ||
			want[1] != "" && !fault.Is(err, want[1]) {
			t.Errorf("complete %s: %+v, %v", status, completed, err)
		}
	}
	if r, _ := (sca.Reset{Status: sca.ResetPendingReview}).Decide(false, start); r.Status != sca.ResetRejected {
		t.Errorf("refused: %s", r.Status)
	}
}
