package event

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

var (
	testTime     = time.Date(2026, 3, 4, 5, 6, 7, 891_234_567, time.FixedZone("east", 3600))
	testPlatform = ident.NewPlatform(func(time.Time) uuid.UUID {
		return uuid.MustParse("019d0000-0000-7000-8000-000000000001")
	}, testTime)
	testWebhook = ident.NewWebhook(func(time.Time) uuid.UUID {
		return uuid.MustParse("019d0000-0000-7000-8000-00000000000a")
	}, testTime)
)

func TestEnvelope(t *testing.T) {
	t.Parallel()
	// The body is JSON with the fields of the event.
	for _, kind := range Types {
		e := Event{ID: testWebhook, Platform: testPlatform, Type: kind, Name: Names[kind][0], OccurredAt: testTime}

		body := e.Envelope()

		var got map[string]json.RawMessage
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v in %s", kind, err, body)
		}
		want := map[string]string{
			"webhookId": `"Webhook:019d0000-0000-7000-8000-00000000000a"`,
			"type":      `"` + string(kind) + `"`,
			"event":     `"` + Names[kind][0] + `"`,
			"timestamp": `"2026-03-04T04:06:07.891Z"`,
		}
		if len(got) != len(want) {
			t.Errorf("%s: keys differ: %s", kind, body)
		}
		for key, value := range want {
			if string(got[key]) != value {
				t.Errorf("%s: %s is %s, want %s", kind, key, got[key], value)
			}
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	// Every type has names, each name belongs to one type, and all but TEST are dotted.
	var all []string
	for _, kind := range Types {
		if len(Names[kind]) == 0 {
			t.Errorf("%s has no names", kind)
		}
		for _, name := range Names[kind] {
			if got, ok := TypeOf(name); !ok || got != kind {
				t.Errorf("TypeOf(%s) = %s, %v, want %s", name, got, ok, kind)
			}
			if slices.Contains(all, name) {
				t.Errorf("%s belongs to two types", name)
			}
			all = append(all, name)
			if kind != Test && !strings.Contains(name, ".") {
				t.Errorf("%s: no dot", name)
			}
			if SentOnce(name) != (kind == Test || name == IncomingPaymentPending) {
				t.Errorf("SentOnce(%s) = %v", name, SentOnce(name))
			}
		}
	}
	if len(Names) != len(Types) {
		t.Errorf("%d types have names, want %d", len(Names), len(Types))
	}
	if _, ok := TypeOf("OUTGOING_PAYMENT"); ok {
		t.Error("the name of a type is accepted as the name of an event")
	}
}

func TestNewTest(t *testing.T) {
	t.Parallel()
	// A test event has a subject of its own, so that it waits for no other, and no resource.
	e := NewTest(testWebhook, testPlatform, testTime)

	if e.Subject != testWebhook.UUID() || e.Resource != nil || e.Type != Test || !SentOnce(e.Name) || e.Platform != testPlatform {
		t.Errorf("got %+v", e)
	}
}
