package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/app/audit"
	"causeway/core/ident"
)

// sealedDatabase is a seeded database whose postings are sealed, the folder with its heads,
// and the key that signed them.
func sealedDatabase(t *testing.T) (url, outside, key string) {
	t.Helper()
	url, outside = seededDatabase(t), filepath.Join(t.TempDir(), "heads")
	quiet, _ := test.NewNullLogger()
	h, err := build(t.Context(), serverFlags{Connections: 4, SandboxSpeed: 1, rateSettings: rateSettings{Rates: "sandbox"},
		sealSettings: sealSettings{SealEvery: time.Minute, Heads: outside}}, url, [32]byte{1}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := h.sealing.SealDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.sealing.PublishDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys, err := h.sealing.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return url, outside, audit.VerifierKey(must(ident.ParsePlatform(fakePlatform)), keys[0])
}

func TestLedgerVerify_DatabaseAndExport(t *testing.T) {
	t.Parallel()
	// Sealed books are proved with the heads outside and the key; an export of them without
	// any database.
	url, outside, key := sealedDatabase(t)
	file := filepath.Join(t.TempDir(), "books.log")

	out, complaint, status := runLedger(t, url, "verify --heads "+outside+" --key "+key)
	if status != 0 || complaint != "" {
		t.Errorf("verify: status %d, %s", status, complaint)
	}
	checkGolden(t, "verify.txt", out)

	out, complaint, status = runLedger(t, url, "export --format log --output "+file)
	if status != 0 || complaint != "" || !strings.HasSuffix(out, " bytes, the books of PlatformConfig:0199f0a2-0000-7000-8000-000000000001\n") {
		t.Errorf("export: status %d, %s%s", status, out, complaint)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "export.log", string(text))
	if printed, _, _ := runLedger(t, url, "export --format log --size 7 --platform "+fakePlatform); printed != string(text) {
		t.Errorf("on standard output it is\n%s", printed)
	}

	out, complaint, status = runLedger(t, "postgres://nobody:1/no", "verify --export "+file+" --head "+outside+" --key "+key)
	if status != 0 || complaint != "" {
		t.Errorf("verify the export: status %d, %s", status, complaint)
	}
	checkGolden(t, "verify_export.txt", out)
	if out, _, _ := runLedger(t, url, "verify --export "+file+" --head "+outside); !strings.HasPrefix(out, "The signatures of the heads were not verified: that needs --key.\n") {
		t.Errorf("without a key it says\n%s", out)
	}
}

func TestLedgerVerify_DetectsTruncatedLog(t *testing.T) {
	t.Parallel()
	// Somebody cuts off the newest postings and everything inside that could tell of them:
	// the heads outside tell.
	url, outside, _ := sealedDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, table := range []string{"ledger_postings", "ledger_entries", "ledger_heads"} {
		for _, statement := range []string{"ALTER TABLE " + table + " DISABLE TRIGGER USER", "DELETE FROM " + table + " WHERE seq > 5"} {
			if table == "ledger_heads" {
				statement = strings.Replace(statement, " WHERE seq > 5", "", 1)
			}
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	for _, statement := range []string{"DELETE FROM ledger_sealed", "UPDATE ledger_clock SET seq = 5", "DELETE FROM transactions WHERE status = 'FAILED'"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}

	out, complaint, status := runLedger(t, url, "verify --heads "+outside)

	if status != 1 || !strings.Contains(complaint, "the books do not hold") {
		t.Errorf("status %d, %s", status, complaint)
	}
	checkGolden(t, "verify_cut.txt", strings.ReplaceAll(out, outside, "heads"))
}

func TestLedgerVerify_DetectsMissingPostings(t *testing.T) {
	t.Parallel()
	// A payment whose state says that money moved, and for which nothing was posted, is found
	// by verify as it is by check.
	url, outside, key := sealedDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var id string
	err = conn.QueryRow(t.Context(), "UPDATE transactions SET status = 'COMPLETED', reached = 'DELIVERED' WHERE status = 'PENDING' RETURNING id::text").Scan(&id)
	if err != nil {
		t.Fatal(err)
	}

	for _, command := range []string{"check", "verify --heads " + outside + " --key " + key} {
		out, complaint, status := runLedger(t, url, command)
		if want := "postings explain the state of their transaction: Transaction:" + id; status != 1 || !strings.Contains(out, want) {
			t.Errorf("%.6s: status %d, %s\n%s", command, status, complaint, out)
		}
	}
}

func TestLedgerVerify_ReportsInvalidFlags(t *testing.T) {
	t.Parallel()
	// What is asked wrongly is answered with the name of the setting and what is wrong.
	url, outside, _ := sealedDatabase(t)
	dir := t.TempDir()
	broken, torn := filepath.Join(dir, "broken.heads"), filepath.Join(dir, "torn.heads")
	if err := os.WriteFile(broken, []byte("not a head\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, []byte("causeway.ledger/0199f0a2-0000-7000-8000-000000000001\n7\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(fakePlatform, "0001", "0009", 1)
	for args, want := range map[string]string{
		"verify --heads " + dir + "/none":                                 "--heads: ",
		"verify --heads " + broken:                                        "broken.heads, line 1: not a checkpoint of a ledger log",
		"verify --heads " + torn:                                          "torn.heads, line 1: the head of size 7 is not a whole signed note",
		"verify --key nonsense":                                           `--key: "nonsense" is not a key`,
		"verify --export " + broken:                                       "--export needs --heads",
		"verify --export " + broken + " --head " + outside:                "no export of a log",
		"verify --export " + dir + "/none --head " + outside:              "--export",
		"export --platform " + fakePlatform:                               "--format",
		"export --format log --platform 17":                               "--platform: malformed id",
		"export --format log --platform " + other:                         "there is no " + other,
		"export --format log --size 8":                                    "there are 7 postings on",
		"export --format log --output " + dir + "/none/books":             "no such file or directory",
		"rotate-key --master-key short":                                   "CAUSEWAY_MASTER_KEY must be 32 random bytes",
		"check --heads " + outside:                                        "unknown flag",
		"verify --heads http://127.0.0.1:1/ --database-url " + url:        "--heads: ",
		"verify --database-url postgres://nobody:1/no --heads " + outside: "cannot reach the database",
	} {
		if out, complaint, status := runLedger(t, url, args); status == 0 || !strings.Contains(complaint, want) {
			t.Errorf("ledger %s: status %d, %s%s", args, status, out, complaint)
		}
	}
}

func TestLedgerRotateKey_OldCheckpointsStillVerify(t *testing.T) {
	t.Parallel()
	// After the key was replaced, what it signed still verifies.
	url, outside, _ := sealedDatabase(t)

	out, complaint, status := runLedger(t, url, "rotate-key --master-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")

	if status != 0 || !strings.HasPrefix(out, "Heads are signed with key ") {
		t.Errorf("status %d, %s%s", status, out, complaint)
	}
	if out, complaint, status := runLedger(t, url, "verify --heads "+outside); status != 0 {
		t.Errorf("status %d, %s%s", status, out, complaint)
	}
}
