package e2e

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	"causeway/e2e/kit"
)

func TestDatabase_ReadsOfStandby(t *testing.T) {
	t.Parallel()
	// Lists and reports are read from a standby, and show what a caller has written before. While it replays nothing, is frozen or is
	// killed, the primary is read, without an error. What checks a ledger reads a standby too.
	primary, standby := startPrimaryAndStandby(t)
	mustRunCommand(t, []string{"DATABASE_URL=" + primary.URL()}, "migrate")
	h := &testEnv{t: t, databaseURL: primary.URL()}
	if _, err := kit.CreateServiceLogin(waitContext(t), primary.URL()); err != nil {
		t.Fatal(err)
	}
	asService := func(p *kit.Postgres) string {
		return strings.Replace(p.URL(), "//causeway@", "//causeway_web:causeway_web@", 1)
	}
	h.server = startServerAs(t, asService(primary), "--database-read-url", asService(standby))
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	listNew := func(state string) {
		t.Helper()
		for range 10 {
			customer := h.createCustomer()
			began := time.Now()
			h.get("/customers?limit=1").wantStatus(http.StatusOK).wantValues(object{"data.0.id": customer})
			if waited := time.Since(began); waited > 10*time.Second {
				t.Errorf("%s: a list took %s", state, waited)
			}
		}
		h.get("/ledger/trial-balance").wantStatus(http.StatusOK)
	}

	listNew("the standby is there")
	if on, elsewhere := countReaders(t, standby), countReaders(t, primary); on == 0 || elsewhere != 0 {
		t.Errorf("%d connections read the standby, and %d the primary", on, elsewhere)
	}
	h.fundedAccount(h.createCustomer())
	if err := standby.CatchUp(waitContext(t), primary); err != nil {
		t.Fatal(err)
	}
	if out := mustRunCommand(t, []string{"DATABASE_URL=" + standby.URL()}, "ledger", "check"); !strings.Contains(out, "passed") {
		t.Errorf("check of the standby:\n%s", out)
	}

	if err := standby.Exec(waitContext(t), "SELECT pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
	listNew("the standby is behind")
	h.server.awaitLine("the standby for reading is more than a second behind")
	standby.Freeze()
	listNew("the standby is frozen")
	standby.Kill()
	listNew("the standby is killed")
}

// countReaders returns how many connections for lists and reports a server has.
func countReaders(t *testing.T, p *kit.Postgres) (n int) {
	t.Helper()
	db, err := sql.Open("pgx", p.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'causeway readers'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
