package e2e

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/adapters/encryption"
	"causeway/adapters/pgembed/pgtest"
)

// startDev starts causeway dev on a data folder.
func startDev(t *testing.T, folder string, options ...string) *process {
	t.Helper()
	p := startProcess(t, nil, append([]string{"dev", "--listen", "127.0.0.1:0", "--data", folder, "--sandbox-speed", "1000"}, options...)...)
	line := p.awaitLine(" serves ")
	_, p.baseURL, _ = strings.Cut(line, " serves ")
	p.awaitReady()
	return p
}

// readCredentials returns the platform of the credentials in a data folder.
func readCredentials(t *testing.T, folder string, p *process) *tenant {
	t.Helper()
	path := filepath.Join(folder, "credentials.json")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("credentials.json has mode %o", info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found map[string]string
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 4 || found["baseUrl"] != p.baseURL {
		t.Errorf("credentials.json has %d fields and the address %s, want 4 and %s", len(found), found["baseUrl"], p.baseURL)
	}
	return &tenant{client: newClient(t, p.baseURL, found["clientId"], found["clientSecret"]), platformID: found["platformId"]}
}

// newPrivateFolder returns a folder inside one that other users cannot enter.
func newPrivateFolder(t *testing.T) string {
	t.Helper()
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(closed, "data")
}

// newStartedFolder is newPrivateFolder with the data of an earlier start, for tests of what is done after the first.
func newStartedFolder(t *testing.T) string {
	t.Helper()
	folder := newPrivateFolder(t)
	if err := started.Copy(waitContext(t), folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestDev_CommandsUseKeysOfFolder(t *testing.T) {
	t.Parallel()
	// Commands for operators find the database and the master key of the data folder, beside the
	// service and without it: the data key and then the master key are replaced, and the service
	// reads what was stored before.
	folder := newStartedFolder(t)
	server := startDev(t, folder)
	p := readCredentials(t, folder, server)
	customer := p.createCustomer()
	file := filepath.Join(folder, "master.key")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fresh := encryption.NewKey() + "\n"

	if out := mustRunCommand(t, nil, "keys", "rotate", "--data", folder, "--actor", "ana"); !strings.Contains(out, "Created data key") {
		t.Errorf("rotate printed %s", out)
	}
	if err := os.WriteFile(file, append([]byte(fresh), old...), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRunCommand(t, nil, "keys", "rotate", "--data", folder, "--actor", "ana")
	eventually(t, "the service reads the new master key", func() bool { return p.get("/customers/"+customer).status == 200 })
	server.terminate()
	if err := os.WriteFile(file, []byte(fresh), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRunCommand(t, nil, "keys", "reencrypt", "--data", folder)
	if out := mustRunCommand(t, nil, "keys", "list", "--data", folder); strings.Count(out, "unused") != 2 || !strings.Contains(out, "newest") {
		t.Errorf("listed:\n%s", out)
	}
	p.BaseURL = startDev(t, folder).baseURL
	p.get("/customers/" + customer).wantStatus(200)
}

func TestDev_StartsRunsDemoAndRecovers(t *testing.T) {
	t.Parallel()
	// On a new folder the program starts Postgres, runs the demo and serves; a second process
	// on the folder exits; after a kill the next start continues; and the ledger check passes
	// with and without a server.
	folder := newPrivateFolder(t)
	first := startDev(t, folder)
	first.awaitLine("Done in ")
	for _, step := range []string{"POST /customers", "POST /quotes", "POST /sandbox/send", "OUTGOING_PAYMENT.COMPLETED", "jit_received",
		"converted", "delivered", "rails/RTP"} {
		if !strings.Contains(first.Output(), step) {
			t.Errorf("the output of the demo has no %s:\n%s", step, first.Output())
		}
	}
	p := readCredentials(t, folder, first)
	eventually(t, "the demo restores the endpoint", func() bool { return p.get("/config").wantStatus(200).text("webhookEndpoint") == "" })
	hooks := p.startReceiverNoWait()
	quote := p.createQuote("")
	p.payQuote(quote, 0).wantStatus(200)
	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	check := []string{"ledger", "check", "--data", folder}
	mustRunCommand(t, nil, check...)

	second := startProcessNoCleanup(t, nil, "dev", "--listen", "127.0.0.1:0", "--data", folder)
	if status := second.awaitExit(); status == 0 || !strings.Contains(second.Output(), folder) &&
		!strings.Contains(second.Output(), "in use") {
		t.Errorf("a second process on the folder: status %d\n%s", status, second.Output())
	}
	p.get("/config").wantStatus(200)
	p.post("/customers/"+p.createCustomer()+"/kyc-link", object{"redirectUri": "http://localhost:3000/done"}).wantStatus(201)

	// It is killed with an unfinished payment.
	open := p.createQuote("")
	p.payQuote(open, 0).wantStatus(200)
	first.kill()
	again := startDev(t, folder)
	if strings.Contains(again.Output(), "POST /quotes") || !strings.Contains(again.Output(), "demo --data "+folder) {
		t.Errorf("a later start runs the demo, or does not say how:\n%s", again.Output())
	}
	p2 := readCredentials(t, folder, again)
	if p2.platformID != p.platformID || p2.ClientSecret != p.ClientSecret {
		t.Error("a second start created other credentials")
	}
	p.BaseURL = again.baseURL
	p.get("/transactions/" + quote.text("transactionId")).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED"})
	hooks.awaitDelivery("the end of the unfinished payment", func(d delivery) bool {
		return d.transactionID == open.text("transactionId") && d.event == "OUTGOING_PAYMENT.COMPLETED"
	})
	hooks.checkEvents(open.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")

	again.terminate()
	mustRunCommand(t, nil, check...)
	if out := mustRunCommand(t, nil, "ledger", "balances", "--data", folder); !strings.Contains(out, "rails/RTP") {
		t.Errorf("balances without a server:\n%s", out)
	}
	checkPostgresStopped(t, folder)
}

func TestDev_PortInUse(t *testing.T) {
	t.Parallel()
	// If the port is in use, the program says so, and has made no database.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	folder := newPrivateFolder(t)
	_, errOut, status := runCommand(t, nil, "dev", "--listen", listener.Addr().String(), "--data", folder)
	if status == 0 || !strings.Contains(errOut, "specify another one") || !strings.Contains(errOut, "--listen") {
		t.Errorf("status %d, %s", status, errOut)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data folder: %v", err)
	}
}

func TestDev_ShowsRefusedRequests(t *testing.T) {
	t.Parallel()
	// A developer sees in the terminal which requests were refused, and why.
	folder := newStartedFolder(t)
	server := startDev(t, folder, "--no-demo")
	readCredentials(t, folder, server).post("/quotes", object{}).wantStatus(400)
	if line := server.awaitLine("code=INVALID_INPUT"); !strings.Contains(line, "/quotes") || !strings.Contains(line, "status=400") {
		t.Errorf("logged %s", line)
	}
}

func TestDemo_RepeatsAgainstRunningServer(t *testing.T) {
	t.Parallel()
	// The demo can be run any number of times against a running server, and restores the
	// platform's endpoint.
	folder := newStartedFolder(t)
	p := readCredentials(t, folder, startDev(t, folder, "--no-demo"))
	hooks := p.startReceiver()
	for range 2 {
		if output := mustRunCommand(t, nil, "demo", "--data", folder); !strings.Contains(output, "OUTGOING_PAYMENT.COMPLETED") {
			t.Errorf("the demo on the running server:\n%s", output)
		}
		p.get("/config").wantStatus(200).wantValues(map[string]any{"webhookEndpoint": hooks.url})
		europe := mustRunCommand(t, nil, "demo", "--europe", "--data", folder)
		for _, shown := range []string{"status  PROCESSING", "INVALID_INPUT: code", "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED",
			"travelRule.proofMethod       WALLET_SIGNATURE", "= 3.50 USD", "trusted  true", "Done in"} {
			if !strings.Contains(europe, shown) {
				t.Errorf("the demo of Europe does not show %q:\n%s", shown, europe)
			}
		}
	}
}

func TestDev_WithoutDemoOrEmbeddedPostgres(t *testing.T) {
	t.Parallel()
	// With --no-demo no payment is made; with --database-url no private Postgres is started; and
	// a command that finds no database says what to do.
	folder := newPrivateFolder(t)
	h := newDatabaseEnv(t)
	p := startProcess(t, nil, "dev", "--listen", "127.0.0.1:0", "--data", folder, "--no-demo", "--database-url", h.databaseURL)
	line := p.awaitLine(" serves ")
	_, p.baseURL, _ = strings.Cut(line, " serves ")
	p.awaitReady()

	found := readCredentials(t, folder, p)
	found.get("/config").wantStatus(200)
	if n := len(itemIDs(found.get("/customers").wantStatus(200))); n != 0 {
		t.Errorf("%d customers without a demo", n)
	}
	if _, err := os.Stat(filepath.Join(folder, "postgres")); err == nil {
		t.Error("a private Postgres was started despite --database-url")
	}
	_, errOut, status := runCommand(t, nil, "ledger", "check", "--data", filepath.Join(folder, "nothing"))
	if status == 0 || !strings.Contains(errOut, "DATABASE_URL") {
		t.Errorf("without a database: status %d, %s", status, errOut)
	}
}

func TestDev_IgnoresDatabaseURLOfEnvironment(t *testing.T) {
	t.Parallel()
	// A DATABASE_URL that was set for something else is not touched: dev says so and runs on its
	// private Postgres.
	database := pgtest.NewEmpty(t)
	p := startProcess(t, []string{"DATABASE_URL=" + database}, "dev", "--listen", "127.0.0.1:0", "--data", newPrivateFolder(t), "--no-demo")

	p.awaitLine("DATABASE_URL is ignored")
	p.awaitLine(" serves ")

	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables in the database of DATABASE_URL, %v", tables, err)
	}
}

// checkPostgresStopped checks that no Postgres uses the folder any more.
func checkPostgresStopped(t *testing.T, folder string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, "postgres", "postmaster.pid")); err == nil {
		t.Error("Postgres still runs, or did not stop cleanly")
	}
}
