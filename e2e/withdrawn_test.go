package e2e

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

func TestCommand_OfGoneCallerIsNotRun(t *testing.T) {
	t.Parallel()
	// A locked account makes the payments of a platform wait until their callers get 503. When the lock
	// is gone, the payment of the batch that was running may be made; those that waited are not, so
	// that repeating them without a key pays once. Another platform is not affected.
	h := newTestEnv(t)
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	account, otherAccount := h.fundedAccount(h.createCustomer()), other.fundedAccount(other.createCustomer())
	hurried := startServer(t, h.databaseURL, "--request-timeout", "1s")
	fund := func(p *tenant, account string) apiResponse {
		return p.withServer(hurried).call(http.MethodPost, "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100})
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
	eventually(t, "the first is in a batch that waits", func() bool {
		return h.queryInt("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	})
	for range waiting {
		callers.Go(func() {
			if got := fund(h.tenant, account); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
				t.Errorf("while the account is locked: %d %s", got.status, got.body)
			}
		})
	}
	attempts := int64(0)
	eventually(t, "another platform is not affected", func() bool { attempts++; return fund(other, otherAccount).status == http.StatusOK })
	callers.Wait()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}

	again := int64(0)
	eventually(t, "payments are made again", func() bool { again++; return fund(h.tenant, account).status == http.StatusOK })
	_, metrics := getText(t, hurried.adminURL()+"/metrics")
	counted := regexp.MustCompile(`(?m)^causeway_commands_withdrawn_total\{command="fund account"\} (\d+)$`).FindStringSubmatch(metrics)
	if counted == nil {
		t.Fatal("no withdrawn commands are counted")
	}
	withdrawn, err := strconv.ParseInt(counted[1], 10, 64)
	if err != nil || withdrawn == 0 {
		t.Errorf("%d commands were withdrawn, %v", withdrawn, err)
	}
	// The first one, the batch of one, those that waited and those at the end: none of the withdrawn.
	if n := deposits(h.tenant); n > 1+1+waiting+again-withdrawn {
		t.Errorf("%d deposits, although %d of %d commands were withdrawn", n, withdrawn, 1+waiting+again)
	}
	if n := deposits(other); n < 2 || n > 1+attempts {
		t.Errorf("%d deposits of the other platform with %d attempts, want 2", n, attempts)
	}
}
