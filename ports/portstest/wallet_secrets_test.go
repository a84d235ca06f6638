package portstest_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"causeway/ports/portstest"
)

func TestShowsSecret_FindsSecretInTexts(t *testing.T) {
	t.Parallel()
	// A secret is found in each form at any position, or the tests that look for secrets would find none.
	secret := []byte("abandon ability able about above absent")
	for before := range 7 {
		text := append([]byte("1234567"[:before]), secret...)
		text = append(text, "89"...)
		for name, encoded := range map[string]string{
			"raw": string(text), "hex": hex.EncodeToString(text), "HEX": strings.ToUpper(hex.EncodeToString(text)),
			"base64": base64.StdEncoding.EncodeToString(text), "base64url": base64.RawURLEncoding.EncodeToString(text),
		} {
			if !portstest.ShowsSecret([]byte(encoded), secret) {
				t.Errorf("%s behind %d bytes is not found in %s", name, before, encoded)
			}
		}
	}
	if other := []byte("abandon ability able about above abstract"); portstest.ShowsSecret([]byte(hex.EncodeToString(other)), secret) {
		t.Error("another text is taken for the secret")
	}
}
