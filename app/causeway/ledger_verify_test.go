package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"

	"causeway/adapters/encryption"
	"causeway/adapters/pgembed/pgtest"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/ports"
)

// sealedDatabase returns a seeded database whose postings are sealed, the folder of its
// published checkpoints, and their public key.
func sealedDatabase(t *testing.T) (url, checkpoints, key string) {
	t.Helper()
	url, checkpoints = seededDatabase(t), filepath.Join(t.TempDir(), "checkpoints")
	quiet, _ := test.NewNullLogger()
	a, err := build(t.Context(), serverFlags{Connections: 4, SandboxSpeed: 1, rateFlags: rateFlags{Rates: "sandbox"},
		sealFlags: sealFlags{SealEvery: time.Minute, Checkpoints: checkpoints, CheckpointTimeout: time.Minute}}, url,
		must(newMaster(encryption.NewKey(), "")), quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	ctx := ports.ForAllPlatforms(t.Context())
	if err := a.sealing.SealDue(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.sealing.SealEvidenceDue(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.sealing.PublishDue(ctx); err != nil {
		t.Fatal(err)
	}
	keys, err := a.sealing.Keys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return url, checkpoints, audit.VerifierKey(must(ident.ParsePlatform(fakePlatform)), keys[0])
}

func TestLedgerVerify_DatabaseAndExport(t *testing.T) {
	t.Parallel()
	// A sealed ledger is verified with the published checkpoints and the key, and so is its
	// export, without a database.
	url, checkpoints, key := sealedDatabase(t)
	file := filepath.Join(t.TempDir(), "books.log")

	out, errOut, status := runLedger(t, url, "verify --checkpoints "+checkpoints+" --key "+key)
	if status != 0 || errOut != "" {
		t.Errorf("verify: status %d, %s", status, errOut)
	}
	checkGolden(t, "verify.txt", out)

	out, errOut, status = runLedger(t, url, "export --format log --file "+file)
	if status != 0 || errOut != "" || !strings.HasSuffix(out, " bytes, ledger of PlatformConfig:0199f0a2-0000-7000-8000-000000000001\n") {
		t.Errorf("export: status %d, %s%s", status, out, errOut)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "export.log", string(text))
	if printed, _, _ := runLedger(t, url, "export --format log --size 7 --platform "+fakePlatform); printed != string(text) {
		t.Errorf("standard output is\n%s", printed)
	}

	out, errOut, status = runLedger(t, "postgres://nobody:1/no", "verify --export "+file+" --checkpoint "+checkpoints+" --key "+key)
	if status != 0 || errOut != "" {
		t.Errorf("verify the export: status %d, %s", status, errOut)
	}
	checkGolden(t, "verify_export.txt", out)
	out, errOut, status = runLedger(t, url, "export --format evidence --file "+file)
	if status != 0 || errOut != "" {
		t.Errorf("export the evidence: status %d, %s%s", status, out, errOut)
	}
	if out, errOut, status = runLedger(t, "postgres://nobody:1/no", "verify --export "+file+" --checkpoint "+checkpoints+" --key "+
		key); status != 0 || errOut != "" {
		t.Errorf("verify the export of the evidence: status %d, %s", status, errOut)
	}
	checkGolden(t, "verify_evidence.txt", out)
	if out, _, _ := runLedger(t, url, "verify --export "+file+" --checkpoint "+checkpoints); !strings.HasPrefix(out,
		"The signatures of the checkpoints were not verified; set --key to verify them.\n") {
		t.Errorf("without a key the output is\n%s", out)
	}
}

func TestLedgerVerify_AcceptsRepeatedKeys(t *testing.T) {
	t.Parallel()
	// A key can be given twice, also under the names of two platforms that share it.
	url, checkpoints, key := sealedDatabase(t)
	raw, err := audit.ParseLogKey(key)
	if err != nil {
		t.Fatal(err)
	}
	other := audit.VerifierKey(must(ident.ParsePlatform(strings.Replace(fakePlatform, "0001", "0009", 1))), ports.CheckpointKey{Public: raw})

	for _, keys := range []string{key + " --key " + key, key + " --key " + other, other + " --key " + key} {
		if out, errOut, status := runLedger(t, url, "verify --checkpoints "+checkpoints+" --key "+keys); status != 0 {
			t.Errorf("--key %s: status %d, %s%s", keys, status, errOut, out)
		}
	}
}

func TestLedgerVerify_DetectsTruncatedLog(t *testing.T) {
	t.Parallel()
	// The newest postings are deleted with all traces in the database: the published checkpoints
	// show it.
	url, checkpoints, _ := sealedDatabase(t)
	conn := pgtest.Connect(t, url)
	for _, table := range []string{"ledger_postings", "ledger_entries", "ledger_log_checkpoints"} {
		for _, statement := range []string{"ALTER TABLE " + table + " DISABLE TRIGGER USER", "DELETE FROM " + table + " WHERE seq > 5"} {
			if table == "ledger_log_checkpoints" {
				statement = strings.Replace(statement, " WHERE seq > 5", "", 1)
			}
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	for _, statement := range []string{"DELETE FROM ledger_log_state", "UPDATE ledger_clocks SET seq = 5",
		"DELETE FROM transactions WHERE status = 'FAILED'"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}

	out, errOut, status := runLedger(t, url, "verify --checkpoints "+checkpoints)

	if status != 1 || !strings.Contains(errOut, "the ledger check failed") {
		t.Errorf("status %d, %s", status, errOut)
	}
	out = regexp.MustCompile(`sealed at \S+,`).ReplaceAllString(out, "sealed at TIME,")
	checkGolden(t, "verify_cut.txt", strings.ReplaceAll(out, checkpoints, "checkpoints"))
}

func TestLedgerVerify_DetectsUnsealedPostings(t *testing.T) {
	t.Parallel()
	// A log that was wiped, without published checkpoints to compare with, is found by the log of evidence; if that
	// was wiped too, the postings and facts are not sealed, and too old for that. They are not, if they may be.
	url, _, _ := sealedDatabase(t)
	pgtest.ExecAsSuperuser(t, url, "DELETE FROM ledger_log_checkpoints; DELETE FROM ledger_log_tiles; DELETE FROM ledger_log_state")

	out, _, status := runLedger(t, url, "verify --max-unsealed 1000000h")
	if want := "the checkpoint 7 of " + fakePlatform + ", sealed at "; status != 1 || !strings.Contains(out, want) {
		t.Errorf("status %d, want %q in\n%s", status, want, out)
	}
	pgtest.ExecAsSuperuser(t, url, "DELETE FROM ledger_evidence; DELETE FROM ledger_evidence_checkpoints; DELETE FROM ledger_evidence_state")
	out, _, status = runLedger(t, url, "verify")
	if want := "sealed in time: 7 facts or postings of " + fakePlatform; !strings.Contains(out, want) {
		t.Errorf("want %q in\n%s", want, out)
	}
	if want := "postings are sealed in time: 7 postings of " + fakePlatform + " are not sealed, 7 of them for longer than allowed; the " +
		"first is number 1"; status != 1 || !strings.Contains(out, want) {
		t.Errorf("status %d, want %q in\n%s", status, want, out)
	}
	if out, errOut, status := runLedger(t, url, "verify --max-unsealed 1000000h"); status != 0 ||
		!regexp.MustCompile(`postings are sealed in time +7 +postings not sealed yet +passed`).MatchString(out) {
		t.Errorf("with a longer time: status %d, %s%s", status, errOut, out)
	}
}

func TestLedgerVerify_DetectsMissingPostings(t *testing.T) {
	t.Parallel()
	// Both verify and check find a transaction whose state implies postings that do not exist.
	url, checkpoints, key := sealedDatabase(t)
	conn := pgtest.Connect(t, url)
	var id string
	err := conn.QueryRow(t.Context(), "UPDATE transactions SET status = 'COMPLETED', stage = 'DELIVERED' WHERE status = 'PENDING' RETURNING "+
		"id::text").Scan(&id)
	if err != nil {
		t.Fatal(err)
	}

	for _, command := range []string{"check", "verify --checkpoints " + checkpoints + " --key " + key} {
		out, errOut, status := runLedger(t, url, command)
		if want := "transactions match their postings: Transaction:" + id; status != 1 || !strings.Contains(out, want) {
			t.Errorf("%.6s: status %d, %s\n%s", command, status, errOut, out)
		}
	}
}

func TestLedgerVerify_ReportsInvalidFlags(t *testing.T) {
	t.Parallel()
	// Invalid flags are reported by name.
	url, checkpoints, _ := sealedDatabase(t)
	dir := t.TempDir()
	broken, torn := filepath.Join(dir, "broken.checkpoints"), filepath.Join(dir, "torn.checkpoints")
	if err := os.WriteFile(broken, []byte("not a checkpoint\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(
		torn, []byte("causeway.ledger/0199f0a2-0000-7000-8000-000000000001\n7\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(fakePlatform, "0001", "0009", 1)
	for args, want := range map[string]string{
		"verify --checkpoints " + dir + "/none": "--checkpoints: ",
		"verify --checkpoints " + broken: "broken.checkpoints, line 1: not a checkpoint of a ledger " +
			"log",
		"verify --checkpoints " + torn: "torn.checkpoints, line 1: the checkpoint of size 7 is " +
			"not a complete signed note",
		"verify --max-unsealed 0s":                                     "--max-unsealed must be above zero",
		"verify --key nonsense":                                        `--key: "nonsense" is not a key`,
		"verify --export " + broken:                                    "--export requires --checkpoints",
		"verify --export " + broken + " --checkpoint " + checkpoints:   "not an export of a log",
		"verify --export " + dir + "/none --checkpoint " + checkpoints: "--export",
		"export --platform " + fakePlatform:                            "--format",
		"export --format log --platform 17": "--platform: must be an id of the form " +
			"PlatformConfig:<uuid>",
		"export --format log --platform " + other:                                   other + " does not exist",
		"export --format log --size 8":                                              "has 7 postings, not 8",
		"export --format log --file " + dir + "/none/books":                         "no such file or directory",
		"rotate-key --master-key short":                                             "CAUSEWAY_MASTER_KEY must be 32 random bytes",
		"check --checkpoints " + checkpoints:                                        "unknown flag",
		"verify --checkpoints http://127.0.0.1:1/ --database-url " + url:            "--checkpoints: ",
		"verify --database-url postgres://nobody:1/no --checkpoints " + checkpoints: "cannot use the database",
	} {
		if out, errOut, status := runLedger(t, url, args); status == 0 || !strings.Contains(errOut, want) {
			t.Errorf("ledger %s: status %d, %s%s", args, status, out, errOut)
		}
	}
}

func TestLedgerRotateKey_OldCheckpointsStillVerify(t *testing.T) {
	t.Parallel()
	// After a key rotation, old checkpoints still verify.
	url, checkpoints, _ := sealedDatabase(t)

	out, errOut, status := runLedger(t, url, "rotate-key --actor ana --master-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	checkActions(t, url, "ROTATE_LEDGER_KEY ana")

	if status != 0 || !strings.HasPrefix(out, "New checkpoints are signed with key ") {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
	if out, errOut, status := runLedger(t, url, "verify --checkpoints "+checkpoints); status != 0 {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
}
