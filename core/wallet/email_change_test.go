package wallet

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
)

func emailTestCredential(t CredentialType, verified bool) Credential {
	now := time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)
	c := Credential{ID: ident.NewAuthMethod(func(time.Time) uuid.UUID { return uuid.New() }, now), Type: t, Nickname: "x",
		CreatedAt: now, UpdatedAt: now}
	if t == EmailOTP {
		c.Email, c.Nickname = "ana@example.com", "ana@example.com"
	}
	if verified {
		c.VerifiedAt = now
	}
	return c
}

func TestWallet_EmailNeedsSignature(t *testing.T) {
	t.Parallel()
	// Only a wallet whose codes are sent to the address, and whose owner can sign, protects it. It does not
	// matter which of its credentials was verified.
	for name, c := range map[string]struct {
		credentials []Credential
		want        bool
	}{
		"no credential":             {nil, false},
		"code, never verified":      {[]Credential{emailTestCredential(EmailOTP, false)}, false},
		"code, verified":            {[]Credential{emailTestCredential(EmailOTP, true)}, true},
		"other credential verified": {[]Credential{emailTestCredential(EmailOTP, false), emailTestCredential(Passkey, true)}, true},
		"only a passkey":            {[]Credential{emailTestCredential(Passkey, true)}, false},
	} {
		if got := (Wallet{Credentials: c.credentials}).EmailNeedsSignature(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWallet_ChangeEmailFollowsCustomer(t *testing.T) {
	t.Parallel()
	// The stored credential gets the new address, and no other credential changes. Its address cannot be
	// removed. The default credential that is not stored needs no change.
	later := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	code, passkey := emailTestCredential(EmailOTP, true), emailTestCredential(Passkey, true)
	w := Wallet{Credentials: []Credential{passkey, code}}

	change, err := w.ChangeEmail("eva@example.com", later)
	want := code
	want.Email, want.Nickname, want.UpdatedAt = "eva@example.com", "eva@example.com", later
	if err != nil || len(change.Credentials) != 1 || change.Credentials[0] != want || change.Sessions != nil {
		t.Errorf("changed %+v, %v", change, err)
	}
	if _, err := w.ChangeEmail("", later); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("removed: %v", err)
	}
	for name, other := range map[string]Wallet{"default": {Credentials: []Credential{emailTestCredential(EmailOTP, false)}, Implicit: true},
		"passkey": {Credentials: []Credential{passkey}}} {
		for _, email := range []string{"eva@example.com", ""} {
			if change, err := other.ChangeEmail(email, later); err != nil || change.Credentials != nil {
				t.Errorf("%s, %q: %+v, %v", name, email, change, err)
			}
		}
	}
}

func TestWallet_CheckCredentialSet(t *testing.T) {
	t.Parallel()
	// The set is the same in any order and with other nicknames, and differs if a credential was added,
	// removed or replaced.
	a, b, c := emailTestCredential(EmailOTP, true), emailTestCredential(Passkey, true), emailTestCredential(OAuth, false)
	signed := SignedRequest{Basis: Wallet{Credentials: []Credential{a, b}}.CredentialSet()}
	renamed := a
	renamed.Nickname, renamed.VerifiedAt = "renamed", time.Time{}
	for name, same := range map[string][]Credential{"same": {a, b}, "other order": {b, a}, "renamed": {renamed, b}} {
		if err := (Wallet{Credentials: same}).CheckCredentialSet(signed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, other := range map[string][]Credential{"none": nil, "removed": {a}, "added": {a, b, c}, "replaced": {a, c}} {
		if err := (Wallet{Credentials: other}).CheckCredentialSet(signed); !fault.Is(err, fault.EmailOTPCredentialSetChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
