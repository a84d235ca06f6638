package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"causeway/ledger"
)

const webhooksPath = "../../docs/getting-started.md"

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

func TestArchitectureDoc_PathsExist(t *testing.T) {
	t.Parallel()
	// Every path on the architecture page and in the recipes exists.
	for _, page := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		paths := regexp.MustCompile("`((?:app|core|adapters|ports|ledger|e2e|docs)/[a-z_0-9/.]+)`").FindAllStringSubmatch(readFile(t,
			"../../"+page), -1)
		if len(paths) == 0 {
			t.Errorf("%s names no path", page)
		}
		for _, match := range paths {
			if _, err := os.Stat("../../" + match[1]); err != nil {
				t.Errorf("%s: %s does not exist", page, match[1])
			}
		}
	}
}

func TestWalletsDoc_NamesTestsThatExist(t *testing.T) {
	t.Parallel()
	// Each test that the threat model of wallets refers to exists.
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, match := range declared.FindAllStringSubmatch(readFile(t, path), -1) {
			tests[match[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(readFile(t, "../../docs/wallets.md"), -1)
	if len(named) == 0 {
		t.Error("the page names no test")
	}
	for _, match := range named {
		if !tests[match[1]] {
			t.Errorf("there is no test %s", match[1])
		}
	}
}

func TestDocs_LinksResolve(t *testing.T) {
	t.Parallel()
	// Every relative link of a document leads to a file and, if it has a fragment, to a heading.
	root := "../.."
	documents := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "migrations/README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/adr/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			documents = append(documents, strings.TrimPrefix(path, root+"/"))
		}
	}
	link, code := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, document := range documents {
		text := code.ReplaceAllString(readFile(t, filepath.Join(root, document)), "")
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			path := filepath.Join(root, document)
			if target != "" {
				path = filepath.Join(root, filepath.Dir(document), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %s does not exist", document, match[1])
			} else if fragment != "" && !slices.Contains(headingAnchors(readFile(t, path)), fragment) {
				t.Errorf("%s: %s has no such heading", document, match[1])
			}
		}
	}
}

// headingAnchors returns the fragments of the headings of a document, as GitHub forms them.
func headingAnchors(text string) []string {
	var anchors []string
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(match[1]), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	return anchors
}
