package layers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLayers_RepositoryConforms(t *testing.T) {
	t.Parallel()
	// Every Go file of the repository follows the layer rules.
	root := repoRoot(t)
	violations, err := check(os.DirFS(root), "causeway")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range violations {
		t.Error(b)
	}
}

func TestCheck_ReportsViolations(t *testing.T) {
	t.Parallel()
	// Each case is one small file; want is part of the violation, or empty if there is none.
	cases := []struct {
		name, file, source, want string
	}{
		{"down", "app/payments/p.go", `import _ "causeway/core/money"`, ""},
		{"up", "core/money/m.go", `import "causeway/ledger"`, "ledger is above base"},
		{"up from core", "core/quote/q.go", `import "causeway/ports"`, "ports is above core"},
		{"up from ports", "ports/p.go", `import "causeway/app/payments"`, "use cases is above ports"},
		{"up from a use case", "app/payments/p.go", `import "causeway/adapters/postgres"`, "adapters is above use cases"},
		{"up to main", "adapters/http/h.go", `import "causeway/app/causeway"`, "main is above adapters"},
		{"ledger to core", "ledger/l.go", `import "causeway/core/quote"`, "core is above ledger"},
		{"core to ledger", "core/quote/q.go", `import "causeway/ledger"`, ""},
		{"core to core", "core/quote/q.go", `import "causeway/core/price"`, ""},
		{"sideways between use cases", "app/payments/p.go", `import "causeway/app/accounts"`, "sideways"},
		{"sideways between adapters", "adapters/http/h.go", `import "causeway/adapters/postgres/ledgerdb"`, "sideways"},
		{"a connector to its storage", "adapters/rails/bitcoin/b.go",
			`import "causeway/adapters/postgres/schema"; import "causeway/adapters/postgres/sealed"; import "causeway/adapters/postgres/storage"`, ""},
		{"a connector to the database", "adapters/rails/bitcoin/b.go", `import "causeway/adapters/postgres"`, "sideways"},
		{"another adapter to the storage of connectors", "adapters/http/h.go", `import "causeway/adapters/postgres/storage"`, "sideways"},
		{"within one adapter", "adapters/postgres/p.go", `import "causeway/adapters/postgres/ledgerdb"`, ""},
		{"use case to app/internal", "app/payments/p.go", `import "causeway/app/internal/batch"`, ""},
		{"app/internal to use case", "app/internal/batch/g.go", `import "causeway/app/payments"`, "above"},
		{"adapter to use case", "adapters/http/h.go", `import "causeway/app/payments"`, ""},
		{"main imports all", "app/causeway/m.go", `import "causeway/adapters/http"; import "causeway/migrations"`, ""},
		{"main to guides", "app/causeway/m.go", `import "causeway/docs"`, ""},
		{"adapter to guides", "adapters/http/h.go", `import "causeway/docs"`, "guides is above adapters"},
		{"adapter to migrations", "adapters/postgres/p.go", `import "causeway/migrations"`, "only main"},
		{"migrations to core", "migrations/m.go", `import "causeway/core/money"`, "migrations import no"},
		{"migrations tested on a database", "migrations/m_test.go", `import "causeway/adapters/pgembed/pgtest"`, ""},
		{"migrations tested with an adapter", "migrations/m_test.go", `import "causeway/adapters/postgres"`, "migrations import no"},
		{"no layer", "tools/t.go", ``, "is in no layer"},
		{"import of no layer", "app/payments/p.go", `import "causeway/tools"`, "is in no layer"},

		{"test databases in tests", "adapters/postgres/p_test.go", `import "causeway/adapters/pgembed/pgtest"`, ""},
		{"test databases elsewhere", "adapters/postgres/p.go", `import "causeway/adapters/pgembed/pgtest"`, "for tests"},
		{"test databases in core", "core/quote/q_test.go", `import "causeway/adapters/pgembed/pgtest"`, "for tests of the layers above ports"},
		{"a use case tested on an adapter", "app/payments/p_test.go", `import "causeway/adapters/postgres"`, ""},
		{"the test environment on adapters", "app/internal/apptest/a.go",
			`import "causeway/adapters/postgres"; import "causeway/adapters/pgembed/pgtest"`, ""},
		{"the test environment in tests", "app/payments/p_test.go", `import "causeway/app/internal/apptest"`, ""},
		{"the test environment elsewhere", "app/payments/p.go", `import "causeway/app/internal/apptest"`, "for tests of use cases"},
		{"core tested on an adapter", "core/quote/q_test.go", `import "causeway/adapters/postgres"`, "above"},
		{"a test that imports main", "adapters/http/h_test.go", `import "causeway/app/causeway"`, "above"},
		{"end to end", "e2e/e_test.go", `import "causeway/adapters/pgembed"`, ""},

		{"a context", "core/quote/q.go", `import "context"`, "pure and imports context"},
		{"a database", "ledger/l.go", `import "database/sql"`, "pure and imports database/sql"},
		{"a logger", "core/quote/q.go", `import "github.com/sirupsen/logrus"`, "pure and imports github.com/sirupsen/logrus"},
		{"random numbers", "core/quote/q.go", `import "math/rand/v2"`, "pure and imports math/rand/v2"},
		{"files", "core/quote/q.go", `import "os"`, "pure and imports os"},
		{"a stream", "core/quote/q.go", `import "io"`, "pure and imports io"},
		{"a stream of a format", "core/formats/mt940/m.go", `import "bufio"; import "io"; import "golang.org/x/text/encoding/charmap"`, ""},
		{"a document of a format", "core/formats/connection/d.go", "type d struct { A string `json:\"a\"` }", ""},
		{"files of a format", "core/formats/mt940/m.go", `import "io/fs"`, "pure and imports io/fs"},
		{"a codec that reads a file", "core/formats/nacha/n.go", `import "github.com/moov-io/ach"; var x, _ = ach.ReadFile("a")`, "ach.ReadFile"},
		{"package state", "core/quote/q.go", `import "sync"`, "pure and imports sync"},
		{"a hidden import", "core/quote/q.go", `import . "strings"`, "hides"},
		{"decimals and ids", "core/money/m.go", `import "github.com/ericlagergren/decimal"; import "github.com/google/uuid"`, ""},
		{"a module with the same prefix", "core/money/m.go", `import "github.com/google/uuidx"`, "pure and imports github.com/google/uuidx"},
		{"anything in a test of core", "core/quote/q_test.go", `import "os"; import "pgregory.net/rapid"; var x float64 = 0.5`, ""},
		{"anything in an adapter", "adapters/http/h.go", `import "os"; var x float64 = 0.5; type t struct { A int ` + "`json:\"a\"`" + ` }`, ""},

		{"a clock", "core/quote/q.go", `import "time"; var x = time.Now()`, "time.Now"},
		{"a clock by another name", "core/quote/q.go", `import clock "time"; var x = clock.Now`, "clock.Now"},
		{"a duration", "core/quote/q.go", `import "time"; const x = 5 * time.Minute`, ""},
		{"a random id", "core/ident/i.go", `import "github.com/google/uuid"; var x = uuid.New()`, "uuid.New"},
		{"a random key", "core/wallet/w.go", `import "github.com/decred/dcrd/dcrec/secp256k1/v4"; var x, _ = secp256k1.GeneratePrivateKey()`,
			"secp256k1.GeneratePrivateKey"},
		{"a derived id", "core/ident/i.go", `import "github.com/google/uuid"; var x = uuid.NewSHA1`, ""},
		{"a float type", "core/price/p.go", `func f(x float64) {}`, "float64"},
		{"a float constant", "core/price/p.go", `var x = 1.5`, "the float 1.5"},
		{"a float in between", "core/price/p.go", `func f(d interface{ Float64() (int, bool) }) { d.Float64() }`, "through a float"},
		{"a goroutine", "ledger/l.go", `func f() { go f() }`, "goroutine"},
		{"a tag", "core/quote/q.go", "type q struct { A int `bun:\"a\"` }", "tag"},
		{"testdata is ignored", "core/quote/testdata/t.go", `import "os"`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{c.file: {Data: []byte("package p\n" + c.source)}}
			violations, err := check(tree, "causeway")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(violations, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s with\n%s\nviolations: %q\nwant:       %q", c.file, c.source, got, c.want)
			}
		})
	}
}

func TestCheck_UnparsableFileIsError(t *testing.T) {
	t.Parallel()
	// A file that does not parse is an error.
	if _, err := check(fstest.MapFS{"core/quote/q.go": {Data: []byte("pack")}}, "causeway"); err == nil {
		t.Error("an invalid file was accepted")
	}
}

// repoRoot returns the folder that contains go.mod.
func repoRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}
