package tracing_test

import (
	"testing"

	"causeway/core/tracing"
)

func TestContext_ID(t *testing.T) {
	t.Parallel()
	// The id is the second part; without tracing, and of a text that is none, there is no id.
	for context, want := range map[tracing.Context]string{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": "4bf92f3577b34da6a3ce929d0e0e4736",
		"":      "",
		"00-4b": "",
	} {
		if got := context.ID(); got != want {
			t.Errorf("the id of %q is %q, want %q", context, got, want)
		}
	}
}
