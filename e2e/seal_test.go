package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runLedgerVerify runs `ledger verify` on the database with the checkpoints of a folder.
func (h *testEnv) runLedgerVerify(checkpoints string, flags ...string) (out string, status int) {
	h.t.Helper()
	out, errOut, status := runCommand(h.t, []string{"DATABASE_URL=" + h.databaseURL},
		append([]string{"ledger", "verify", "--checkpoints", checkpoints}, flags...)...)
	return out + errOut, status
}

// execWithoutTriggers changes the tables of the ledger without their triggers.
func (h *testEnv) execWithoutTriggers(statements ...string) {
	h.t.Helper()
	for _, table := range []string{"ledger_postings", "ledger_entries", "ledger_log_checkpoints"} {
		h.exec("ALTER TABLE " + table + " DISABLE TRIGGER USER")
		defer h.exec("ALTER TABLE " + table + " ENABLE TRIGGER USER")
	}
	for _, s := range statements {
		h.exec(s)
	}
}

func TestSeal_ExternalCheckpointsDetectTruncation(t *testing.T) {
	t.Parallel()
	// While payments continue, and a server is killed and another takes over, checkpoints are
	// published. If the newest ten postings are deleted later, with everything about them in
	// the database, the published checkpoints show how many are missing; after they are
	// restored, the check passes again.
	published := filepath.Join(t.TempDir(), "checkpoints")
	h := newTestEnv(t, "--seal-every", "1s", "--checkpoints", published)
	hooks := h.startReceiverNoWait()
	pay := func() {
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	}
	sealed := func() {
		eventually(t, "all postings are sealed and published", func() bool {
			log := h.get("/ledger/log").wantStatus(200)
			return log.int("postings") == log.int("sealed") && log.int("sealed") == log.int("published")
		})
	}
	pay()
	pay()
	sealed()
	h.server.kill()
	h.server = startServer(t, h.databaseURL, "--seal-every", "1s", "--checkpoints", published)
	h.tenant.client.BaseURL = h.server.baseURL
	pay()
	pay()
	sealed()
	text, err := os.ReadFile(filepath.Join(published, uuidOf(h.platformID)+".checkpoints"))
	if err != nil || !strings.Contains(string(text), "\n12\n") {
		t.Fatalf("the published checkpoints are %s, %v", text, err)
	}
	if out, status := h.runLedgerVerify(published); status != 0 {
		t.Fatalf("status %d\n%s", status, out)
	}
	h.server.terminate()

	h.execWithoutTriggers(
		"CREATE TABLE kept_postings AS SELECT * FROM ledger_postings WHERE seq > 2", "CREATE TABLE kept_entries AS SELECT * FROM "+
			"ledger_entries WHERE seq > 2",
		"CREATE TABLE kept_heads AS SELECT * FROM ledger_log_checkpoints", "CREATE TABLE kept_sealed AS SELECT * FROM ledger_log_state",
		"CREATE TABLE kept_clock AS SELECT * FROM ledger_clocks",
		"DELETE FROM ledger_postings WHERE seq > 2", "DELETE FROM ledger_entries WHERE seq > 2", "DELETE FROM ledger_log_checkpoints",
		"DELETE FROM ledger_log_state",
		"UPDATE ledger_clocks SET seq = 2, recorded_at = (SELECT max(recorded_at) FROM ledger_postings)",
	)
	out, status := h.runLedgerVerify(published)
	if status != 1 || !strings.Contains(out, "the newest 10 postings are missing on "+h.platformID+": the checkpoint of size 12") {
		t.Errorf("status %d\n%s", status, out)
	}

	h.execWithoutTriggers(
		"INSERT INTO ledger_postings SELECT * FROM kept_postings", "INSERT INTO ledger_entries SELECT * FROM kept_entries",
		"INSERT INTO ledger_log_checkpoints SELECT * FROM kept_heads", "INSERT INTO ledger_log_state SELECT * FROM kept_sealed",
		"UPDATE ledger_clocks c SET seq = k.seq, recorded_at = k.recorded_at FROM kept_clock k WHERE k.platform_id = c.platform_id",
	)
	if out, status := h.runLedgerVerify(published); status != 0 {
		t.Errorf("restored: status %d\n%s", status, out)
	}
}
