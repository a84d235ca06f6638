package wallet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/wallet"
)

func TestParseIDTokenClaims_GoogleWritesItsIssuerInTwoWays(t *testing.T) {
	t.Parallel()
	// Both are one issuer. No other issuer may leave out its scheme.
	for written, want := range map[string]string{
		"https://accounts.google.com": "https://accounts.google.com",
		"accounts.google.com":         "https://accounts.google.com",
		"appleid.apple.com":           "appleid.apple.com",
		"http://accounts.google.com":  "http://accounts.google.com",
	} {
		token, err := wallet.ParseIDTokenClaims(fmt.Appendf(nil, `{"iss":%q}`, written))
		if err != nil || token.Issuer != want {
			t.Errorf("%s is %s, %v", written, token.Issuer, err)
		}
	}
}

func TestParseIDTokenClaims_TextsCanBeShown(t *testing.T) {
	t.Parallel()
	// The subject and the e-mail address become the nickname of a credential, which mails show. A text with a
	// line break or a hidden character, or one that is too long, is as if it were missing.
	for _, text := range []string{"110169484474386276334", "ana@example.com", "Ána ナ", strings.Repeat("s", 255)} {
		token, err := wallet.ParseIDTokenClaims(fmt.Appendf(nil, `{"sub":%q,"email":%q,"aud":[%q]}`, text, text, text))
		if err != nil || token.Subject != text || token.Email != text || token.Audiences[0] != text {
			t.Errorf("%q: %+v, %v", text, token, err)
		}
	}
	for _, text := range []string{`a\u0000`, `a\nYour wallet was exported`, `a\u202eb`, strings.Repeat("s", 256)} {
		token, err := wallet.ParseIDTokenClaims(fmt.Appendf(nil, `{"sub":"%s","email":"%s","aud":["%s","app"]}`, text, text, text))
		if err != nil || token.Subject != "" || token.Email != "" || token.Audiences[0] != "" || token.Audiences[1] != "app" {
			t.Errorf("%s: %+v, %v", text, token, err)
		}
	}
}

func TestIDToken_IsFreshForAMinute(t *testing.T) {
	t.Parallel()
	// A token names its person exactly from five seconds before its issue until a minute after it, if it has
	// not expired.
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		issued := rapid.IntRange(-90, 30).Draw(t, "issued after")
		expires := rapid.IntRange(-90, 90).Draw(t, "expires after")
		token := wallet.IDToken{Subject: "7", Audiences: []string{"app"},
			IssuedAt: now.Add(time.Duration(issued) * time.Second), ExpiresAt: now.Add(time.Duration(expires) * time.Second)}

		_, err := token.Identify([]string{"app"}, now)
		if fresh := issued > -60 && issued <= 5 && expires > 0; fresh != (err == nil) {
			t.Fatalf("issued after %d s, expires after %d s: %v", issued, expires, err)
		}
	})
}

func TestIDTokenNonce_IsTheHashOfTheWrittenKey(t *testing.T) {
	t.Parallel()
	// However the client writes its key, the nonce is that of the digits in lower case: it differs for every
	// key, and a client can make it with any SHA-256 of a text.
	point, err := newClient(t).key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	full, compressed := bothForms(point)
	for _, text := range []string{full, strings.ToUpper(full), compressed, strings.ToUpper(compressed)} {
		written := strings.ToLower(text)
		sum := sha256.Sum256([]byte(written))
		key, err := wallet.ParseClientKey(text)
		if err != nil || wallet.IDTokenNonce(key) != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %s, %v", text, wallet.IDTokenNonce(key), err)
		}
		if err := (wallet.IDToken{Nonce: hex.EncodeToString(sum[:])}).CheckNonce(key); err != nil {
			t.Error(err)
		}
		if err := (wallet.IDToken{Nonce: written}).CheckNonce(key); !isInvalid(err, wallet.ReasonIdentity) {
			t.Error(err)
		}
	}
}
