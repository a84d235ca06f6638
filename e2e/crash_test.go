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

	"causeway/e2e/kit"
)

// The number of crashes and payments; by default the tests take some tens of seconds.
const (
	killsEnv   = "CAUSEWAY_E2E_KILLS"
	workersEnv = "CAUSEWAY_E2E_WORKERS"
)

func intFromEnv(t *testing.T, name string, otherwise int) int {
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

func TestCrash_KilledServerCompletesPaymentsOnce(t *testing.T) {
	t.Parallel()
	// A server that is killed again and again completes every accepted payment exactly once,
	// sends its events in order, and the ledger check passes.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	var where atomic.Pointer[process]
	where.Store(h.server)
	load := h.startLoad(t, func(int) *process { return where.Load() })

	for range intFromEnv(t, killsEnv, 12) {
		load.awaitPayments(5 + rand.Int64N(10))
		where.Load().kill()
		where.Store(startServer(t, h.databaseURL))
	}
	load.awaitPayments(20)

	h.server = where.Load()
	load.stopAndCheck(hooks)
}

func TestCrash_SecondServerTakesOverWork(t *testing.T) {
	t.Parallel()
	// If one of two servers is killed and not started again, the other takes over all its
	// jobs.
	h := newTestEnv(t)
	servers := []*process{h.server, startServer(t, h.databaseURL)}
	hooks := h.startReceiver()
	var dead atomic.Bool
	load := h.startLoad(t, func(n int) *process {
		if dead.Load() {
			return servers[1]
		}
		return servers[n%2]
	})

	load.awaitPayments(60)
	servers[0].kill()
	dead.Store(true)
	load.awaitPayments(60)

	load.stopAndCheck(hooks)
}

func TestCrash_LostConnectionsLoseNoApprovalAndNoWebhook(t *testing.T) {
	t.Parallel()
	// While the database closes all connections of the service again and again, payments that need
	// approval and others are made. No payment fails because the platform could not be asked or its
	// response could not be stored, and every event is delivered, in the order of its payment.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	hooks.respondWith(func(d delivery) int {
		if d.repeated {
			return http.StatusConflict // also to a repeated request for approval
		}
		return http.StatusOK
	})
	load := h.startLoad(t, func(int) *process { return h.server })
	ctx, stop := context.WithCancel(t.Context())
	var approvals sync.WaitGroup
	defer approvals.Wait()
	defer stop()
	var incoming []string
	receiver := h.createCustomer()
	approvals.Go(func() {
		for ctx.Err() == nil {
			if payment := load.postUntilAnswered(0, "/sandbox/uma/receive", umaPaymentBody(receiver), http.StatusOK); payment.status != 0 {
				incoming = append(incoming, payment.text("id"))
			}
		}
	})

	for range intFromEnv(t, killsEnv, 12) {
		load.awaitPayments(5 + rand.Int64N(10))
		h.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'causeway%'")
	}
	load.awaitPayments(20)

	stop()
	approvals.Wait()
	load.stopAndCheck(hooks)
	for _, id := range incoming {
		hooks.awaitDelivery("COMPLETED of "+id, func(d delivery) bool {
			return d.transactionID == id && d.event == "INCOMING_PAYMENT.COMPLETED"
		})
		hooks.awaitIncomingEvent(id, "PENDING")
	}
	if n := h.queryInt("SELECT count(*) FROM transactions WHERE status = 'FAILED'"); n != 0 || len(incoming) == 0 {
		t.Errorf("%d of the payments failed; %d needed approval", n, len(incoming))
	}
	t.Logf("%d payments were approved", len(incoming))
}

// loadGenerator has workers that make payments of every kind in turn, and repeat each request
// with the same key until it has a final response.
type loadGenerator struct {
	env             *testEnv
	t               *testing.T
	serverFor       func(n int) *process
	customerID      string
	walletID        string
	sourceAccountID string // an account that pays, with more than it can lose
	bankAccountID   string

	stop             context.CancelFunc
	workers          sync.WaitGroup
	retries          atomic.Int64
	acceptedCount    atomic.Int64
	mu               sync.Mutex
	acceptedByMethod map[paymentMethod][]acceptedPayment
	progress         chan struct{}
}

// paymentMethod is a way to pay.
type paymentMethod string

const (
	paidJustInTime  paymentMethod = "paid just in time"
	paidFromBalance paymentMethod = "paid by a balance"
	transferredOut  paymentMethod = "transferred"
)

// acceptedPayment is a payment that the service has accepted.
type acceptedPayment struct {
	transactionID  string
	sent, received int64
}

// initialBalance is the balance of the account before the load.
const initialBalance = 100_000_000

func (h *testEnv) startLoad(t *testing.T, where func(int) *process) *loadGenerator {
	ctx, stop := context.WithCancel(t.Context())
	l := &loadGenerator{env: h, t: t, serverFor: where, stop: stop, progress: make(chan struct{}, 1)}
	l.customerID = h.createCustomer()
	l.walletID, l.bankAccountID, l.acceptedByMethod = h.createWallet(l.customerID, ""), h.createBankAccount(l.customerID),
		map[paymentMethod][]acceptedPayment{}
	l.sourceAccountID = h.get("/customers/internal-accounts?currency=USD&customerId=" + l.customerID).wantStatus(200).text("data.0.id")
	h.post("/sandbox/internal-accounts/"+l.sourceAccountID+"/fund", object{"amount": initialBalance}).wantStatus(200)
	for n := range intFromEnv(t, workersEnv, 8) {
		l.workers.Go(func() { l.runWorker(ctx, n) })
	}
	t.Cleanup(func() { stop(); l.workers.Wait() })
	return l
}

func (l *loadGenerator) runWorker(ctx context.Context, n int) {
	for turn := n; ctx.Err() == nil; turn++ {
		kind := []paymentMethod{paidJustInTime, paidFromBalance, transferredOut}[turn%3]
		payment, ok := l.makePayment(n, kind)
		if !ok {
			return
		}
		l.mu.Lock()
		l.acceptedByMethod[kind] = append(l.acceptedByMethod[kind], payment)
		l.mu.Unlock()
		l.acceptedCount.Add(1)
		select {
		case l.progress <- struct{}{}:
		default:
		}
	}
}

// makePayment makes one payment, and reports whether it was accepted in time.
func (l *loadGenerator) makePayment(n int, kind paymentMethod) (acceptedPayment, bool) {
	if kind == transferredOut {
		payment := l.postUntilAnswered(n, "/transfer-out", object{"source": object{"accountId": l.sourceAccountID},
			"destination": object{"accountId": l.bankAccountID}, "amount": 1000}, http.StatusCreated)
		return acceptedPayment{payment.text("id"), 1000, 1000}, payment.status != 0
	}
	request := kit.RampQuoteBody(l.customerID, l.walletID, "SENDING", 10050)
	if kind == paidFromBalance {
		request["source"] = object{"sourceType": "ACCOUNT", "accountId": l.sourceAccountID}
	}
	quote := l.postUntilAnswered(n, "/quotes", request, http.StatusCreated)
	if quote.status == 0 {
		return acceptedPayment{}, false
	}
	payment := acceptedPayment{quote.text("transactionId"), quote.int("totalSendingAmount"), quote.int("totalReceivingAmount")}
	if kind == paidFromBalance {
		return payment, l.postUntilAnswered(n, "/quotes/"+quote.text("id")+"/execute", nil, http.StatusOK).status != 0
	}
	paid := l.postUntilAnswered(n, "/sandbox/send", object{"reference": quote.text("paymentInstructions.0.accountOrWalletInfo.reference"),
		"currencyCode": "USD"}, http.StatusOK)
	if paid.status != 0 && paid.text("id") != payment.transactionID {
		l.t.Errorf("paying %s returned %s", payment.transactionID, paid.body)
	}
	return payment, paid.status != 0
}

// postUntilAnswered repeats a request until it has a final response. It returns a zero
// response if there was none in time.
func (l *loadGenerator) postUntilAnswered(n int, path string, body any, want int) apiResponse {
	c := l.env.withHeader("Idempotency-Key", uuid.NewString())
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		got, err := c.withServer(l.serverFor(n)).do(ctx, http.MethodPost, path, body)
		switch {
		case err == nil && got.status == want:
			return got
		case err == nil && got.status < 500 && got.text("code") != "IDEMPOTENCY_KEY_IN_USE":
			l.t.Errorf("POST %s: %d %s", path, got.status, got.body)
			return apiResponse{}
		}
		l.retries.Add(1)
		select {
		case <-pause.C:
		case <-ctx.Done():
			l.t.Errorf("POST %s: no response within %s: %v %s", path, waitTimeout, err, got.body)
			return apiResponse{}
		}
	}
}

// awaitPayments returns when n more payments were accepted.
func (l *loadGenerator) awaitPayments(n int64) {
	l.t.Helper()
	enough := l.acceptedCount.Load() + n
	tooLong := time.After(waitTimeout)
	for l.acceptedCount.Load() < enough {
		select {
		case <-l.progress:
		case <-tooLong:
			l.t.Fatalf("only %d payments were accepted, want %d", l.acceptedCount.Load(), enough)
		}
	}
}

// stopAndCheck ends the load, and checks every accepted payment.
func (l *loadGenerator) stopAndCheck(hooks *webhookReceiver) {
	l.t.Helper()
	l.stop()
	l.workers.Wait()
	began := time.Now()
	sums := map[paymentMethod]acceptedPayment{}
	for kind, all := range l.acceptedByMethod {
		for _, payment := range all {
			hooks.awaitDelivery("COMPLETED of "+payment.transactionID, func(d delivery) bool {
				return d.transactionID == payment.transactionID && d.event == "OUTGOING_PAYMENT.COMPLETED"
			})
			hooks.checkEvents(payment.transactionID, "PENDING", "PROCESSING", "COMPLETED")
			sums[kind] = acceptedPayment{"", sums[kind].sent + payment.sent, sums[kind].received + payment.received}
		}
	}
	quoted, owned, out := int64(len(l.acceptedByMethod[paidJustInTime])), int64(len(l.acceptedByMethod[paidFromBalance])),
		int64(len(l.acceptedByMethod[transferredOut]))
	l.t.Logf("%d just-in-time payments, %d payouts from an account, %d transfers, %d repeated requests, %s until the last event",
		quoted, owned, out, l.retries.Load(), time.Since(began).Round(time.Millisecond))

	h := l.env
	for name, c := range map[string]struct {
		query string
		want  int64
	}{
		"outgoing transactions that are completed": {
			"SELECT count(*) FROM transactions WHERE status = 'COMPLETED' AND direction = 'OUTGOING'", quoted + owned + out},
		"deliveries posted":  {"SELECT count(*) FROM ledger_postings WHERE kind = 'delivered'", quoted + owned + out},
		"conversions posted": {"SELECT count(*) FROM ledger_postings WHERE kind = 'converted'", quoted + owned},
		"transfers posted":   {"SELECT count(*) FROM ledger_postings WHERE kind = 'transfer_out'", out},
		"payments taken in":  {"SELECT count(*) FROM receipts", quoted},
		"refunds":            {"SELECT count(*) FROM ledger_postings WHERE kind LIKE 'refund%'", 0},
		"transactions posted more than once in a kind": {"SELECT count(*) FROM (SELECT FROM ledger_postings GROUP BY transaction_id, kind " +
			"HAVING count(*) > 1) t", 0},
		"transactions on their way": {"SELECT count(*) FROM transactions WHERE status = 'PROCESSING'", 0},
	} {
		if got := h.queryInt(c.query); got != c.want {
			l.t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	received, sentBTC := initialBalance+sums[paidJustInTime].sent-sums[transferredOut].received, sums[paidJustInTime].received+
		sums[paidFromBalance].received
	got := h.ledgerBalances(h.platformID)
	if got["rails/RTP USD"] != -received || got["chains/LAYER2 BTC"] != sentBTC || got["funding/jit USD"] != 0 ||
		got["transit/payouts BTC"] != 0 ||
		got["transit/payouts USD"] != 0 || got["transit/refunds USD"] != 0 ||
		got["customers/"+l.sourceAccountID+" USD"] != initialBalance-sums[paidFromBalance].sent-sums[transferredOut].sent {
		l.t.Errorf("%d USD were received and %d BTC sent, but the ledger has %s", received, sentBTC, got)
	}
	if pending := h.queryInt("SELECT count(*) FROM webhook_queue") + h.queryInt("SELECT count(*) FROM webhook_backlog"); pending != 0 {
		eventually(l.t, fmt.Sprintf("an empty webhook queue, which has %d", pending), func() bool {
			return h.queryInt("SELECT count(*) FROM webhook_queue")+h.queryInt("SELECT count(*) FROM webhook_backlog") == 0
		})
	}
}
