package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

func TestBackup_RestoredDatabaseServes(t *testing.T) {
	t.Parallel()
	// The procedure of docs/operating.md: a dump that is taken while the service runs is restored into
	// an empty database. Its ledger passes every check and agrees with the published checkpoints, the
	// service continues on it, and verify names the postings that a too old backup lacks.
	checkpoints := t.TempDir()
	h := newTestEnv(t, "--checkpoints", checkpoints, "--seal-every", "1s")
	hooks := h.startReceiver()
	pay := func() string {
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
		eventually(t, "the postings are sealed", func() bool {
			return h.queryInt("SELECT count(*) FROM ledger_clocks c LEFT JOIN ledger_log_state s USING (platform_id) WHERE coalesce(s.published_size, 0) < c.seq") == 0
		})
		return quote.text("transactionId")
	}
	transaction := pay()
	dump := filepath.Join(t.TempDir(), "causeway.dump")
	restored := pgtest.NewEmpty(t)

	mustRunProgram(t, "pg_dump", "--format=custom", "--file="+dump, h.databaseURL)
	mustRunProgram(t, "pg_restore", "--no-owner", "--exit-on-error", "--dbname="+restored, dump)

	env := []string{"DATABASE_URL=" + restored}
	mustRunCommand(t, env, "ledger", "check")
	mustRunCommand(t, env, "ledger", "verify", "--checkpoints", checkpoints)
	if out := mustRunCommand(t, env, "migrate"); !strings.Contains(out, "Nothing to do") {
		t.Errorf("migrate: %s", out)
	}
	server := startServer(t, restored)
	h.withServer(server).get("/transactions/" + transaction).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED"})

	// After another payment the backup is too old.
	pay()
	if out, errOut, status := runCommand(t, env, "ledger", "verify", "--checkpoints", checkpoints); status == 0 {
		t.Errorf("verify accepts a ledger without its last postings:\n%s%s", out, errOut)
	}
}

// mustRunProgram runs a program to its end.
func mustRunProgram(t testing.TB, program string, args ...string) {
	t.Helper()
	if _, err := kit.MustSucceed(waitContext(t), kit.Command{Program: program, Args: args}); err != nil {
		t.Fatal(err)
	}
}
