package main

import (
	"fmt"
	"maps"
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
only: ` + "`CAUSEWAY_POSTGRES_BIN`" + ` is the folder of the Postgres programs for ` + "`causeway dev`" + `, if they are neither in
` + "`PATH` nor in `/usr/lib/postgresql`; `GOGC`" + ` is Go's garbage collector target, unless set 180 for a service and 100 for other commands.
`

// firstSettings are what to decide before the service starts in production, in this order.
var firstSettings = []string{
	"database-url", "master-key", "vault-token", "listen", "public-url", "trusted-proxies", "admin-listen", "log-format", "log-level",
	"connections", "rate-limit", "rates", "rates-dollars", "checkpoints", "blobs", "identity", "smtp-url", "mail-from", "company-name",
	"webhook-retention", "quote-retention", "otlp-endpoint",
}

// Titles of the sections.
const (
	firstTitle  = "Settings that matter first"
	topicsTitle = "Other settings of the service"
	sharedTitle = "Flags of several commands"
	ownTitle    = "Flags of one command"
	restTitle   = "Other commands"
)

const settingColumns = "| Flag | Environment variable | Default | Description |\n|---|---|---|---|\n"

// setting is a flag, as the commands that share it have it.
type setting struct {
	flag, topic               string
	environment, value, usage string
	leaves                    map[*kong.Node]bool
}

// row returns the setting as a row of a table with settingColumns.
func (s *setting) row() string {
	return fmt.Sprintf("| `--%s` | %s | %s | %s |\n", s.flag, s.environment, s.value, s.usage)
}

// configurationDoc returns the content of docs/configuration.md.
func configurationDoc(t *testing.T) string {
	t.Helper()
	root := newTestParser(t).Model.Node
	serve := root.Children[slices.IndexFunc(root.Children, func(n *kong.Node) bool { return n.Name == "serve" })]
	var first, topics, shared, own sections
	var onlyServe []string
	firsts, owned := map[string]string{}, map[*kong.Node][]*setting{}
	for _, s := range settingsOf(root) {
		commands := slices.DeleteFunc(slices.Clone(root.Children), func(n *kong.Node) bool { return namesOf(n, "", s.leaves) == nil })
		switch {
		case s.leaves[serve]:
			isDev := func(n *kong.Node) bool { return n.Name == "dev" }
			if !slices.ContainsFunc(commands, isDev) {
				onlyServe = append(onlyServe, codeSpan("--"+s.flag))
			}
			maps.DeleteFunc(s.leaves, func(n *kong.Node, _ bool) bool { return n == serve || isDev(n) })
			if others := namesOf(root, "", s.leaves); others != nil {
				s.usage += " Also of " + strings.Join(others, ", ") + "."
			}
			if slices.Contains(firstSettings, s.flag) {
				firsts[s.flag] = s.row()
			} else {
				topics.add(s.topic, s.row())
			}
		case len(commands) > 1:
			shared.add(sharedTitle, strings.TrimSuffix(s.row(), "\n")+" "+strings.Join(namesOf(root, "", s.leaves), ", ")+" |\n")
		default:
			owned[commands[0]] = append(owned[commands[0]], s)
		}
	}
	for _, name := range firstSettings {
		if firsts[name] == "" {
			t.Fatalf("serve has no flag --%s", name)
		}
		first.add(firstTitle, firsts[name])
	}
	few := func(command *kong.Node) bool { return len(owned[command]) <= 4 }
	for _, command := range root.Children {
		if !few(command) {
			own.add("causeway "+command.Name, ownRows(command, command.Name, owned[command])...)
		}
	}
	for _, command := range root.Children {
		if few(command) {
			own.add(restTitle, ownRows(command, "", owned[command])...)
		}
	}

	return configurationIntro +
		"\n- " + linkTo(firstTitle) + "\n- " + linkTo(topicsTitle) + ": " + topics.links() +
		"\n- " + linkTo(sharedTitle) + "\n- " + linkTo(ownTitle) + ": " + own.links() + "\n" +
		first.text("##", "What to decide before `causeway serve` starts in production. `causeway dev` has the settings of the service too,\n"+
			"except "+strings.Join(onlyServe, ", ")+".\n\n"+settingColumns) +
		"\n## " + topicsTitle + "\n" + topics.text("###", settingColumns) +
		shared.text("##", "`ledger *` stands for every command of `ledger`.\n\n"+
			"| Flag | Environment variable | Default | Description | Commands |\n|---|---|---|---|---|\n") +
		"\n## " + ownTitle + "\n" + own.text("###", "| Command | Flag | Default | Description |\n|---|---|---|---|\n")
}

// ownRows returns the rows of settings that only a top-level command has. Its subcommands are named without the prefix.
func ownRows(command *kong.Node, prefix string, settings []*setting) []string {
	var rows []string
	for _, s := range settings {
		flag := codeSpan("--" + s.flag)
		if s.environment != "" {
			flag += ", " + s.environment
		}
		commands := strings.Join(namesOf(command, prefix, s.leaves), ", ")
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", commands, flag, s.value, s.usage))
	}
	return rows
}

// sections are tables under headings, in the order of their first rows.
type sections struct {
	titles []string
	rows   map[string][]string
}

func (s *sections) add(title string, rows ...string) {
	if s.rows == nil {
		s.rows = map[string][]string{}
	}
	if s.rows[title] == nil {
		s.titles = append(s.titles, title)
	}
	s.rows[title] = append(s.rows[title], rows...)
}

func (s *sections) links() string {
	var links []string
	for _, title := range s.titles {
		links = append(links, linkTo(title))
	}
	return strings.Join(links, ", ")
}

// text returns the sections, each with the start of its table.
func (s *sections) text(level, start string) string {
	text := ""
	for _, title := range s.titles {
		text += "\n" + level + " " + title + "\n\n" + start + strings.Join(s.rows[title], "")
	}
	return text
}

// settingsOf returns the flags of all commands, in their order. Commands whose flags say the same share a setting.
func settingsOf(root *kong.Node) []*setting {
	var found []*setting
	for _, leaf := range commandsOf(root) {
		for _, f := range leaf.Flags {
			s := setting{flag: f.Name, value: codeSpan(f.Default), environment: codeSpan(strings.Join(f.Envs, " ")),
				usage: strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(f.Help), leaves: map[*kong.Node]bool{}}
			if f.Required {
				s.value = "required"
			}
			if isSecret(f) {
				s.environment += ", " + codeSpan(f.Envs[0]+fileSuffix)
			}
			at := slices.IndexFunc(found, func(other *setting) bool { return other.row() == s.row() })
			if at < 0 {
				at, found = len(found), append(found, &s)
			}
			found[at].leaves[leaf] = true
			if f.Group != nil {
				found[at].topic = f.Group.Title
			}
		}
	}
	return found
}

// commandsOf returns the leaves of a node, with those that --help leaves out so that it fits on a screen, but not the one that shells
// call to complete a line.
func commandsOf(n *kong.Node) []*kong.Node {
	return slices.DeleteFunc(n.Leaves(false), func(leaf *kong.Node) bool { return leaf.Name == "complete" })
}

// namesOf names the leaves of a node that are among the given ones, without the prefix of their paths. A node of which all are is
// named with *, and with those that are not where that is shorter.
func namesOf(n *kong.Node, prefix string, leaves map[*kong.Node]bool) []string {
	path := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(n.Path(), "causeway")), prefix))
	if n.Leaf() && leaves[n] {
		return []string{codeSpan(path)}
	}
	all, missing := commandsOf(n), map[*kong.Node]bool{}
	for _, leaf := range all {
		if !leaves[leaf] {
			missing[leaf] = true
		}
	}
	every := codeSpan(strings.TrimSpace(path + " *"))
	switch {
	case len(missing) == len(all):
		return nil
	case len(missing) == 0 && len(all) > 1:
		return []string{every}
	}
	names := namesOfChildren(n, prefix, leaves)
	without := strings.Join(namesOfChildren(n, strings.TrimPrefix(n.Path(), "causeway "), missing), ", ")
	except := every + " (not " + without + ")"
	if without == "" || strings.Contains(without, "(") || len(except) >= len(strings.Join(names, ", ")) {
		return names
	}
	return []string{except}
}

func namesOfChildren(n *kong.Node, prefix string, leaves map[*kong.Node]bool) []string {
	var names []string
	for _, child := range n.Children {
		names = append(names, namesOf(child, prefix, leaves)...)
	}
	return names
}

// linkTo returns a link to a section of the document.
func linkTo(title string) string {
	return fmt.Sprintf("[%s](#%s)", title, headingAnchors("# " + title)[0])
}

func codeSpan(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
