package e2e

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/e2e/kit"
)

func TestRamp_FiatToBitcoin(t *testing.T) {
	t.Parallel()
	// A payment from dollars to bitcoin is as the interface describes it, whichever side is
	// locked and whether the payer gives the reference or the quote, and the ledger has the
	// same amounts.
	h := newSharedEnv(t)
	h.startReceiver()
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
			p := h.createPlatform("Ramp "+c.name, "SANDBOX", "--regulated")
			p.t, p.client.t = t, t
			hooks := p.startReceiver()

			customer := p.post("/customers", customerBody(object{"platformCustomerId": "ana"})).wantStatus(201)
			customer.wantValues(map[string]any{"platformCustomerId": "ana", "customerType": "INDIVIDUAL", "fullName": "Ana Silva",
				"kycStatus": "APPROVED", "address.line1": "123 Main Street", "isDeleted": false})
			account := p.post("/customers/external-accounts", object{"customerId": customer.text("id"), "currency": "BTC",
				"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1ramp"}}).wantStatus(201)
			account.wantValues(map[string]any{"customerId": customer.text("id"), "status": "ACTIVE", "currency": "BTC",
				"accountInfo.accountType": "LAYER2_WALLET", "accountInfo.address": "spark1ramp"})

			body := kit.RampQuoteBody(customer.text("id"), account.text("id"), c.side, c.amount)
			body["description"] = "Savings plan"
			quote := p.post("/quotes", body).wantStatus(201)
			checkPrice(t, quote, c.side, c.amount)
			quote.wantValues(map[string]any{"status": "PENDING", "quoteId": quote.text("id"), "source.customerId": customer.text("id"),
				"source.currency":       "USD",
				"destination.accountId": account.text("id"), "sendingCurrency.code": "USD", "sendingCurrency.decimals": 2,
				"receivingCurrency.code": "BTC", "receivingCurrency.decimals": 8,
				"paymentInstructions.0.accountOrWalletInfo.accountType": "US_ACCOUNT"})
			if lock := quote.time("expiresAt").Sub(quote.time("createdAt")); lock != 5*time.Minute {
				t.Errorf("the rate is locked for %s, want 5 minutes", lock)
			}
			transaction := quote.text("transactionId")
			hooks.checkEvents(transaction, "PENDING")
			p.get("/transactions/" + transaction).wantStatus(200).wantValues(map[string]any{"status": "PENDING", "settledAt": ""})

			payment := object{"currencyCode": "USD", "currencyAmount": quote.int("totalSendingAmount")}
			if c.byQuote {
				payment["quoteId"] = quote.text("id")
			} else {
				payment["reference"] = paymentReference(quote)
			}
			p.post("/sandbox/send", payment).wantStatus(200).wantValues(map[string]any{
				"id": transaction, "status": "PROCESSING", "type": "OUTGOING", "quoteId": quote.text("id")})

			hooks.checkEvents(transaction, "PENDING", "PROCESSING", "COMPLETED")
			webhook := hooks.awaitOutgoingEvent(transaction, "COMPLETED")
			webhook.wantValues(map[string]any{"type": "OUTGOING_PAYMENT", "transaction.status": "COMPLETED", "transaction.quoteId": quote.text("id"),
				"transaction.sentAmount.amount": quote.int("totalSendingAmount"), "transaction.sentAmount.currency.code": "USD",
				"transaction.receivedAmount.amount": quote.int("totalReceivingAmount"), "transaction.receivedAmount.currency.code": "BTC",
				"transaction.customerId": customer.text("id"), "transaction.description": "Savings plan",
				"transaction.exchangeRate": quote.text("exchangeRate"), "transaction.fees": quote.int("feesIncluded"),
				"transaction.paymentInstructions.0.accountOrWalletInfo.reference":     paymentReference(quote),
				"transaction.paymentInstructions.0.accountOrWalletInfo.referenceCode": paymentReference(quote)})
			if webhook.time("transaction.settledAt").Before(webhook.time("transaction.createdAt")) {
				t.Errorf("settled before it was created: %s", webhook.body)
			}
			found := p.get("/transactions/" + transaction).wantStatus(200)
			for _, path := range []string{"id", "status", "settledAt", "createdAt", "updatedAt", "sentAmount.amount", "receivedAmount.amount",
				"exchangeRate"} {
				if found.text(path) != webhook.text("transaction."+path) {
					t.Errorf("%s: %q in the response, %q in the webhook", path, found.text(path), webhook.text("transaction."+path))
				}
			}
			p.get("/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED", "transactionId": transaction,
				"exchangeRate": quote.text("exchangeRate"), "totalReceivingAmount": quote.int("totalReceivingAmount")})

			if got := h.postingKinds(transaction); !slices.Equal(got, []string{"jit_received", "converted", "delivered"}) {
				t.Errorf("postings %v", got)
			}
			h.checkConversion(p.platformID, quote, "rails/RTP USD", "chains/LAYER2 BTC")
		})
	}
}

// checkConversion checks that the ledger of a platform has exactly one conversion: received
// and sent amounts, fees and the position.
func (h *testEnv) checkConversion(platform string, quote apiResponse, in, out string) {
	h.t.Helper()
	sent, fees, received := quote.int("totalSendingAmount"), quote.int("feesIncluded"), quote.int("totalReceivingAmount")
	from, to := quote.text("sendingCurrency.code"), quote.text("receivingCurrency.code")
	got := h.ledgerBalances(platform)
	// A rounding remainder belongs to the service; the sums are exact.
	if gained := got["fx/position "+from] + got["income/rounding "+from]; gained != sent-fees {
		h.t.Errorf("the position grew by %d %s, want %d", gained, from, sent-fees)
	}
	if change := got["fx/position "+to] + got["income/rounding "+to]; change != -received {
		h.t.Errorf("the position changed by %d %s, want %d", change, to, -received)
	}
	for _, currency := range []string{from, to} {
		delete(got, "fx/position "+currency)
		delete(got, "income/rounding "+currency)
	}
	want := accountBalances{in: -sent, out: received, "income/fees " + from: fees}
	if got.String() != want.String() {
		h.t.Errorf("balances\n got %s\nwant %s", got, want)
	}
}

// checkPrice checks the amounts of a quote against the published formula.
func checkPrice(t *testing.T, quote apiResponse, side string, amount int64) {
	t.Helper()
	sent, fees, received, rate := quote.int("totalSendingAmount"), quote.int("feesIncluded"), quote.int("totalReceivingAmount"),
		quote.rat("exchangeRate")
	receivedFor := func(sending int64) int64 {
		exact := new(big.Rat).Mul(new(big.Rat).SetInt64(sending), rate)
		return new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
	}
	if got := receivedFor(sent - fees); got != received {
		t.Errorf("receivedFor((%d - %d) * %s) = %d, but the quote has %d", sent, fees, rate.FloatString(12), got, received)
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

func TestRamp_StablecoinToFiat(t *testing.T) {
	t.Parallel()
	// The other direction works the same: a stablecoin to dollars on a US bank account, paid
	// to any of the addresses of the quote.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	customer := h.createCustomer()
	account := h.post("/customers/external-accounts", usAccountBody(customer)).wantStatus(201)
	account.wantValues(map[string]any{"status": "ACTIVE", "accountInfo.accountType": "US_ACCOUNT"})

	quote := h.post("/quotes", object{
		"source":             object{"sourceType": "REALTIME_FUNDING", "customerId": customer, "currency": "USDC", "cryptoNetwork": "SOLANA"},
		"destination":        object{"accountId": account.text("id")},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 25_000,
	}).wantStatus(201)
	checkPrice(t, quote, "RECEIVING", 25_000)
	quote.wantValues(map[string]any{"sendingCurrency.decimals": 6, "paymentInstructions.0.accountOrWalletInfo.accountType": "ALTCHAIN_WALLET",
		"paymentInstructions.0.accountOrWalletInfo.assetType": "USDC", "paymentInstructions.0.accountOrWalletInfo.cryptoNetwork": "SOLANA"})
	if quote.text("paymentInstructions.0.accountOrWalletInfo.address") == "" {
		t.Errorf("no address to pay to: %s", quote.body)
	}

	h.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USDC"}).wantStatus(200).wantValues(
		map[string]any{"status": "PROCESSING"})

	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	h.checkConversion(h.platformID, quote, "chains/ALTCHAIN USDC", "rails/RTP USD")
}

func TestExternalAccount_AcceptsUSDAccountAlias(t *testing.T) {
	t.Parallel()
	// USD_ACCOUNT is accepted as US_ACCOUNT, and returned as that.
	h := newSharedEnv(t)
	body := usAccountBody(h.createCustomer())
	body["accountInfo"].(object)["accountType"] = "USD_ACCOUNT"

	created := h.post("/customers/external-accounts", body).wantStatus(201)

	created.wantValues(map[string]any{"accountInfo.accountType": "US_ACCOUNT"})
	h.get("/customers/external-accounts/" + created.text("id")).wantStatus(200).wantValues(
		map[string]any{"accountInfo.accountType": "US_ACCOUNT"})
}

func TestExchangeRates_MatchQuotes(t *testing.T) {
	t.Parallel()
	// A rate for an amount equals that of a quote made at the same time.
	h := newSharedEnv(t)
	rates := h.get("/exchange-rates?sourceCurrency=USD&destinationCurrency=BTC&sendingAmount=10050").wantStatus(200)
	rates.wantValues(map[string]any{"data.0.sourceCurrency.code": "USD", "data.0.destinationCurrency.code": "BTC",
		"data.0.sendingAmount": 10050})

	quote := h.createQuote("")

	if rates.text("data.0.exchangeRate") == quote.text("exchangeRate") { // else the market moved in between
		rates.wantValues(map[string]any{"data.0.receivingAmount": quote.int("totalReceivingAmount"),
			"data.0.fees.total": quote.int("feesIncluded")})
	}
	if n := len(h.get("/exchange-rates?sourceCurrency=USD").wantStatus(200).list("data")); n < 5 {
		t.Errorf("%d corridors from dollars", n)
	}
	h.get("/exchange-rates?sourceCurrency=XYZ").wantError(400, "INVALID_CURRENCY")
	h.get("/exchange-rates?sendingAmount=x").wantError(400, "INVALID_INPUT")
}

func TestPlatformConfig_Update(t *testing.T) {
	t.Parallel()
	// An update changes the named settings, which can be read back; an invalid one changes
	// nothing and names every invalid field.
	h := newSharedEnv(t)
	before := h.get("/config").wantStatus(200)
	if before.text("id") != h.platformID || len(before.list("supportedCurrencies")) == 0 {
		t.Errorf("config: %s", before.body)
	}

	h.patch("/config", object{"umaDomain": "uma.example.com"}).wantStatus(200).wantValues(map[string]any{"umaDomain": "uma.example.com",
		"webhookEndpoint": ""})

	bad := h.patch("/config", object{"umaDomain": "not a host", "webhookEndpoint": "ftp://x", "supportedCurrencies": []any{
		object{"currencyCode": "usd", "minAmount": 5, "maxAmount": 1, "requiredCounterpartyFields": []any{},
			"enabledTransactionTypes": []any{"OUTGOING"}}}})
	bad.wantError(400, "INVALID_INPUT")
	for _, field := range []string{"umaDomain", "webhookEndpoint", "supportedCurrencies[0].currencyCode"} {
		if !slices.Contains(bad.errorFields(), field) {
			t.Errorf("%s is not among the invalid fields %v", field, bad.errorFields())
		}
	}
	h.get("/config").wantStatus(200).wantValues(map[string]any{"umaDomain": "uma.example.com"})
}

func TestOpenAPI_PublicAndComplete(t *testing.T) {
	t.Parallel()
	// The description and the reference page are public, load nothing from the internet, and
	// contain every operation that these tests use.
	h := newTestEnv(t)
	anonymous := newClient(t, h.server.baseURL, "", "")

	description := anonymous.get("/openapi.json").wantStatus(200)
	page := anonymous.get("/docs").wantStatus(200)

	if version := description.text("openapi"); !strings.HasPrefix(version, "3.1") {
		t.Errorf("openapi %q", version)
	}
	for path, method := range map[string]string{"/customers": "post", "/customers/external-accounts": "post", "/quotes": "post",
		"/quotes/{quoteId}":         "get",
		"/quotes/{quoteId}/execute": "post", "/sandbox/send": "post", "/transactions": "get", "/config": "patch", "/tokens": "post",
		"/webhook-keys": "get"} {
		if description.value("paths."+path+"."+method) == nil {
			t.Errorf("%s %s is not described", method, path)
		}
		if !strings.Contains(string(page.body), path) {
			t.Errorf("%s is not on the reference page", path)
		}
	}
	for _, foreign := range []string{"src=\"http", "href=\"http", "@import", "url(http"} {
		if strings.Contains(string(page.body), foreign) {
			t.Errorf("the reference page loads another resource: %s", foreign)
		}
	}
}
