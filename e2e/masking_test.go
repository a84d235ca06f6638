package e2e

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

func TestMask(t *testing.T) {
	t.Parallel()
	// What changes from run to run is replaced, the same by the same wherever it stands and
	// of its own kind; everything else stays, in its order.
	m := newMask()
	m.begin()
	cursor := base64.RawURLEncoding.EncodeToString([]byte(`{"id":"Quote:11111111-2222-7333-8444-555555555555"}`))
	answer := `{"id": "Quote:11111111-2222-7333-8444-555555555555", "b": 1.50, "a": "<&>", "data": [1, 2, 3],
		"note": "Put exactly 4T9K2M7PXQ3A into the memo.", "accountOrWalletInfo": {"reference": "4T9K2M7PXQ3A", "address": "0x1ecdeaa68d2674ccf237290fca2d41101c55257a"},
		"refund": {"reference": "4T9K2M7PXQ3A-REFUND"}, "accountInfo": {"address": "spark1mine"}, "reference": "order 66",
		"clientSecret": "fff244c81bee944e", "nextCursor": "` + cursor + `", "durationMs": 17, "other": "Quote:99999999-2222-7333-8444-555555555555"}`

	m.learn([]byte(answer))
	masked, err := m.json([]byte(answer))
	if err != nil {
		t.Fatal(err)
	}

	got := string(masked)
	first := m.text("Quote:11111111-2222-7333-8444-555555555555")
	code := m.text("4T9K2M7PXQ3A")
	for _, want := range []string{
		`{"id":"` + first + `","b":1.50,"a":"<&>","data":[1,2],"note":"Put exactly ` + code + ` into the memo."`,
		`"reference":"` + code + `","address":"0x`, `"reference":"` + code + `-REFUND"`, `"address":"spark1mine"`, `"reference":"order 66"`,
		`"durationMs":84`, base64.RawURLEncoding.EncodeToString([]byte(`{"id":"` + first + `"}`)),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if !strings.HasSuffix(first, "-000000000001") || !strings.HasPrefix(first, "Quote:"+maskedID) || !aCode.MatchString(code) {
		t.Errorf("%s and %s do not look like what they stand for", first, code)
	}
	if leak := m.leak(masked); leak != "" {
		t.Errorf("%s is left", leak)
	}
	if m.text(got) != got {
		t.Error("what is masked is masked again")
	}
	if again := newMask(); again.text("Quote:77777777-2222-7333-8444-555555555555") != first {
		t.Error("another run has other ids")
	}
}

func TestLeaks(t *testing.T) {
	t.Parallel()
	// Whatever a mask has missed is found before it is written.
	m := newMask()
	m.begin()
	m.secret("hush-hush")
	m.learn([]byte(`{"reference": "4T9K2M7PXQ3A"}`))
	for text, want := range map[string]string{
		"it is hush-hush":                            "hush…",
		"for 4T9K2M7PXQ3A and others":                "4T9K2M7PXQ3A",
		"Token:11111111-2222-7333-8444-555555555555": "Token:11111111-2222-7333-8444-555555555555",
		"at 2026-11-21T08:45:15.319Z":                "2026-11-21T08:45:15.319Z",
		"http://127.0.0.1:80/":                       "127.0.0.1",
		m.text("Token:22222222-2222-7333-8444-555555555555 at 2026-11-21T08:45:15.319Z"): "",
	} {
		if got := m.leak([]byte(text)); got != want {
			t.Errorf("%q in %q, want %q", got, text, want)
		}
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	// All that happens in one line of the story has one time, later lines have later times,
	// a chapter begins on time, and what is to come keeps its distance however late it is
	// looked at.
	m := newMask()
	m.begin()
	one := time.Now()
	m.begin()
	two := time.Now()
	lock := stamp(two.Add(5*time.Minute + 40*time.Millisecond))

	created, expires := m.text(stamp(two)), m.text(lock)
	m.begin()
	three := time.Now()
	m.turn()
	m.begin()

	for moment, want := range map[string]string{
		stamp(one.Add(-24 * time.Hour)): "2026-01-15T09:30:00.000Z",
		stamp(one):                      "2026-01-15T09:30:00.000Z",
		stamp(two):                      created,
		lock:                            expires,
		stamp(three):                    "2026-01-15T09:30:14.826Z",
		stamp(time.Now()):               "2026-01-15T09:40:00.000Z",
	} {
		if got := m.text(moment); got != want {
			t.Errorf("%s is told as %s, want %s", moment, got, want)
		}
	}
	if created != "2026-01-15T09:30:07.413Z" || expires != "2026-01-15T09:35:07.413Z" {
		t.Errorf("created %s, expires %s", created, expires)
	}
}
