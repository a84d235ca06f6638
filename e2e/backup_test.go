package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

func TestBackup_RestoredDatabaseServes(t *testing.T) {
	t.Parallel()
	// The procedure of docs/operating.md: a dump that is taken while the service runs is restored into
	// an empty database. Its ledger passes every check and agrees with the published checkpoints, the
	// service continues on it, and verify names the postings that a too old backup lacks. A service that is started on such a one
	// moves no money until an operator has reviewed that.
	checkpoints := t.TempDir()
	h := newTestEnv(t, "--checkpoints", checkpoints, "--seal-every", "1s")
	hooks := h.startReceiver()
	pay := func() string {
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
		eventually(t, "the postings are sealed", func() bool {
			return h.queryInt("SELECT count(*) FROM ledger_clocks c LEFT JOIN ledger_log_state s USING (platform_id) WHERE "+
				"coalesce(s.published_size, 0) < c.seq") == 0
		})
		return quote.text("transactionId")
	}
	payer := h.newPayingAgent()
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
	stopped := h.withServer(startServer(t, restored, "--checkpoints", checkpoints))
	stopped.post("/transfer-out", payer.transferBody(payer.bank, 1_00)).wantError(503, "SERVICE_UNAVAILABLE")
	if out := mustRunCommand(t, env, "recover", "list"); !regexp.MustCompile(`(?m)^ *1 +\S+ \S+ +\d +- +- +-$`).MatchString(out) {
		t.Errorf("the findings are\n%s", out)
	}
	if out := mustRunCommand(t, env, "recover", "show", "1"); !strings.Contains(out, "causeway.ledger/") {
		t.Errorf("the finding names\n%s", out)
	}
	review := []string{"recover", "review", "1", "--note", "Compared with the bank", "--actor", "ana"}
	mustRunCommand(t, env, review...)
	if _, errOut, status := runCommand(t, env, review...); status != 1 || !strings.Contains(errOut, "was reviewed by ana") {
		t.Errorf("a second review: %s", errOut)
	}
	stopped.post("/transfer-out", payer.transferBody(payer.bank, 1_00)).wantStatus(201)
	if last := mustRunCommand(t, env, "recover", "list"); strings.Count(last, "ana") != 1 {
		t.Errorf("after the review\n%s", last)
	}
}

func TestBackup_RestoresPointInTime(t *testing.T) {
	t.Parallel()
	// The settings and commands of docs/operating.md: a server that archives its write-ahead logs is
	// copied while payments are made, and killed. A restored copy has the payments before a point in
	// time and none after it, and verify names what is missing; without a time it has all of them. The
	// service continues on both.
	document, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(document), "### Point in time")
	blocks := regexp.MustCompile("(?s)\n```(?:ini|console)\n(.*?)```").FindAllStringSubmatch(chapter, 3)
	if len(blocks) != 3 {
		t.Fatalf("the chapter has %d blocks, want settings, copy and restore", len(blocks))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*waitTimeout)
	defer cancel()
	folder, err := kit.PostgresFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	settings := func(name string) (set []string) {
		archive := "/mnt/backup/wal"
		text := strings.ReplaceAll(blocks[0][1], archive, filepath.Join(folder, name))
		for _, match := range regexp.MustCompile(`(?m)^(\w+) = '?(.*?)'?$`).FindAllStringSubmatch(text, -1) {
			set = append(set, match[1]+"="+match[2])
		}
		return set
	}
	primary, err := kit.CreatePostgres(ctx, filepath.Join(folder, "primary"), settings("wal")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(primary.Kill)
	if err := primary.RunScript(ctx, "mkdir "+filepath.Join(folder, "wal")); err != nil {
		t.Fatal(err)
	}
	mustRunCommand(t, []string{"DATABASE_URL=" + primary.URL()}, "migrate")
	checkpoints := t.TempDir()
	h := &testEnv{t: t, databaseURL: primary.URL(), db: openURL(t, primary.URL())}
	h.server = startServer(t, h.databaseURL, "--checkpoints", checkpoints, "--seal-every", "1s")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	pay := func() string {
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		eventually(t, "the payment is complete and sealed", func() bool {
			log := h.get("/ledger/log").wantStatus(200)
			return h.get("/transactions/"+quote.text("transactionId")).text("status") == "COMPLETED" && log.int("postings") == log.int("published")
		})
		return quote.text("transactionId")
	}

	before := pay()
	if err := primary.RunScript(ctx, strings.ReplaceAll(blocks[1][1], "/mnt/backup", folder)); err != nil {
		t.Fatal(err)
	}
	since := pay()
	var target, last string
	if err := h.db.QueryRow("SELECT clock_timestamp()::text").Scan(&target); err != nil {
		t.Fatal(err)
	}
	after := pay()
	if err := h.db.QueryRow("SELECT pg_walfile_name(pg_current_wal_lsn())").Scan(&last); err != nil {
		t.Fatal(err)
	}
	if err := primary.Exec(ctx, "SELECT pg_switch_wal()"); err != nil {
		t.Fatal(err)
	}
	eventually(t, last+" is archived", func() bool {
		_, err := os.Stat(filepath.Join(folder, "wal", last))
		return err == nil
	})
	h.server.kill()
	primary.Kill()

	for name, c := range map[string]struct {
		target        string
		kept, missing []string
	}{
		"before": {target, []string{before, since}, []string{after}},
		"all":    {"", []string{before, since, after}, nil},
	} {
		data := filepath.Join(folder, name)
		script := strings.NewReplacer("/mnt/backup", folder, "/var/lib/postgresql/data", data, "2026-01-31 12:34:56+00",
			c.target).Replace(blocks[2][1])
		if c.target == "" {
			script = regexp.MustCompile(`(?m)^recovery_target_time.*\n`).ReplaceAllString(script, "")
		}
		if err := primary.RunScript(ctx, "mkdir --mode=700 "+data+" "+data+"-wal\n"+script); err != nil {
			t.Fatal(err)
		}
		restored, err := kit.StartPostgres(ctx, data, settings(name+"-wal")...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(restored.Kill)
		h := &testEnv{t: t, databaseURL: restored.URL(), db: openURL(t, restored.URL()), tenant: h.tenant}
		eventually(t, "the end of the recovery", func() bool { return h.queryInt("SELECT pg_is_in_recovery()::int") == 0 })

		h.checkLedger()
		if out, status := h.runLedgerVerify(checkpoints); (status == 0) != (c.missing == nil) || status != 0 &&
			!strings.Contains(out, "are missing") {
			t.Errorf("%s: verify: status %d\n%s", name, status, out)
		}
		h.server = startServer(t, h.databaseURL)
		h.client.BaseURL = h.server.baseURL
		for _, id := range c.kept {
			h.get("/transactions/" + id).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED"})
		}
		for _, id := range c.missing {
			h.get("/transactions/"+id).wantError(404, "TRANSACTION_NOT_FOUND")
		}
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		eventually(t, "another payment", func() bool { return h.get("/transactions/"+quote.text("transactionId")).text("status") == "COMPLETED" })
		h.server.terminate()
	}
}

// mustRunProgram runs a program to its end.
func mustRunProgram(t testing.TB, program string, args ...string) {
	t.Helper()
	if _, err := kit.MustSucceed(waitContext(t), kit.Command{Program: program, Args: args}); err != nil {
		t.Fatal(err)
	}
}
