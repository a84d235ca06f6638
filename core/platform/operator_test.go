package platform_test

import (
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestParseActor(t *testing.T) {
	t.Parallel()
	// An actor has 1 to 200 characters without the surrounding spaces.
	for text, want := range map[string]string{" ana ": "ana", "Zoë": "Zoë", strings.Repeat("é", 200): strings.Repeat("é", 200)} {
		if got, err := platform.ParseActor(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", " ", strings.Repeat("x", 201), "a\x00", "\xff"} {
		if got, err := platform.ParseActor(text); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %q, %v; want INVALID_INPUT", text, got, err)
		}
	}
}
