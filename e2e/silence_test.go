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
	// The database says nothing until every caller got some answers, without closing a connection:
	// each is 503 with Retry-After. Afterwards everything goes on: no connection and no goroutine is
	// left behind, and payments complete.
	const callers, silentAnswers = 16, 2
	h := newDatabaseEnv(t)
	proxy := startDatabaseProxy(t, h.databaseURL)
	h.server = startServer(t, proxy.URL(), "--request-timeout", "4s", "--batch-timeout", "5s")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	hooks := h.startReceiver()
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	account := h.fundedAccount(customer)
	goroutines := h.server.goroutines()

	const before, silent, resumed = 0, 1, 2
	var phase atomic.Int32
	var succeeded [resumed + 1]atomic.Int64
	var unavailable [callers]atomic.Int64 // of requests that began in the silence
	stop := make(chan struct{})
	var load sync.WaitGroup
	for n := range callers {
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
				during := phase.Load()
				got, err := h.do(t.Context(), method, path, body)
				switch {
				case err != nil:
					t.Errorf("%s %s: %v", method, path, err)
				case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "":
					if during == silent {
						unavailable[n].Add(1)
					}
				case got.status >= 300:
					t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
				default:
					succeeded[during].Add(1)
				}
				if got.status >= 300 {
					time.Sleep(50 * time.Millisecond) // as a client that repeats its request
				}
			}
		})
	}
	endLoad := sync.OnceFunc(func() { close(stop); load.Wait() })
	defer endLoad()
	eventually(t, "requests succeed", func() bool { return succeeded[before].Load() > 100 })

	proxy.Silence()
	phase.Store(silent)
	eventually(t, "every caller is answered in the silence", func() bool {
		for n := range unavailable {
			if unavailable[n].Load() < silentAnswers {
				return false
			}
		}
		return true
	})
	proxy.Resume()
	phase.Store(resumed)

	eventually(t, "requests succeed again", func() bool { return succeeded[resumed].Load() > 100 })
	endLoad()
	quote := h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050)).wantStatus(201)
	h.payQuote(quote, 0).wantStatus(200)
	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	eventually(t, "no goroutine is left", func() bool { return h.server.goroutines() < goroutines+20 })
	eventually(t, "no session is left in a transaction", func() bool {
		return h.queryInt("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'causeway%' AND "+
			"state LIKE 'idle in transaction%'") == 0
	})
}

func TestCommit_VanishedHostLeavesNoLock(t *testing.T) {
	t.Parallel()
	// The host of one process vanishes at the commit of a payment. If the database got the commit, it
	// has got the postings with it, and another process posts on the same platform and account at once.
	// If not, it ends the session after some seconds and frees its locks.
	for name, fault := range map[string]kit.CommitFault{"after the commit": kit.VanishAfterCommit,
		"before the commit": kit.VanishBeforeCommit} {
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

			proxy.FailNextCommit(fault)
			if got := keyed.withServer(vanishing).call(http.MethodPost, path, body); got.status != http.StatusServiceUnavailable {
				t.Errorf("through the vanished host: %d %s", got.status, got.body)
			}
			if fault == kit.VanishAfterCommit {
				h.call(http.MethodPost, path, body).wantStatus(http.StatusOK) // it would get 503 from a lock
			} else {
				eventually(t, "another process posts", func() bool { return h.call(http.MethodPost, path, body).status == http.StatusOK })
			}

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
