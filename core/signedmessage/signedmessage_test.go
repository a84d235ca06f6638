package signedmessage_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"causeway/core/signedmessage"
)

const (
	oldSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	newSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

var at = time.Unix(1614265330, 0)

func mustParse(t *testing.T, text string) signedmessage.Secrets {
	t.Helper()
	secrets, err := signedmessage.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return secrets
}

func TestSecrets_SignMatchesStandardWebhooks(t *testing.T) {
	t.Parallel()
	// The example of the specification, whose signature is known.
	h := mustParse(t, oldSecret).Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(`{"test": 2432232314}`))
	if h.Timestamp != "1614265330" || h.Signature != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signed %+v", h)
	}
}

func TestSecrets_VerifyDuringRotation(t *testing.T) {
	t.Parallel()
	// With two secrets a message is signed by both, and accepted by a receiver that has one of them.
	body := []byte("body")
	h := mustParse(t, newSecret+","+oldSecret).Sign("msg_1", at, body)
	for _, secret := range []string{oldSecret, newSecret} {
		if signedAt, err := mustParse(t, secret).Verify(h, body, at.Add(4*time.Minute)); err != nil || !signedAt.Equal(at) {
			t.Errorf("%s, %v", signedAt, err)
		}
	}
}

func TestSecrets_VerifyRefusesWhatWasChanged(t *testing.T) {
	t.Parallel()
	// The id, the time and the body are signed, and a message is accepted for five minutes.
	secrets := mustParse(t, newSecret)
	for name, c := range map[string]struct {
		change func(*signedmessage.Headers, *[]byte, *time.Time)
		want   error
	}{
		"nothing":      {func(*signedmessage.Headers, *[]byte, *time.Time) {}, nil},
		"the body":     {func(_ *signedmessage.Headers, body *[]byte, _ *time.Time) { *body = []byte("other") }, signedmessage.ErrSignature},
		"the id":       {func(h *signedmessage.Headers, _ *[]byte, _ *time.Time) { h.ID = "msg_2" }, signedmessage.ErrSignature},
		"the time":     {func(h *signedmessage.Headers, _ *[]byte, _ *time.Time) { h.Timestamp = "1614265331" }, signedmessage.ErrSignature},
		"no id":        {func(h *signedmessage.Headers, _ *[]byte, _ *time.Time) { h.ID = "" }, signedmessage.ErrHeaders},
		"long id":      {func(h *signedmessage.Headers, _ *[]byte, _ *time.Time) { h.ID = strings.Repeat("x", 257) }, signedmessage.ErrHeaders},
		"no time":      {func(h *signedmessage.Headers, _ *[]byte, _ *time.Time) { h.Timestamp = "today" }, signedmessage.ErrHeaders},
		"no signature": {func(h *signedmessage.Headers, _ *[]byte, _ *time.Time) { h.Signature = "" }, signedmessage.ErrHeaders},
		"too late": {func(_ *signedmessage.Headers, _ *[]byte, now *time.Time) { *now = at.Add(5*time.Minute + 1) },
			signedmessage.ErrTimestamp},
		"too early": {func(_ *signedmessage.Headers, _ *[]byte, now *time.Time) { *now = at.Add(-5*time.Minute - 1) },
			signedmessage.ErrTimestamp},
	} {
		body, now := []byte("body"), at
		h := secrets.Sign("msg_1", at, body)
		c.change(&h, &body, &now)
		if _, err := secrets.Verify(h, body, now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	// A secret has the prefix and enough random bytes, there are a few at most, and none is in an error.
	for _, text := range []string{"", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "whsec_", "whsec_c2hvcnQ=", "whsec_???",
		newSecret + ",x", strings.Repeat(newSecret+" ", 9)} {
		if secrets, err := signedmessage.Parse(text); err == nil || strings.Contains(err.Error(), "AAECA") {
			t.Errorf("%q: %d secrets, %v", text, len(secrets), err)
		}
	}
}
