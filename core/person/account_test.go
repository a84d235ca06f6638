package person

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFactors_AreReplacedOneByOne(t *testing.T) {
	t.Parallel()
	// Each change replaces one factor and leaves the others. Who has no password has none to change.
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	before := Factors{PasswordHash: "old", TOTPSecret: "KEY", TOTPStep: 9, RecoveryCodes: []string{"A"}, WrongCodes: 3}
	for name, change := range map[string]func(Factors) (Factors, error){
		"password":       func(f Factors) (Factors, error) { return f.WithPassword("new", now) },
		"application":    func(f Factors) (Factors, error) { return f.WithTOTP("OTHER", 4, now) },
		"recovery codes": func(f Factors) (Factors, error) { return f.WithRecoveryCodes([]string{"B", "C"}, now) },
	} {
		after, err := change(before)
		changed := []bool{after.PasswordHash == "new", after.TOTPSecret == "OTHER" && after.TOTPStep == 4,
			slices.Equal(after.RecoveryCodes, []string{"B", "C"})}
		kept := []bool{after.PasswordHash == "old", after.TOTPSecret == "KEY" && after.TOTPStep == 9,
			slices.Equal(after.RecoveryCodes, []string{"A"})}
		i := slices.Index([]string{"password", "application", "recovery codes"}, name)
		for j := range changed {
			if changed[j] != (i == j) || kept[j] != (i != j) {
				t.Errorf("%s: %+v", name, after)
			}
		}
		if err != nil || after.WrongCodes != 3 || !after.UpdatedAt.Equal(now) {
			t.Errorf("%s: %+v, %v", name, after, err)
		}
		if _, err := change(Factors{}); !errors.Is(err, ErrNoPassword) {
			t.Errorf("%s of nobody: %v", name, err)
		}
	}
}

func TestAccount_SessionsThatGoOn(t *testing.T) {
	t.Parallel()
	// A session counts until it expires or was not used for too long.
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	a := Account{}.WithFactors(Factors{PasswordHash: "x", RecoveryCodes: []string{"A", "B"}})
	for _, s := range []Session{{ExpiresAt: now, LastUsedAt: now}, {ExpiresAt: now.Add(1), LastUsedAt: now.Add(-IdleLifetime)},
		{ExpiresAt: now.Add(1), LastUsedAt: now.Add(1 - IdleLifetime), Device: "this"}} {
		a = a.WithSession(s, now)
	}
	if len(a.Sessions) != 1 || a.Sessions[0].Device != "this" || !a.HasPassword || a.RecoveryCodes != 2 {
		t.Errorf("%+v", a)
	}
}

func TestAccount_NeedsNoCode(t *testing.T) {
	t.Parallel()
	// Only who has nothing to confirm with confirms without a code, in the session of a link that signs in. It also chooses a password, as in
	// the session of any other link; who signs in already in another way does not.
	none := Account{}
	for _, c := range []struct {
		name             string
		account          Account
		session          Session
		noCode, canSetUp bool
	}{
		{"the link of a developer", none, Session{}, true, true},
		{"another link", none, Session{Setup: true}, false, true},
		{"another link, of one whom a provider knows", Account{HasProvider: true}, Session{Setup: true}, false, true},
		{"a provider", Account{HasProvider: true}, Session{SingleSignOn: true}, false, false},
		{"a provider that forgot it", none, Session{SingleSignOn: true}, false, false},
		{"a passkey, whom a provider knows", Account{HasProvider: true, Passkeys: 1}, Session{}, false, false},
		{"a passkey that was removed", Account{HasProvider: true}, Session{}, false, false},
		{"a passkey", Account{Passkeys: 1}, Session{}, false, false},
		{"a password", Account{HasPassword: true}, Session{}, false, false},
		{"a link, with a password", Account{HasPassword: true}, Session{Setup: true}, false, false},
	} {
		if got := c.account.NeedsNoCode(c.session); got != c.noCode {
			t.Errorf("%s: needs no code: %t", c.name, got)
		}
		if err := c.account.CheckSetUp(c.session); (err == nil) != c.canSetUp {
			t.Errorf("%s: chooses a password: %v", c.name, err)
		}
	}
}

func TestSession_Device(t *testing.T) {
	t.Parallel()
	// What a browser says of itself is kept on one line, as text, and not without end.
	for said, want := range map[string]string{"": "", " Firefox\r\n/1\x00 ": "Firefox/1", "a\xffb": "ab",
		strings.Repeat("é", 300): strings.Repeat("é", 200)} {
		if got := (Session{}).On(said).Device; got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}
