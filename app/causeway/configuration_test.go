package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const configurationPath = "../../docs/configuration.md"

func TestConfigurationDoc_IsCurrent(t *testing.T) {
	t.Parallel()
	// docs/configuration.md lists exactly the settings of the commands; make docs writes it.
	want := configurationDoc(t)
	if *update {
		if err := os.WriteFile(configurationPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := readFile(t, configurationPath); got != want {
		t.Errorf("%s is not current; run make docs", configurationPath)
	}
}

const configurationIntro = `# Configuration

<!-- Written by make docs. Do not edit. -->

A setting is a command-line flag. Most flags can also be set by an environment variable; the flag takes
precedence. A command fails at start if a value is invalid, and names the setting. ` + "`causeway COMMAND --help`" + `
prints the settings of a command. A secret can be read from a file: its second variable, which ends in ` + "`_FILE`" + `, is
the path. A misspelt variable is refused. Durations are written as in ` + "`90s`, `20m` or `96h`" + `, lists are separated by commas.

Traces also follow [other variables of OpenTelemetry](operating.md#traces). Two more settings exist as environment variables
only: ` + "`CAUSEWAY_POSTGRES_BIN`" + ` is the folder of the Postgres programs for ` + "`causeway dev`, if they are neither in `PATH` nor in `/usr/lib/postgresql`; `GOGC`" + ` is Go's garbage collector
target, 200 unless set.
`

// configurationDoc returns the content of docs/configuration.md: a table for each group of
// commands that share settings.
func configurationDoc(t *testing.T) string {
	t.Helper()
	parser, err := newParser(new(commands), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var settings []string // table rows in the order of the commands
	commandsOf := map[string][]string{}
	leaves := map[string]int{} // by top-level command
	err = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if command, ok := node.(*kong.Node); ok && command.Type == kong.CommandNode && command.Leaf() {
			path := strings.TrimPrefix(command.Path(), "causeway ")
			leaves[topLevel(path)]++
			for _, f := range command.Flags {
				standard := codeSpan(f.Default)
				if f.Required {
					standard = "required"
				}
				environment := codeSpan(strings.Join(f.Envs, " "))
				if isSecret(f) {
					environment += ", " + codeSpan(f.Envs[0]+fileSuffix)
				}
				row := fmt.Sprintf("| `--%s` | %s | %s | %s |\n", f.Name, environment, standard,
					strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(f.Help))
				if commandsOf[row] == nil {
					settings = append(settings, row)
				}
				commandsOf[row] = append(commandsOf[row], path)
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	tables, flags := map[string]string{}, map[string][]string{}
	for _, row := range settings {
		section := strings.Join(commandNames(commandsOf[row], leaves), ", ")
		if tables[section] == "" {
			sections = append(sections, section)
		}
		flag, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		tables[section], flags[section] = tables[section]+row, append(flags[section], flag)
	}
	text := configurationIntro
	for _, section := range sections {
		heading := "\n## " + section + "\n"
		if names := strings.Count(section, ", ") + 1; names > 4 {
			heading = fmt.Sprintf("\n## %s of several commands\n\n%s.\n", strings.Join(flags[section], ", "), section)
		}
		text += heading + "\n| Flag | Environment variable | Default | Description |\n|---|---|---|---|\n" + tables[section]
	}
	return text
}

// commandNames formats the paths of commands. If all subcommands of a command are among them, it
// names the command itself.
func commandNames(paths []string, leaves map[string]int) []string {
	count := map[string]int{}
	for _, path := range paths {
		count[topLevel(path)]++
	}
	var names []string
	for _, path := range paths {
		name := path
		if top := topLevel(path); leaves[top] > 1 && count[top] == leaves[top] {
			name = top
		}
		if name = codeSpan(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func topLevel(path string) string {
	top, _, _ := strings.Cut(path, " ")
	return top
}

func codeSpan(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
