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
	mustRunCommand(t, []string{"DATABASE_URL=" + primary.URL()}, "migrate")
	h := &testEnv{t: t, databaseURL: primary.URL()}
	if _, err := kit.CreateServiceLogin(waitContext(t), primary.URL()); err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(kit.FailoverURL(primary, standby), "//causeway@", "//causeway_web:causeway_web@", 1)
	h.server = startServerAs(t, url, "--request-timeout", "5m", "--batch-timeout", "5m")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	account := h.fundedAccount(h.createCustomer())
	if err := standby.CatchUp(waitContext(t), primary); err != nil {
		t.Fatal(err)
	}
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
	if err := standby.Exec(waitContext(t), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}

	eventually(t, "the payment is made", func() bool { return keyed.call(http.MethodPost, path, body).status == http.StatusOK })
	h.server.awaitReady()
	h.get("/customers/internal-accounts?currency=USD").wantStatus(http.StatusOK).wantValues(object{"data.0.balance.amount": 100_100})
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
