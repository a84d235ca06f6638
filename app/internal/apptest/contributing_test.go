package apptest_test

import (
	"os"
	"strings"
	"testing"
)

func TestContributing_ShowsExistingTest(t *testing.T) {
	t.Parallel()
	// The Go code in CONTRIBUTING.md is the test of a use case, word for word.
	_, code, found := strings.Cut(readFile(t, "../../../CONTRIBUTING.md"), "```go\n")
	code, _, closed := strings.Cut(code, "```")
	if !found || !closed {
		t.Fatal("CONTRIBUTING.md has no Go code")
	}

	source := readFile(t, "../../accounts/internal_test.go")

	if words := strings.Fields(code); !strings.Contains(strings.Join(strings.Fields(source), " "), strings.Join(words, " ")) {
		t.Errorf("CONTRIBUTING.md differs from app/accounts/internal_test.go; copy the test again\n%s", code)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
