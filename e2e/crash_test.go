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

// load is workers who make quotes and pay them, one after the other, and send each
// request again with the same key until it is answered.
type load struct {
	h        *house
	t        *testing.T
	where    func(n int) *process
	customer string
	wallet   string

	stop    context.CancelFunc
	workers sync.WaitGroup
	retries atomic.Int64
	paid    atomic.Int64
	mu      sync.Mutex
	quotes  []answer // that were paid
	more    chan struct{}
}

func (h *house) load(t *testing.T, where func(int) *process) *load {
	ctx, stop := context.WithCancel(t.Context())
	l := &load{h: h, t: t, where: where, stop: stop, more: make(chan struct{}, 1)}
	l.customer = h.customer()
	l.wallet = h.wallet(l.customer, "")
	for n := range setting(t, workersEnv, 8) {
		l.workers.Go(func() { l.work(ctx, n) })
	}
	t.Cleanup(func() { stop(); l.workers.Wait() })
	return l
}

func (l *load) work(ctx context.Context, n int) {
	for ctx.Err() == nil {
		quote := l.insist(n, "/quotes", ramp(l.customer, l.wallet, "SENDING", 10050), http.StatusCreated)
		if quote.status == 0 {
			return
		}
		paid := l.insist(n, "/sandbox/send", object{"reference": quote.str("paymentInstructions.0.accountOrWalletInfo.reference"), "currencyCode": "USD"}, http.StatusOK)
		if paid.status == 0 {
			return
		}
		if paid.str("id") != quote.str("transactionId") {
			l.t.Errorf("paying %s answered %s", quote.str("transactionId"), paid.text)
		}
		l.mu.Lock()
		l.quotes = append(l.quotes, quote)
		l.mu.Unlock()
		l.paid.Add(1)
		select {
		case l.more <- struct{}{}:
		default:
		}
	}
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
	for _, quote := range l.quotes {
		transaction := quote.str("transactionId")
		hooks.awaitWithin(drain, "COMPLETED of "+transaction, func(d delivery) bool {
			return d.about == transaction && d.event == "OUTGOING_PAYMENT.COMPLETED"
		})
		hooks.story(transaction, "PENDING", "PROCESSING", "COMPLETED")
	}
	l.t.Logf("%d payments, %d requests sent again, %s until the last was told", len(l.quotes), l.retries.Load(), time.Since(began).Round(time.Millisecond))

	h, n := l.h, int64(len(l.quotes))
	for name, c := range map[string]struct {
		query string
		want  int64
	}{
		"transactions that are completed":              {"SELECT count(*) FROM transactions WHERE status = 'COMPLETED'", n},
		"deliveries posted":                            {"SELECT count(*) FROM ledger_postings WHERE kind = 'delivered'", n},
		"conversions posted":                           {"SELECT count(*) FROM ledger_postings WHERE kind = 'converted'", n},
		"payments taken in":                            {"SELECT count(*) FROM receipts", n},
		"refunds":                                      {"SELECT count(*) FROM ledger_postings WHERE kind LIKE 'refund%'", 0},
		"transactions posted more than once in a kind": {"SELECT count(*) FROM (SELECT FROM ledger_postings GROUP BY transaction_id, kind HAVING count(*) > 1) t", 0},
		"transactions on their way":                    {"SELECT count(*) FROM transactions WHERE status = 'PROCESSING'", 0},
	} {
		if got := h.count(c.query); got != c.want {
			l.t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	var sent, received int64
	for _, quote := range l.quotes {
		sent, received = sent+quote.int("totalSendingAmount"), received+quote.int("totalReceivingAmount")
	}
	got := h.books(h.platform)
	if got["rails/RTP USD"] != -sent || got["chains/LAYER2 BTC"] != received || got["funding/jit USD"] != 0 || got["transit/payouts BTC"] != 0 || got["transit/refunds USD"] != 0 {
		l.t.Errorf("%d USD came and %d BTC left, but the books say %s", sent, received, got)
	}
	if pending := h.count("SELECT count(*) FROM webhook_queue") + h.count("SELECT count(*) FROM webhook_backlog"); pending != 0 {
		until(l.t, fmt.Sprintf("the end of the queue of webhooks, in which there are %d", pending), func() bool {
			return h.count("SELECT count(*) FROM webhook_queue")+h.count("SELECT count(*) FROM webhook_backlog") == 0
		})
	}
}
