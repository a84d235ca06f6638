package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed/pgtest"
	"causeway/core/person"
)

func TestCommandRights_NameEveryCommandOfSomebody(t *testing.T) {
	t.Parallel()
	// Each command that records who runs it needs a right, and one that a right on a platform is enough for names the platform. What is
	// listed is what docs/operating.md says.
	listed := map[string]person.CommandRight{}
	for _, c := range person.CommandRights {
		listed[c.Command] = c
	}
	for _, command := range newTestParser(t).Model.Leaves(true) {
		has := func(name string) bool {
			return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == name })
		}
		path := cli.CommandPath(command)
		c, known := listed[path]
		delete(listed, path)
		if known != has("actor") || c.OnPlatform && !has("platform") {
			t.Errorf("%s: listed %t, records somebody %t, %+v", path, known, has("actor"), c)
		}
	}
	if len(listed) > 0 {
		t.Errorf("there are no commands %v", slices.Collect(maps.Keys(listed)))
	}
	if table := commandTable(); !strings.Contains(readFile(t, "../../docs/operating.md"), table) {
		t.Errorf("docs/operating.md does not have\n%s", table)
	}
}

// commandTable returns the commands by the roles that may run them.
func commandTable() string {
	commands := map[string][]string{}
	var order []string
	for _, right := range person.Rights {
		var roles []string
		for _, r := range person.RolesWith(right) {
			roles = append(roles, "`"+string(r)+"`")
		}
		row := strings.Join(roles, ", ")
		for _, c := range person.CommandRights {
			if c.Right != right {
				continue
			}
			if commands[row] == nil {
				order = append(order, row)
			}
			text := "`" + c.Command + "`"
			if c.OnPlatform {
				text += "\u00b9"
			}
			commands[row] = append(commands[row], text)
		}
	}
	var table strings.Builder
	table.WriteString("| Roles | Commands |\n|---|---|\n")
	for _, row := range order {
		fmt.Fprintf(&table, "| %s | %s |\n", row, strings.Join(commands[row], ", "))
	}
	return table.String()
}

func TestCommandRights_HoldOnTheCommandLine(t *testing.T) {
	t.Parallel()
	// Who has signed in runs what its roles allow, and learns which role another command needs. What stops harm runs all the same, and
	// is recorded.
	url := pgtest.New(t)
	addPeople(t, url, "ana@people.test", "ben@people.test")
	root := signInAs(t, url, "ana@people.test")
	run := func(in cli.Sessions, args string) (string, int) {
		out, errOut, status := runAs(t, in, append(strings.Fields(args), "--database-url", url)...)
		return out + errOut, status
	}
	if said, status := run(root, "people set-roles ben@people.test --roles VIEWER"); status != 0 {
		t.Fatal(said)
	}
	viewer := signInAs(t, url, "ben@people.test")
	for args, want := range map[string]string{
		"platform create --name Acme --environment SANDBOX":      "ADMINISTRATOR, for all platforms",
		"rails resume SEPA --note x":                             "OPERATOR or ADMINISTRATOR, for all platforms",
		"people set-roles ben@people.test --roles ADMINISTRATOR": "It needs the role ADMINISTRATOR",
		"corridors set USD BTC --fee-fixed 25":                   "FINANCE or ADMINISTRATOR",
	} {
		if said, status := run(viewer, args); status != 1 || !strings.Contains(said, "Your roles (VIEWER) do not allow") ||
			!strings.Contains(said, want) {
			t.Errorf("%s: %d, %s", args, status, said)
		}
	}
	if said, status := run(viewer, "rails pause SEPA --note x"); status != 0 {
		t.Errorf("a command that stops harm: %s", said)
	}
	checkActions(t, url, "BREAK_GLASS ben@people.test rails pause", "PAUSE_RAIL ben@people.test SEPA")
}
