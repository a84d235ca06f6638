package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestDatabase_FrozenPrimaryIsNoticed(t *testing.T) {
	t.Parallel()
	// All processes of the primary stop, and its connections stay open. A payment that waits for it ends because that is noticed, not
	// at a deadline, and the service is not ready. When its standby is promoted, the same process pays again while the former primary
	// is still frozen, and the payment is made once.
	primary, standby := startPrimaryAndStandby(t)
	h, account := startOnPrimaryAndStandby(t, primary, standby, kit.FailoverURL(primary, standby),
		"--request-timeout", "5m", "--batch-timeout", "5m")
	path, body := "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100}
	keyed := h.withHeader("Idempotency-Key", uuid.NewString())

	primary.Freeze()
	began := time.Now()
	waited := keyed.call(http.MethodPost, path, body).wantError(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	t.Logf("the payment waited %s", time.Since(began))
	if !strings.Contains(waited.text("message"), "The database is not available") {
		t.Errorf("the payment has ended otherwise: %s", waited.body)
	}
	if status, _ := getText(t, h.server.rootURL()+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d", status)
	}
	if status, text := getText(t, h.server.adminURL()+"/readyz"); status != http.StatusServiceUnavailable ||
		!strings.Contains(text, "does not answer") {
		t.Errorf("/readyz for operators: %d %s", status, text)
	}
	execAll(t, standby, "SELECT pg_promote()")

	eventually(t, "the payment is made", func() bool { return keyed.call(http.MethodPost, path, body).status == http.StatusOK })
	h.server.awaitReady()
	h.get("/customers/internal-accounts?currency=USD").wantStatus(http.StatusOK).wantValues(object{"data.0.balance.amount": 100_100})
}

func TestDatabase_CommitThatNoStandbyHasIsNotAnswered(t *testing.T) {
	t.Parallel()
	// The synchronous standby is frozen, so a payment cannot be committed on both servers, and its request ends. Neither that request nor
	// its repetition is answered with a payment that only the primary has, and nobody sees it. The standby takes over: the payment is
	// made once.
	primary, standby := startPrimaryAndStandby(t)
	h, account := startOnPrimaryAndStandby(t, primary, standby, kit.FailoverURL(primary, standby),
		"--request-timeout", "1s", "--batch-timeout", "1s")
	execAll(t, primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
	path, body := "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100}
	keyed := h.withHeader("Idempotency-Key", uuid.NewString())
	keyed.call(http.MethodPost, path, body).wantStatus(http.StatusOK)

	standby.Freeze()
	keyed = h.withHeader("Idempotency-Key", uuid.NewString())
	for range 4 {
		keyed.call(http.MethodPost, path, body).wantError(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	}
	h.get("/customers/internal-accounts?currency=USD").wantStatus(http.StatusOK).wantValues(object{"data.0.balance.amount": 100_100})
	primary.Kill()
	standby.Thaw()
	execAll(t, standby, "SELECT pg_promote()")

	eventually(t, "the payment is made", func() bool { return keyed.call(http.MethodPost, path, body).status == http.StatusOK })
	h.get("/customers/internal-accounts?currency=USD").wantStatus(http.StatusOK).wantValues(object{"data.0.balance.amount": 100_200})
}

func TestDatabase_PrimaryThatWasReplacedIsLeft(t *testing.T) {
	t.Parallel()
	// A standby is promoted while its primary goes on to run, and that accepts connections. The process leaves the former primary, whose
	// commits nobody confirms any more, for the new one with a standby of its own.
	primary, standby := startPrimaryAndStandby(t)
	h, account := startOnPrimaryAndStandby(t, primary, standby, kit.FailoverURL(primary, standby))
	execAll(t, primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
	path, body := "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100}
	h.withHeader("Idempotency-Key", uuid.NewString()).call(http.MethodPost, path, body).wantStatus(http.StatusOK)
	// The primary may not have waited for its standby yet: it reads its settings again when it comes to it.
	const isReplicated = "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM pg_stat_replication WHERE replay_lsn < pg_current_wal_lsn()); END $$"
	eventually(t, "the standby has the payment", func() bool { return primary.Exec(waitContext(t), isReplicated) == nil })

	execAll(t, standby, "SELECT pg_promote()")
	dir, err := kit.PostgresFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	third, err := standby.NewStandby(waitContext(t), filepath.Join(dir, "third"), "third")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(third.Kill)
	execAll(t, standby, "ALTER SYSTEM SET synchronous_standby_names = 'third'", "SELECT pg_reload_conf()")

	keyed := h.withHeader("Idempotency-Key", uuid.NewString())
	eventually(t, "the payment is made", func() bool { return keyed.call(http.MethodPost, path, body).status == http.StatusOK })
	eventually(t, "the new primary is read", func() bool {
		return h.get("/customers/internal-accounts?currency=USD").text("data.0.balance.amount") == "100200"
	})
}

func TestDatabase_StandbyThatWasPromotedByMistakeIsNotUsed(t *testing.T) {
	t.Parallel()
	// A standby that is named first is promoted while the primary goes on to run. The process stays with its primary, also with new
	// connections, because nobody confirms what the other one commits, although it names a standby for that, as its primary may.
	primary, standby := startPrimaryAndStandby(t)
	h, account := startOnPrimaryAndStandby(t, primary, standby, kit.FailoverURL(standby, primary))
	path, body := "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100}
	const isWatched = "DO $$ BEGIN ASSERT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'causeway watch'); END $$"
	eventually(t, "the process watches its primary", func() bool { return primary.Exec(waitContext(t), isWatched) == nil })
	execAll(t, standby, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()", "SELECT pg_promote()")
	for range 10 {
		execAll(t, primary, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'causeway work'")
		keyed := h.withHeader("Idempotency-Key", uuid.NewString())
		eventually(t, "a payment is made", func() bool { return keyed.call(http.MethodPost, path, body).status == http.StatusOK })
		time.Sleep(200 * time.Millisecond) // several questions to both servers
	}

	h.get("/customers/internal-accounts?currency=USD").wantStatus(http.StatusOK).wantValues(object{"data.0.balance.amount": 101_000})
	const writers = "DO $$ BEGIN IF EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'causeway work') THEN RAISE 'it is used'; END IF; END $$"
	execAll(t, standby, writers)
}

// startOnPrimaryAndStandby starts the service with a URL of both servers, and returns an account with money.
func startOnPrimaryAndStandby(t *testing.T, primary, standby *kit.Postgres, url string, flags ...string) (h *testEnv, account string) {
	t.Helper()
	mustRunCommand(t, []string{"DATABASE_URL=" + primary.URL()}, "migrate")
	h = &testEnv{t: t, databaseURL: primary.URL()}
	if _, err := kit.CreateServiceLogin(waitContext(t), primary.URL()); err != nil {
		t.Fatal(err)
	}
	h.server = startServerAs(t, strings.Replace(url, "//causeway@", "//causeway_web:causeway_web@", 1), flags...)
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	account = h.fundedAccount(h.createCustomer())
	if err := standby.CatchUp(waitContext(t), primary); err != nil {
		t.Fatal(err)
	}
	return h, account
}

func execAll(t *testing.T, server *kit.Postgres, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := server.Exec(waitContext(t), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// startPrimaryAndStandby starts two servers that end with the test.
func startPrimaryAndStandby(t *testing.T) (primary, standby *kit.Postgres) {
	t.Helper()
	dir, err := kit.PostgresFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if primary, err = kit.CreatePostgres(waitContext(t), filepath.Join(dir, "primary")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(primary.Kill)
	if standby, err = primary.NewStandby(waitContext(t), filepath.Join(dir, "standby"), "standby"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.Kill)
	return primary, standby
}
