package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// accountPaths returns the paths of a list of accounts.
func accountPaths(list apiResponse) []string {
	var found []string
	for i := range list.list("data") {
		found = append(found, list.text(fmt.Sprintf("data.%d.path", i)))
	}
	return found
}

func TestLedgerReports_MatchPostings(t *testing.T) {
	t.Parallel()
	// The reports over HTTP are what was posted: balances, entries, postings, a trial balance
	// that adds up to zero, income, and the position.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	transaction := quote.text("transactionId")
	start := time.Now().Add(-time.Hour)
	h.payQuote(quote, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(transaction, "COMPLETED")
	fees, received := quote.int("feesIncluded"), quote.int("totalReceivingAmount")

	accounts := h.get("/ledger/accounts?limit=4").wantStatus(200)
	rest := h.get("/ledger/accounts?limit=4&cursor=" + accounts.text("nextCursor")).wantStatus(200)
	all := append(accountPaths(accounts), accountPaths(rest)...)
	if want := []string{"chains/LAYER2", "funding/jit", "fx/position", "fx/position", "income/fees", "rails/RTP",
		"transit/payouts"}; !slices.Equal(all, want) || rest.value("hasMore") != false {
		t.Errorf("accounts %v, want %v", all, want)
	}
	if got := accountPaths(h.get("/ledger/accounts?prefix=rails/&currency=USD").wantStatus(200)); !slices.Equal(got, []string{"rails/RTP"}) {
		t.Errorf("below rails/: %v", got)
	}

	fee := h.get("/ledger/accounts/income%2Ffees").wantStatus(200)
	fee.wantValues(map[string]any{"path": "income/fees", "balances.0.currency": "USD", "balances.0.class": "income",
		"balances.0.noOverdraft": false, "balances.0.balance": fees})
	for _, by := range []string{"recorded", "effective"} {
		h.get("/ledger/accounts/income%2Ffees?at=" + formatTimestamp(start) + "&by=" + by).wantStatus(200).wantValues(
			map[string]any{"balances.0.balance": 0, "by": by})
	}
	entries := h.get("/ledger/accounts/funding%2Fjit/entries?currency=USD").wantStatus(200)
	entries.wantValues(map[string]any{"data.0.side": "DEBIT", "data.0.balance": 0, "data.0.kind": "converted", "data.2.side": "CREDIT",
		"data.2.balance":     10050,
		"data.2.counterpart": "rails/RTP", "data.2.transactionId": transaction})

	postings := h.get("/ledger/postings?sortOrder=asc&transactionId=" + transaction).wantStatus(200)
	postings.wantValues(map[string]any{"data.0.kind": "jit_received", "data.1.kind": "converted", "data.2.kind": "delivered",
		"data.1.entries.0.amount": fees, "data.1.memo": paymentReference(quote)})
	for _, filter := range []string{"memo=" + paymentReference(quote), "customerId=" + quote.text("source.customerId"),
		"from=" + formatTimestamp(start), "by=effective&from=" + formatTimestamp(start)} {
		if got := len(h.get("/ledger/postings?" + filter).wantStatus(200).list("data")); got != 3 {
			t.Errorf("%s: %d postings, want 3", filter, got)
		}
	}
	one := h.get("/ledger/postings/" + postings.text("data.1.id")).wantStatus(200)
	one.wantValues(map[string]any{"kind": "converted", "number": postings.int("data.1.number"), "reversedBy": ""})

	for _, detail := range []string{"account", "group"} {
		trial := h.get("/ledger/trial-balance?detail=" + detail).wantStatus(200)
		trial.wantValues(map[string]any{"totals.0.currency": "BTC", "totals.0.balanced": true, "totals.0.closing": 0, "totals.1.currency": "USD",
			"totals.1.balanced": true, "totals.1.debits": 20100})
	}
	h.get("/ledger/income?period=day&from=" + formatTimestamp(start)).wantStatus(200)
	month := time.Now().UTC().AddDate(0, 0, -20)
	income := h.get("/ledger/income?from=" + formatTimestamp(month)).wantStatus(200)
	last := fmt.Sprintf("periods.%d.lines.0.", len(income.list("periods"))-1)
	income.wantValues(map[string]any{last + "path": "income/fees", last + "currency": "USD", last + "earned": fees})
	position := h.get("/ledger/fx-position?reportingCurrency=EUR").wantStatus(200)
	position.wantValues(map[string]any{
		"lines.0.currency": "BTC", "lines.0.position": -received, "lines.1.currency": "USD", "lines.1.position": 10050 - fees,
		"reportingCurrency": "EUR"})
	past := h.get("/ledger/fx-position?reportingCurrency=EUR&at=" + position.text("at")).wantStatus(200)
	past.wantValues(map[string]any{"value": position.value("value"), "valuedAt": position.text("valuedAt"),
		"lines.0.rate": position.text("lines.0.rate"), "lines.0.rateSource": "SIMULATED"})
	h.get("/ledger/fx-position?at=" + formatTimestamp(month)).wantStatus(200).wantValues(map[string]any{"valuedAt": "", "value": "",
		"lines.0.rate": ""})

	timeline := h.get("/transactions/" + transaction + "/timeline").wantStatus(200)
	var events []string
	for i := range timeline.list("data") {
		events = append(events, timeline.text(fmt.Sprintf("data.%d.type", i)))
	}
	for event, n := range map[string]int{"REQUESTED": 1, "QUOTED": 1, "POSTED": 3, "EVENT": 3, "RAIL_REPLIED": 1, "WEBHOOK_ATTEMPT": 3} {
		if got := strings.Count(strings.Join(events, " "), event); got != n {
			t.Errorf("%s is listed %d times, want %d: %v", event, got, n, events)
		}
	}
	// Postings of one commit are listed in the order of cause and effect.
	var order []string
	for _, event := range events {
		if event != "WEBHOOK_ATTEMPT" {
			order = append(order, event)
		}
	}
	if got, want := strings.Join(order, " "), "REQUESTED QUOTED EVENT POSTED POSTED EVENT RAIL_REPLIED POSTED EVENT"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLedgerReports_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	// An invalid request is rejected with the names of the fields, the ledger of another
	// platform is empty, and reading needs VIEW while assigning needs MANAGE.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	h.payQuote(quote, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	posting := h.get("/ledger/postings?limit=1").wantStatus(200).text("data.0.id")
	future := url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))

	if got := h.get("/ledger/accounts/rails%2FRTP?at="+future).wantError(400, "INVALID_INPUT").errorFields(); !slices.Equal(got,
		[]string{"at"}) {
		t.Errorf("%v", got)
	}
	if got := h.get("/ledger/trial-balance?to="+future+"&from="+future).wantError(400, "INVALID_INPUT").errorFields(); !slices.Equal(got,
		[]string{"from", "to"}) {
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
		if events := fmt.Sprintf("%d %s", got.status, got.text("code")); events != code {
			t.Errorf("%s: %s, want %s", path, events, code)
		}
	}

	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	other.get("/ledger/postings/"+posting).wantError(404, "NOT_FOUND")
	other.get("/transactions/"+quote.text("transactionId")+"/timeline").wantError(404, "TRANSACTION_NOT_FOUND")
	if got := other.get("/ledger/postings").wantStatus(200).list("data"); len(got) > 0 {
		t.Errorf("another platform reads %d postings", len(got))
	}
	token := h.post("/tokens", object{"name": "Auditor", "permissions": []string{"VIEW"}}).wantStatus(201)
	auditor := h.withToken(token.text("clientId"), token.text("clientSecret"))
	auditor.get("/ledger/trial-balance").wantStatus(200)
	receipt := "Receipt:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	auditor.post("/ledger/unmatched/"+receipt+"/assign", object{"to": "PAYER", "note": "x"}).wantError(403, "FORBIDDEN")
	h.post("/ledger/unmatched/"+receipt+"/assign", object{"to": "PAYER", "note": "x"}).wantError(404, "NOT_FOUND")
	if got := h.post("/ledger/unmatched/"+receipt+"/assign", object{"to": "me", "note": ""}).wantError(400,
		"INVALID_INPUT").errorFields(); !slices.Equal(got, []string{"note", "to"}) && !slices.Equal(got, []string{"to", "note"}) {
		t.Errorf("%v", got)
	}
}

func TestUnmatchedFunds_Assignment(t *testing.T) {
	t.Parallel()
	// Unmatched money is assigned to a quote, deposited or sent back, each once, however often
	// the request is repeated.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	arrive := func(amount int64) string {
		h.post("/sandbox/send", object{"reference": "NOBODYKNOWS1", "currencyCode": "USD", "currencyAmount": amount}).wantError(404,
			"REFERENCE_NOT_FOUND")
		return h.get("/ledger/unmatched?assigned=false&limit=1").wantStatus(200).text("data.0.receiptId")
	}
	quote := h.createQuote("")
	transaction := quote.text("transactionId")
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + quote.text("source.customerId")).wantStatus(
		200).text("data.0.id")

	paying := "/ledger/unmatched/" + arrive(10050) + "/assign"
	for range 2 {
		h.withHeader("Idempotency-Key", "pays").post(paying, object{"to": transaction, "note": "the payer called"}).wantStatus(200).
			wantValues(map[string]any{"assigned": true, "assignment.to": "TRANSACTION", "assignment.transactionId": transaction,
				"reference": "NOBODYKNOWS1"})
	}
	h.post(paying, object{"to": "PAYER", "note": "again"}).wantError(409, "CONFLICT")
	hooks.awaitOutgoingEvent(transaction, "COMPLETED")
	h.checkConversion(h.platformID, quote, "rails/RTP USD", "chains/LAYER2 BTC")

	deposited := h.post("/ledger/unmatched/"+arrive(700)+"/assign", object{"to": account, "note": "rent"}).wantStatus(200)
	hooks.awaitIncomingEvent(deposited.text("assignment.transactionId"), "COMPLETED")
	if got := h.usdBalance(quote.text("source.customerId")); got != 700 {
		t.Errorf("the account holds %d", got)
	}
	h.post("/ledger/unmatched/"+arrive(900)+"/assign", object{"to": "PAYER", "note": "unknown payer"}).wantStatus(200).wantValues(
		map[string]any{"assignment.to": "PAYER"})
	eventually(t, "the money's way back", func() bool {
		return h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'refund_paid' AND platform_id = $1", uuidOf(h.platformID)) == 1
	})

	if got := h.get("/ledger/accounts/funding%2Funmatched").wantStatus(200).int("balances.0.balance"); got != 0 {
		t.Errorf("%d are still unmatched", got)
	}
	if got := len(h.get("/ledger/unmatched?assigned=true").wantStatus(200).list("data")); got != 3 {
		t.Errorf("%d assigned, want 3", got)
	}
	h.get("/ledger/trial-balance").wantStatus(200).wantValues(map[string]any{"totals.0.balanced": true, "totals.1.balanced": true})
}

func TestUnmatchedFunds_RefundSentAgainByCommand(t *testing.T) {
	t.Parallel()
	// A refund that failed is sent to its payer again by command, once; where the books need two persons, it is proposed first.
	h := newSharedEnv(t)
	fail := func() (receipt string) {
		quote := h.createQuote("007")
		h.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD", "currencyAmount": 10050}).wantStatus(200)
		eventually(t, "the refund that fails", func() bool {
			found := h.get("/ledger/unmatched?assigned=false&limit=1").wantStatus(200)
			receipt = found.text("data.0.receiptId")
			return found.text("data.0.refundOf") == quote.text("transactionId")
		})
		return receipt
	}
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	first := fail()
	args := []string{"ledger", "assign", first, "--platform", h.platformID, "--to", "PAYER", "--note", "Open again", "--actor", "ana"}

	if said := mustRunCommand(t, env, args...); !strings.Contains(said, "100.50 USD of "+first+" is assigned to PAYER") {
		t.Errorf("ledger assign prints\n%s", said)
	}

	if _, said, status := runCommand(t, env, args...); status == 0 || !strings.Contains(said, "was assigned on") {
		t.Errorf("again: status %d\n%s", status, said)
	}
	eventually(t, "the refund that was sent again", func() bool {
		return h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'refund_paid' AND platform_id = $1", uuidOf(h.platformID)) == 1
	})
	mustRunCommand(t, env, "ledger", "settings", "set", "fourEyes=ASSIGNMENT", "--platform", h.platformID, "--note", "two persons", "--actor",
		"ana")
	if said := mustRunCommand(t, env, "ledger", "assign", fail(), "--platform", h.platformID, "--to", "PAYER", "--note", "Open again",
		"--actor", "ana"); !strings.Contains(said, "ledger proposals approve Proposal:") {
		t.Errorf("with two persons, ledger assign prints\n%s", said)
	}
	h.checkLedgerBalances(h.platformID, accountBalances{"funding/unmatched USD": 10050, "rails/RTP USD": -10050})
}
