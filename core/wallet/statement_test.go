package wallet_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/wallet"
)

// exampleSession is a session with fixed values.
func exampleSession() wallet.Session {
	var s wallet.Session
	s.ID.SetUUID(uuid.MustParse("019b0000-0000-7000-8000-000000000001"))
	s.Account.SetUUID(uuid.MustParse("019b0000-0000-7000-8000-000000000002"))
	s.Credential.SetUUID(uuid.MustParse("019b0000-0000-7000-8000-000000000003"))
	s.Type = wallet.Passkey
	s.PublicKey = wallet.SessionKey{2, 0xab, 32: 0xcd}
	s.CreatedAt = time.Date(2026, 3, 14, 13, 0, 0, 250_000_000, time.FixedZone("", 3600))
	s.ExpiresAt = s.CreatedAt.Add(wallet.SessionLifetime)
	return s
}

func TestSession_StatementHasFixedForm(t *testing.T) {
	t.Parallel()
	// Certificates that were signed before must stay readable, so the text never changes.
	const want = `{"type":"SESSION","version":1,"sessionId":"Session:019b0000-0000-7000-8000-000000000001",` +
		`"accountId":"InternalAccount:019b0000-0000-7000-8000-000000000002","credentialId":"AuthMethod:019b0000-0000-7000-8000-000000000003",` +
		`"credentialType":"PASSKEY","publicKey":"02ab000000000000000000000000000000000000000000000000000000000000cd",` +
		`"createdAt":"2026-03-14T12:00:00.25Z","expiresAt":"2026-03-14T12:15:00.25Z"}`

	if got := exampleSession().Statement(); got != want {
		t.Errorf("the statement is\n%s, want\n%s", got, want)
	}
}

func TestParseStatement_ReturnsTheSession(t *testing.T) {
	t.Parallel()
	// Whatever the session, its statement is read as it was written.
	rapid.Check(t, func(t *rapid.T) {
		var s wallet.Session
		bytes := rapid.SliceOfN(rapid.Byte(), 16, 16)
		s.ID.SetUUID(uuid.UUID(append(bytes.Draw(t, "id")[:15], 1)))
		s.Account.SetUUID(uuid.UUID(append(bytes.Draw(t, "account")[:15], 1)))
		s.Credential.SetUUID(uuid.UUID(append(bytes.Draw(t, "credential")[:15], 1)))
		s.Type = rapid.SampledFrom([]wallet.CredentialType{wallet.EmailOTP, wallet.Passkey, wallet.OAuth}).Draw(t, "type")
		s.PublicKey = wallet.SessionKey(rapid.SliceOfN(rapid.Byte(), 33, 33).Draw(t, "key"))
		s.CreatedAt = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).UTC()
		s.ExpiresAt = s.CreatedAt.Add(wallet.SessionLifetime)

		got, err := wallet.ParseStatement(s.Statement())

		if err != nil || got.Statement() != s.Statement() || got.ID != s.ID || got.Account != s.Account || got.Credential != s.Credential ||
			got.Type != s.Type || got.PublicKey != s.PublicKey || !got.CreatedAt.Equal(s.CreatedAt) || !got.ExpiresAt.Equal(s.ExpiresAt) {
			t.Fatalf("read %+v, %v, want %+v", got, err, s)
		}
	})
}

func TestParseStatement_RefusesAnyOtherText(t *testing.T) {
	t.Parallel()
	// A text is read only if it is exactly the statement of a session.
	text := exampleSession().Statement()
	for name, changed := range map[string]string{
		"empty":           "",
		"not JSON":        "SESSION",
		"null":            "null",
		"other type":      strings.Replace(text, "SESSION", "REQUEST", 1),
		"other version":   strings.Replace(text, `"version":1`, `"version":2`, 1),
		"a space":         strings.Replace(text, `,"`, `, "`, 1),
		"upper case":      strings.Replace(text, "02ab", "02AB", 1),
		"short key":       strings.Replace(text, "02ab00", "02ab", 1),
		"long key":        strings.Replace(text, "02ab00", "02ab0000", 1),
		"credential type": strings.Replace(text, "PASSKEY", "PASSWORD", 1),
		"other zone":      strings.Replace(text, "12:00:00.25Z", "13:00:00.25+01:00", 1),
		"twice a field":   strings.Replace(text, `"version":1`, `"version":1,"version":1`, 1),
		"text behind":     text + " ",
		"id of a quote":   strings.Replace(text, "AuthMethod:", "Quote:", 1),
	} {
		if changed == text {
			t.Fatalf("%s: not changed", name)
		}
		if s, err := wallet.ParseStatement(changed); !errors.Is(err, wallet.ErrNoStatement) {
			t.Errorf("%s: read %+v, %v", name, s, err)
		}
	}
}

func FuzzParseStatement(f *testing.F) {
	f.Add(exampleSession().Statement())
	f.Add(`{"type":"SESSION","version":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		// What is read is what was signed, byte for byte.
		if s, err := wallet.ParseStatement(text); err == nil && s.Statement() != text {
			t.Errorf("%q was read as %q", text, s.Statement())
		}
	})
}
