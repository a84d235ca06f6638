package railtest_test

import (
	"testing"

	"causeway/ports/railtest"
)

func TestChecks_PassForCorrectAdapter(t *testing.T) {
	t.Parallel()
	// A partner in memory and an adapter without mistakes pass every check, and none is skipped.
	for _, check := range railtest.Checks() {
		w := newWorld(none)
		if !check.Needs(w.Features()) {
			t.Errorf("%s is skipped", check.Name)
		}
		if err := check.Run(t.Context(), w); err != nil {
			t.Errorf("%s: %v", check.Name, err)
		}
	}
}

func TestChecks_FindEveryDefect(t *testing.T) {
	t.Parallel()
	// Each mistake of an adapter fails a check, and each check finds a mistake.
	finds := map[string]bool{}
	for _, d := range defects {
		found := false
		for _, check := range railtest.Checks() {
			if err := check.Run(t.Context(), newWorld(d)); err != nil {
				found, finds[check.Name] = true, true
			}
		}
		if !found {
			t.Errorf("no check finds: %s", d)
		}
	}
	for _, check := range railtest.Checks() {
		if !finds[check.Name] {
			t.Errorf("nothing fails %s", check.Name)
		}
	}
}

func TestChecks_NeedFeatures(t *testing.T) {
	t.Parallel()
	// An adapter that can do nothing has only its unsupported currencies to check.
	for _, check := range railtest.Checks() {
		if want := check.Name == "instructions: of a currency that is not supported"; check.Needs(railtest.Features{}) != want {
			t.Errorf("%s needs nothing: %t", check.Name, !want)
		}
	}
}
