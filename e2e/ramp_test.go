package e2e

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRamp(t *testing.T) {
	t.Parallel()
	// Dollars turn into bitcoin as the interface tells it, whichever side is locked
	// and whether the payer names the reference or the quote, and the books say the
	// same to the unit.
	h := newHouse(t)
	h.listen()
	for _, c := range []struct {
		name, side string
		amount     int64
		byQuote    bool
	}{
		{"sending by reference", "SENDING", 10050, false},
		{"sending by quote", "SENDING", 123_456_78, true},
		{"receiving by reference", "RECEIVING", 100_000, false},
		{"receiving by quote", "RECEIVING", 1_234_567, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := h.found("Ramp "+c.name, "SANDBOX", "--regulated")
			p.t, p.client.t = t, t
			hooks := p.listen()

			customer := p.post("/customers", person(object{"platformCustomerId": "ana"})).want(201)
			customer.each(map[string]any{"platformCustomerId": "ana", "customerType": "INDIVIDUAL", "fullName": "Ana Silva",
				"kycStatus": "APPROVED", "address.line1": "123 Main Street", "isDeleted": false})
			account := p.post("/customers/external-accounts", object{"customerId": customer.str("id"), "currency": "BTC",
				"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1ramp"}}).want(201)
			account.each(map[string]any{"customerId": customer.str("id"), "status": "ACTIVE", "currency": "BTC",
				"accountInfo.accountType": "LAYER2_WALLET", "accountInfo.address": "spark1ramp"})

			body := ramp(customer.str("id"), account.str("id"), c.side, c.amount)
			body["description"] = "Savings plan"
			quote := p.post("/quotes", body).want(201)
			checkPrice(t, quote, c.side, c.amount)
			quote.each(map[string]any{"status": "PENDING", "quoteId": quote.str("id"), "source.customerId": customer.str("id"), "source.currency": "USD",
				"destination.accountId": account.str("id"), "sendingCurrency.code": "USD", "sendingCurrency.decimals": 2,
				"receivingCurrency.code": "BTC", "receivingCurrency.decimals": 8,
				"paymentInstructions.0.accountOrWalletInfo.accountType": "US_ACCOUNT"})
			if lock := quote.time("expiresAt").Sub(quote.time("createdAt")); lock != 5*time.Minute {
				t.Errorf("the rate is held for %s, want 5 minutes", lock)
			}
			transaction := quote.str("transactionId")
			hooks.story(transaction, "PENDING")
			p.get("/transactions/" + transaction).want(200).each(map[string]any{"status": "PENDING", "settledAt": ""})

			payment := object{"currencyCode": "USD", "currencyAmount": quote.int("totalSendingAmount")}
			if c.byQuote {
				payment["quoteId"] = quote.str("id")
			} else {
				payment["reference"] = reference(quote)
			}
			p.post("/sandbox/send", payment).want(200).each(map[string]any{
				"id": transaction, "status": "PROCESSING", "type": "OUTGOING", "quoteId": quote.str("id")})

			hooks.story(transaction, "PENDING", "PROCESSING", "COMPLETED")
			told := hooks.end(transaction, "COMPLETED")
			told.each(map[string]any{"type": "OUTGOING_PAYMENT", "transaction.status": "COMPLETED", "transaction.quoteId": quote.str("id"),
				"transaction.sentAmount.amount": quote.int("totalSendingAmount"), "transaction.sentAmount.currency.code": "USD",
				"transaction.receivedAmount.amount": quote.int("totalReceivingAmount"), "transaction.receivedAmount.currency.code": "BTC",
				"transaction.customerId": customer.str("id"), "transaction.description": "Savings plan",
				"transaction.exchangeRate": quote.str("exchangeRate"), "transaction.fees": quote.int("feesIncluded"),
				"transaction.paymentInstructions.0.accountOrWalletInfo.reference":     reference(quote),
				"transaction.paymentInstructions.0.accountOrWalletInfo.referenceCode": reference(quote)})
			if told.time("transaction.settledAt").Before(told.time("transaction.createdAt")) {
				t.Errorf("settled before it was made: %s", told.text)
			}
			found := p.get("/transactions/" + transaction).want(200)
			for _, path := range []string{"id", "status", "settledAt", "createdAt", "updatedAt", "sentAmount.amount", "receivedAmount.amount", "exchangeRate"} {
				if found.str(path) != told.str("transaction."+path) {
					t.Errorf("%s: the GET says %q, the webhook %q", path, found.str(path), told.str("transaction."+path))
				}
			}
			p.get("/quotes/" + quote.str("id")).want(200).each(map[string]any{"status": "COMPLETED", "transactionId": transaction,
				"exchangeRate": quote.str("exchangeRate"), "totalReceivingAmount": quote.int("totalReceivingAmount")})

			if got := h.kinds(transaction); !slices.Equal(got, []string{"jit_received", "converted", "delivered"}) {
				t.Errorf("postings %v", got)
			}
			h.checkConversion(p.platform, quote, "rails/RTP USD", "chains/LAYER2 BTC")
		})
	}
}

// checkConversion checks that the books of a platform hold one conversion: what came
// at one place, what left from another, and in between fees and the position.
func (h *house) checkConversion(platform string, quote answer, in, out string) {
	h.t.Helper()
	sent, fees, received := quote.int("totalSendingAmount"), quote.int("feesIncluded"), quote.int("totalReceivingAmount")
	from, to := quote.str("sendingCurrency.code"), quote.str("receivingCurrency.code")
	got := h.books(platform)
	// A rounding remainder is the service's; wherever it stands, the sums are exact.
	if kept := got["fx/position "+from] + got["income/rounding "+from]; kept != sent-fees {
		h.t.Errorf("the position grew by %d %s, want %d", kept, from, sent-fees)
	}
	if gave := got["fx/position "+to] + got["income/rounding "+to]; gave != -received {
		h.t.Errorf("the position changed by %d %s, want %d", gave, to, -received)
	}
	for _, currency := range []string{from, to} {
		delete(got, "fx/position "+currency)
		delete(got, "income/rounding "+currency)
	}
	want := books{in: -sent, out: received, "income/fees " + from: fees}
	if got.String() != want.String() {
		h.t.Errorf("balances\n got %s\nwant %s", got, want)
	}
}

// checkPrice holds a quote to the published arithmetic, exactly.
func checkPrice(t *testing.T, quote answer, side string, amount int64) {
	t.Helper()
	sent, fees, received, rate := quote.int("totalSendingAmount"), quote.int("feesIncluded"), quote.int("totalReceivingAmount"), quote.rat("exchangeRate")
	floor := func(sending int64) int64 {
		exact := new(big.Rat).Mul(new(big.Rat).SetInt64(sending), rate)
		return new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
	}
	if got := floor(sent - fees); got != received {
		t.Errorf("floor((%d - %d) * %s) = %d, but the quote says %d", sent, fees, rate.FloatString(12), got, received)
	}
	if fees <= 0 || fees >= sent || received <= 0 {
		t.Errorf("fees %d of %d", fees, sent)
	}
	locked := sent
	if side == "RECEIVING" {
		locked = received
	}
	if locked != amount {
		t.Errorf("the %s side is %d, want %d", side, locked, amount)
	}
}

func TestOffRamp(t *testing.T) {
	t.Parallel()
	// The other way round works the same: a stablecoin on a wallet turns into dollars
	// on a US bank account, paid to any of the addresses that the quote offers.
	h := newHouse(t)
	hooks := h.listen()
	customer := h.customer()
	account := h.post("/customers/external-accounts", usAccount(customer)).want(201)
	account.each(map[string]any{"status": "ACTIVE", "accountInfo.accountType": "US_ACCOUNT"})

	quote := h.post("/quotes", object{
		"source":             object{"sourceType": "REALTIME_FUNDING", "customerId": customer, "currency": "USDC", "cryptoNetwork": "SOLANA"},
		"destination":        object{"accountId": account.str("id")},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 25_000,
	}).want(201)
	checkPrice(t, quote, "RECEIVING", 25_000)
	quote.each(map[string]any{"sendingCurrency.decimals": 6, "paymentInstructions.0.accountOrWalletInfo.accountType": "ALTCHAIN_WALLET",
		"paymentInstructions.0.accountOrWalletInfo.assetType": "USDC"})
	if quote.str("paymentInstructions.0.accountOrWalletInfo.address") == "" {
		t.Errorf("no address to pay to: %s", quote.text)
	}

	h.post("/sandbox/send", object{"quoteId": quote.str("id"), "currencyCode": "USDC"}).want(200).each(map[string]any{"status": "PROCESSING"})

	hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	h.checkConversion(h.platform, quote, "chains/ALTCHAIN USDC", "rails/RTP USD")
}

func TestUSAccountGoesByBothNames(t *testing.T) {
	t.Parallel()
	// USD_ACCOUNT is taken for US_ACCOUNT, and answered as that.
	h := newHouse(t)
	body := usAccount(h.customer())
	body["accountInfo"].(object)["accountType"] = "USD_ACCOUNT"

	made := h.post("/customers/external-accounts", body).want(201)

	made.each(map[string]any{"accountInfo.accountType": "US_ACCOUNT"})
	h.get("/customers/external-accounts/" + made.str("id")).want(200).each(map[string]any{"accountInfo.accountType": "US_ACCOUNT"})
}

func TestExchangeRates(t *testing.T) {
	t.Parallel()
	// What a rate promises for an amount is what a quote made right then gives.
	h := newHouse(t)
	rates := h.get("/exchange-rates?sourceCurrency=USD&destinationCurrency=BTC&sendingAmount=10050").want(200)
	rates.each(map[string]any{"data.0.sourceCurrency.code": "USD", "data.0.destinationCurrency.code": "BTC", "data.0.sendingAmount": 10050})

	quote := h.quote("")

	if rates.str("data.0.exchangeRate") == quote.str("exchangeRate") { // else the market moved in between
		rates.each(map[string]any{"data.0.receivingAmount": quote.int("totalReceivingAmount"), "data.0.fees.total": quote.int("feesIncluded")})
	}
	if n := len(h.get("/exchange-rates?sourceCurrency=USD").want(200).list("data")); n < 5 {
		t.Errorf("%d corridors from dollars", n)
	}
	h.get("/exchange-rates?sourceCurrency=XYZ").refused(400, "INVALID_CURRENCY")
	h.get("/exchange-rates?sendingAmount=x").refused(400, "INVALID_INPUT")
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	// A change of settings changes what was named, is read back, and a bad one changes
	// nothing and names every bad field.
	h := newHouse(t)
	before := h.get("/config").want(200)
	if before.str("id") != h.platform || len(before.list("supportedCurrencies")) == 0 {
		t.Errorf("config: %s", before.text)
	}

	h.patch("/config", object{"umaDomain": "uma.example.com"}).want(200).each(map[string]any{"umaDomain": "uma.example.com", "webhookEndpoint": ""})

	bad := h.patch("/config", object{"umaDomain": "not a host", "webhookEndpoint": "ftp://x", "supportedCurrencies": []any{
		object{"currencyCode": "usd", "minAmount": 5, "maxAmount": 1, "requiredCounterpartyFields": []any{}, "enabledTransactionTypes": []any{"OUTGOING"}}}})
	bad.refused(400, "INVALID_INPUT")
	for _, field := range []string{"umaDomain", "webhookEndpoint", "supportedCurrencies[0].currencyCode"} {
		if !slices.Contains(bad.fields(), field) {
			t.Errorf("%s is not among the bad fields %v", field, bad.fields())
		}
	}
	h.get("/config").want(200).each(map[string]any{"umaDomain": "uma.example.com"})
}

func TestPublishedDescription(t *testing.T) {
	t.Parallel()
	// The description and the reference page are there for anybody, need nothing from
	// the internet, and name every operation that this package uses.
	h := newHouse(t)
	anybody := newClient(t, h.server.base, "", "")

	description := anybody.get("/openapi.json").want(200)
	page := anybody.get("/docs").want(200)

	if version := description.str("openapi"); !strings.HasPrefix(version, "3.1") {
		t.Errorf("openapi %q", version)
	}
	for path, method := range map[string]string{"/customers": "post", "/customers/external-accounts": "post", "/quotes": "post", "/quotes/{quoteId}": "get",
		"/quotes/{quoteId}/execute": "post", "/sandbox/send": "post", "/transactions": "get", "/config": "patch", "/tokens": "post", "/webhook-keys": "get"} {
		if description.value("paths."+path+"."+method) == nil {
			t.Errorf("%s %s is not described", method, path)
		}
		if !strings.Contains(string(page.text), path) {
			t.Errorf("%s is not on the reference page", path)
		}
	}
	for _, foreign := range []string{"src=\"http", "href=\"http", "@import", "url(http"} {
		if strings.Contains(string(page.text), foreign) {
			t.Errorf("the reference page loads something from elsewhere: %s", foreign)
		}
	}
}
