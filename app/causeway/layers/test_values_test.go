package layers

import (
	"go/ast"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// sandboxPackage defines the test values of the sandbox. Only the sandbox adapters may import
// it.
const sandboxPackage = "core/sandbox"

// triggersPackage calls a service from outside, with the values that its documentation names, and only after the service has
// said that the platform is one of the sandbox.
const triggersPackage = "adapters/apiclient/trigger"

var sandboxAdapters = regexp.MustCompile(`^adapters/[a-z]+/sandbox$`)

// testValue matches the values that select an outcome in the sandbox: the last digits of an
// account or of a person's or business's identifier, a UMA address, or a wallet credential.
var testValue = regexp.MustCompile(
	`^(00[1-79]|10[2-7]|20[1-5]|\$?(success\.(usd|eur|mxn)|pending\.long\.usd|fail\.compliance\.usd)(@.*)?|sandbox-valid-.*|000000)$`)

// checkTestValues returns the uses of test values outside the sandbox packages and what tests run.
func checkTestValues(tree fs.FS, module string) ([]string, error) {
	return walk(tree, module, func(f *file) {
		if f.test || f.pkg == sandboxPackage || strings.HasPrefix(f.pkg, "e2e/") {
			return
		}
		for _, spec := range f.ast.Imports {
			if spec.Path.Value == strconv.Quote(module+"/"+sandboxPackage) && !sandboxAdapters.MatchString(f.pkg) {
				f.report(spec.Pos(), "%s imports the sandbox test values, which only the sandbox adapters may", f.pkg)
			}
		}
		if f.pkg != triggersPackage {
			f.checkLiterals()
		}
	})
}

// checkLiterals reports literals that are test values. The examples of the API reference are
// allowed.
func (f *file) checkLiterals() {
	var examples []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && strings.HasSuffix(key.Name, "Example") {
				examples = append(examples, n.Value)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && testValue.MatchString(text) && !slices.Contains(examples, ast.Node(n)) {
				f.report(n.Pos(), "%s contains the sandbox test value %s", f.pkg, n.Value)
			}
		}
		return true
	})
}

func TestTestValues_OnlyInSandboxPackage(t *testing.T) {
	t.Parallel()
	// Only core/sandbox contains test values and only the sandbox adapters import it, so that no
	// production platform can use one.
	violations, err := checkTestValues(os.DirFS(repoRoot(t)), "causeway")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range violations {
		t.Error(b)
	}
}

func TestTestValues_PatternCoversSandboxTables(t *testing.T) {
	t.Parallel()
	// The pattern matches every key of the outcome tables, so that new values are found too.
	found := 0
	_, err := walk(os.DirFS(repoRoot(t)), "causeway", func(f *file) {
		if f.test || f.pkg != sandboxPackage {
			return
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if table, ok := n.(*ast.CompositeLit); ok && isOutcomeTable(table) {
				for _, e := range table.Elts {
					key, ok := e.(*ast.KeyValueExpr).Key.(*ast.BasicLit)
					if !ok {
						continue
					}
					found++
					if text, err := strconv.Unquote(key.Value); err != nil || !testValue.MatchString(text) {
						t.Errorf("%s: test value %s is not matched by the pattern", f.set.Position(key.Pos()), key.Value)
					}
				}
			}
			return true
		})
	})
	if err != nil || found < 20 {
		t.Errorf("%d test values in core/sandbox, %v", found, err)
	}
}

// isOutcomeTable reports whether a map literal has values other than strings, which are
// outcomes.
func isOutcomeTable(table *ast.CompositeLit) bool {
	mapType, ok := table.Type.(*ast.MapType)
	if !ok {
		return false
	}
	value, plain := mapType.Value.(*ast.Ident)
	return !plain || value.Name != "string"
}

func TestCheckTestValues_ReportsViolations(t *testing.T) {
	t.Parallel()
	// Each case is one small file; want is part of the violation, or empty if there is none.
	for name, c := range map[string]struct{ file, source, want string }{
		"a use case imports it":         {"app/payments/p.go", `import _ "causeway/core/sandbox"`, "imports the sandbox test values"},
		"core imports it":               {"core/quote/q.go", `import _ "causeway/core/sandbox"`, "imports the sandbox test values"},
		"a real adapter imports it":     {"adapters/rails/bank/b.go", `import _ "causeway/core/sandbox"`, "imports the sandbox test values"},
		"a sandbox adapter":             {"adapters/rails/sandbox/r.go", `import _ "causeway/core/sandbox"`, ""},
		"a test":                        {"app/payments/p_test.go", `import _ "causeway/core/sandbox"; var x = "002"`, ""},
		"a suffix":                      {"app/payments/p.go", `import "strings"; var x = strings.HasSuffix("", "005")`, "005"},
		"a suffix in a sandbox adapter": {"adapters/rails/sandbox/r.go", "var x = `003`", "003"},
		"a verification":                {"core/account/a.go", `var x = map[string]bool{"105": true}`, "105"},
		"a person":                      {"adapters/http/h.go", `var x = "$success.usd"`, "success"},
		"a signature":                   {"app/wallets/w.go", `var x = "sandbox-valid-signature"`, "sandbox-valid"},
		"a password":                    {"app/wallets/w.go", `var x = "000000"`, "000000"},
		"an example":                    {"adapters/http/h.go", `var x = struct{ Example string }{Example: "001"}`, ""},
		"core/sandbox itself":           {"core/sandbox/s.go", `var x = "002"`, ""},
		"another number":                {"core/account/a.go", `var x = "0020" + "12" + "008" + "404"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations, err := checkTestValues(fstest.MapFS{c.file: {Data: []byte("package p\n" + c.source)}}, "causeway")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(violations, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s with\n%s\nviolations: %q\nwant:     %q", c.file, c.source, got, c.want)
			}
		})
	}
}
