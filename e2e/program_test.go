package e2e

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	// A newcomer is told what there is, in what order to begin, and how each command is
	// used; a mistake is answered with what was wrong and where to read on.
	out := must(t, nil, "--help")
	for _, command := range []string{"dev", "serve", "migrate", "platform create", "corridors list", "corridors set", "corridors reset", "corridors history", "demo", "ledger check", "ledger balances", "ledger entries", "version", "causeway dev"} {
		if !strings.Contains(out, command) {
			t.Errorf("--help does not tell of %s:\n%s", command, out)
		}
	}
	for _, command := range [][]string{{"dev"}, {"serve"}, {"migrate"}, {"platform", "create"}, {"corridors", "set"}, {"corridors", "history"}, {"demo"}, {"ledger", "check"}, {"ledger", "balances"}, {"ledger", "entries"}, {"version"}} {
		if out := must(t, nil, append(command, "--help")...); !strings.Contains(out, "Usage: causeway "+strings.Join(command, " ")) {
			t.Errorf("%v --help:\n%s", command, out)
		}
	}
	if out := must(t, nil, "version"); !strings.HasPrefix(out, "causeway ") || strings.Count(out, "\n") != 1 {
		t.Errorf("version: %q", out)
	}
	if out, errOut, status := command(t, nil); status == 0 || !strings.Contains(out+errOut, "dev") {
		t.Errorf("without a command: status %d\n%s%s", status, out, errOut)
	}
	if _, errOut, status := command(t, nil, "sevre"); status == 0 || !strings.Contains(errOut, "sevre") || !strings.Contains(errOut, "--help") {
		t.Errorf("an unknown command: status %d, %s", status, errOut)
	}
}

func TestWrongSettings(t *testing.T) {
	t.Parallel()
	// A wrong or missing setting ends the program at once, with the name of the setting.
	good := []string{"DATABASE_URL=postgres://nobody@127.0.0.1:1/none", "CAUSEWAY_MASTER_KEY=" + masterKey, "CAUSEWAY_LISTEN=127.0.0.1:0"}
	for name, c := range map[string]struct {
		env   []string
		flags []string
		named string
	}{
		"no database":           {[]string{"CAUSEWAY_MASTER_KEY=" + masterKey}, nil, "--database-url"},
		"no master key":         {good[:1], nil, "--master-key"},
		"short master key":      {append(good[:1:1], "CAUSEWAY_MASTER_KEY=c2hvcnQ="), nil, "CAUSEWAY_MASTER_KEY"},
		"no such database":      {good, nil, "database"},
		"database no URL":       {append(good, "DATABASE_URL=::"), nil, "database"},
		"connections":           {append(good, "CAUSEWAY_CONNECTIONS=1"), nil, "CAUSEWAY_CONNECTIONS"},
		"connections no number": {append(good, "CAUSEWAY_CONNECTIONS=many"), nil, "connections"},
		"speed":                 {append(good, "CAUSEWAY_SANDBOX_SPEED=0"), nil, "CAUSEWAY_SANDBOX_SPEED"},
		"rate":                  {append(good, "CAUSEWAY_RATE_LIMIT=0"), nil, "CAUSEWAY_RATE_LIMIT"},
		"burst":                 {append(good, "CAUSEWAY_RATE_BURST=1"), nil, "CAUSEWAY_RATE_BURST"},
		"timeout":               {append(good, "CAUSEWAY_REQUEST_TIMEOUT=1ms"), nil, "CAUSEWAY_REQUEST_TIMEOUT"},
		"timeout no time":       {append(good, "CAUSEWAY_REQUEST_TIMEOUT=soon"), nil, "request-timeout"},
		"proxies":               {append(good, "CAUSEWAY_TRUSTED_PROXIES=here"), nil, "CAUSEWAY_TRUSTED_PROXIES"},
		"public URL":            {append(good, "CAUSEWAY_PUBLIC_URL=pay.example.com"), nil, "CAUSEWAY_PUBLIC_URL"},
		"log level":             {append(good, "CAUSEWAY_LOG_LEVEL=loud"), nil, "log-level"},
		"log format":            {append(good, "CAUSEWAY_LOG_FORMAT=xml"), nil, "log-format"},
		"listen":                {append(good, "CAUSEWAY_LISTEN=nowhere:99999"), nil, "CAUSEWAY_LISTEN"},
		"rates":                 {append(good, "CAUSEWAY_RATES=tea-leaves"), nil, "rates"},
		"age of rates":          {append(good, "CAUSEWAY_RATES_MAX_AGE=1m"), nil, "CAUSEWAY_RATES_MAX_AGE"},
		"source of rates":       {append(good, "CAUSEWAY_RATES=ecb", "CAUSEWAY_RATES_ECB=ftp://example.com"), nil, "CAUSEWAY_RATES_ECB"},
		"dollars":               {append(good, "CAUSEWAY_RATES_DOLLARS=BTC"), nil, "CAUSEWAY_RATES_DOLLARS"},
		"unknown flag":          {good, []string{"--colour"}, "--colour"},
	} {
		_, errOut, status := command(t, c.env, append([]string{"serve"}, c.flags...)...)
		if status == 0 || !strings.Contains(errOut, c.named) {
			t.Errorf("%s: status %d, without %q: %s", name, status, c.named, errOut)
		}
		if strings.Contains(errOut, "c2hvcnQ=") || strings.Contains(errOut, masterKey) {
			t.Errorf("%s: the key is shown: %s", name, errOut)
		}
	}
	if _, errOut, status := command(t, good[:1], "platform", "create", "--name", "x", "--environment", "TEST"); status == 0 || !strings.Contains(errOut, "environment") {
		t.Errorf("platform create: status %d, %s", status, errOut)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	// Migrate makes an empty database usable, and may be run again and by several at
	// once.
	database := pgtest.Empty(t)
	env := []string{"DATABASE_URL=" + database, "CAUSEWAY_MASTER_KEY=" + masterKey}
	ended := make(chan struct{})
	go func() { defer close(ended); must(t, env, "migrate") }()
	must(t, env, "migrate")
	<-ended
	must(t, env, "migrate")

	serve(t, database)
	must(t, env, "platform", "create", "--name", "First", "--environment", "SANDBOX")
}

func TestServeNeedsTheSchema(t *testing.T) {
	t.Parallel()
	// A database that was not migrated is refused at the start, with the way out.
	env := []string{"DATABASE_URL=" + pgtest.Empty(t), "CAUSEWAY_MASTER_KEY=" + masterKey}

	_, errOut, status := command(t, env, "serve", "--listen", "127.0.0.1:0")

	if status == 0 || !strings.Contains(errOut, "migrate") {
		t.Errorf("status %d, %s", status, errOut)
	}
}

func TestGracefulStop(t *testing.T) {
	t.Parallel()
	// Asked to stop while a payment is being taken in, the server takes nothing new,
	// finishes that payment, and ends well within ten seconds.
	h := newHouse(t)
	quote := h.quote("")
	held, err := h.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Rollback()
	if _, err := held.Exec("SELECT FROM transactions WHERE id = $1 FOR UPDATE", bare(quote.str("transactionId"))); err != nil {
		t.Fatal(err)
	}
	answered := make(chan answer, 1)
	go func() {
		got, _ := h.try(context.Background(), http.MethodPost, "/sandbox/send", object{"reference": reference(quote), "currencyCode": "USD"})
		answered <- got
	}()
	until(t, "the payment waits for the lock", func() bool {
		return h.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	})

	began := time.Now()
	if err := h.server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	h.server.ended = true
	// Whoever asks from now on is told no, by an answer or by having no connection.
	until(t, "readiness goes away", func() bool {
		response, err := http.Get(h.server.root() + "/readyz")
		if err != nil {
			return true
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusServiceUnavailable
	})
	select {
	case got := <-answered:
		t.Fatalf("answered before the lock was let go: %d %s", got.status, got.text)
	default:
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}

	if got := <-answered; got.status != http.StatusOK || got.str("status") != "PROCESSING" {
		t.Errorf("the running request was answered %d %s", got.status, got.text)
	}
	if status := h.server.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to stop", took)
	}

	// The next one goes on with what follows.
	h.server = serve(t, h.database)
	h.base = h.server.base
	hooks := h.listen()
	_ = hooks
	until(t, "completion", func() bool {
		return h.get("/transactions/"+quote.str("transactionId")).str("status") == "COMPLETED"
	})
}

func TestAPIOnly(t *testing.T) {
	t.Parallel()
	// What a process without workers takes in is followed up by another one, without a
	// wait that anybody would notice.
	h := newHouse(t, "--no-workers")
	worker := serve(t, h.database)
	hooks := h.listen()
	quote := h.quote("")
	hooks.end(quote.str("transactionId"), "PENDING")
	began := time.Now()

	h.pay(quote, 0).want(200)

	hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s until the payment was completed", took)
	}
	h.at(worker).get("/config").want(200)
}

func TestLedgerCommands(t *testing.T) {
	t.Parallel()
	// The tables of the ledger commands show what the payment did, and the proof fails
	// when the books were tampered with.
	h := newHouse(t)
	hooks := h.listen()
	quote := h.quote("")
	h.pay(quote, 0).want(200)
	hooks.end(quote.str("transactionId"), "COMPLETED")
	env := []string{"DATABASE_URL=" + h.database}

	if out := must(t, env, "ledger", "check"); strings.TrimSpace(out) == "" {
		t.Error("ledger check does not say what it checked")
	}
	balances := must(t, env, "ledger", "balances")
	for _, row := range []string{"rails/RTP", "income/fees", "fx/position", "chains/LAYER2", "100.50"} {
		if !strings.Contains(balances, row) {
			t.Errorf("no %s in the balances:\n%s", row, balances)
		}
	}
	entries := must(t, env, "ledger", "entries", "--transaction", quote.str("transactionId"))
	for _, row := range []string{"jit_received", "converted", "delivered", "funding/jit", "transit/payouts", "100.50"} {
		if !strings.Contains(entries, row) {
			t.Errorf("no %s in the entries:\n%s", row, entries)
		}
	}
	if _, errOut, status := command(t, env, "ledger", "entries", "--transaction", "Transaction:1"); status == 0 || errOut == "" {
		t.Errorf("entries of a malformed id: status %d", status)
	}

	// Not even the owner of the tables changes an entry by mistake; on purpose, it shows.
	if _, err := h.db.Exec("UPDATE ledger_entries SET amount = amount + 1"); err == nil {
		t.Error("an entry was changed")
	}
	if _, err := h.db.Exec("DELETE FROM ledger_postings"); err == nil {
		t.Error("a posting was deleted")
	}
	h.exec("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only")
	h.exec("UPDATE ledger_entries SET amount = amount + 1 WHERE (platform_id, seq, n) = (SELECT platform_id, seq, n FROM ledger_entries ORDER BY seq DESC, n LIMIT 1)")
	out, errOut, status := command(t, env, "ledger", "check")
	if status == 0 {
		t.Errorf("tampering goes unnoticed:\n%s%s", out, errOut)
	}
	h.exec("UPDATE ledger_entries SET amount = amount - 1 WHERE (platform_id, seq, n) = (SELECT platform_id, seq, n FROM ledger_entries ORDER BY seq DESC, n LIMIT 1)")
	h.exec("ALTER TABLE ledger_entries ENABLE TRIGGER ledger_append_only")
}
