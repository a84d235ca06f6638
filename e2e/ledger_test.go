package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// paths are those of a list of accounts.
func paths(list answer) []string {
	var found []string
	for i := range list.list("data") {
		found = append(found, list.str(fmt.Sprintf("data.%d.path", i)))
	}
	return found
}

func TestLedgerForFinance(t *testing.T) {
	t.Parallel()
	// What finance reads over HTTP is what was posted: balances, entries, postings, a
	// trial balance that adds up to zero, what was earned, and the position.
	h := newHouse(t)
	hooks := h.listen()
	quote := h.quote("")
	transaction := quote.str("transactionId")
	begun := time.Now().Add(-time.Hour)
	h.pay(quote, 0).want(200)
	hooks.end(transaction, "COMPLETED")
	fees, received := quote.int("feesIncluded"), quote.int("totalReceivingAmount")

	accounts := h.get("/ledger/accounts?limit=4").want(200)
	rest := h.get("/ledger/accounts?limit=4&cursor=" + accounts.str("nextCursor")).want(200)
	all := append(paths(accounts), paths(rest)...)
	if want := []string{"chains/LAYER2", "funding/jit", "fx/position", "fx/position", "income/fees", "rails/RTP", "transit/payouts"}; !slices.Equal(all, want) || rest.value("hasMore") != false {
		t.Errorf("accounts %v, want %v", all, want)
	}
	if got := paths(h.get("/ledger/accounts?prefix=rails/&currency=USD").want(200)); !slices.Equal(got, []string{"rails/RTP"}) {
		t.Errorf("below rails/: %v", got)
	}

	fee := h.get("/ledger/accounts/income%2Ffees").want(200)
	fee.each(map[string]any{"path": "income/fees", "balances.0.currency": "USD", "balances.0.class": "income", "balances.0.guarded": false, "balances.0.balance": fees})
	for _, by := range []string{"recorded", "effective"} {
		h.get("/ledger/accounts/income%2Ffees?at=" + stamp(begun) + "&by=" + by).want(200).each(map[string]any{"balances.0.balance": 0, "by": by})
	}
	entries := h.get("/ledger/accounts/funding%2Fjit/entries?currency=USD").want(200)
	entries.each(map[string]any{"data.0.side": "DEBIT", "data.0.balance": 0, "data.0.kind": "converted", "data.2.side": "CREDIT", "data.2.balance": 10050,
		"data.2.counterpart": "rails/RTP", "data.2.transactionId": transaction})

	postings := h.get("/ledger/postings?sortOrder=asc&transactionId=" + transaction).want(200)
	postings.each(map[string]any{"data.0.kind": "jit_received", "data.1.kind": "converted", "data.2.kind": "delivered", "data.1.entries.0.amount": fees, "data.1.memo": reference(quote)})
	for _, filter := range []string{"memo=" + reference(quote), "customerId=" + quote.str("source.customerId"), "from=" + stamp(begun), "by=effective&from=" + stamp(begun)} {
		if got := len(h.get("/ledger/postings?" + filter).want(200).list("data")); got != 3 {
			t.Errorf("%s: %d postings, want 3", filter, got)
		}
	}
	one := h.get("/ledger/postings/" + postings.str("data.1.id")).want(200)
	one.each(map[string]any{"kind": "converted", "number": postings.int("data.1.number"), "reversedBy": ""})

	for _, detail := range []string{"account", "group"} {
		trial := h.get("/ledger/trial-balance?detail=" + detail).want(200)
		trial.each(map[string]any{"sums.0.currency": "BTC", "sums.0.balanced": true, "sums.0.closing": 0, "sums.1.currency": "USD", "sums.1.balanced": true, "sums.1.debits": 20100})
	}
	h.get("/ledger/income?period=day&from=" + stamp(begun)).want(200)
	month := time.Now().UTC().AddDate(0, 0, -20)
	income := h.get("/ledger/income?from=" + stamp(month)).want(200)
	last := fmt.Sprintf("periods.%d.lines.0.", len(income.list("periods"))-1)
	income.each(map[string]any{last + "path": "income/fees", last + "currency": "USD", last + "earned": fees})
	h.get("/ledger/fx-position?reportingCurrency=EUR").want(200).each(map[string]any{
		"lines.0.currency": "BTC", "lines.0.position": -received, "lines.1.currency": "USD", "lines.1.position": 10050 - fees, "reportingCurrency": "EUR"})

	story := h.get("/transactions/" + transaction + "/story").want(200)
	var told []string
	for i := range story.list("data") {
		told = append(told, story.str(fmt.Sprintf("data.%d.what", i)))
	}
	for what, n := range map[string]int{"REQUESTED": 1, "QUOTED": 1, "POSTED": 3, "EVENT": 3, "RAIL_ANSWERED": 1, "WEBHOOK_ATTEMPT": 3} {
		if got := strings.Count(strings.Join(told, " "), what); got != n {
			t.Errorf("%s is told %d times, want %d: %v", what, got, n, told)
		}
	}
	// What was decided and posted together is told in the order of cause and effect.
	var order []string
	for _, what := range told {
		if what != "WEBHOOK_ATTEMPT" {
			order = append(order, what)
		}
	}
	if got, want := strings.Join(order, " "), "REQUESTED QUOTED EVENT POSTED POSTED EVENT RAIL_ANSWERED POSTED EVENT"; got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestLedgerRefuses(t *testing.T) {
	t.Parallel()
	// What cannot be asked is refused with every bad field, another platform's books are
	// not there, and reading needs VIEW while assigning needs MANAGE.
	h := newHouse(t)
	hooks := h.listen()
	quote := h.quote("")
	h.pay(quote, 0).want(200)
	hooks.end(quote.str("transactionId"), "COMPLETED")
	posting := h.get("/ledger/postings?limit=1").want(200).str("data.0.id")
	future := url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))

	if got := h.get("/ledger/accounts/rails%2FRTP?at="+future).refused(400, "INVALID_INPUT").fields(); !slices.Equal(got, []string{"at"}) {
		t.Errorf("%v", got)
	}
	if got := h.get("/ledger/trial-balance?to="+future+"&from="+future).refused(400, "INVALID_INPUT").fields(); !slices.Equal(got, []string{"from", "to"}) {
		t.Errorf("%v", got)
	}
	for path, code := range map[string]string{
		"/ledger/accounts/rails%2FACH": "404 NOT_FOUND", "/ledger/accounts/nonsense": "404 NOT_FOUND",
		"/ledger/accounts/rails%2FACH/entries?currency=USD":                  "404 NOT_FOUND",
		"/ledger/accounts/rails%2FRTP/entries":                               "400 INVALID_INPUT",
		"/ledger/accounts/rails%2FRTP/entries?currency=USD&cursor=eA":        "400 INVALID_INPUT",
		"/ledger/accounts/rails%2FRTP?at=yesterday":                          "400 INVALID_INPUT",
		"/ledger/accounts/rails%2FRTP?by=chance":                             "400 INVALID_INPUT",
		"/ledger/postings?kind=theft":                                        "400 INVALID_INPUT",
		"/ledger/postings?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "400 INVALID_INPUT",
		"/ledger/postings/" + posting[:len(posting)-4] + "0000":              "404 NOT_FOUND",
		"/ledger/postings/nonsense":                                          "400 INVALID_INPUT",
		"/ledger/income":                                                     "400 INVALID_INPUT",
		"/ledger/fx-position?reportingCurrency=XXX":                          "400 INVALID_CURRENCY",
	} {
		got := h.get(path)
		if told := fmt.Sprintf("%d %s", got.status, got.str("code")); told != code {
			t.Errorf("%s: %s, want %s", path, told, code)
		}
	}

	other := h.found("Other", "SANDBOX", "--regulated")
	other.get("/ledger/postings/"+posting).refused(404, "NOT_FOUND")
	other.get("/transactions/"+quote.str("transactionId")+"/story").refused(404, "TRANSACTION_NOT_FOUND")
	if got := other.get("/ledger/postings").want(200).list("data"); len(got) > 0 {
		t.Errorf("another platform reads %d postings", len(got))
	}
	made := h.post("/tokens", object{"name": "Auditor", "permissions": []string{"VIEW"}}).want(201)
	auditor := newClient(t, h.base, made.str("clientId"), made.str("clientSecret"))
	auditor.get("/ledger/trial-balance").want(200)
	receipt := "Receipt:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	auditor.post("/ledger/unmatched/"+receipt+"/assign", object{"to": "PAYER", "note": "x"}).refused(403, "FORBIDDEN")
	h.post("/ledger/unmatched/"+receipt+"/assign", object{"to": "PAYER", "note": "x"}).refused(404, "NOT_FOUND")
	if got := h.post("/ledger/unmatched/"+receipt+"/assign", object{"to": "me", "note": ""}).refused(400, "INVALID_INPUT").fields(); !slices.Equal(got, []string{"note", "to"}) && !slices.Equal(got, []string{"to", "note"}) {
		t.Errorf("%v", got)
	}
}

func TestUnmatchedFundsAreAssigned(t *testing.T) {
	t.Parallel()
	// Money that nobody knew the owner of is found again: it pays a quote, is deposited,
	// or goes back, each once, however often the request is repeated.
	h := newHouse(t)
	hooks := h.listen()
	arrive := func(amount int64) string {
		h.post("/sandbox/send", object{"reference": "NOBODYKNOWS1", "currencyCode": "USD", "currencyAmount": amount}).refused(404, "REFERENCE_NOT_FOUND")
		return h.get("/ledger/unmatched?assigned=false&limit=1").want(200).str("data.0.receiptId")
	}
	quote := h.quote("")
	transaction := quote.str("transactionId")
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + quote.str("source.customerId")).want(200).str("data.0.id")

	paying := "/ledger/unmatched/" + arrive(10050) + "/assign"
	for range 2 {
		h.with("Idempotency-Key", "pays").post(paying, object{"to": transaction, "note": "the payer called"}).want(200).
			each(map[string]any{"assigned": true, "assignment.to": "TRANSACTION", "assignment.transactionId": transaction, "reference": "NOBODYKNOWS1"})
	}
	h.post(paying, object{"to": "PAYER", "note": "again"}).refused(409, "CONFLICT")
	hooks.end(transaction, "COMPLETED")
	h.checkConversion(h.platform, quote, "rails/RTP USD", "chains/LAYER2 BTC")

	deposited := h.post("/ledger/unmatched/"+arrive(700)+"/assign", object{"to": account, "note": "rent"}).want(200)
	hooks.ended(deposited.str("assignment.transactionId"), "COMPLETED")
	if got := h.balance(quote.str("source.customerId")); got != 700 {
		t.Errorf("the account holds %d", got)
	}
	h.post("/ledger/unmatched/"+arrive(900)+"/assign", object{"to": "PAYER", "note": "nobody knows them"}).want(200).each(map[string]any{"assignment.to": "PAYER"})
	until(t, "the money's way back", func() bool {
		return h.count("SELECT count(*) FROM ledger_postings WHERE kind = 'refund_paid'") == 1
	})

	if got := h.get("/ledger/accounts/funding%2Funmatched").want(200).int("balances.0.balance"); got != 0 {
		t.Errorf("%d are still unmatched", got)
	}
	if got := len(h.get("/ledger/unmatched?assigned=true").want(200).list("data")); got != 3 {
		t.Errorf("%d assigned, want 3", got)
	}
	h.get("/ledger/trial-balance").want(200).each(map[string]any{"sums.0.balanced": true, "sums.1.balanced": true})
}
