package e2e

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// rush sends so many requests at once, to one server after the other, and returns
// their answers.
func (p *party) rush(n int, servers []*process, path func(i int) string, body func(i int) any, key func(i int) string) []answer {
	p.t.Helper()
	answers := make([]answer, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			got, err := p.at(servers[i%len(servers)]).with("Idempotency-Key", key(i)).try(p.t.Context(), http.MethodPost, path(i), body(i))
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

// counted are how many answers have each status and code.
func counted(answers []answer) map[string]int {
	n := map[string]int{}
	for _, a := range answers {
		n[http.StatusText(a.status)+" "+a.str("code")]++
	}
	return n
}

// unlimited lets a test ask as much at once as it likes.
var unlimited = []string{"--rate-limit", "100000", "--rate-burst", "100000"}

func TestManyExecutions(t *testing.T) {
	t.Parallel()
	// A quote that is executed two hundred times at once, at two servers, moves its money
	// once: with a key each, one runs it and the others are told that it ran; with one
	// key, all are told the same, now or when they ask again.
	h := newHouse(t, unlimited...)
	servers := []*process{h.server, serve(t, h.database, unlimited...)}
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
			s := h.scene(t)
			quote := s.quoteTo(object{"accountId": s.bitcoin("")}, object{"accountId": s.fund(20_000)}, 10050)
			execute := "/quotes/" + quote.str("id") + "/execute"

			answers := s.rush(200, servers, func(int) string { return execute }, func(int) any { return nil }, c.key)

			if n := counted(answers); !c.want(n) {
				t.Errorf("answered %v", n)
			}
			var first answer
			for _, a := range answers {
				if a.status == http.StatusOK {
					first = a
				}
			}
			first.each(map[string]any{"status": "PROCESSING", "transactionId": quote.str("transactionId")})
			if again := s.with("Idempotency-Key", "once").post(execute, nil); name == "one key" && string(again.text) != string(first.text) {
				t.Errorf("asked again, the answer is %s, and was %s", again.text, first.text)
			}
			s.checkStory(quote.str("transactionId"), delivered.events)
			s.quiet()
			money := flowOf(quote, way{held: "customer", out: "chains/LAYER2"})
			s.checkPostings(append(funded(20_000), money.postings("converted", "delivered")...))
			s.checkBalances(map[string][]int64{"USD": {20_000, 9_950}})
		})
	}
}

func TestManyPayouts(t *testing.T) {
	t.Parallel()
	// A thousand payouts at once, half of them transfers and half executions of quotes, at
	// two servers, from an account with funds for five hundred: exactly so many complete,
	// the others are refused, and the account is never below zero and holds nothing in
	// the end.
	const asked, borne, each = 1000, 500, 1000
	h := newHouse(t, unlimited...)
	servers := []*process{h.server, serve(t, h.database, unlimited...)}
	s := &scene{house: h, customer: h.customer()}
	s.listen()
	account, bank, wallet := s.fund(borne*each), s.dollars("000"), s.bitcoin("")
	quotes := s.rush(asked/2, servers, func(int) string { return "/quotes" }, func(int) any {
		return object{"source": object{"accountId": account}, "destination": object{"accountId": wallet}, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": each}
	}, func(int) string { return uuid.NewString() })
	if n := counted(quotes); n["Created "] != asked/2 {
		t.Fatalf("quotes are answered %v", n)
	}

	transfers := func(i int) bool { return i/2%2 == 0 } // so that each server has both
	quoted := func(i int) int { return i/4*2 + i%2 }
	answers := s.rush(asked, servers, func(i int) string {
		if transfers(i) {
			return "/transfer-out"
		}
		return "/quotes/" + quotes[quoted(i)].str("id") + "/execute"
	}, func(i int) any {
		if transfers(i) {
			return object{"source": object{"accountId": account}, "destination": object{"accountId": bank}, "amount": each}
		}
		return nil
	}, func(int) string { return uuid.NewString() })

	n := counted(answers)
	if n["Created "]+n["OK "] != borne || n["Bad Request INSUFFICIENT_BALANCE"] != asked-borne {
		t.Errorf("answered %v", n)
	}
	t.Logf("%d transfers and %d executions of quotes came through", n["Created "], n["OK "])
	for i, a := range answers {
		switch {
		case a.status == http.StatusCreated:
			s.checkStory(a.str("id"), delivered.events)
		case a.status == http.StatusOK:
			s.checkStory(a.str("transactionId"), delivered.events)
		case !transfers(i):
			s.get("/quotes/" + quotes[quoted(i)].str("id")).want(200).each(map[string]any{"status": "PENDING"})
		}
	}
	s.quiet()
	s.internal("USD").each(map[string]any{"data.0.balance.amount": 0})
	if told := s.told()["USD"]; !slices.IsSortedFunc(told, func(a, b int64) int { return cmp.Compare(b, a) }) || told[len(told)-1] != 0 {
		t.Errorf("told the balances %v", told)
	}
	if least := h.count(`
		SELECT min(balance)::bigint FROM (SELECT sum(CASE WHEN credit_account = a.id THEN amount ELSE -amount END) OVER (ORDER BY seq, n) AS balance
			FROM ledger_accounts a JOIN ledger_entries e ON e.platform_id = a.platform_id AND a.id IN (debit_account, credit_account)
			WHERE a.platform_id = $1 AND a.path LIKE 'customers/%' AND a.currency = 'USD') b`, bare(s.platform)); least != 0 {
		t.Errorf("the account held %d at its least", least)
	}
	books := h.books(s.platform)
	if gave := books["rails/RTP USD"]; gave != int64(n["Created "])*each-borne*each {
		t.Errorf("%d transfers left by the rail, and its balance is %d: %s", n["Created "], gave, books)
	}
	for _, name := range []string{"transit/payouts USD", "transit/payouts BTC", "transit/refunds USD", "funding/jit USD"} {
		if books[name] != 0 {
			t.Errorf("%s holds %d", name, books[name])
		}
	}
}
