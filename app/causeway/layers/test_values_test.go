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

// sandboxPackage is where the sandbox's magic values are written down. What plays it are the
// sandbox adapters, and nothing else may read it.
const sandboxPackage = "core/sandbox"

var sandboxAdapters = regexp.MustCompile(`^adapters/[a-z]+/sandbox$`)

// testValue is a value that makes something happen in the sandbox: the end of an account,
// or of a business or person under verification, an address of a person, or what a
// wallet's owner would prove.
var testValue = regexp.MustCompile(`^(00[1-7]|10[2-7]|\$?(success\.(usd|eur|mxn)|pending\.long\.usd|fail\.compliance\.usd)(@.*)?|sandbox-valid-.*|000000)$`)

// checkTestValues is what a tree knows of the script outside of it, one line each.
func checkTestValues(tree fs.FS, module string) ([]string, error) {
	return walk(tree, module, func(f *file) {
		if f.test || f.pkg == sandboxPackage {
			return
		}
		for _, spec := range f.ast.Imports {
			if spec.Path.Value == strconv.Quote(module+"/"+sandboxPackage) && !sandboxAdapters.MatchString(f.pkg) {
				f.report(spec.Pos(), "%s reads the script of the sandbox, which only the sandbox adapters may", f.pkg)
			}
		}
		f.checkLiterals()
	})
}

// checkLiterals finds the values themselves. An example that is shown to a reader is none.
func (f *file) checkLiterals() {
	var shown []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && strings.HasSuffix(key.Name, "Example") {
				shown = append(shown, n.Value)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && testValue.MatchString(text) && !slices.Contains(shown, ast.Node(n)) {
				f.report(n.Pos(), "%s knows the magic value %s of the sandbox", f.pkg, n.Value)
			}
		}
		return true
	})
}

func TestTestValues_OnlyInSandboxPackage(t *testing.T) {
	t.Parallel()
	// Nothing outside of the script knows a magic value, and nothing but the sandbox
	// adapters reads it; so no production platform can meet one.
	breaches, err := checkTestValues(os.DirFS(repoRoot(t)), "causeway")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range breaches {
		t.Error(b)
	}
}

func TestTestValues_PatternCoversSandboxTables(t *testing.T) {
	t.Parallel()
	// Every key of the script's tables is a value that is looked for, so that none that
	// is added escapes.
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
						t.Errorf("%s: %s is magic, and nobody looks for it", f.set.Position(key.Pos()), key.Value)
					}
				}
			}
			return true
		})
	})
	if err != nil || found < 20 {
		t.Errorf("%d magic values in the script, %v", found, err)
	}
}

// isOutcomeTable tells whether a table leads from texts to something else than texts: to what
// happens.
func isOutcomeTable(table *ast.CompositeLit) bool {
	of, ok := table.Type.(*ast.MapType)
	if !ok {
		return false
	}
	value, plain := of.Value.(*ast.Ident)
	return !plain || value.Name != "string"
}

func TestCheckTestValues_ReportsViolations(t *testing.T) {
	t.Parallel()
	// One small file a case; want is a part of the breach, empty for none.
	for about, c := range map[string]struct{ file, source, want string }{
		"a use case reads the script":   {"app/payments/p.go", `import _ "causeway/core/sandbox"`, "reads the script"},
		"so does the core":              {"core/quote/q.go", `import _ "causeway/core/sandbox"`, "reads the script"},
		"and a real adapter":            {"adapters/rails/bank/b.go", `import _ "causeway/core/sandbox"`, "reads the script"},
		"a sandbox adapter":             {"adapters/rails/sandbox/r.go", `import _ "causeway/core/sandbox"`, ""},
		"a test":                        {"app/payments/p_test.go", `import _ "causeway/core/sandbox"; var x = "002"`, ""},
		"a suffix":                      {"app/payments/p.go", `import "strings"; var x = strings.HasSuffix("", "005")`, "005"},
		"a suffix in a sandbox adapter": {"adapters/rails/sandbox/r.go", "var x = `003`", "003"},
		"a verification":                {"core/account/a.go", `var x = map[string]bool{"105": true}`, "105"},
		"a person":                      {"adapters/http/h.go", `var x = "$success.usd"`, "success"},
		"a signature":                   {"app/wallets/w.go", `var x = "sandbox-valid-signature"`, "sandbox-valid"},
		"a password":                    {"app/wallets/w.go", `var x = "000000"`, "000000"},
		"an example":                    {"adapters/http/h.go", `var x = struct{ Example string }{Example: "001"}`, ""},
		"the script":                    {"core/sandbox/s.go", `var x = "002"`, ""},
		"another number":                {"core/account/a.go", `var x = "0020" + "12" + "008" + "404"`, ""},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			breaches, err := checkTestValues(fstest.MapFS{c.file: {Data: []byte("package p\n" + c.source)}}, "causeway")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(breaches, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s with\n%s\nbreaches: %q\nwant:     %q", c.file, c.source, got, c.want)
			}
		})
	}
}
