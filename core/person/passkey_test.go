package person_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

// at is the time of the tests of passkeys.
var at = time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)

func personOf(n byte) (id ident.Person) {
	id.SetUUID(uuid.UUID{15: n})
	return id
}

func TestPasskey_UseNeverGoesBack(t *testing.T) {
	t.Parallel()
	// Whatever counters a passkey is used with, it is accepted as long as each is higher than the last, or all are zero. From the first
	// that is not, it is stopped for good.
	rapid.Check(t, func(t *rapid.T) {
		k, last, stopped := person.Passkey{}, uint32(0), false
		for i, counter := range rapid.SliceOfN(rapid.Uint32Range(0, 4), 1, 8).Draw(t, "counters") {
			isHigher := counter > last || counter == 0 && last == 0
			used, isStopped, err := k.Use(counter, at.Add(time.Duration(i)*time.Second))
			if accepted := !stopped && isHigher; (err == nil) != accepted || isStopped != (!stopped && !isHigher) {
				t.Fatalf("use %d with %d after %d, stopped %t: %+v, %t, %v", i, counter, last, stopped, used, isStopped, err)
			}
			if err != nil && !fault.Is(err, fault.Unauthorized) {
				t.Fatal(err)
			}
			stopped = stopped || !isHigher
			if !stopped {
				last = counter
			}
			k = used
			if k.StoppedAt.IsZero() == stopped || k.SignCount != last {
				t.Fatalf("%+v, want the count %d, stopped %t", k, last, stopped)
			}
		}
	})
}

func TestParsePasskeyName(t *testing.T) {
	t.Parallel()
	// A name is what a person reads: 1 to 60 characters.
	for text, want := range map[string]string{" work laptop ": "work laptop", "": "", " ": "", "a\tb": "",
		strings.Repeat("ä", 60): strings.Repeat(
			"ä", 60), strings.Repeat("ä", 61): "", "\xff": ""} {
		got, err := person.ParsePasskeyName(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestCheckAddPasskey(t *testing.T) {
	t.Parallel()
	// The last of ten can be added, and no other one.
	for n, ok := range map[int]bool{0: true, person.MaxPasskeys - 1: true, person.MaxPasskeys: false} {
		if err := person.CheckAddPasskey(make([]person.Passkey, n)); (err == nil) != ok {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestChallenge_AnswerCountsForOneThing(t *testing.T) {
	t.Parallel()
	// A challenge is answered for its purpose, by its person and holder, in time, and for nothing else.
	people := []ident.Person{{}, personOf(1), personOf(2)}
	rapid.Check(t, func(t *rapid.T) {
		purpose := func(name string) person.Purpose { return rapid.SampledFrom(person.Purposes).Draw(t, name) }
		of := func(name string) ident.Person { return rapid.SampledFrom(people).Draw(t, name) }
		holder := func(name string) person.SecretHash { return person.SecretHash{rapid.ByteMax(1).Draw(t, name)} }
		p, q, a, b, x, y := purpose("asked"), purpose("answered"), of("of"), of("by"), holder("holder"), holder("from")
		after := time.Duration(rapid.Int64Range(0, int64(2*person.ChallengeLifetime)).Draw(t, "after"))
		c, err := person.NewChallenge(person.SecretHash{}, p, a, x, "/console", at)
		if err != nil {
			t.Fatal(err)
		}
		want := p == q && a == b && x == y && after < person.ChallengeLifetime
		if err := c.Answer(q, b, y, at.Add(after)); (err == nil) != want {
			t.Fatalf("%v, want %t", err, want)
		}
	})
	if _, err := person.NewChallenge(person.SecretHash{}, person.SingleSignOn, people[0], person.SecretHash{}, strings.Repeat("x",
		person.MaxAction+1), at); !fault.Is(err, fault.Conflict) {
		t.Errorf("a long action: %v", err)
	}
}

func TestSession_ConfirmationHoldsForOnePageOnce(t *testing.T) {
	t.Parallel()
	// What the provider confirms holds for one page, for five minutes, once.
	s := person.Session{}.ConfirmFor("/console/a", at)
	for name, c := range map[string]struct {
		action string
		after  time.Duration
		want   bool
	}{
		"at once": {"/console/a", 0, true}, "the last moment": {"/console/a", person.ConfirmedLifetime - 1, true},
		"too late": {"/console/a", person.ConfirmedLifetime, false}, "another page": {"/console/b", 0, false}, "no page": {"", 0, false},
	} {
		used, ok := s.UseConfirmation(c.action, at.Add(c.after))
		if _, again := used.UseConfirmation("/console/a", at); ok != c.want || again == c.want {
			t.Errorf("%s: %t, again %t", name, ok, again)
		}
	}
	if _, ok := (person.Session{}).UseConfirmation("", at); ok {
		t.Error("a session without a confirmation has one")
	}
}
