package e2e

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestDatabase_SilenceCostsOnlyItsRequests(t *testing.T) {
	t.Parallel()
	// The database says nothing for some seconds, without closing a connection. Every request is
	// answered within its own time, with 503 and Retry-After. Afterwards everything goes on: no
	// connection and no goroutine is left behind, and payments complete.
	const requestTimeout, silence = 2 * time.Second, 8 * time.Second
	h := newDatabaseEnv(t)
	proxy := startDatabaseProxy(t, h.databaseURL)
	h.server = startServer(t, proxy.URL(), "--request-timeout", requestTimeout.String(), "--batch-timeout", "3s")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	hooks := h.startReceiver()
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	account := h.fundedAccount(customer)
	before := h.server.goroutines()

	var requests, unavailable, succeededAfter atomic.Int64
	stop := make(chan struct{})
	var resumed atomic.Bool
	var load sync.WaitGroup
	for n := range 16 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				method, path, body := http.MethodPost, "/quotes", any(kit.RampQuoteBody(customer, wallet, "SENDING", 10050))
				switch n % 4 {
				case 0:
					method, path, body = http.MethodGet, "/customers/"+customer, nil
				case 1:
					path, body = "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100}
				case 2:
					method, path, body = http.MethodGet, "/transactions?limit=5", nil
				}
				wasResumed := resumed.Load()
				begin := time.Now()
				got, err := h.do(t.Context(), method, path, body)
				requests.Add(1)
				switch took := time.Since(begin); {
				case err != nil:
					t.Errorf("%s %s: %v", method, path, err)
				case took > requestTimeout+time.Second:
					t.Errorf("%s %s was answered after %s with %d", method, path, took, got.status)
				case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "":
					unavailable.Add(1)
				case got.status >= 300:
					t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
				case wasResumed:
					succeededAfter.Add(1)
				}
				if got.status >= 300 {
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)

	proxy.Silence()
	time.Sleep(silence)
	if unavailable.Load() == 0 {
		t.Error("no request got 503 during the silence")
	}
	proxy.Resume()
	resumed.Store(true)

	eventuallyWithin(t, 10*time.Second, "requests succeed again", func() bool { return succeededAfter.Load() > 100 })
	close(stop)
	load.Wait()
	quote := h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050)).wantStatus(201)
	h.payQuote(quote, 0).wantStatus(200)
	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	eventuallyWithin(t, 30*time.Second, "no goroutine is left", func() bool { return h.server.goroutines() < before+20 })
	eventuallyWithin(t, 30*time.Second, "no session is left in a transaction", func() bool {
		return h.queryInt("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'causeway%' AND state LIKE 'idle in transaction%'") == 0
	})
	t.Logf("%d requests, %d of them 503", requests.Load(), unavailable.Load())
}

func TestCommit_VanishedHostLeavesNoLock(t *testing.T) {
	t.Parallel()
	// The host of one process vanishes at the commit of a payment. If the database got the commit, it
	// has got the postings with it, and another process posts on the same platform and account at once.
	// If not, it ends the session after some seconds and frees its locks.
	for name, c := range map[string]struct {
		fault kit.CommitFault
		limit time.Duration
	}{
		"after the commit":  {kit.VanishAfterCommit, 2 * time.Second},
		"before the commit": {kit.VanishBeforeCommit, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDatabaseEnv(t)
			proxy := startDatabaseProxy(t, h.databaseURL)
			h.server = startServer(t, h.databaseURL)
			vanishing := startServer(t, proxy.URL(), "--no-workers", "--request-timeout", "1s")
			h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
			account := h.fundedAccount(h.createCustomer())
			path, body := "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100}
			keyed := h.withHeader("Idempotency-Key", uuid.NewString())

			proxy.FailNextCommit(c.fault)
			if got := keyed.withServer(vanishing).call(http.MethodPost, path, body); got.status != http.StatusServiceUnavailable {
				t.Errorf("through the vanished host: %d %s", got.status, got.body)
			}
			begin := time.Now()
			eventuallyWithin(t, c.limit, "another process posts", func() bool { return h.call(http.MethodPost, path, body).status == http.StatusOK })
			t.Logf("posted after %s", time.Since(begin))

			// The repetition pays once, whatever became of the first.
			keyed.call(http.MethodPost, path, body).wantStatus(http.StatusOK)
			if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'deposit'"); n != 3 {
				t.Errorf("%d deposits, want 3", n)
			}
		})
	}
}

// fundedAccount opens an account in dollars for a customer, with some money, and returns its id.
func (p *tenant) fundedAccount(customer string) string {
	p.t.Helper()
	account := p.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	p.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100_000}).wantStatus(200)
	return account
}

var goroutinesMetric = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)

// goroutines returns the number of goroutines of the server.
func (p *process) goroutines() int {
	p.t.Helper()
	_, metrics := getText(p.t, p.adminURL()+"/metrics")
	found := goroutinesMetric.FindStringSubmatch(metrics)
	if found == nil {
		p.t.Fatal("no go_goroutines in /metrics")
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}
