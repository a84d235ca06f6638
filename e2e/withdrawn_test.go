package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCommand_OfGoneCallerIsNotRun(t *testing.T) {
	t.Parallel()
	// A locked account makes the payments of a platform wait until their callers get 503. When the lock
	// is gone, the payment of the batch that was running may be made; those that waited are not, so
	// that repeating them without a key pays once. Another platform is not affected.
	h := newTestEnv(t, "--request-timeout", "1s")
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	account, otherAccount := h.fundedAccount(h.createCustomer()), other.fundedAccount(other.createCustomer())
	fund := func(p *tenant, account string) apiResponse {
		return p.call(http.MethodPost, "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100})
	}
	deposits := func(p *tenant) int64 {
		return h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'deposit' AND platform_id = $1", uuidOf(p.platformID))
	}
	lock, err := h.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec("SELECT FROM ledger_balances WHERE platform_id = $1 FOR UPDATE", uuidOf(h.platformID)); err != nil {
		t.Fatal(err)
	}

	const waiting = 5
	var callers sync.WaitGroup
	callers.Go(func() { fund(h.tenant, account) })
	time.Sleep(200 * time.Millisecond) // the first is in a batch
	for range waiting {
		callers.Go(func() {
			if got := fund(h.tenant, account); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
				t.Errorf("while the account is locked: %d %s", got.status, got.body)
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	fund(other, otherAccount).wantStatus(http.StatusOK)
	callers.Wait()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}

	eventually(t, "payments are made again", func() bool { return fund(h.tenant, account).status == http.StatusOK })
	if n := deposits(h.tenant); n > 3 { // two that succeeded, and that of the batch
		t.Errorf("%d deposits: withdrawn ones were made", n)
	}
	if n := deposits(other); n != 2 {
		t.Errorf("%d deposits of the other platform, want 2", n)
	}
	if _, metrics := getText(t, h.server.adminURL()+"/metrics"); !strings.Contains(metrics, `causeway_commands_withdrawn_total{command="fund account"} 5`) {
		t.Error("the withdrawn commands are not counted")
	}
}
