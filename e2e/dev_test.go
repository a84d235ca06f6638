package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dev starts the program with everything of its own in a folder.
func dev(t *testing.T, folder string, options ...string) *process {
	t.Helper()
	p := start(t, nil, append([]string{"dev", "--listen", "127.0.0.1:0", "--data", folder, "--sandbox-speed", "1000"}, options...)...)
	line := p.log.await(t, "the address", func(line string) bool {
		return strings.HasPrefix(line, "causeway ") && strings.Contains(line, " serves ")
	})
	_, p.base, _ = strings.Cut(line, " serves ")
	p.ready()
	return p
}

// credentials are those that a data folder holds, as the party they belong to.
func credentials(t *testing.T, folder string, p *process) *party {
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
	if len(found) != 4 || found["baseUrl"] != p.base {
		t.Errorf("credentials.json has %d fields and the address %s, want 4 and %s", len(found), found["baseUrl"], p.base)
	}
	return &party{client: newClient(t, p.base, found["clientId"], found["clientSecret"]), platform: found["platformId"]}
}

// closedFolder is a folder inside one that others may not enter.
func closedFolder(t *testing.T) string {
	t.Helper()
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(closed, "data")
}

func TestDev(t *testing.T) {
	t.Parallel()
	// On a fresh folder the program brings up all it needs, plays a payment, and serves;
	// a second one on the folder is refused; killed and started again it goes on with
	// what there was; and the books can be proved beside it and without it.
	folder := closedFolder(t)
	first := dev(t, folder)
	first.log.await(t, "the end of the play", func(line string) bool { return strings.Contains(line, "Played in ") })
	for _, step := range []string{"POST /customers", "POST /quotes", "POST /sandbox/send", "OUTGOING_PAYMENT.COMPLETED", "jit_received", "converted", "delivered", "rails/RTP"} {
		if !strings.Contains(first.log.all(), step) {
			t.Errorf("the play does not show %s:\n%s", step, first.log.all())
		}
	}
	p := credentials(t, folder, first)
	until(t, "the play gives the webhooks back", func() bool { return p.get("/config").want(200).str("webhookEndpoint") == "" })
	hooks := p.hookUp()
	quote := p.quote("")
	p.pay(quote, 0).want(200)
	hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	beside := []string{"ledger", "check", "--data", folder}
	must(t, nil, beside...)

	second := launch(t, nil, "dev", "--listen", "127.0.0.1:0", "--data", folder)
	if status := second.wait(); status == 0 || !strings.Contains(second.log.all(), folder) && !strings.Contains(second.log.all(), "in use") {
		t.Errorf("a second one on the folder: status %d\n%s", status, second.log.all())
	}
	p.get("/config").want(200)

	// Killed with a payment on its way.
	open := p.quote("")
	p.pay(open, 0).want(200)
	first.kill()
	again := dev(t, folder)
	if strings.Contains(again.log.all(), "POST /quotes") {
		t.Error("the payment is played on every start")
	}
	p2 := credentials(t, folder, again)
	if p2.platform != p.platform || p2.secret != p.secret {
		t.Error("a second start made other credentials")
	}
	p.base = again.base
	p.get("/transactions/" + quote.str("transactionId")).want(200).each(map[string]any{"status": "COMPLETED"})
	hooks.awaitWithin(drain, "the end of the payment on its way", func(d delivery) bool {
		return d.about == open.str("transactionId") && d.event == "OUTGOING_PAYMENT.COMPLETED"
	})
	hooks.story(open.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")

	again.terminate()
	must(t, nil, beside...)
	if out := must(t, nil, "ledger", "balances", "--data", folder); !strings.Contains(out, "rails/RTP") {
		t.Errorf("balances without a server:\n%s", out)
	}
	assertNoPostgres(t, folder)
}

func TestPlayedAgain(t *testing.T) {
	t.Parallel()
	// The play can be had again beside a running server, as often as one likes, and
	// leaves the platform's endpoint as it was.
	folder := closedFolder(t)
	p := credentials(t, folder, dev(t, folder, "--no-demo"))
	hooks := p.listen()
	for range 2 {
		if played := must(t, nil, "demo", "--data", folder); !strings.Contains(played, "OUTGOING_PAYMENT.COMPLETED") {
			t.Errorf("the play beside the server:\n%s", played)
		}
		p.get("/config").want(200).each(map[string]any{"webhookEndpoint": hooks.server.URL + "/hooks"})
	}
}

func TestDevWithoutPlay(t *testing.T) {
	t.Parallel()
	// With --no-demo nothing is played; with DATABASE_URL no Postgres of its own is
	// started; and a command that finds no database says what to do.
	folder := closedFolder(t)
	h := newDatabase(t)
	p := start(t, []string{"DATABASE_URL=" + h.database}, "dev", "--listen", "127.0.0.1:0", "--data", folder, "--no-demo")
	line := p.log.await(t, "the address", func(line string) bool { return strings.Contains(line, " serves ") })
	_, p.base, _ = strings.Cut(line, " serves ")
	p.ready()

	found := credentials(t, folder, p)
	found.get("/config").want(200)
	if n := len(listed(found.get("/customers").want(200))); n != 0 {
		t.Errorf("%d customers though nothing was to be played", n)
	}
	if _, err := os.Stat(filepath.Join(folder, "postgres")); err == nil {
		t.Error("a Postgres was made though one was named")
	}
	_, errOut, status := command(t, nil, "ledger", "check", "--data", filepath.Join(folder, "nothing"))
	if status == 0 || !strings.Contains(errOut, "DATABASE_URL") {
		t.Errorf("without a database: status %d, %s", status, errOut)
	}
}

// assertNoPostgres checks that no server works on the folder any more.
func assertNoPostgres(t *testing.T, folder string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, "postgres", "postmaster.pid")); err == nil {
		t.Error("Postgres still runs, or did not end well")
	}
}
