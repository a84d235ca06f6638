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
	switch t {
	case EmailOTP:
		c.SentTo, c.Nickname = "ana@example.com", "ana@example.com"
	case SMSOTP:
		c.SentTo, c.Nickname = "+447700900123", "+447700900123"
	}
	if verified {
		c.VerifiedAt = now
	}
	return c
}

func TestWallet_MoveCodes(t *testing.T) {
	t.Parallel()
	// A credential whose codes are sent follows the address of the customer, and no other credential changes. Its owner signs that, if
	// any credential of the wallet was verified, one address at a time. The address cannot be removed. The default credential that is
	// not stored needs no change.
	later := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	const eva, phone = "eva@example.com", "+447700900456"
	both := map[CredentialType]string{EmailOTP: eva, SMSOTP: phone}
	email := func(verified bool) Credential { return emailTestCredential(EmailOTP, verified) }
	sms := func(verified bool) Credential { return emailTestCredential(SMSOTP, verified) }
	passkey := emailTestCredential(Passkey, true)
	for name, c := range map[string]struct {
		credentials []Credential
		implicit    bool
		to          map[CredentialType]string
		moved       []CredentialType
		toSign      CredentialType
		field       string
	}{
		"no credential":             {nil, false, both, nil, "", ""},
		"never verified":            {[]Credential{email(false)}, false, both, []CredentialType{EmailOTP}, "", ""},
		"both, never verified":      {[]Credential{email(false), sms(false)}, false, both, []CredentialType{EmailOTP, SMSOTP}, "", ""},
		"verified":                  {[]Credential{passkey, email(true)}, false, both, []CredentialType{EmailOTP}, EmailOTP, ""},
		"other credential verified": {[]Credential{email(false), passkey}, false, both, []CredentialType{EmailOTP}, EmailOTP, ""},
		"phone": {[]Credential{email(true), sms(true)}, false, map[CredentialType]string{SMSOTP: phone}, []CredentialType{SMSOTP}, SMSOTP,
			""},
		"phone without codes": {[]Credential{email(true)}, false, map[CredentialType]string{SMSOTP: phone}, nil, "", ""},
		"both":                {[]Credential{sms(true), email(false)}, false, both, nil, "", "phoneNumber"},
		"email removed":       {[]Credential{email(false)}, false, map[CredentialType]string{EmailOTP: ""}, nil, "", "email"},
		"phone removed":       {[]Credential{sms(true)}, false, map[CredentialType]string{SMSOTP: ""}, nil, "", "phoneNumber"},
		"default":             {[]Credential{email(false)}, true, both, nil, "", ""},
		"default removed":     {[]Credential{email(false)}, true, map[CredentialType]string{EmailOTP: ""}, nil, "", ""},
		"only a passkey":      {[]Credential{passkey}, false, both, nil, "", ""},
	} {
		w := Wallet{Credentials: c.credentials, Implicit: c.implicit}
		change, toSign, err := w.MoveCodes(c.to, later)
		if f, ok := fault.As(err); ok != (c.field != "") || ok && (f.Code != fault.InvalidInput || f.Fields[0].Field != c.field) {
			t.Errorf("%s: %v, want a fault of %q", name, err, c.field)
		}
		if toSign != c.toSign || len(change.Credentials) != len(c.moved) || change.Sessions != nil {
			t.Errorf("%s: %q has to be signed, want %q; %+v", name, toSign, c.toSign, change)
			continue
		}
		for i, kind := range c.moved {
			want, _ := w.First(kind)
			want.SentTo, want.Nickname, want.UpdatedAt = c.to[kind], c.to[kind], later
			if change.Credentials[i] != want {
				t.Errorf("%s: %+v, want %+v", name, change.Credentials[i], want)
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
