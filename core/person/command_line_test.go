package person_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestSignInCode_RoundTrip(t *testing.T) {
	t.Parallel()
	// A code is read as it is shown, in small letters and with spaces; another text names no request.
	rapid.Check(t, func(t *rapid.T) {
		code := person.NewSignInCode([8]byte(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "random")))
		for _, text := range []string{code, person.GroupSignInCode(code), " " + strings.ToLower(code[:4]) + " " + code[4:]} {
			if got, err := person.ParseSignInCode(text); got != code || err != nil {
				t.Fatalf("%q is %q, %v", text, got, err)
			}
		}
	})
	for _, text := range []string{"", "BCDFGHJ", "BCDFGHJKL", "BCDFGHJA", "BCDFGHJ1", "BCDFGHJ\x00", "ÄCDFGHJK", "--------"} {
		if got, err := person.ParseSignInCode(text); !fault.Is(err, fault.Conflict) {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}

func TestSignInRequest_SessionIsShort(t *testing.T) {
	t.Parallel()
	// A request lives 10 minutes. The session that begins with it is one of the command line and ends after 8 hours; for an approval it
	// must have begun within 15 minutes.
	r := person.NewSignInRequest("BCDFGHJK", person.SecretHash{7}, strings.Repeat("ä", 300)+"\xff", noon)
	if r.Check(noon.Add(10*time.Minute-1)) != nil || !fault.Is(r.Check(noon.Add(10*time.Minute)), fault.Conflict) {
		t.Error("a request does not end after 10 minutes")
	}
	if r.From != strings.Repeat("ä", 200) {
		t.Errorf("from %q", r.From)
	}
	s := r.Approve(anaID, noon)
	if !s.CommandLine || s.Setup || s.TokenHash != r.SecretHash || s.Person != anaID || !s.ExpiresAt.Equal(noon.Add(8*time.Hour)) {
		t.Errorf("%+v", s)
	}
	if s.CheckRecent(noon.Add(15*time.Minute-1)) != nil || !fault.Is(s.CheckRecent(noon.Add(15*time.Minute)), fault.Conflict) {
		t.Error("an old sign-in approves")
	}
}

func TestCommandsWithoutPerson_HaveReasons(t *testing.T) {
	t.Parallel()
	// Each command without a person is listed once, with a reason, and approves nothing.
	seen := map[string]bool{}
	for _, c := range person.CommandsWithoutPerson {
		if seen[c.Command] || c.Reason == "" || person.NeedsPerson(c.Command) || person.NeedsRecentSignIn(c.Command) {
			t.Errorf("%+v", c)
		}
		seen[c.Command] = true
	}
	for _, command := range []string{"", "ledger proposals approve", "corridors set", "people set-roles", "token create"} {
		if !person.NeedsPerson(command) {
			t.Errorf("%s needs no person", command)
		}
	}
}
