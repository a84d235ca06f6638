package secrets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/adapters/secrets"
)

func write(t *testing.T, content []byte, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecret_ReadsFilesAndEnvironment(t *testing.T) {
	// A secret is the content of a file or variable, without line breaks at its end.
	t.Setenv("CAUSEWAY_TEST_SECRET", "from the environment\n")
	largest := bytes.Repeat([]byte("x"), secrets.MaxSize)
	for reference, want := range map[string]string{
		"env:CAUSEWAY_TEST_SECRET":                             "from the environment",
		"file:" + write(t, []byte(" in a file \r\n"), 0o640):   " in a file ",
		"file:" + write(t, append(largest, '\r', '\n'), 0o400): string(largest),
	} {
		if got, err := secrets.New().Secret(t.Context(), reference); string(got) != want || err != nil {
			t.Errorf("%s: %d bytes, %v", reference, len(got), err)
		}
	}
}

func TestSecret_RefusesWithoutShowingIt(t *testing.T) {
	t.Parallel()
	// What cannot be read, what others can read, and what is empty or too large is refused. Errors never show the secret.
	const content = "hunter2hunter2"
	for name, reference := range map[string]string{
		"world-readable":  "file:" + write(t, []byte(content), 0o604),
		"world-writable":  "file:" + write(t, []byte(content), 0o602),
		"empty":           "file:" + write(t, []byte("\n"), 0o600),
		"too large":       "file:" + write(t, bytes.Repeat([]byte(content), secrets.MaxSize/len(content)+1), 0o600),
		"missing":         "file:/no/such/" + "file",
		"a folder":        "file:" + t.TempDir(),
		"relative":        "file:secret",
		"unset":           "env:CAUSEWAY_TEST_UNSET",
		"not a reference": content,
	} {
		got, err := secrets.New().Secret(t.Context(), reference)
		if err == nil || got != nil || strings.Contains(err.Error(), content) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
