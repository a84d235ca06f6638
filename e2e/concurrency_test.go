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
func (c *client) postConcurrently(n int, servers []*process, path func(i int) string, body func(i int) any,
	key func(i int) string) []apiResponse {
	c.t.Helper()
	responses := make([]apiResponse, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			got, err := c.withServer(servers[i%len(servers)]).withHeader("Idempotency-Key", key(i)).do(c.t.Context(),
				http.MethodPost, path(i), body(i))
			if err != nil {
				c.t.Errorf("POST %s: %v", path(i), err)
			}
			responses[i] = got
		})
	}
	close(start)
	all.Wait()
	return responses
}

// countByStatus counts the responses by status and code.
func countByStatus(responses []apiResponse) map[string]int {
	n := map[string]int{}
	for _, a := range responses {
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

			responses := s.postConcurrently(200, servers, func(int) string { return execute }, func(int) any { return nil }, c.key)

			if n := countByStatus(responses); !c.want(n) {
				t.Errorf("responses %v", n)
			}
			var first apiResponse
			for _, a := range responses {
				if a.status == http.StatusOK {
					first = a
				}
			}
			first.wantValues(map[string]any{"status": "PROCESSING", "transactionId": quote.text("transactionId")})
			if again := s.withHeader("Idempotency-Key", "once").post(execute, nil); name == "one key" && string(again.body) != string(first.body) {
				t.Errorf("the repeated request returned %s, and the first %s", again.body, first.body)
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
	const requests, affordable, each = 1000, 500, 1000
	h := newTestEnv(t, noRateLimit...)
	servers := []*process{h.server, startServer(t, h.databaseURL, noRateLimit...)}
	s := &scenarioEnv{testEnv: h, customerID: h.createCustomer()}
	s.startReceiver()
	account, bank, wallet := s.fundUSDAccount(affordable*each), s.createUSDAccount("000"), s.createBTCWallet("")
	quotes := s.postConcurrently(requests/2, servers, func(int) string { return "/quotes" }, func(int) any {
		return object{"source": object{"accountId": account}, "destination": object{"accountId": wallet}, "lockedCurrencySide": "SENDING",
			"lockedCurrencyAmount": each}
	}, func(int) string { return uuid.NewString() })
	if n := countByStatus(quotes); n["Created "] != requests/2 {
		t.Fatalf("responses to quotes %v", n)
	}

	transfers := func(i int) bool { return i/2%2 == 0 } // so that each server has both
	quoted := func(i int) int { return i/4*2 + i%2 }
	responses := s.postConcurrently(requests, servers, func(i int) string {
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

	n := countByStatus(responses)
	if n["Created "]+n["OK "] != affordable || n["Bad Request INSUFFICIENT_BALANCE"] != requests-affordable {
		t.Errorf("responses %v", n)
	}
	t.Logf("%d transfers and %d executions succeeded", n["Created "], n["OK "])
	for i, a := range responses {
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
	if balances := s.notifiedBalances()["USD"]; !slices.IsSortedFunc(balances, func(a, b int64) int { return cmp.Compare(b, a) }) ||
		balances[len(balances)-1] != 0 {
		t.Errorf("balances in events %v", balances)
	}
	if minimum := h.queryInt(`
		SELECT min(balance)::bigint FROM (SELECT sum(CASE WHEN credit_account_id = a.id THEN amount ELSE -amount END) OVER (ORDER BY seq, entry_no) AS balance
			FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = a.platform_id AND a.id IN (debit_account_id, credit_account_id)
			WHERE a.platform_id = $1 AND a.path LIKE 'customers/%' AND a.currency = 'USD') b`, uuidOf(s.platformID)); minimum != 0 {
		t.Errorf("the minimum balance was %d", minimum)
	}
	ledgerBalances := h.ledgerBalances(s.platformID)
	if sentBalance := ledgerBalances["rails/RTP USD"]; sentBalance != int64(n["Created "])*each-affordable*each {
		t.Errorf("%d transfers were sent, and the balance of the rail is %d: %s", n["Created "], sentBalance, ledgerBalances)
	}
	for _, name := range []string{"transit/payouts USD", "transit/payouts BTC", "transit/refunds USD", "funding/jit USD"} {
		if ledgerBalances[name] != 0 {
			t.Errorf("the balance of %s is %d", name, ledgerBalances[name])
		}
	}
}
