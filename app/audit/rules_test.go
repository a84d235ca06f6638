package audit

import "testing"

func TestRules_AreChecked(t *testing.T) {
	t.Parallel()
	// Every rule that a Checker reports on has a pass that checks it, and only those have one.
	for _, line := range rules {
		if checked := line.operations&(check|verify) != 0; checked != (line.pass != nil) {
			t.Errorf("%q is reported by a checker: %t, and has a pass: %t", line.rule, checked, line.pass != nil)
		}
	}
}
