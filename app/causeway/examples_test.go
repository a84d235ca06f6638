package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed/pgtest"
	"causeway/core/ident"
)

func TestHelp_EveryCommandHasValidExample(t *testing.T) {
	// The help of each command shows an example, and the program accepts its arguments.
	t.Setenv("DATABASE_URL", "postgres://db/causeway")
	t.Setenv("CAUSEWAY_MASTER_KEY", "key")
	parser := newTestParser(t)
	for _, command := range parser.Model.Leaves(false) {
		path := cli.CommandPath(command)
		var help bytes.Buffer
		parser.Stdout = &help
		func() {
			defer func() { _ = recover() }() // the test's exit of --help
			_, _ = parser.Parse(append(strings.Fields(path), "--help"))
		}()
		if !strings.Contains(help.String(), "Example: causeway ") {
			t.Errorf("%s --help has no example:\n%s", path, help.String())
			continue
		}
		output, err := exec.Command("sh", "-c", `printf '%s\n' `+strings.TrimPrefix(cli.Examples[path], "causeway ")).Output()
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(strings.TrimSpace(string(output)), "\n")
		if _, err := parser.Parse(words); err != nil {
			t.Errorf("%s: %v", cli.Examples[path], err)
		}
		if i := slices.Index(words, "--platform"); i >= 0 {
			if _, err := ident.ParsePlatform(words[i+1]); err != nil {
				t.Errorf("%s: --platform %v", cli.Examples[path], err)
			}
		}
	}
	for path := range cli.Examples {
		if strings.Fields(cli.Examples[path])[0] != "causeway" || !strings.HasPrefix(cli.Examples[path], "causeway "+path) {
			t.Errorf("the example of %s is %s", path, cli.Examples[path])
		}
	}
}

func TestHelp_FitsOneScreen(t *testing.T) {
	t.Parallel()
	// Without a command the program lists its commands by task, in at most 50 lines of 80 characters.
	parser := newTestParser(t)
	var help bytes.Buffer
	parser.Stdout = &help
	func() {
		defer func() { _ = recover() }() // the test's exit of --help
		_, _ = parser.Parse([]string{"--help"})
	}()
	lines := strings.Split(strings.TrimSpace(help.String()), "\n")
	if len(lines) > 50 || slices.ContainsFunc(lines, func(line string) bool { return len(line) > 80 }) {
		t.Errorf("%d lines:\n%s", len(lines), help.String())
	}
	for _, command := range parser.Model.Children {
		if !command.Hidden && (command.Group == nil || !strings.Contains(help.String(), "\n  "+command.Name+" ")) {
			t.Errorf("%s is not listed, or has no task", command.Name)
		}
	}
}

func newTestParser(t *testing.T) *kong.Kong {
	t.Helper()
	parser, err := newParser(new(commands), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	parser.Exit = func(int) { panic("exit") }
	return parser
}

func TestRun_MissingSettingIsExplained(t *testing.T) {
	// A command without its required settings names their environment variables and what they are.
	for _, name := range []string{"DATABASE_URL", "CAUSEWAY_MASTER_KEY"} {
		t.Setenv(name, "") // restores it
		_ = os.Unsetenv(name)
	}
	var errOut bytes.Buffer

	status := run(t.Context(), []string{"serve"}, io.Discard, &errOut)

	for _, want := range []string{"DATABASE_URL", "causeway migrate", "CAUSEWAY_MASTER_KEY", "32 random bytes", "causeway serve --help"} {
		if status != 2 || !strings.Contains(errOut.String(), want) {
			t.Errorf("status %d, without %q:\n%s", status, want, errOut.String())
		}
	}
}

func TestRun_EmptyDatabaseURLIsRefused(t *testing.T) {
	// A variable that is set to nothing does not lead to the driver's default database.
	t.Setenv("DATABASE_URL", "")
	t.Setenv("CAUSEWAY_MASTER_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	for _, args := range [][]string{{"migrate"}, {"serve", "--listen", "127.0.0.1:0"}} {
		var errOut bytes.Buffer

		status := run(t.Context(), args, io.Discard, &errOut)

		if status == 0 || !strings.Contains(errOut.String(), "--database-url") {
			t.Errorf("%v: status %d, %s", args, status, errOut.String())
		}
	}
}

func TestRun_ServiceStoppedWhileItStartsEndedAsAsked(t *testing.T) {
	// Supervisors count another status than 0 as a failure. A command that only reads has no result to show.
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for command, want := range map[string]int{"dev --no-demo --listen 127.0.0.1:0 --data " + t.TempDir(): 0, "ledger check": 1} {
		var errOut bytes.Buffer
		args := append(strings.Fields(command), "--database-url", pgtest.New(t))

		status := run(stopped, args, io.Discard, &errOut)

		if status != want || (want != 0) != strings.Contains(errOut.String(), "interrupted") {
			t.Errorf("%s: status %d, %s", command, status, errOut.String())
		}
	}
}
