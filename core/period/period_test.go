package period_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/period"
)

func TestState_EveryTransition(t *testing.T) {
	t.Parallel()
	// Each state allows exactly the actions of the table; others are a CONFLICT and change nothing.
	want := map[period.State]map[period.Action]period.State{
		period.Open:       {period.SoftClose: period.SoftClosed},
		period.SoftClosed: {period.Reopen: period.Open, period.Close: period.Closed},
		period.Closed:     {},
	}
	for _, state := range period.States() {
		for _, action := range period.Actions() {
			next, err := state.Next(action)
			if to, ok := want[state][action]; ok {
				if err != nil || next != to {
					t.Errorf("%s, %s: %s, %v, want %s", state, action, next, err, to)
				}
			} else if next != state || !fault.Is(err, fault.Conflict) {
				t.Errorf("%s, %s: %s, %v, want a conflict", state, action, next, err)
			}
		}
	}
}
