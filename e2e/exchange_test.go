package e2e

import (
	"encoding/csv"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
)

func TestExchangeResult_TwoMonths(t *testing.T) {
	t.Parallel()
	// Two months of payments in several currencies, with returns, are revalued, by API and by command. Each month's
	// result explains the change of the position's value, each conversion adds up to the realised result, and
	// fx/valuation is the negative value of the position. Fees of payments in transit are deferred. Without these
	// results a month is not closed. (The ledger check runs at the end.)
	h := newTestEnv(t)
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 8000, Months: 2,
		Seed: 3}); err != nil {
		t.Fatal(err)
	}
	h.keepPastRates(100)
	env := []string{"DATABASE_URL=" + h.databaseURL}
	second := period.MonthOf(time.Now()).Previous()
	first := second.Previous()
	yearEnd := first.Previous().Start().Format("1") // none of these months ends a financial year
	mustRunCommand(t, env, "ledger", "settings", "set", "functionalCurrency=USD", "feeRecognition=DELIVERY", "yearEndMonth="+yearEnd,
		"--platform", h.platformID, "--actor", "ana")
	h.post("/ledger/exchange-result/"+first.String()+"/post", nil).wantError(409,
		"CONFLICT").wantValues(map[string]any{"reason": "Wrong state"})
	mustRunCommand(t, env, "ledger", "soft-close", first.String(), "--platform", h.platformID, "--confirm-opening-balances")
	mustRunCommand(t, env, "ledger", "soft-close", second.String(), "--platform", h.platformID)
	h.post("/ledger/exchange-result/"+second.String()+"/post", nil).wantError(409,
		"CONFLICT").wantValues(map[string]any{"reason": "Out of order"})

	posted := h.withHeader("Causeway-Actor", "Ana Lima").post("/ledger/exchange-result/"+first.String()+"/post", nil).wantStatus(200)
	again := h.post("/ledger/exchange-result/"+first.String()+"/post", nil).wantStatus(200)

	posted.wantValues(map[string]any{"run": 1, "actor": "Ana Lima", "functionalCurrency": "USD", "unrealisedResult": "REVERSE"})
	if string(again.body) != string(posted.body) {
		t.Errorf("the repetition returns\n%s\nand not\n%s", again.body, posted.body)
	}
	h.checkExchangeResult(first.String())
	_, errOut, status := runCommand(t, env, "ledger", "close", first.String(), "--platform", h.platformID)
	if status != 1 || !strings.Contains(errOut, "--without-fee-deferral") {
		t.Errorf("closing without deferred fees: status %d, %s", status, errOut)
	}
	mustRunCommand(t, env, "ledger", "defer-fees", first.String(), "--platform", h.platformID, "--actor", "ana")
	mustRunCommand(t, env, "ledger", "close", first.String(), "--platform", h.platformID)

	printed := mustRunCommand(t, env, "ledger", "revalue", second.String(), "--platform", h.platformID, "--actor", "ana", "--output", "csv")
	if shown := mustRunCommand(t, env, "ledger", "exchange-result", second.String(), "--platform", h.platformID, "--output",
		"csv"); shown != printed || !strings.Contains(printed, "realised CONVERSION,BTC") {
		t.Errorf("revalue printed\n%s\nand exchange-result\n%s", printed, shown)
	}
	h.checkExchangeResult(second.String())
	closing := h.get("/ledger/exchange-result/" + first.String()).wantStatus(200).value("changes.closingValue")
	h.get("/ledger/exchange-result/" + second.String()).wantStatus(200).wantValues(map[string]any{"changes.openingValue": closing,
		"openingResult": 0})
	h.post("/ledger/periods/"+second.String()+"/close", object{}).wantError(409,
		"CONFLICT").wantValues(map[string]any{"reason": "Month-end run missing"})
	deferred := h.post("/ledger/deferred-fees/"+second.String()+"/post", nil).wantStatus(200)
	payments := mustRunCommand(t, env, "ledger", "deferred-fees", second.String(), "--platform", h.platformID, "--detail",
		"payments", "--output", "csv")
	if lines := int64(strings.Count(payments, "Transaction:")); lines < deferred.int("payments") || deferred.int("payments") == 0 {
		t.Errorf("%d payments in transit, and the file has\n%s", deferred.int("payments"), payments)
	}
	h.post("/ledger/periods/"+second.String()+"/close", object{}).wantStatus(200)
}

// checkExchangeResult checks a posted result against the ledger's reports.
func (h *testEnv) checkExchangeResult(month string) {
	h.t.Helper()
	result := h.get("/ledger/exchange-result/" + month).wantStatus(200)
	parts := result.int("changes.openingValue")
	for _, part := range []string{"conversions", "reversals", "settlements", "adjustments", "incomeAndExpense", "ownFunds",
		"openingBalances", "rateChanges"} {
		parts += result.int("changes." + part)
	}
	if parts != result.int("changes.closingValue") {
		h.t.Errorf("%s: the parts add up to %d: %s", month, parts, result.body)
	}
	m, _ := period.ParseMonth(month)
	last := url.QueryEscape(formatTimestamp(m.End().Add(-time.Millisecond)))
	valuation := h.get("/ledger/accounts/fx%2Fvaluation?currency=USD&by=effective&at=" + last).wantStatus(200)
	if v := valuation.int("balances.0.balance"); v != result.int("translated")-result.int("changes.closingValue") {
		h.t.Errorf("%s: fx/valuation is %d, %d were translated, and the position is worth %d", month, v, result.int("translated"),
			result.int("changes.closingValue"))
	}
	net := h.ownAssets(formatTimestamp(m.End()))
	for i := range result.list("positions") {
		line := "positions." + strconv.Itoa(i)
		currency := result.text(line + ".currency")
		if quantity := result.int(line + ".quantity"); quantity != net[currency] {
			h.t.Errorf("%s: the position is %d %s, and assets less what is owed are %d", month, quantity, currency, net[currency])
		}
		delete(net, currency)
	}
	delete(net, "USD")
	for currency, quantity := range net {
		if quantity != 0 {
			h.t.Errorf("%s: no position for %d %s", month, quantity, currency)
		}
	}
	realised := int64(0)
	for i := range result.list("realised") {
		realised += result.int("realised." + strconv.Itoa(i) + ".amount")
	}
	file := h.get("/ledger/exchange-result/" + month + "?format=csv").wantStatus(200)
	rows, err := csv.NewReader(strings.NewReader(string(file.body))).ReadAll()
	if err != nil || len(rows) < 2 {
		h.t.Fatalf("%s: %v, %s", month, err, file.body)
	}
	column, sum := slices.Index(rows[0], "result"), new(big.Rat)
	for _, row := range rows[1:] {
		amount, ok := new(big.Rat).SetString(row[column])
		if !ok {
			h.t.Fatalf("%s: %q", month, row)
		}
		sum.Add(sum, amount)
	}
	if sum.Cmp(big.NewRat(realised, 100)) != 0 {
		h.t.Errorf("%s: the conversions add up to %s, and the realised result is %d", month, sum.FloatString(2), realised)
	}
}

// ownAssets returns the assets less what is owed to others, in each currency, at a time.
func (h *testEnv) ownAssets(to string) map[string]int64 {
	h.t.Helper()
	trial := h.get("/ledger/trial-balance?by=effective&to=" + url.QueryEscape(to)).wantStatus(200)
	net := map[string]int64{}
	for i := range trial.list("lines") {
		line := "lines." + strconv.Itoa(i)
		path, class := trial.text(line+".path"), trial.text(line+".class")
		if class == "asset" || class == "liability" && path != "liability/deferred-fees" && !strings.HasPrefix(path, "platform/") {
			net[trial.text(line+".currency")] += trial.int(line + ".closing")
		}
	}
	return net
}

// keepPastRates keeps rates of the past days, which move a little each day, as the service would have.
func (h *testEnv) keepPastRates(days int) {
	h.t.Helper()
	h.get("/ledger/fx-position").wantStatus(200) // keeps the present ones
	h.execAsService(
		`INSERT INTO market_rates SELECT r.kept_at - n * interval '1 day', r.currency, (r.usd_rate::numeric * CASE WHEN r.currency = 'USD' THEN 1 ELSE 1 + (n % 7) * 0.004 END)::text, r.rate_at - n * interval '1 day', r.source
		FROM market_rates r, generate_series(1, $1::int) n WHERE r.kept_at = (SELECT min(kept_at) FROM market_rates)`, days)
}

func TestExchangeChanges_PaymentAndReturn(t *testing.T) {
	t.Parallel()
	// The value of the position changes by conversions, and by the reversal of one whose payout was returned after the
	// market had moved: the parts add up to the difference of both values, as the report of the position has them.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	from := h.get("/ledger/fx-position").wantStatus(200).text("valuedAt")
	paid, returned := h.createQuote(""), h.createQuote("005")
	h.payQuote(paid, 0).wantStatus(200)
	h.payQuote(returned, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(paid.text("transactionId"), "COMPLETED")
	hooks.awaitOutgoingEvent(returned.text("transactionId"), "REFUND_COMPLETED")
	h.execAsService(
		`INSERT INTO market_rates SELECT t.converted + (t.reversed - t.converted) / 2, r.currency, (r.usd_rate::numeric * CASE r.currency WHEN 'BTC' THEN 1.1 ELSE 1 END)::text, r.rate_at, r.source
		FROM market_rates r, (SELECT min(effective_at) AS converted, max(effective_at) FILTER (WHERE kind = 'reversal') AS reversed FROM ledger_postings WHERE transaction_id = $1 AND kind IN ('converted', 'reversal')) t
		WHERE r.kept_at = (SELECT max(kept_at) FROM market_rates)`, uuidOf(returned.text("transactionId")))
	to := formatTimestamp(time.Now())

	changes := h.get("/ledger/exchange-changes?from=" + from + "&to=" + to).wantStatus(200)

	position := h.get("/ledger/fx-position?by=effective&at=" + to).wantStatus(200)
	if changes.int("closingValue") != position.int("value") || changes.int("openingValue") != 0 || changes.int("incomeAndExpense") != 0 ||
		changes.int("conversions")+changes.int("reversals")+changes.int("rateChanges") != changes.int("closingValue") {
		t.Errorf("%s\nand the position %s", changes.body, position.body)
	}
	if changes.int("reversals") < 900 { // a tenth of what was sold for 100 dollars
		t.Errorf("no gain on the reversal: %s", changes.body)
	}
	table := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "exchange-changes", "--platform", h.platformID,
		"--from", from, "--to", to)
	if !strings.Contains(table, "change by REVERSAL") || !strings.Contains(table, "closing value") {
		t.Errorf("on the command line:\n%s", table)
	}
	h.get("/ledger/exchange-changes?from=2020-01-01T00:00:00Z&to="+to).wantError(400, "INVALID_INPUT")
}
