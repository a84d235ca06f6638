package main

import (
	"fmt"
	"strings"
	"testing"

	"causeway/adapters/cli"
	"causeway/app/internal/foureyes"
)

func TestOperatorOperations_AreDocumentedCommands(t *testing.T) {
	t.Parallel()
	// Each operation that an operator carries out alone has a command, and docs/books.md lists exactly these.
	commands := map[string]bool{}
	for _, command := range newTestParser(t).Model.Leaves(true) {
		commands[cli.CommandPath(command)] = true
	}
	var rows strings.Builder
	for _, o := range foureyes.OperatorOperations {
		if !commands[o.Command] {
			t.Errorf("there is no command causeway %s", o.Command)
		}
		fmt.Fprintf(&rows, "| `%s` | `%s` |\n", o.Command, o.ID)
	}
	if table := "| Command | Operation of the API |\n|---|---|\n" + rows.String() + "\n"; !strings.Contains(readFile(t, "../../docs/books.md"),
		table) {
		t.Errorf("docs/books.md does not have\n%s", table)
	}
}
