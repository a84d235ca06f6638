package sandbox_test

import (
	"strings"
	"testing"

	"causeway/core/sandbox"
)

func TestList_ExplainsEveryValue(t *testing.T) {
	t.Parallel()
	// Each value is listed once for where it is given, with what happens then in words.
	seen := map[string]bool{}
	for _, l := range sandbox.List() {
		key := l.Where + l.Value
		if seen[key] || l.Where == "" || l.Value == "" || l.Then == "" || strings.HasSuffix(l.Then, " ") {
			t.Errorf("%+v", l)
		}
		seen[key] = true
	}
	if len(seen) < 25 {
		t.Errorf("%d values", len(seen))
	}
}
