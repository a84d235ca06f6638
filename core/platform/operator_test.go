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
	for _, text := range []string{"", " ", "\u200b\u00ad", strings.Repeat("x", 201), "a\x00", "Ana\nBen", "Ana\x1b[2J",
		"Ana\u0085Ben", "\xff", "(service)", "(Customer) ", "(customer)"} {
		if got, err := platform.ParseActor(text); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %q, %v; want INVALID_INPUT", text, got, err)
		}
	}
}

func TestIsSameActor(t *testing.T) {
	t.Parallel()
	// A name in another case, with other spaces, invisible characters or another encoding of its letters is the same person.
	for _, other := range []string{"Zoë Lima", "zoë LIMA", "Zoe\u0308 Lima", "Zoë\u00a0Lima", "Zoë  Lima", "Zoë\u200b Lima", "\ufeffZoë Lima",
		"Zoë Ｌima", "Zoë\u00ad Lima\ufe0f"} {
		if !platform.IsSameActor("Zoë Lima", other) || !platform.IsSameActor(other, "Zoë Lima") {
			t.Errorf("%q is another person", other)
		}
	}
	for _, other := range []string{"", "Zoe Lima", "ZoëLima", "Zoë Lime"} {
		if platform.IsSameActor("Zoë Lima", other) {
			t.Errorf("%q is the same person", other)
		}
	}
}
