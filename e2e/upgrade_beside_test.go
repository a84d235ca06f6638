package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestUpgrade_EarlierProgramServesMeanwhile(t *testing.T) {
	t.Parallel()
	// The order of docs/operating.md: while the earlier release serves, the database is migrated; then
	// both releases serve, and then only the new one. No request fails at any time, and every payment
	// that was accepted exists once, ends, and is reported once. Only the start of another process of the
	// earlier release is refused.
	if *earlierProgram == "" {
		t.Skip("needs -earlier; make upgrade builds it")
	}
	s := newEarlierEnv(t)
	t.Cleanup(s.checkLedger)
	s.start("--sandbox-speed", "1000", "--rate-limit", "100000", "--rate-burst", "100000")
	s.patch("/config", object{"umaDomain": "uma.example.com"}).wantStatus(200)
	hooks := s.startReceiverNoWait()
	s.customerID = s.createCustomer(object{"umaAddress": "$ana@uma.example.com"})
	earlier := s.server

	load := s.startUpgradeLoad(earlier)
	load.await("the earlier release")
	load.phase("migrate")
	t.Log(mustRunCommand(t, []string{"DATABASE_URL=" + s.databaseURL}, "migrate"))
	load.await("the earlier release on the new schema")
	refused, err := kit.Run(waitContext(t), kit.Command{Program: *earlierProgram, Args: []string{"serve", "--listen", "127.0.0.1:0"},
		Env: []string{"DATABASE_URL=" + s.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}})
	if err != nil || refused.ExitCode == 0 || !strings.Contains(refused.ErrorOutput, "start the newer release") {
		t.Errorf("the earlier release starts on the new schema: %v, %s", err, refused.ErrorOutput)
	}
	newer := startServer(t, s.databaseURL, "--rate-limit", "100000", "--rate-burst", "100000")
	load.serve(earlier, newer)
	load.await("both releases")
	load.serve(newer)
	load.phase("the earlier release stops")
	earlier.terminate()
	load.await("the new release")
	load.stop()

	s.client.BaseURL = newer.baseURL
	s.awaitIdle()
	if n := s.queryInt("SELECT count(*) FROM transactions WHERE status NOT IN ('COMPLETED', 'FAILED', 'EXPIRED') AND quote_id IS NULL OR " +
		"status = 'PROCESSING' OR refund_status = 'PENDING'"); n != 0 {
		t.Errorf("%d payments did not end", n)
	}
	load.checkPayments(hooks)
	if n := s.queryInt("SELECT count(*) FROM jobs WHERE due_at = 'infinity'"); n != 0 {
		t.Errorf("%d jobs are dead", n)
	}
	if out, status := s.runLedgerVerify(s.folder); status != 0 {
		t.Errorf("ledger verify: status %d\n%s", status, out)
	}
}

// upgradeLoad sends requests of many kinds to the processes that serve.
type upgradeLoad struct {
	*earlierEnv
	cancel  context.CancelFunc
	callers sync.WaitGroup
	during  atomic.Value // the phase
	rounds  atomic.Int64 // of requests of all kinds

	mu       sync.Mutex
	servers  []*process
	failures map[string]int
	accepted map[string]bool // transactions, by id
	unnamed  int             // transactions that no response names: of deposits, and of customers who are paid by another one
}

func (s *earlierEnv) startUpgradeLoad(servers ...*process) *upgradeLoad {
	ctx, cancel := context.WithCancel(context.Background())
	load := &upgradeLoad{earlierEnv: s, cancel: cancel, servers: servers, failures: map[string]int{},
		accepted: map[string]bool{}}
	load.phase("start")
	s.t.Cleanup(load.stop)
	for range 4 {
		load.callers.Go(func() {
			for ctx.Err() == nil {
				load.round()
			}
		})
	}
	return load
}

func (l *upgradeLoad) phase(name string) { l.during.Store(name) }

func (l *upgradeLoad) serve(servers ...*process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers = servers
}

// await returns when some rounds have been made in a phase.
func (l *upgradeLoad) await(phase string) {
	l.phase(phase)
	until := l.rounds.Load() + 20
	eventually(l.t, "requests during "+phase, func() bool { return l.rounds.Load() > until })
}

// stop ends the load and reports what failed.
func (l *upgradeLoad) stop() {
	l.cancel()
	l.callers.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, failure := range slices.Sorted(maps.Keys(l.failures)) {
		l.t.Errorf("%d times %s", l.failures[failure], failure)
	}
	clear(l.failures)
}

// call makes a request to one of the processes.
func (l *upgradeLoad) call(method, path string, body any, want int, headers ...string) apiResponse {
	l.mu.Lock()
	server := l.servers[rand.IntN(len(l.servers))]
	l.mu.Unlock()
	client := l.client.withServer(server)
	for i := 0; i < len(headers); i += 2 {
		client = client.withHeader(headers[i], headers[i+1])
	}
	phase := l.during.Load()
	got, err := client.do(context.Background(), method, path, body)
	if err == nil && got.status == want {
		return got
	}
	kind, _, _ := strings.Cut(path, ":")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures[fmt.Sprintf("%s %s at %s during %s: %d %.300s %v", method, kind, server.Command, phase, got.status, got.body, err)]++
	return apiResponse{t: l.t, request: path}
}

// accept remembers a payment that a process has accepted.
func (l *upgradeLoad) accept(transaction string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if transaction != "" {
		l.accepted[transaction] = true
	}
}

// checkPayments compares the payments that were accepted with those that there are, and with what webhooks have reported.
func (l *upgradeLoad) checkPayments(hooks *webhookReceiver) {
	l.t.Helper()
	rows, err := l.db.Query("SELECT id, status, direction FROM transactions")
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	unnamed := 0
	for rows.Next() {
		var id uuid.UUID
		var status, direction string
		if err := rows.Scan(&id, &status, &direction); err != nil {
			l.t.Fatal(err)
		}
		transaction := "Transaction:" + id.String()
		if !l.accepted[transaction] {
			if unnamed++; direction != "INCOMING" {
				l.t.Errorf("%s was made twice, or nobody knows of it", transaction)
			}
		}
		delete(l.accepted, transaction)
		reported := map[string]int{}
		for _, event := range hooks.acceptedEvents(transaction) {
			reported[strings.TrimPrefix(event, "INCOMING_PAYMENT.")]++
		}
		for event, times := range reported {
			if times > 1 {
				l.t.Errorf("%s was reported as %s by %d events", transaction, event, times)
			}
		}
		if status == "COMPLETED" && reported[status] != 1 {
			l.t.Errorf("%s is completed, and reported as %v", transaction, reported)
		}
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	for transaction := range l.accepted {
		l.t.Errorf("%s was accepted and is lost", transaction)
	}
	if unnamed != l.unnamed {
		l.t.Errorf("%d deposits and payments from other customers were received, of %d that were made", unnamed, l.unnamed)
	}
}

// round makes one request of each kind.
func (l *upgradeLoad) round() {
	defer l.rounds.Add(1)
	customer := l.call("POST", "/customers", customerBody(), 201).text("id")
	suffix := []string{"000", "000", "004", "005"}[rand.IntN(4)]
	wallet := l.call("POST", "/customers/external-accounts", kit.WalletBody(customer, suffix), 201).text("id")
	quote := l.call("POST", "/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050), 201)
	l.accept(quote.text("transactionId"))
	if quote.status == 201 {
		payment := object{"reference": paymentReference(quote), "currencyCode": "USD"}
		if rand.IntN(4) == 0 {
			payment["currencyAmount"] = 10049 // the wrong amount, which is refunded
		}
		l.call("POST", "/sandbox/send", payment, 200)
	}
	account := l.call("GET", "/customers/internal-accounts?currency=USD&customerId="+customer, nil, 200).text("data.0.id")
	bank := l.call("POST", "/customers/external-accounts", usAccountBody(customer), 201).text("id")
	l.call("POST", "/sandbox/internal-accounts/"+account+"/fund", object{"amount": 20_000}, 200)
	from, to := object{"accountId": account}, object{"accountId": bank}
	l.accept(l.call("POST", "/transfer-out", object{"source": from, "destination": to, "amount": 500}, 201).text("id"))
	key := uuid.NewString()
	transfer := l.call("POST", "/transfer-in", object{"source": to, "destination": from, "amount": 600}, 201, "Idempotency-Key", key)
	if again := l.call("POST", "/transfer-in", object{"source": to, "destination": from, "amount": 600}, 201, "Idempotency-Key",
		key); again.text("id") != transfer.text("id") {
		l.t.Errorf("a repeated request made %s again: %s", transfer.text("id"), again.body)
	}
	l.accept(transfer.text("id"))
	prefunded := l.call("POST", "/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": account},
		"destination":        object{"accountId": wallet},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5000}, 201)
	l.accept(prefunded.text("transactionId"))
	l.call("POST", "/quotes/"+prefunded.text("id")+"/execute", nil, 200)
	payout := l.call("POST", "/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": account},
		"destination": object{"accountId": l.call("POST", "/customers/external-accounts", object{"customerId": customer, "currency": "EUR",
			"accountInfo": object{"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013" + suffix, "beneficiary": testBeneficiary}},
			201).text("id")},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 900, "immediatelyExecute": true}, 201)
	l.accept(payout.text("transactionId"))
	l.accept(l.call("POST", "/sandbox/uma/receive", umaPaymentBody(l.customerID), 200).text("id"))
	lookup := l.call("GET", "/receiver/uma/%24ana@uma.example.com?customerId="+customer, nil, 200).text("lookupId")
	internal := l.call("POST", "/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": account}, "lookupId": lookup,
		"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": "$ana@uma.example.com", "currency": "USD"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 700, "immediatelyExecute": true}, 201)
	l.accept(internal.text("transactionId"))
	l.mu.Lock()
	l.unnamed += 2 // of the deposit, and of Ana
	l.mu.Unlock()
	token := l.call("POST", "/tokens", object{"name": "Short-lived", "permissions": []string{"VIEW"}}, 201).text("id")
	l.call("DELETE", "/tokens/"+token, nil, 204)
	l.call("POST", "/ledger/adjustments", object{"note": "The bank charged the wire twice.",
		"effectiveAt": formatTimestamp(time.Now().Add(-time.Minute)),
		"entries":     []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 7}}}, 201)
	for _, path := range []string{"/transactions?limit=5", "/customers?limit=5", "/customers/" + customer, "/ledger/trial-balance",
		"/ledger/accounts?limit=5",
		"/ledger/postings?limit=5", "/webhook-deliveries?limit=5", "/transactions/" + transfer.text("id") + "/timeline", "/config",
		"/webhook-keys", "/exchange-rates?sourceCurrency=USD&destinationCurrency=EUR"} {
		l.call("GET", path, nil, 200)
	}
}
