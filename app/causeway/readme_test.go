package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"causeway/ledger"
)

const readmePath = "../../README.md"

func TestReadme_ListsEverySetting(t *testing.T) {
	t.Parallel()
	// The table of settings in the README lists exactly the flags of the commands.
	text := readFile(t, readmePath)
	before, rest, found := strings.Cut(text, "<!-- settings -->\n")
	documented, after, closed := strings.Cut(rest, "<!-- end of settings -->\n")
	if !found || !closed {
		t.Fatal("the README has no table of settings between its two marks")
	}
	want := settingsTable(t)
	if *update {
		if err := os.WriteFile(readmePath, []byte(before+"<!-- settings -->\n"+want+"<!-- end of settings -->\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if documented != want {
		t.Errorf("the README's settings are not the program's; run the test with -update\n--- README\n%s\n--- program\n%s", documented, want)
	}
}

// settingsTable returns a table with a line for each flag, in the order of the commands, with
// the commands that accept it.
func settingsTable(t *testing.T) string {
	t.Helper()
	parser, err := newParser(new(commands), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	type setting struct{ flag, env, standard, help string }
	var order []setting
	users := map[setting][]string{}
	err = kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if command, ok := node.(*kong.Node); ok && command.Type == kong.CommandNode && command.Leaf() {
			for _, f := range command.Flags {
				s := setting{"`--" + f.Name + "`", codeSpan(strings.Join(f.Envs, " ")), codeSpan(f.Default), f.Help}
				if f.Required {
					s.standard = "needed"
				}
				if users[s] == nil {
					order = append(order, s)
				}
				users[s] = append(users[s], command.Path())
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| Flag | Environment | Default | What for | Commands |\n|---|---|---|---|---|\n")
	for _, s := range order {
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", s.flag, s.env, s.standard, strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s.help),
			strings.ReplaceAll(strings.Join(users[s], ", "), "causeway ", ""))
	}
	return table.String()
}

func codeSpan(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// verify reports whether a webhook with this Service-Webhook-Signature and body is genuine.
func verify(header string, body []byte, key *ecdsa.PublicKey) bool {
	var signature struct {
		V string
		S []byte // JSON has it in base64
	}
	if json.Unmarshal([]byte(header), &signature) != nil || signature.V != "1" {
		return false
	}
	digest := sha256.Sum256(body)
	return ecdsa.VerifyASN1(key, digest[:], signature.S)
}

func TestReadme_VerifyExampleWorks(t *testing.T) {
	t.Parallel()
	// What the README tells people to write takes a genuine webhook and nothing else.
	key, body := newTestKey(t), []byte(`{"webhookId":"Webhook:1"}`)
	digest := sha256.Sum256(body)
	der, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	header := `{"v":"1","s":"` + base64.StdEncoding.EncodeToString(der) + `"}`

	if !verify(header, body, &key.PublicKey) {
		t.Error("a genuine webhook is refused")
	}
	for name, c := range map[string]struct {
		header string
		body   string
		key    *ecdsa.PublicKey
	}{
		"another body":    {header, `{"webhookId":"Webhook:2"}`, &key.PublicKey},
		"another key":     {header, string(body), &newTestKey(t).PublicKey},
		"another version": {strings.Replace(header, `"1"`, `"2"`, 1), string(body), &key.PublicKey},
		"no signature":    {"", string(body), &key.PublicKey},
	} {
		if verify(c.header, []byte(c.body), c.key) {
			t.Errorf("%s is taken", name)
		}
	}

	// The README shows this very function.
	_, source, _ := strings.Cut(readFile(t, "readme_test.go"), "\n// verify reports")
	source, _, _ = strings.Cut("// verify reports"+source, "\n}\n")
	if !strings.Contains(readFile(t, readmePath), "```go\n"+source+"\n}\n```") {
		t.Errorf("the README shows another function than\n%s\n}", source)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLedgerDocs_ListChartAndPostingKinds(t *testing.T) {
	t.Parallel()
	// The page on the ledger has every line of the chart and every kind of posting.
	text := readFile(t, "../../docs/ledger.md")
	for _, line := range ledger.Chart() {
		guarded := map[bool]string{true: "yes", false: "no"}[line.NoOverdraft]
		if row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", line.Path, line.Class, guarded, line.Description); !strings.Contains(text, row) {
			t.Errorf("missing: %s", row)
		}
	}
	for _, kind := range ledger.Kinds() {
		if !strings.Contains(text, "`"+string(kind)+"`") {
			t.Errorf("missing: the kind %s", kind)
		}
	}
}
