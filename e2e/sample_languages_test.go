package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// sampleLanguage is a language of the samples, with the program that runs all of them: it asks PLAYER for the name of a sample and whether
// an agent calls it, runs it, and sends what it returned and printed.
type sampleLanguage struct {
	name    string
	command func(t *testing.T, setup string, samples map[string]string) kit.Command
}

var sampleLanguages = []sampleLanguage{
	{"curl", curlSamples}, {"typescript", typeScriptSamples}, {"python", pythonSamples}, {"go", goSamples},
}

// splitImports separates the lines of a sample that must be at the beginning of a file.
func splitImports(sample string) (imports, rest string) {
	head, tail, found := strings.Cut(sample, "\n\n")
	if !found || !strings.HasPrefix(head, "import ") && !strings.HasPrefix(head, "from ") {
		return "", sample
	}
	return head + "\n", tail
}

func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

// joinSamples writes each sample as a function. It returns the imports too.
func joinSamples(samples map[string]string, write func(i int, name, sample string) string) (imports, functions string) {
	all := map[string]bool{}
	for i, name := range slices.Sorted(maps.Keys(samples)) {
		head, sample := splitImports(samples[name])
		all[head] = true
		functions += write(i, name, sample)
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ""), functions
}

// curlSamples runs each sample as a script of the shell, as a person does who copies it from the page.
func curlSamples(t *testing.T, _ string, samples map[string]string) kit.Command {
	t.Helper()
	folder := t.TempDir()
	for name, sample := range samples {
		if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, "/", "-")+".sh"), []byte(sample+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A machine without uuidgen still makes ids: the kernel does.
	uuidgen := "#!/bin/sh\nexec cat /proc/sys/kernel/random/uuid\n"
	if err := os.WriteFile(filepath.Join(folder, "uuidgen"), []byte(uuidgen), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	source := `import json, os, subprocess, urllib.request
environment = os.environ | {"ACCESS_TOKEN": os.environ["AGENT_TOKEN"], "PATH": os.getcwd() + ":" + os.environ["PATH"]}
player = os.environ["PLAYER"]
while True:
    name, _ = urllib.request.urlopen(player + "/next").read().decode().split(" ")
    ran = subprocess.run(["sh", name.replace("/", "-") + ".sh"], env=environment, capture_output=True, timeout=60)
    text, error = ran.stdout.decode(errors="replace"), ran.stderr.decode() if ran.returncode else ""
    try:
        result = json.loads(text or "null")
        if isinstance(result, dict) and {"code", "message"} <= result.keys() and "id" not in result:
            error = text
    except ValueError as invalid:
        error = repr(invalid)
    # The numbers of the response are not read, so that they stay as they are.
    outcome = json.dumps({"error": error}) if error else '{"result": %s}' % (text or "null")
    urllib.request.urlopen(player + "/result", outcome.encode()).read()
`
	path := writeExample(t, t.TempDir(), "samples.py", source)
	return kit.Command{Program: python, Args: []string{path}, Dir: folder}
}

func typeScriptSamples(t *testing.T, setup string, samples map[string]string) kit.Command {
	t.Helper()
	imports, functions := joinSamples(samples, func(_ int, name, sample string) string {
		if strings.Contains(sample, "const result =") {
			sample += "\nreturn result;"
		} else {
			sample += "\nreturn undefined;"
		}
		return fmt.Sprintf("  %q: async (causeway: Causeway, console: Console): Promise<unknown> => {\n%s\n  },\n", name, indent(sample, "    "))
	})
	source := imports + setup + `
type Console = { log(item: unknown): void };
const agent = new Causeway({ baseUrl: process.env.BASE!, accessToken: process.env.AGENT_TOKEN! });
const samples: Record<string, (causeway: Causeway, console: Console) => Promise<unknown>> = {
` + functions + `};
const player = process.env.PLAYER!;
for (;;) {
  const [name = "", by] = (await (await fetch(player + "/next")).text()).split(" ");
  const items: unknown[] = [];
  const outcome: Record<string, unknown> = { items };
  try {
    outcome.result = await samples[name]!(by === "agent" ? agent : causeway, { log: (item) => items.push(item) });
  } catch (error) {
    outcome.error = String(error);
  }
  const text = JSON.stringify(outcome, (_, value) => (typeof value === "bigint" ? String(value) : value));
  await fetch(player + "/result", { method: "POST", body: text });
}
`
	path := writeExample(t, "../clients/typescript/build", "samples.ts", source)
	compiler, err := filepath.Abs("../clients/typescript/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Dir(path), compiler, "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--lib",
		"es2022,dom,dom.iterable", "--types", "node", "--typeRoots", "../../node_modules/@types", "samples.ts")
	command := clientProgram(t, "typescript", nil, "node", "samples.js")
	command.Dir = filepath.Dir(path)
	return command
}

func pythonSamples(t *testing.T, setup string, samples map[string]string) kit.Command {
	t.Helper()
	imports, functions := joinSamples(samples, func(i int, _, sample string) string {
		if strings.Contains(sample, "result = ") {
			sample += "\nreturn result"
		} else {
			sample += "\nreturn None"
		}
		return fmt.Sprintf("def sample_%d(causeway: Causeway, print: Callable[[object], None]) -> object:\n%s\n\n\n", i, indent(sample, "    "))
	})
	var names strings.Builder
	for i, name := range slices.Sorted(maps.Keys(samples)) {
		fmt.Fprintf(&names, "    %q: sample_%d,\n", name, i)
	}
	source := imports + "import json\nimport urllib.request\nfrom collections.abc import Callable\n" + setup + "\n\n\n" + functions +
		"samples: dict[str, Callable[[Causeway, Callable[[object], None]], object]] = {\n" + names.String() + `}
agent = Causeway(os.environ["BASE"], access_token=os.environ["AGENT_TOKEN"])
player = os.environ["PLAYER"]
while True:
    name, by = urllib.request.urlopen(player + "/next").read().decode().split(" ")
    items: list[object] = []
    outcome: dict[str, object] = {"items": items}
    try:
        outcome["result"] = samples[name](agent if by == "agent" else causeway, items.append)
    except Exception as error:
        outcome["error"] = repr(error)
    urllib.request.urlopen(player + "/result", json.dumps(outcome, default=str).encode()).read()
`
	path := writeExample(t, t.TempDir(), "samples.py", source)
	command := clientProgram(t, "python", []string{"PYTHONPATH=src"}, python, "-m", "mypy", "--strict", "--cache-dir", t.TempDir(), path)
	if _, err := kit.MustSucceed(waitContext(t), command); err != nil {
		t.Fatal(err)
	}
	command.Args = []string{path}
	command.Env = []string{"PYTHONPATH=" + filepath.Join(command.Dir, "src")}
	command.Dir = filepath.Dir(path)
	return command
}

func goSamples(t *testing.T, setup string, samples map[string]string) kit.Command {
	t.Helper()
	imported, client, _ := strings.Cut(setup, "\n)\n")
	_, functions := joinSamples(samples, func(_ int, name, sample string) string {
		return fmt.Sprintf("\t%q: func(ctx context.Context, client *causeway.Client, fmt, json *printer) error {\n%s\n\t\treturn nil\n\t},\n", name,
			indentGo(sample))
	})
	source := "package main\n\n" + imported + `
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"
)

// printer takes what samples print, in the place of the packages fmt and encoding/json.
type printer struct{ items []any }

func (p *printer) Printf(_ string, value any) { p.items = append(p.items, value) }

func (p *printer) NewEncoder(io.Writer) *printer { return p }

func (p *printer) Encode(value any) error {
	p.items = append(p.items, value)
	return nil
}

var samples = map[string]func(ctx context.Context, client *causeway.Client, fmt, json *printer) error{
` + functions + `}

func main() {
` + indent(client, "\t") + `
	if err != nil {
		log.Fatal(err)
	}
	agent, err := causeway.New(causeway.Config{BaseURL: os.Getenv("BASE"), AccessToken: os.Getenv("AGENT_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	for {
		response, err := http.Get(os.Getenv("PLAYER") + "/next")
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		name, kind, _ := strings.Cut(string(text), " ")
		by, printed := client, &printer{}
		if kind == "agent" {
			by = agent
		}
		outcome := map[string]any{}
		if err := samples[name](context.Background(), by, printed, printed); err != nil {
			outcome["error"] = err.Error()
		}
		outcome["items"] = printed.items
		if len(printed.items) == 1 {
			if body, ok := printed.items[0].([]byte); ok {
				outcome["result"] = json.RawMessage(body)
			}
		}
		body, err := json.Marshal(outcome)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := http.Post(os.Getenv("PLAYER")+"/result", "application/json", bytes.NewReader(body)); err != nil {
			log.Fatal(err)
		}
	}
}

var _ = multipart.NewWriter
var _ = time.UTC
var _ api.Quote
`
	path := writeExample(t, "../clients/go/internal", "main.go", source)
	program := filepath.Join(t.TempDir(), "samples")
	run(t, filepath.Dir(path), "go", "build", "-o", program, ".")
	return kit.Command{Program: program, Dir: t.TempDir()}
}

// indentGo indents a sample, but not the lines within its texts.
func indentGo(sample string) string {
	var out strings.Builder
	for i, part := range strings.Split(sample, "`") {
		if i > 0 {
			out.WriteString("`")
		}
		if i%2 == 0 {
			part = strings.ReplaceAll(part, "\n", "\n\t\t")
		}
		out.WriteString(part)
	}
	return "\t\t" + out.String()
}
