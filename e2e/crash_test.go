package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

// How hard the crash tests try; by default they take some tens of seconds.
const (
	killsEnv   = "CAUSEWAY_E2E_KILLS"
	workersEnv = "CAUSEWAY_E2E_WORKERS"
)

func setting(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number from 1, not %q", name, text)
	}
	return n
}

// drain is how long work that a killed process had begun may take: until its lease
// has ended, and some.
const drain = 90 * time.Second

func TestKilled(t *testing.T) {
	t.Parallel()
	// Killed again and again in the middle of its work and started again each time, the
	// program completes every payment it accepted exactly once, tells of each in order,
	// and its books are right.
	h := newHouse(t)
	hooks := h.listen()
	var where atomic.Pointer[process]
	where.Store(h.server)
	load := h.load(t, func(int) *process { return where.Load() })

	for range setting(t, killsEnv, 12) {
		load.awaitMore(5 + rand.Int64N(10))
		where.Load().kill()
		where.Store(serve(t, h.database))
	}
	load.awaitMore(20)

	h.server = where.Load()
	load.finish(hooks)
}

func TestOneOfTwoKilled(t *testing.T) {
	t.Parallel()
	// Of two processes side by side one is killed and stays dead: the other takes over
	// all of its work.
	h := newHouse(t)
	servers := []*process{h.server, serve(t, h.database)}
	hooks := h.listen()
	var dead atomic.Bool
	load := h.load(t, func(n int) *process {
		if dead.Load() {
			return servers[1]
		}
		return servers[n%2]
	})

	load.awaitMore(60)
	servers[0].kill()
	dead.Store(true)
	load.awaitMore(60)

	load.finish(hooks)
}

// load is workers who make payments, one after the other and of every kind in turn,
// and send each request again with the same key until it is answered.
type load struct {
	h        *house
	t        *testing.T
	where    func(n int) *process
	customer string
	wallet   string
	balance  string // an account that pays, with more than it can lose
	bank     string

	stop    context.CancelFunc
	workers sync.WaitGroup
	retries atomic.Int64
	paid    atomic.Int64
	mu      sync.Mutex
	ways    map[method][]accepted
	more    chan struct{}
}

// method is one of the ways money leaves.
type method string

const (
	justInTime method = "paid just in time"
	fromOwn    method = "paid by a balance"
	outright   method = "transferred"
)

// accepted is a payment that the program has taken on.
type accepted struct {
	transaction    string
	sent, received int64
}

// pile is what the balance begins with.
const pile = 100_000_000

func (h *house) load(t *testing.T, where func(int) *process) *load {
	ctx, stop := context.WithCancel(t.Context())
	l := &load{h: h, t: t, where: where, stop: stop, more: make(chan struct{}, 1)}
	l.customer = h.customer()
	l.wallet, l.bank, l.ways = h.wallet(l.customer, ""), h.bank(l.customer), map[method][]accepted{}
	l.balance = h.get("/customers/internal-accounts?currency=USD&customerId=" + l.customer).want(200).str("data.0.id")
	h.post("/sandbox/internal-accounts/"+l.balance+"/fund", object{"amount": pile}).want(200)
	for n := range setting(t, workersEnv, 8) {
		l.workers.Go(func() { l.work(ctx, n) })
	}
	t.Cleanup(func() { stop(); l.workers.Wait() })
	return l
}

func (l *load) work(ctx context.Context, n int) {
	for turn := n; ctx.Err() == nil; turn++ {
		kind := []method{justInTime, fromOwn, outright}[turn%3]
		made, ok := l.play(n, kind)
		if !ok {
			return
		}
		l.mu.Lock()
		l.ways[kind] = append(l.ways[kind], made)
		l.mu.Unlock()
		l.paid.Add(1)
		select {
		case l.more <- struct{}{}:
		default:
		}
	}
}

// play makes one payment; false when it is not accepted in time.
func (l *load) play(n int, kind method) (accepted, bool) {
	if kind == outright {
		made := l.insist(n, "/transfer-out", object{"source": object{"accountId": l.balance}, "destination": object{"accountId": l.bank}, "amount": 1000}, http.StatusCreated)
		return accepted{made.str("id"), 1000, 1000}, made.status != 0
	}
	request := ramp(l.customer, l.wallet, "SENDING", 10050)
	if kind == fromOwn {
		request["source"] = object{"sourceType": "ACCOUNT", "accountId": l.balance}
	}
	quote := l.insist(n, "/quotes", request, http.StatusCreated)
	if quote.status == 0 {
		return accepted{}, false
	}
	made := accepted{quote.str("transactionId"), quote.int("totalSendingAmount"), quote.int("totalReceivingAmount")}
	if kind == fromOwn {
		return made, l.insist(n, "/quotes/"+quote.str("id")+"/execute", nil, http.StatusOK).status != 0
	}
	paid := l.insist(n, "/sandbox/send", object{"reference": quote.str("paymentInstructions.0.accountOrWalletInfo.reference"), "currencyCode": "USD"}, http.StatusOK)
	if paid.status != 0 && paid.str("id") != made.transaction {
		l.t.Errorf("paying %s answered %s", made.transaction, paid.text)
	}
	return made, paid.status != 0
}

// insist repeats a request until it is answered for good; a zero answer says that it
// was not in time.
func (l *load) insist(n int, path string, body any, want int) answer {
	c := l.h.with("Idempotency-Key", uuid.NewString())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		got, err := c.at(l.where(n)).try(ctx, http.MethodPost, path, body)
		switch {
		case err == nil && got.status == want:
			return got
		case err == nil && got.status < 500 && got.str("code") != "IDEMPOTENCY_KEY_IN_USE":
			l.t.Errorf("POST %s: %d %s", path, got.status, got.text)
			return answer{}
		}
		l.retries.Add(1)
		select {
		case <-pause.C:
		case <-ctx.Done():
			l.t.Errorf("POST %s is not answered within %s: %v %s", path, patience, err, got.text)
			return answer{}
		}
	}
}

// awaitMore returns when so many more payments were accepted.
func (l *load) awaitMore(n int64) {
	l.t.Helper()
	enough := l.paid.Load() + n
	tooLong := time.After(patience)
	for l.paid.Load() < enough {
		select {
		case <-l.more:
		case <-tooLong:
			l.t.Fatalf("only %d payments were accepted, want %d", l.paid.Load(), enough)
		}
	}
}

// finish ends the load, and checks what became of every payment that was accepted.
func (l *load) finish(hooks *hooks) {
	l.t.Helper()
	l.stop()
	l.workers.Wait()
	began := time.Now()
	sums := map[method]accepted{}
	for kind, all := range l.ways {
		for _, made := range all {
			hooks.awaitWithin(drain, "COMPLETED of "+made.transaction, func(d delivery) bool {
				return d.about == made.transaction && d.event == "OUTGOING_PAYMENT.COMPLETED"
			})
			hooks.story(made.transaction, "PENDING", "PROCESSING", "COMPLETED")
			sums[kind] = accepted{"", sums[kind].sent + made.sent, sums[kind].received + made.received}
		}
	}
	quoted, owned, out := int64(len(l.ways[justInTime])), int64(len(l.ways[fromOwn])), int64(len(l.ways[outright]))
	l.t.Logf("%d payments just in time, %d by a balance, %d transfers, %d requests sent again, %s until the last was told",
		quoted, owned, out, l.retries.Load(), time.Since(began).Round(time.Millisecond))

	h := l.h
	for name, c := range map[string]struct {
		query string
		want  int64
	}{
		"outgoing transactions that are completed":     {"SELECT count(*) FROM transactions WHERE status = 'COMPLETED' AND direction = 'OUTGOING'", quoted + owned + out},
		"deliveries posted":                            {"SELECT count(*) FROM ledger_postings WHERE kind = 'delivered'", quoted + owned + out},
		"conversions posted":                           {"SELECT count(*) FROM ledger_postings WHERE kind = 'converted'", quoted + owned},
		"transfers posted":                             {"SELECT count(*) FROM ledger_postings WHERE kind = 'transfer_out'", out},
		"payments taken in":                            {"SELECT count(*) FROM receipts", quoted},
		"refunds":                                      {"SELECT count(*) FROM ledger_postings WHERE kind LIKE 'refund%'", 0},
		"transactions posted more than once in a kind": {"SELECT count(*) FROM (SELECT FROM ledger_postings GROUP BY transaction_id, kind HAVING count(*) > 1) t", 0},
		"transactions on their way":                    {"SELECT count(*) FROM transactions WHERE status = 'PROCESSING'", 0},
	} {
		if got := h.count(c.query); got != c.want {
			l.t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	came, left := pile+sums[justInTime].sent-sums[outright].received, sums[justInTime].received+sums[fromOwn].received
	got := h.books(h.platform)
	if got["rails/RTP USD"] != -came || got["chains/LAYER2 BTC"] != left || got["funding/jit USD"] != 0 || got["transit/payouts BTC"] != 0 ||
		got["transit/payouts USD"] != 0 || got["transit/refunds USD"] != 0 || got["customers/"+l.balance+" USD"] != pile-sums[fromOwn].sent-sums[outright].sent {
		l.t.Errorf("%d USD came and %d BTC left, but the books say %s", came, left, got)
	}
	if pending := h.count("SELECT count(*) FROM webhook_queue") + h.count("SELECT count(*) FROM webhook_backlog"); pending != 0 {
		until(l.t, fmt.Sprintf("the end of the queue of webhooks, in which there are %d", pending), func() bool {
			return h.count("SELECT count(*) FROM webhook_queue")+h.count("SELECT count(*) FROM webhook_backlog") == 0
		})
	}
}
