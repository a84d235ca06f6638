package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"causeway/e2e/kit"
)

func TestPricing_OperatorChangeReachesAllServers(t *testing.T) {
	t.Parallel()
	// An operator changes the terms of a corridor for one platform. Every server soon uses
	// them, in rates and quotes; existing quotes keep their price, other
	// platforms keep theirs; and the history shows the changes.
	h := newTestEnv(t)
	servers := []*process{h.server, startServer(t, h.databaseURL)}
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	env := []string{"DATABASE_URL=" + h.databaseURL}
	const pair = "/exchange-rates?sourceCurrency=USD&destinationCurrency=BTC&sendingAmount=10050"
	before := h.createQuote("")
	if fees := before.int("feesIncluded"); fees != 101 { // 0.50 and half a percent, rounded up
		t.Fatalf("the default fee on 100.50 USD is %d", fees)
	}

	out := mustRunCommand(t, env, "corridors", "set", "USD", "BTC", "--platform", h.platformID,
		"--fee-fixed", "10", "--fee-percent", "0.1%", "--max", "20000", "--lock", "2m", "--note", "Agreed in spring")

	if !strings.Contains(out, "fee-percent") || !strings.Contains(out, "0.1%") {
		t.Errorf("the output is\n%s", out)
	}
	for _, server := range servers {
		client := h.withServer(server)
		eventually(t, "new terms on "+server.baseURL, func() bool { return client.get(pair).wantStatus(200).int("data.0.fees.fixed") == 10 })
		client.get(pair).wantStatus(200).wantValues(map[string]any{"data.0.fees.total": 21, "data.0.maxSendingAmount": 20000})
		other.withServer(server).get(pair).wantStatus(200).wantValues(map[string]any{"data.0.fees.total": 101,
			"data.0.maxSendingAmount": 100_000_000})
	}
	after := h.createQuote("")
	if fees := after.int("feesIncluded"); fees != 21 {
		t.Errorf("a quote costs %d, want 21", fees)
	}
	if lockTime := after.time("expiresAt").Sub(after.time("createdAt")); lockTime != 2*time.Minute {
		t.Errorf("a rate is locked for %s, want two minutes", lockTime)
	}
	customer := h.createCustomer()
	h.post("/quotes", kit.RampQuoteBody(customer, h.createWallet(customer, ""), "SENDING", 20_001)).wantError(400, "AMOUNT_OUT_OF_RANGE").
		wantValues(map[string]any{"reason": "Above the maximum of the corridor", "details.maxAmount": 20_000})
	h.get("/quotes/" + before.text("id")).wantStatus(200).wantValues(map[string]any{"feesIncluded": 101,
		"totalReceivingAmount": before.int("totalReceivingAmount")})

	mustRunCommand(t, env, "corridors", "reset", "USD", "BTC", "--platform", h.platformID)
	eventually(t, "the old terms", func() bool { return h.get(pair).wantStatus(200).int("data.0.fees.total") == 101 })
	if history := mustRunCommand(t, env, "corridors", "history", "USD", "BTC"); strings.Count(history, "\n") != 9 ||
		!strings.Contains(history, "Agreed in spring") {
		t.Errorf("the history does not have the four changes:\n%s", history)
	}
}

func TestPricing_TwoOperatorsChangePrice(t *testing.T) {
	t.Parallel()
	// The settings of a platform list PRICE. An operator's change is only proposed, and its proposer cannot approve it.
	// Approved by another operator, it is in the next quote, with both names in the history; the check passes.
	h := newTestEnv(t)
	h.call(http.MethodPut, "/ledger/settings", object{"unrealisedResult": "REVERSE", "feeRecognition": "CONVERSION", "yearEndMonth": 12,
		"fourEyes": []string{"PRICE"}}).wantStatus(200)
	env := []string{"DATABASE_URL=" + h.databaseURL}
	out := mustRunCommand(t, env, "corridors", "set", "USD", "BTC", "--platform", h.platformID, "--fee-fixed", "10", "--fee-percent", "0.1%",
		"--note", "Agreed in spring", "--actor", "Ana")
	id := regexp.MustCompile(`Proposal:[0-9a-f-]{36}`).FindString(out)
	if id == "" || !strings.Contains(out, "corridors approve "+id) || !strings.Contains(out, "expires at") {
		t.Fatalf("the output is\n%s", out)
	}
	if _, errOut, status := runCommand(t, env, "corridors", "approve", id, "--actor", "ana"); status != 1 ||
		!strings.Contains(errOut, "another person") {
		t.Errorf("approved by the proposer: status %d, %s", status, errOut)
	}
	if fees := h.createQuote("").int("feesIncluded"); fees != 101 {
		t.Errorf("before the approval a quote costs %d, want 101", fees)
	}

	mustRunCommand(t, env, "corridors", "approve", id, "--actor", "Ben")

	eventually(t, "the approved price", func() bool { return h.createQuote("").int("feesIncluded") == 21 })
	if _, errOut, status := runCommand(t, env, "corridors", "approve", id, "--actor", "Carl"); status != 1 ||
		!strings.Contains(errOut, "already EXECUTED") {
		t.Errorf("approved again: status %d, %s", status, errOut)
	}
	history := mustRunCommand(t, env, "corridors", "history", "USD", "BTC")
	if strings.Count(history, "\n") != 3 || strings.Count(history, "Ana  Ben          Agreed in spring") != 2 {
		t.Errorf("the history does not have both names:\n%s", history)
	}
	mustRunCommand(t, env, "ledger", "check")
}

func TestPricing_PlatformLimits(t *testing.T) {
	t.Parallel()
	// The limits that a platform sets for a currency apply to its next quote, to the unit, and
	// are in its rates; limits wider than the corridor's have no effect.
	h := newSharedEnv(t)
	limits := func(minAmount, maxAmount int64) {
		t.Helper()
		h.patch("/config", object{"supportedCurrencies": []object{{"currencyCode": "USD", "minAmount": minAmount, "maxAmount": maxAmount,
			"requiredCounterpartyFields": []object{}, "enabledTransactionTypes": []string{"OUTGOING", "INCOMING"}}}}).wantStatus(200)
	}
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	quote := func(amount int64) apiResponse {
		return h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", amount))
	}

	limits(5_000, 10_000)

	for amount, reason := range map[int64]string{4_999: "Below the minimum of the platform", 10_001: "Above the maximum of the platform"} {
		quote(amount).wantError(400, "AMOUNT_OUT_OF_RANGE").wantValues(map[string]any{"reason": reason, "details.minAmount": 5_000,
			"details.maxAmount": 10_000})
	}
	quote(5_000).wantStatus(201)
	quote(10_000).wantStatus(201)
	h.get("/exchange-rates?destinationCurrency=BTC").wantStatus(200).wantValues(map[string]any{"data.0.minSendingAmount": 5_000,
		"data.0.maxSendingAmount": 10_000})

	limits(0, 9_000_000_000_000_000)

	quote(99).wantError(400, "AMOUNT_OUT_OF_RANGE").wantValues(map[string]any{"reason": "Below the minimum of the corridor",
		"details.minAmount": 100})
	quote(10_001).wantStatus(201)
}

func TestRates_ReferenceRatesFile(t *testing.T) {
	t.Parallel()
	// With a file of reference rates, its currencies have its rates and all others those of
	// the simulated market, crossed over the dollar. If the file is too old or missing, quotes
	// that need it are rejected with the reason, and others work.
	h := newDatabaseEnv(t)
	yesterday, longAgo := time.Now().UTC().AddDate(0, 0, -1), time.Now().UTC().AddDate(0, 0, -9)
	good := startServer(t, h.databaseURL, "--rates", "ecb", "--rates-ecb", ratesFileAsOf(t, yesterday), "--rates-dollars", "USDC")
	h.server = good
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	h.support("EUR")
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	fromEuro := kit.RampQuoteBody(customer, wallet, "SENDING", 10_000)
	fromEuro["source"] = object{"customerId": customer, "currency": "EUR"}
	rate := func(from, to string) apiResponse {
		t.Helper()
		return h.get("/exchange-rates?sourceCurrency=" + from + "&destinationCurrency=" + to)
	}

	rate("EUR", "USD").wantStatus(200).wantValues(map[string]any{"data.0.updatedAt": yesterday.Format(time.DateOnly) + "T13:15:00.000Z"})
	for pair, want := range map[[2]string]string{{"EUR", "USD"}: "1.0873", {"GBP", "EUR"}: "1.18898995303", {"USDC", "USD"}: "0.0001",
		{"USDC", "EUR"}: "0.0000919709371838"} {
		expected, _ := new(big.Rat).SetString(want)
		if got := rate(pair[0], pair[1]).wantStatus(200).rat("data.0.exchangeRate"); got.Cmp(expected) != 0 {
			t.Errorf("%s in %s: %s, want %s", pair[0], pair[1], got.FloatString(20), want)
		}
	}
	rate("NGN", "EUR").wantStatus(200)
	h.post("/quotes", fromEuro).wantStatus(201)

	for wantReason, options := range map[string][]string{
		`^Exchange rates are .* old, at most 4 d are allowed$`: {"--rates-ecb", ratesFileAsOf(t, longAgo)},
		`^No exchange rates$`: {"--rates-ecb", filepath.Join(t.TempDir(), "none.xml")},
	} {
		refusing := h.withServer(startServer(t, h.databaseURL, append(options, "--rates", "ecb")...))
		for request, rejected := range map[string]apiResponse{"a quote": refusing.post("/quotes", fromEuro),
			"a rate": refusing.get("/exchange-rates?sourceCurrency=EUR&destinationCurrency=USD")} {
			rejected.wantError(400, "QUOTE_REQUEST_FAILED")
			if reason := rejected.text("reason"); !regexp.MustCompile(wantReason).MatchString(reason) {
				t.Errorf("%s is rejected with the reason %q, want %s", request, reason, wantReason)
			}
		}
		refusing.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10_000)).wantStatus(201) // dollars to bitcoin need no reference
	}
	if old := h.withServer(startServer(t, h.databaseURL, "--rates", "ecb", "--rates-ecb", ratesFileAsOf(t, longAgo), "--rates-max-age",
		"720h")); old.post("/quotes", fromEuro).status != 201 {
		t.Error("a greater maximum age has no effect")
	}
}

func TestDiscoveries_Filters(t *testing.T) {
	t.Parallel()
	// Institutions are filtered by country and currency; an unknown one is rejected.
	h := newSharedEnv(t)
	all := len(h.get("/discoveries").wantStatus(200).list("data"))
	nigeria := h.get("/discoveries?country=NG&currency=NGN").wantStatus(200)
	if n := len(nigeria.list("data")); n < 12 || all < 10*n {
		t.Errorf("%d institutions in Nigeria and %d in total", n, all)
	}
	for i := range nigeria.list("data") {
		nigeria.wantValues(map[string]any{fmt.Sprintf("data.%d.country", i): "NG", fmt.Sprintf("data.%d.currency", i): "NGN"})
		if nigeria.text(fmt.Sprintf("data.%d.bankName", i)) == "" || nigeria.text(fmt.Sprintf("data.%d.displayName", i)) == "" {
			t.Errorf("institution %d has no name", i)
		}
	}
	if fields := h.get("/discoveries?country=CA&currency=XYZ").wantError(400, "INVALID_INPUT").errorFields(); len(fields) != 2 {
		t.Errorf("invalid fields %v", fields)
	}
}

// ratesFileAsOf returns the recorded file of reference rates with another date.
func ratesFileAsOf(t *testing.T, day time.Time) string {
	t.Helper()
	text, err := os.ReadFile("../adapters/rates/ecb/testdata/eurofxref-daily.xml")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "2026-03-13", day.Format(time.DateOnly), 1)
	if changed == string(text) {
		t.Fatal("the recorded file has another date")
	}
	path := filepath.Join(t.TempDir(), "rates.xml")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
