package encryption

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func testKey(fill byte) []byte { return bytes.Repeat([]byte{fill}, KeyLength) }

func newSealer(t interface{ Fatal(...any) }, current []byte, older ...[]byte) *Sealer {
	b, err := New(current, older...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealer_RoundTrip(t *testing.T) {
	t.Parallel()
	// A sealed value opens with the same context, and does not contain the plain text.
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOfN(rapid.Byte(), 8, 200).Draw(t, "plain")
		context := rapid.SliceOf(rapid.Byte()).Draw(t, "context")
		b := newSealer(t, testKey(1))

		sealed, err := b.Seal(plain, context)
		if err != nil || bytes.Contains(sealed, plain) {
			t.Fatalf("sealed %x, %v", sealed, err)
		}
		opened, err := b.Open(sealed, context)
		if err != nil || !bytes.Equal(opened, plain) {
			t.Fatalf("opened %x, %v", opened, err)
		}
	})
}

func TestSealer_OpenRejectsTampering(t *testing.T) {
	t.Parallel()
	// A sealed value does not open with a changed bit, truncated, or with another context or key.
	b := newSealer(t, testKey(1))
	sealed, err := b.Seal([]byte("private"), []byte("row 1"))
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(b *Sealer, sealed []byte, context string) {
		t.Helper()
		if plain, err := b.Open(sealed, []byte(context)); !errors.Is(err, ErrCannotDecrypt) {
			t.Errorf("opened %q, %v", plain, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		refuse(b, changed, "row 1")
		refuse(b, sealed[:i], "row 1")
	}
	refuse(b, sealed, "row 2")
	refuse(b, append(bytes.Clone(sealed), 0), "row 1")
	refuse(newSealer(t, testKey(2)), sealed, "row 1")
}

func TestSealer_OpensWithOlderKeys(t *testing.T) {
	t.Parallel()
	// With a new master key, older values still open with the old one.
	old := newSealer(t, testKey(1))
	sealed, err := old.Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := newSealer(t, testKey(2), testKey(1))

	if plain, err := changed.Open(sealed, nil); err != nil || string(plain) != "private" {
		t.Errorf("opened %q, %v", plain, err)
	}
	again, err := changed.Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Open(again, nil); !errors.Is(err, ErrCannotDecrypt) {
		t.Errorf("the old key opens what the new one sealed: %v", err)
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	// Only base64 of 32 bytes is a key.
	raw := bytes.Repeat([]byte{0xfb, 0xff}, KeyLength/2)
	for _, text := range []string{
		base64.StdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		" " + base64.StdEncoding.EncodeToString(raw) + "\n",
	} {
		if got, err := ParseKey(text); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%q: %x, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "secret", base64.StdEncoding.EncodeToString(raw[:31]),
		base64.StdEncoding.EncodeToString(append(raw, 0))} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	one, other := NewKey(), NewKey()
	if _, err := ParseKey(one); err != nil || one == other {
		t.Errorf("new keys %q and %q: %v", one, other, err)
	}
	if _, err := New(raw[:16]); err == nil {
		t.Error("a short key is accepted")
	}
}
