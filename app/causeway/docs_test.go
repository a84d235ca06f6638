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
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"causeway/ledger"
)

const (
	configurationPath = "../../docs/configuration.md"
	webhooksPath      = "../../docs/getting-started.md"
)

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
prints the settings of a command. Durations are written as in ` + "`90s`, `20m` or `96h`" + `, lists are separated by commas.

Two settings exist as environment variables only: ` + "`CAUSEWAY_POSTGRES_BIN`" + ` is the folder of the Postgres programs
for ` + "`causeway dev`, if they are neither in `PATH` nor in `/usr/lib/postgresql`; `GOGC`" + ` is Go's garbage collector
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
				row := fmt.Sprintf("| `--%s` | %s | %s | %s |\n", f.Name, codeSpan(strings.Join(f.Envs, " ")), standard,
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
	var headings []string
	tables := map[string]string{}
	for _, row := range settings {
		heading := commandList(commandsOf[row], leaves)
		if tables[heading] == "" {
			headings = append(headings, heading)
		}
		tables[heading] += row
	}
	text := configurationIntro
	for _, heading := range headings {
		text += "\n## " + heading + "\n\n| Flag | Environment variable | Default | Description |\n|---|---|---|---|\n" + tables[heading]
	}
	return text
}

// commandList formats the paths of commands. If all subcommands of a command are among them, it
// names the command itself.
func commandList(paths []string, leaves map[string]int) string {
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
	return strings.Join(names, ", ")
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

// verify reports whether a webhook with this Service-Webhook-Signature and body is genuine.
func verify(header string, body []byte, key *ecdsa.PublicKey) bool {
	var signature struct {
		V string
		S []byte // base64 in JSON
	}
	if json.Unmarshal([]byte(header), &signature) != nil || signature.V != "1" {
		return false
	}
	digest := sha256.Sum256(body)
	return ecdsa.VerifyASN1(key, digest[:], signature.S)
}

func TestDocs_WebhookVerificationWorks(t *testing.T) {
	t.Parallel()
	// The documented function accepts a genuine webhook and nothing else.
	key, body := newTestKey(t), []byte(`{"webhookId":"Webhook:1"}`)
	digest := sha256.Sum256(body)
	der, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	header := `{"v":"1","s":"` + base64.StdEncoding.EncodeToString(der) + `"}`

	if !verify(header, body, &key.PublicKey) {
		t.Error("a genuine webhook was rejected")
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
			t.Errorf("%s was accepted", name)
		}
	}

	// The document shows exactly this function.
	_, source, _ := strings.Cut(readFile(t, "docs_test.go"), "\n// verify reports")
	source, _, _ = strings.Cut("// verify reports"+source, "\n}\n")
	if !strings.Contains(readFile(t, webhooksPath), "```go\n"+source+"\n}\n```") {
		t.Errorf("%s shows another function than\n%s\n}", webhooksPath, source)
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

func TestFinanceDoc_ListsChartAndPostingKinds(t *testing.T) {
	t.Parallel()
	// The finance page lists every line of the chart and every kind of posting.
	text := readFile(t, "../../docs/finance.md")
	for _, line := range ledger.Chart() {
		noOverdraft := map[bool]string{true: "yes", false: "no"}[line.NoOverdraft]
		if row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", line.Path, line.Class, noOverdraft, line.Description); !strings.Contains(text, row) {
			t.Errorf("missing: %s", row)
		}
	}
	for _, kind := range ledger.Kinds() {
		if !strings.Contains(text, "`"+string(kind)+"`") {
			t.Errorf("missing: the kind %s", kind)
		}
	}
}

func TestArchitectureDoc_ListsEveryPackage(t *testing.T) {
	t.Parallel()
	// The package map of the architecture page names every folder below app, core and adapters.
	text := readFile(t, "../../docs/architecture.md")
	for _, parent := range []string{"app", "app/internal", "core", "adapters"} {
		entries, err := os.ReadDir("../../" + parent)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if path := parent + "/" + entry.Name(); entry.IsDir() && path != "app/internal" && !strings.Contains(text, "`"+path+"`") {
				t.Errorf("missing: %s", path)
			}
		}
	}
}
