package main

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"causeway/adapters/cli"
)

// outputArguments are what some commands need besides.
var outputArguments = map[string][]string{"ledger entries": {"--transaction", deliveredRamp}}

func TestOutput_EveryCommandThatShowsSomething(t *testing.T) {
	t.Parallel()
	// What lists or shows has --output, and prints valid JSON and CSV with it on a database that has little.
	url := seededDatabase(t)
	ran := 0
	for _, command := range newTestParser(t).Model.Leaves(false) {
		path := cli.CommandPath(command)
		has := slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "output" })
		if shows := slices.Contains([]string{"list", "show", "history", "status", "versions", "aging", "calendar", "notices"},
			command.Name); shows && !has &&
			path != "documents show" {
			t.Errorf("causeway %s has no --output", path)
		}
		// See e2e: these need a backup, a server, the master key, and a person.
		if !has || needsArguments(command) || slices.Contains([]string{"backup verify", "logs list", "platform uma-keys", "whoami"}, path) {
			continue
		}
		ran++
		for _, format := range []string{"json", "csv"} {
			var out, errOut strings.Builder
			args := slices.Concat(strings.Fields(path), outputArguments[path], []string{"--output", format, "--database-url", url})
			if slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "platform" }) {
				args = append(args, "--platform", fakePlatform)
			}
			// The postings are not sealed, which verify prints before it fails.
			if status := run(t.Context(), args, &out, &errOut); status != 0 && path != "ledger verify" {
				t.Errorf("causeway %s --output %s: %s", path, format, &errOut)
				continue
			}
			rows := csv.NewReader(strings.NewReader(out.String()))
			rows.FieldsPerRecord = -1 // several tables
			if _, err := rows.ReadAll(); format == "csv" && (err != nil || out.Len() == 0) {
				t.Errorf("causeway %s: %v in %q", path, err, out.String())
			}
			if format == "json" && !json.Valid([]byte(out.String())) {
				t.Errorf("causeway %s: not JSON: %q", path, out.String())
			}
		}
	}
	if ran < 30 {
		t.Errorf("only %d commands were run", ran)
	}
}

func needsArguments(command *kong.Node) bool {
	return slices.ContainsFunc(command.Positional, func(v *kong.Positional) bool { return v.Required }) ||
		slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Required && f.Name != "database-url" && f.Name != "platform" })
}
