package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packFromTheConsole returns the pack of a year as who sees the audit and personal data asks for and downloads it.
func (h *testEnv) packFromTheConsole(year string) *zip.Reader {
	h.t.Helper()
	ana, base := h.invite("Ana", "COMPLIANCE"), "/console/platforms/"+uuidOf(h.platformID)
	ask := base + "/make-audit-pack"
	form := url.Values{"csrf": {ana.find(tokenPattern, ana.page(http.MethodGet, ask, nil))}, "year": {year}}
	ana.page(http.MethodPost, ask, form)
	link := ""
	eventually(h.t, "the pack", func() bool {
		page := ana.page(http.MethodGet, base+"/exports", nil)
		if strings.Contains(page, "failed") {
			h.t.Fatal(page)
		}
		found := exportPattern.FindStringSubmatch(page)
		if found == nil || found[2] != "file" {
			return false
		}
		link = base + "/exports/" + found[1] + "/file"
		return true
	})
	content := ana.page(http.MethodGet, link, nil)
	archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		h.t.Fatal(err)
	}
	return archive
}

func TestAuditPack_IsVerifiedWithoutTheService(t *testing.T) {
	t.Parallel()
	// The pack of a closed year is checked by sha256sum, both of its logs by the program without a database, and its
	// totals by hledger. It is the same each time, but for the verification. A year that is not closed has none.
	published := filepath.Join(t.TempDir(), "checkpoints")
	h := newTestEnv(t, "--seal-every", "1s", "--checkpoints", published)
	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	month, year := last.Format("2006-01"), last.Format("2006")
	h.call("PUT", "/ledger/settings", object{"unrealisedResult": "REVERSE", "feeRecognition": "CONVERSION", "yearEndMonth": int(last.Month()),
		"fourEyes": []string{}}).wantStatus(200)
	for _, amount := range []int{12000, 345} {
		h.post("/ledger/adjustments", object{"note": "=Invoice", "effectiveAt": formatTimestamp(last.AddDate(0, 0, 4)),
			"entries": []object{{"debit": "rails/WIRE", "credit": "income/fees", "currency": "USD", "amount": amount}}}).wantStatus(201)
	}
	sealed := func() {
		eventually(t, "both logs are sealed and published", func() bool {
			log := h.get("/ledger/log").wantStatus(200)
			return log.int("postings") == log.int("published") && h.queryInt("SELECT count(*) FROM ledger_evidence_queue") == 0 &&
				log.int("evidence.published") == h.queryInt("SELECT count(*) FROM ledger_evidence")
		})
	}
	env := []string{"DATABASE_URL=" + h.databaseURL}
	folder := filepath.Join(t.TempDir(), "pack")
	write := func(folder string) (errOut string, status int) {
		_, errOut, status = runCommand(t, env, "ledger", "audit-pack", year, "--folder", folder, "--checkpoints", published,
			"--platform", h.platformID)
		return errOut, status
	}

	sealed()
	mustRunCommand(t, env, "ledger", "soft-close", month, "--confirm-opening-balances")
	if errOut, status := write(folder); status == 0 || !strings.Contains(errOut, "SOFT_CLOSED") {
		t.Errorf("before the close: status %d, %s", status, errOut)
	}
	h.post("/ledger/years/"+year+"/close", object{"note": "Audited"}).wantStatus(200)
	sealed() // the closing stores the newest checkpoint
	mustRunCommand(t, env, "ledger", "close", month)
	h.post("/ledger/adjustments", object{"note": "Next year",
		"entries": []object{{"debit": "rails/WIRE", "credit": "income/fees", "currency": "USD", "amount": 1}}}).wantStatus(201)
	sealed()
	archive := h.packFromTheConsole(year)
	h.server.terminate()
	for _, f := range []string{folder, folder + "2"} {
		if errOut, status := write(f); status != 0 {
			t.Fatalf("status %d, %s", status, errOut)
		}
	}
	if errOut, status := write(folder); status == 0 || !strings.Contains(errOut, "not empty") {
		t.Errorf("again into the same folder: status %d, %s", status, errOut)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(folder), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// Without a database, as an auditor does.
	run := func(name string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir, command.Env = folder, append(os.Environ(), "DATABASE_URL=postgres://localhost:1/none")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	if out := run("sha256sum", "--strict", "-c", "MANIFEST.sha256"); strings.Count(out, ": OK") != strings.Count(run("find", ".",
		"-type", "f"), "\n")-1 {
		t.Errorf("the manifest does not have every file\n%s", out)
	}
	readme, err := os.ReadFile(filepath.Join(folder, "README.txt"))
	if err != nil {
		t.Fatal(err)
	}
	verified := 0
	for line := range strings.Lines(string(readme)) {
		if command := strings.TrimSpace(line); strings.Contains(command, "ledger verify") {
			verified++
			if out := run("sh", "-c", strings.Replace(command, "causeway ", binary+" ", 1)); !strings.Contains(out, "rules passed") ||
				strings.Contains(out, "not verified") {
				t.Errorf("%s\n%s", command, out)
			}
		}
	}
	if verified != 2 {
		t.Errorf("README.txt has %d commands that verify, want 2", verified)
	}

	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if text := read("verification.txt"); bytes.Count(text, []byte("rules passed.")) != 3 ||
		!bytes.Contains(text, []byte("published checkpoints match")) {
		t.Errorf("verification.txt is\n%s", text)
	}
	if text := read("year.csv"); !bytes.Contains(text, []byte(", Token:")) {
		t.Errorf("year.csv does not name the token of who closed it:\n%s", text)
	}
	for _, name := range []string{"year.csv", "trial-balance.csv", "general-ledger.csv", "journals.csv", "books.journal",
		"closings/" + month + ".csv", "closings/" + month + ".json",
		"ledger.log", "evidence.log", "checkpoints.txt", "keys.txt"} {
		again, err := os.ReadFile(filepath.Join(folder+"2", name))
		if err != nil || !bytes.Equal(again, read(name)) {
			t.Errorf("%s differs the second time: %v", name, err)
		}
	}
	packed := 0
	for _, file := range archive.File {
		name := strings.TrimPrefix(file.Name, "audit-pack-"+year+"/")
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		packed++
		if changes := name == "verification.txt" || name == "MANIFEST.sha256"; err != nil || !changes && !bytes.Equal(text, read(name)) ||
			name == "verification.txt" && bytes.Count(text, []byte("rules passed.")) != 3 {
			t.Errorf("%s of the console differs from that of the command: %v\n%.2000s", name, err, text)
		}
	}
	if files := strings.Count(run("find", ".", "-type", "f"), "\n"); packed != files {
		t.Errorf("the console packs %d files, the command %d", packed, files)
	}
	balances := func(name string, path, balance int, closing func(row []string) bool) map[string]string {
		t.Helper()
		rows, err := csv.NewReader(bytes.NewReader(read(name))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, row := range rows[1:] {
			if closing(row) {
				found[row[path]] = row[balance]
			}
		}
		return found
	}
	all := func([]string) bool { return true }
	for name, found := range map[string]map[string]string{
		"trial-balance.csv":       balances("trial-balance.csv", 1, 6, all),
		"the stored closing":      balances("closings/"+month+".csv", 1, 6, all),
		"the end of the ledger":   balances("general-ledger.csv", 0, 14, func(row []string) bool { return row[5] == "closing" }),
		"the last of its entries": balances("general-ledger.csv", 0, 14, func(row []string) bool { return row[5] == "entry" }),
		"what hledger has computed": hledgerBalances(t, run("hledger", "-f", "books.journal", "balance", "--flat", "--empty", "--no-total",
			"--layout=bare", "-O", "csv")),
	} {
		if found["rails/WIRE"] != "123.45" || found["equity/retained-earnings"] != "-123.45" || strings.Trim(found["income/fees"], "0.") != "" {
			t.Errorf("%s: %v", name, found)
		}
	}

	// The proofs are those of the two checkpoints, and of the posting that closes the year.
	proofs, err := filepath.Glob(filepath.Join(folder, "proofs", "*.json"))
	if err != nil || len(proofs) != 2 {
		t.Fatalf("proofs %v, %v", proofs, err)
	}
	for _, path := range proofs {
		var proof map[string]any
		if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &proof) != nil || proof["hashes"] == nil {
			t.Errorf("%s: %s, %v", path, text, err)
		}
	}

	// Damage of another platform in the database is found by verify, and is not in the pack.
	other := h.createPlatform("Other", "SANDBOX").platformID
	h.exec("INSERT INTO ledger_accounts (platform_id, path, currency, class, no_overdraft) VALUES ($1, 'nowhere', 'USD', 'asset', false)",
		uuidOf(other))
	out, _, status := runCommand(t, env, "ledger", "verify")
	if status != 1 || !strings.Contains(out, other) {
		t.Errorf("verify: status %d\n%s", status, out)
	}
	if errOut, status := write(folder + "4"); status != 0 {
		t.Errorf("beside a changed ledger: status %d, %s", status, errOut)
	}
	text, err := os.ReadFile(filepath.Join(folder+"4", "verification.txt"))
	if err != nil || !bytes.HasPrefix(text, []byte("Verification of the ledger of "+h.platformID+" at ")) ||
		bytes.Contains(text, []byte(other)) {
		t.Errorf("verification.txt beside a changed ledger is %v\n%s", err, text)
	}
	h.exec("ALTER TABLE ledger_accounts DISABLE TRIGGER USER")
	h.exec("DELETE FROM ledger_accounts WHERE platform_id = $1", uuidOf(other))
	h.exec("ALTER TABLE ledger_accounts ENABLE TRIGGER USER")

	// Of a ledger that was changed, the pack is written with what the verification found, and the command fails.
	h.execWithoutTriggers("UPDATE ledger_postings SET memo = memo || 's' WHERE seq = 1")
	defer h.execWithoutTriggers("UPDATE ledger_postings SET memo = left(memo, -1) WHERE seq = 1") // every test ends with a check
	changed := folder + "3"
	if errOut, status := write(changed); status != 1 || !strings.Contains(errOut, "verification.txt says what was found") {
		t.Errorf("of a changed ledger: status %d, %s", status, errOut)
	}
	if text, err := os.ReadFile(filepath.Join(changed, "verification.txt")); err != nil || bytes.Count(text, []byte("Violations:")) != 2 ||
		!bytes.Contains(text, []byte("rules passed.")) {
		t.Errorf("verification.txt of a changed ledger is %v\n%s", err, text)
	}
}

// hledgerBalances returns the balances of a report of hledger by the paths of the ledger.
func hledgerBalances(t *testing.T, report string) map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(report)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"Assets:Rails:WIRE": "rails/WIRE", "Equity:Retained-earnings": "equity/retained-earnings",
		"Income:Fees": "income/fees"}
	found := map[string]string{}
	for _, row := range rows[1:] {
		found[paths[row[0]]] = row[len(row)-1]
	}
	return found
}
