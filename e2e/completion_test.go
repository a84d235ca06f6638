package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completeLine prints what bash offers for the words of a line whose last word is completed.
const completeLine = `
source <("$1" completion bash) || exit 1
complete -p causeway >/dev/null || exit 1
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_causeway "$1"
printf '%s\n' "${COMPREPLY[@]}"
`

func TestCompletion_Bash(t *testing.T) {
	t.Parallel()
	// bash completes commands, flags and values with what the program prints for it.
	for words, want := range map[string]string{
		"le":                        "ledger",
		"ledger settings ":          "show set versions",
		"jobs list --st":            "--step --state",
		"jobs list --output ":       "table csv json",
		"jobs list --output = j":    "json", // bash splits --output=j
		"platform create --name A ": "",
	} {
		program, err := filepath.Abs(binary)
		if err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), "bash", append([]string{"--noprofile", "--norc", "-c", completeLine, "bash", program},
			strings.Split(words, " ")...)...)
		out, err := command.CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
			t.Errorf("%q: %q, want %q, %v", words, got, want, err)
		}
	}
}
