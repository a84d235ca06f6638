package e2e

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// postConcurrently sends n requests at once, to the servers in turn, and returns their
// responses.
func (p *tenant) postConcurrently(n int, servers []*process, path func(i int) string, body func(i int) any, key func(i int) string) []apiResponse {
	p.t.Helper()
	answers := make([]apiResponse, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			got, err := p.withServer(servers[i%len(servers)]).withHeader("Idempotency-Key", key(i)).do(p.t.Context(), http.MethodPost, path(i), body(i))
			if err != nil {
				p.t.Errorf("POST %s: %v", path(i), err)
			}
			answers[i] = got
		})
	}
	close(start)
	all.Wait()
	return answers
}

// countByStatus counts the responses by status and code.
func countByStatus(answers []apiResponse) map[string]int {
	n := map[string]int{}
	for _, a := range answers {
		n[http.StatusText(a.status)+" "+a.text("code")]++
	}
	return n
}

// noRateLimit disables the rate limit.
var noRateLimit = []string{"--rate-limit", "100000", "--rate-burst", "100000"}

func TestExecute_ConcurrentExecutionsMoveMoneyOnce(t *testing.T) {
	t.Parallel()
	// A quote that is executed two hundred times at once, on two servers, moves its money
	// once. With different keys one request executes it and the others are rejected; with one
	// key all get the same response, at once or when repeated.
	h := newTestEnv(t, noRateLimit...)
	servers := []*process{h.server, startServer(t, h.databaseURL, noRateLimit...)}
	for name, c := range map[string]struct {
		key  func(int) string
		want func(n map[string]int) bool
	}{
		"a key each": {func(int) string { return uuid.NewString() }, func(n map[string]int) bool {
			return n["OK "] == 1 && n["Conflict QUOTE_ALREADY_EXECUTED"] == 199
		}},
		"one key": {func(int) string { return "once" }, func(n map[string]int) bool {
			return n["OK "] >= 1 && n["OK "]+n["Conflict IDEMPOTENCY_KEY_IN_USE"] == 200
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := h.newScenarioEnv(t)
			quote := s.createQuoteTo(object{"accountId": s.createBTCWallet("")}, object{"accountId": s.fundUSDAccount(20_000)}, 10050)
			execute := "/quotes/" + quote.text("id") + "/execute"

			answers := s.postConcurrently(200, servers, func(int) string { return execute }, func(int) any { return nil }, c.key)

			if n := countByStatus(answers); !c.want(n) {
				t.Errorf("answered %v", n)
			}
			var first apiResponse
			for _, a := range answers {
				if a.status == http.StatusOK {
					first = a
				}
			}
			first.wantValues(map[string]any{"status": "PROCESSING", "transactionId": quote.text("transactionId")})
			if again := s.withHeader("Idempotency-Key", "once").post(execute, nil); name == "one key" && string(again.body) != string(first.body) {
				t.Errorf("asked again, the answer is %s, and was %s", again.body, first.body)
			}
			s.checkTransactionEvents(quote.text("transactionId"), outcomeDelivered.events)
			s.awaitIdle()
			money := newFlow(quote, flowAccounts{funding: "customer", destination: "chains/LAYER2"})
			s.checkPostings(append(depositPostings(20_000), money.postings("converted", "delivered")...))
			s.checkBalances(map[string][]int64{"USD": {20_000, 9_950}})
		})
	}
}

func TestPayout_ConcurrentPayoutsNeverOverdraw(t *testing.T) {
	t.Parallel()
	// A thousand payouts at once on two servers, half of them transfers and half executions of
	// quotes, from an account with funds for five hundred: five hundred complete, the others
	// are rejected, and the balance is never negative and ends at zero.
	const asked, borne, each = 1000, 500, 1000
	h := newTestEnv(t, noRateLimit...)
	servers := []*process{h.server, startServer(t, h.databaseURL, noRateLimit...)}
	s := &scenarioEnv{testEnv: h, customerID: h.createCustomer()}
	s.startReceiver()
	account, bank, wallet := s.fundUSDAccount(borne*each), s.createUSDAccount("000"), s.createBTCWallet("")
	quotes := s.postConcurrently(asked/2, servers, func(int) string { return "/quotes" }, func(int) any {
		return object{"source": object{"accountId": account}, "destination": object{"accountId": wallet}, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": each}
	}, func(int) string { return uuid.NewString() })
	if n := countByStatus(quotes); n["Created "] != asked/2 {
		t.Fatalf("quotes are answered %v", n)
	}

	transfers := func(i int) bool { return i/2%2 == 0 } // so that each server has both
	quoted := func(i int) int { return i/4*2 + i%2 }
	answers := s.postConcurrently(asked, servers, func(i int) string {
		if transfers(i) {
			return "/transfer-out"
		}
		return "/quotes/" + quotes[quoted(i)].text("id") + "/execute"
	}, func(i int) any {
		if transfers(i) {
			return object{"source": object{"accountId": account}, "destination": object{"accountId": bank}, "amount": each}
		}
		return nil
	}, func(int) string { return uuid.NewString() })

	n := countByStatus(answers)
	if n["Created "]+n["OK "] != borne || n["Bad Request INSUFFICIENT_BALANCE"] != asked-borne {
		t.Errorf("answered %v", n)
	}
	t.Logf("%d transfers and %d executions of quotes came through", n["Created "], n["OK "])
	for i, a := range answers {
		switch {
		case a.status == http.StatusCreated:
			s.checkTransactionEvents(a.text("id"), outcomeDelivered.events)
		case a.status == http.StatusOK:
			s.checkTransactionEvents(a.text("transactionId"), outcomeDelivered.events)
		case !transfers(i):
			s.get("/quotes/" + quotes[quoted(i)].text("id")).wantStatus(200).wantValues(map[string]any{"status": "PENDING"})
		}
	}
	s.awaitIdle()
	s.internalAccounts("USD").wantValues(map[string]any{"data.0.balance.amount": 0})
	if told := s.notifiedBalances()["USD"]; !slices.IsSortedFunc(told, func(a, b int64) int { return cmp.Compare(b, a) }) || told[len(told)-1] != 0 {
		t.Errorf("told the balances %v", told)
	}
	if least := h.queryInt(`
		SELECT min(balance)::bigint FROM (SELECT sum(CASE WHEN credit_account_id = a.id THEN amount ELSE -amount END) OVER (ORDER BY seq, entry_no) AS balance
			FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = a.platform_id AND a.id IN (debit_account_id, credit_account_id)
			WHERE a.platform_id = $1 AND a.path LIKE 'customers/%' AND a.currency = 'USD') b`, uuidOf(s.platformID)); least != 0 {
		t.Errorf("the account held %d at its least", least)
	}
	books := h.ledgerBalances(s.platformID)
	if gave := books["rails/RTP USD"]; gave != int64(n["Created "])*each-borne*each {
		t.Errorf("%d transfers left by the rail, and its balance is %d: %s", n["Created "], gave, books)
	}
	for _, name := range []string{"transit/payouts USD", "transit/payouts BTC", "transit/refunds USD", "funding/jit USD"} {
		if books[name] != 0 {
			t.Errorf("%s holds %d", name, books[name])
		}
	}
}
