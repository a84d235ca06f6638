package e2e

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

func TestMask_ReplacesChangingValues(t *testing.T) {
	t.Parallel()
	// Values that change between runs are replaced, the same value by the same replacement of
	// its kind; everything else stays, in order.
	m := newMask()
	m.beginStep()
	cursor := base64.RawURLEncoding.EncodeToString([]byte(`{"id":"Quote:11111111-2222-7333-8444-555555555555"}`))
	response := `{"id": "Quote:11111111-2222-7333-8444-555555555555", "b": 1.50, "a": "<&>", "data": [1, 2, 3],
		"note": "Put exactly 4T9K2M7PXQ3A into the memo.", "accountOrWalletInfo": {"reference": "4T9K2M7PXQ3A", "address": "0x1ecdeaa68d2674ccf237290fca2d41101c55257a"},
		"refund": {"reference": "4T9K2M7PXQ3A-REFUND"}, "accountInfo": {"address": "spark1mine"}, "reference": "order 66",
		"clientSecret": "fff244c81bee944e", "nextCursor": "` + cursor +
		`", "durationMs": 17, "other": "Quote:99999999-2222-7333-8444-555555555555"}`

	m.learnBody([]byte(response))
	masked, err := m.maskJSON([]byte(response))
	if err != nil {
		t.Fatal(err)
	}

	got := string(masked)
	first := m.maskText("Quote:11111111-2222-7333-8444-555555555555")
	code := m.maskText("4T9K2M7PXQ3A")
	for _, want := range []string{
		`{"id":"` + first + `","b":1.50,"a":"<&>","data":[1,2],"note":"Put exactly ` + code + ` into the memo."`,
		`"reference":"` + code + `","address":"0x`, `"reference":"` + code + `-REFUND"`, `"address":"spark1mine"`, `"reference":"order 66"`,
		`"durationMs":84`, base64.RawURLEncoding.EncodeToString([]byte(`{"id":"` + first + `"}`)),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if !strings.HasSuffix(first, "-000000000001") || !strings.HasPrefix(first, "Quote:"+maskedIDPrefix) ||
		!referencePattern.MatchString(code) {
		t.Errorf("%s and %s do not have the form of the originals", first, code)
	}
	if leak := m.findLeak(masked); leak != "" {
		t.Errorf("%s is left", leak)
	}
	if m.maskText(got) != got {
		t.Error("a masked value is masked again")
	}
	if again := newMask(); again.maskText("Quote:77777777-2222-7333-8444-555555555555") != first {
		t.Error("another run has other ids")
	}
}

func TestMask_FindsLeaks(t *testing.T) {
	t.Parallel()
	// A value that a mask has missed is found before it is written.
	m := newMask()
	m.beginStep()
	m.addSecret("hush-hush")
	m.learnBody([]byte(`{"reference": "4T9K2M7PXQ3A"}`))
	for text, want := range map[string]string{
		"it is hush-hush":                            "hush…",
		"for 4T9K2M7PXQ3A and others":                "4T9K2M7PXQ3A",
		"Token:11111111-2222-7333-8444-555555555555": "Token:11111111-2222-7333-8444-555555555555",
		"at 2026-11-21T08:45:15.319Z":                "2026-11-21T08:45:15.319Z",
		"http://127.0.0.1:80/":                       "127.0.0.1",
		m.maskText("Token:22222222-2222-7333-8444-555555555555 at 2026-11-21T08:45:15.319Z"): "",
	} {
		if got := m.findLeak([]byte(text)); got != want {
			t.Errorf("%q in %q, want %q", got, text, want)
		}
	}
}

func TestMask_Timestamps(t *testing.T) {
	t.Parallel()
	// Everything in one step has one time, later steps have later times, a section starts on
	// time, and a future time keeps its distance.
	m := newMask()
	m.beginStep()
	one := time.Now()
	m.beginStep()
	two := time.Now()
	lock := formatTimestamp(two.Add(5*time.Minute + 40*time.Millisecond))

	created, expires := m.maskText(formatTimestamp(two)), m.maskText(lock)
	m.beginStep()
	three := time.Now()
	m.beginSection()
	m.beginStep()

	for moment, want := range map[string]string{
		formatTimestamp(one.Add(-24 * time.Hour)): "2026-01-15T09:30:00.000Z",
		formatTimestamp(one):                      "2026-01-15T09:30:00.000Z",
		formatTimestamp(two):                      created,
		lock:                                      expires,
		formatTimestamp(three):                    "2026-01-15T09:30:14.826Z",
		formatTimestamp(time.Now()):               "2026-01-15T09:40:00.000Z",
	} {
		if got := m.maskText(moment); got != want {
			t.Errorf("%s is shown as %s, want %s", moment, got, want)
		}
	}
	if created != "2026-01-15T09:30:07.413Z" || expires != "2026-01-15T09:35:07.413Z" {
		t.Errorf("created %s, expires %s", created, expires)
	}
}
