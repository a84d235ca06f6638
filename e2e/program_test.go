package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

func TestCommand_Help(t *testing.T) {
	t.Parallel()
	// The help lists the commands, that of a command its own, and how to start and use each; an error says what is wrong
	// and where the help is.
	out := mustRunCommand(t, nil, "--help")
	for _, command := range []string{"dev", "serve", "migrate", "platform", "corridors", "demo", "ledger"} {
		if !strings.Contains(out, "\n  "+command+" ") {
			t.Errorf("--help does not list %s:\n%s", command, out)
		}
	}
	if !strings.Contains(out, "Start with: causeway dev\n") {
		t.Errorf("--help does not say how to start:\n%s", out)
	}
	of := mustRunCommand(t, nil, "corridors", "--help")
	for _, command := range []string{"list", "set", "reset", "history"} {
		if !strings.Contains(of, "\n  corridors "+command+" ") {
			t.Errorf("corridors --help does not list %s:\n%s", command, of)
		}
	}
	for _, command := range [][]string{{"dev"}, {"serve"}, {"migrate"}, {"platform", "create"}, {"corridors", "set"}, {"corridors", "history"},
		{"demo"}, {"ledger", "check"}, {"ledger", "balances"}, {"ledger", "entries"}, {"version"}} {
		if out := mustRunCommand(t, nil, append(command, "--help")...); !strings.Contains(out, "Usage: causeway "+strings.Join(command, " ")) {
			t.Errorf("%v --help:\n%s", command, out)
		}
	}
	if out := mustRunCommand(t, nil, "version"); !strings.HasPrefix(out, "causeway ") || strings.Count(out, "\n") != 1 {
		t.Errorf("version: %q", out)
	}
	if out, errOut, status := runCommand(t, nil); status == 0 || !strings.Contains(out+errOut, "dev") {
		t.Errorf("without a command: status %d\n%s%s", status, out, errOut)
	}
	if _, errOut, status := runCommand(t, nil, "sevre"); status == 0 || !strings.Contains(errOut, "sevre") ||
		!strings.Contains(errOut, "--help") {
		t.Errorf("an unknown command: status %d, %s", status, errOut)
	}
}

func TestServe_InvalidSettingExits(t *testing.T) {
	t.Parallel()
	// An invalid or missing setting ends the program at once, with the name of the setting.
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
		"identity":              {append(good, "CAUSEWAY_IDENTITY=oracle"), nil, "identity"},
		"identity URL":          {append(good, "CAUSEWAY_IDENTITY=provider"), nil, "CAUSEWAY_IDENTITY_URL"},
		"identity over http": {append(good, "CAUSEWAY_IDENTITY=provider", "CAUSEWAY_IDENTITY_URL=http://identity.example.com"), nil,
			"CAUSEWAY_IDENTITY_URL"},
		"identity token": {append(good, "CAUSEWAY_IDENTITY=provider", "CAUSEWAY_IDENTITY_TOKEN=c2hvcnQ="), nil, "CAUSEWAY_IDENTITY_TOKEN"},
		"identity secret": {append(good, "CAUSEWAY_IDENTITY=provider", "CAUSEWAY_IDENTITY_SECRET=c2hvcnQ="), nil,
			"CAUSEWAY_IDENTITY_SECRET"},
		"identity callback": {append(good, "CAUSEWAY_IDENTITY=provider"), nil, "CAUSEWAY_PUBLIC_URL"},
		"identity unused":   {append(good, "CAUSEWAY_IDENTITY_SECRET=c2hvcnQ="), nil, "CAUSEWAY_IDENTITY_SECRET"},
		"unknown flag":      {good, []string{"--colour"}, "--colour"},
	} {
		_, errOut, status := runCommand(t, c.env, append([]string{"serve"}, c.flags...)...)
		if status == 0 || !strings.Contains(errOut, c.named) {
			t.Errorf("%s: status %d, without %q: %s", name, status, c.named, errOut)
		}
		if strings.Contains(errOut, "c2hvcnQ=") || strings.Contains(errOut, masterKey) {
			t.Errorf("%s: the key is shown: %s", name, errOut)
		}
	}
	if _, errOut, status := runCommand(t, good[:1], "platform", "create", "--name", "x", "--environment", "TEST"); status == 0 ||
		!strings.Contains(errOut, "environment") {
		t.Errorf("platform create: status %d, %s", status, errOut)
	}
}

func TestMigrate_RepeatedAndConcurrent(t *testing.T) {
	t.Parallel()
	// Migrate makes an empty database usable, and can be repeated and run by several processes
	// at once. Its plan says what it will apply.
	database := pgtest.NewEmpty(t)
	env := []string{"DATABASE_URL=" + database, "CAUSEWAY_MASTER_KEY=" + masterKey}
	for range 2 { // the first plan changes nothing
		if plan := mustRunCommand(t, env, "migrate", "--plan"); !strings.Contains(plan, "00001_foundations.sql ") ||
			!strings.Contains(plan, "replace its processes one by one") {
			t.Errorf("the plan: %s", plan)
		}
	}
	ended := make(chan string)
	go func() { ended <- mustRunCommand(t, env, "migrate") }()
	one := mustRunCommand(t, env, "migrate")
	other := <-ended
	repeated := mustRunCommand(t, env, "migrate")

	// One of them lists the files that it applied and the versions; there is nothing left for the others.
	if !strings.Contains(one, "Nothing to do") {
		one, other = other, one
	}
	if !strings.Contains(one, "Nothing to do: the database has version ") || repeated != one {
		t.Errorf("the one that waited: %s\nrepeated: %s", one, repeated)
	}
	if plan := mustRunCommand(t, env, "migrate", "--plan"); !strings.Contains(plan, "Nothing to do") {
		t.Errorf("the plan afterwards: %s", plan)
	}
	if !strings.Contains(other, "00001_foundations.sql ") || !strings.Contains(other, "The database is migrated from version 0 to ") {
		t.Errorf("the one that migrated: %s", other)
	}

	startServer(t, database)
	mustRunCommand(t, env, "platform", "create", "--name", "First", "--environment", "SANDBOX")
}

func TestServe_UnmigratedDatabaseExits(t *testing.T) {
	t.Parallel()
	// A database that was not migrated is rejected at the start, with what to do.
	env := []string{"DATABASE_URL=" + pgtest.NewEmpty(t), "CAUSEWAY_MASTER_KEY=" + masterKey}

	_, errOut, status := runCommand(t, env, "serve", "--listen", "127.0.0.1:0")

	if status == 0 || !strings.Contains(errOut, "migrate") {
		t.Errorf("status %d, %s", status, errOut)
	}
}

func TestTokenCommands_ReplaceLostCredentials(t *testing.T) {
	t.Parallel()
	// An operator finds the platform whose credentials were lost, creates a token, and deletes the
	// lost one. The secret is shown once, and the database records who did it.
	h := newTestEnv(t)
	env := []string{"DATABASE_URL=" + h.databaseURL}

	platforms := mustRunCommand(t, env, "platform", "list")
	if !strings.Contains(platforms, h.platformID+"  SANDBOX") {
		t.Fatalf("platform list:\n%s", platforms)
	}
	var created kit.Credentials
	if err := json.Unmarshal([]byte(mustRunCommand(t, env, "token", "create", "--platform", h.platformID, "--name", "Replacement", "--actor",
		"ana")), &created); err != nil {
		t.Fatal(err)
	}
	listed := mustRunCommand(t, env, "token", "list", "--platform", h.platformID)
	if strings.Contains(listed, created.ClientSecret) || !strings.Contains(listed, created.ClientID) ||
		!strings.Contains(listed, "Replacement") {
		t.Errorf("token list:\n%s", listed)
	}
	for _, line := range strings.Split(listed, "\n") {
		if id, _, _ := strings.Cut(line, " "); strings.HasPrefix(id, "Token:") && !strings.Contains(line, created.ClientID) {
			mustRunCommand(t, env, "token", "delete", id, "--platform", h.platformID, "--actor", "ana")
		}
	}

	h.get("/config").wantStatus(401)
	request, err := http.NewRequest(http.MethodGet, h.server.baseURL+"/config", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(created.ClientID, created.ClientSecret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the new token gets %d", response.StatusCode)
	}
	if n := h.queryInt("SELECT count(*) FROM operator_actions WHERE actor = 'ana' AND action IN ('CREATE_TOKEN', 'DELETE_TOKEN')"); n < 2 {
		t.Errorf("%d actions of ana are recorded", n)
	}
}

func TestServe_LoginMustNotOwnTables(t *testing.T) {
	t.Parallel()
	// The service refuses a login that could take more rights than the role causeway_service, and
	// says what to do. A setting allows it.
	h := newDatabaseEnv(t)
	owner := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}

	_, errOut, status := runCommand(t, owner, "serve", "--listen", "127.0.0.1:0")
	allowed := startProcess(t, owner, "serve", "--listen", "127.0.0.1:0", "--allow-owner-login")

	if status == 0 || !strings.Contains(errOut, "owns the tables") || !strings.Contains(errOut, "GRANT causeway_service TO") ||
		!strings.Contains(errOut, "CAUSEWAY_ALLOW_OWNER_LOGIN") {
		t.Errorf("as the owner: status %d, %s", status, errOut)
	}
	allowed.awaitLine("the database login may change the ledger")
}

func TestServe_GracefulShutdown(t *testing.T) {
	t.Parallel()
	// On SIGTERM during a request the server accepts no new requests, finishes that one, and
	// exits cleanly.
	h := newTestEnv(t)
	quote := h.createQuote("")
	blocker, err := h.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer blocker.Rollback()
	if _, err := blocker.Exec("SELECT FROM transactions WHERE id = $1 FOR UPDATE", uuidOf(quote.text("transactionId"))); err != nil {
		t.Fatal(err)
	}
	responses := make(chan apiResponse, 1)
	go func() {
		got, _ := h.do(context.Background(), http.MethodPost, "/sandbox/send", object{"reference": paymentReference(quote),
			"currencyCode": "USD"})
		responses <- got
	}()
	eventually(t, "the payment waits for the lock", func() bool {
		return h.queryInt("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	})

	h.server.Signal(syscall.SIGTERM)
	h.server.endedByTest = true
	// New requests are rejected, by a response or by a refused connection.
	eventually(t, "readiness ends", func() bool {
		response, err := http.Get(h.server.rootURL() + "/readyz")
		if err != nil {
			return true
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusServiceUnavailable
	})
	select {
	case got := <-responses:
		t.Fatalf("a response before the lock was released: %d %s", got.status, got.body)
	default:
	}
	if err := blocker.Rollback(); err != nil {
		t.Fatal(err)
	}

	if got := <-responses; got.status != http.StatusOK || got.text("status") != "PROCESSING" {
		t.Errorf("the response to the running request was %d %s", got.status, got.body)
	}
	if status := h.server.awaitExit(); status != 0 {
		t.Errorf("status %d", status)
	}

	// The next server continues with the payment.
	h.server = startServer(t, h.databaseURL)
	h.BaseURL = h.server.baseURL
	hooks := h.startReceiver()
	_ = hooks
	eventually(t, "completion", func() bool {
		return h.get("/transactions/"+quote.text("transactionId")).text("status") == "COMPLETED"
	})
}

func TestServe_WithoutWorkersLeavesJobsToOthers(t *testing.T) {
	t.Parallel()
	// Jobs that a process without workers creates are due at once, reserved for nobody, and done by
	// another process.
	h := newTestEnv(t, "--no-workers")
	worker := startServer(t, h.databaseURL)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "PENDING")

	worker.terminate()
	h.payQuote(quote, 0).wantStatus(200)
	if n := h.queryInt("SELECT count(*) FROM jobs WHERE step = 'deliver' AND due_at < now() + interval '5 seconds'"); n != 1 {
		t.Errorf("%d payouts are due, want 1", n)
	}
	worker = startServer(t, h.databaseURL)

	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	h.withServer(worker).get("/config").wantStatus(200)
}

func TestLedgerCommands_ShowPaymentAndDetectTampering(t *testing.T) {
	t.Parallel()
	// The ledger commands show what the payment posted, and the check fails if the ledger was
	// tampered with.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	h.payQuote(quote, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	env := []string{"DATABASE_URL=" + h.databaseURL}

	if out := mustRunCommand(t, env, "ledger", "check"); strings.TrimSpace(out) == "" {
		t.Error("ledger check does not print what it checked")
	}
	balances := mustRunCommand(t, env, "ledger", "balances")
	for _, row := range []string{"rails/RTP", "income/fees", "fx/position", "chains/LAYER2", "100.50"} {
		if !strings.Contains(balances, row) {
			t.Errorf("no %s in the balances:\n%s", row, balances)
		}
	}
	entries := mustRunCommand(t, env, "ledger", "entries", "--transaction", quote.text("transactionId"))
	for _, row := range []string{"jit_received", "converted", "delivered", "funding/jit", "transit/payouts", "100.50"} {
		if !strings.Contains(entries, row) {
			t.Errorf("no %s in the entries:\n%s", row, entries)
		}
	}
	if _, errOut, status := runCommand(t, env, "ledger", "entries", "--transaction", "Transaction:1"); status == 0 || errOut == "" {
		t.Errorf("entries of a malformed id: status %d", status)
	}

	// The owner of the tables cannot change an entry by mistake; a change on purpose is found.
	if _, err := h.db.Exec("UPDATE ledger_entries SET amount = amount + 1"); err == nil {
		t.Error("an entry was changed")
	}
	if _, err := h.db.Exec("DELETE FROM ledger_postings"); err == nil {
		t.Error("a posting was deleted")
	}
	h.exec("ALTER TABLE ledger_entries DISABLE TRIGGER append_only")
	h.exec("UPDATE ledger_entries SET amount = amount + 1 WHERE (platform_id, seq, entry_no) = (SELECT platform_id, seq, entry_no FROM " +
		"ledger_entries ORDER BY seq DESC, entry_no LIMIT 1)")
	out, errOut, status := runCommand(t, env, "ledger", "check")
	if status == 0 {
		t.Errorf("tampering was not found:\n%s%s", out, errOut)
	}
	h.exec("UPDATE ledger_entries SET amount = amount - 1 WHERE (platform_id, seq, entry_no) = (SELECT platform_id, seq, entry_no FROM " +
		"ledger_entries ORDER BY seq DESC, entry_no LIMIT 1)")
	h.exec("ALTER TABLE ledger_entries ENABLE TRIGGER append_only")
}
