package e2e

import (
	"slices"
	"strings"
	"testing"
)

func TestInternalAccounts(t *testing.T) {
	t.Parallel()
	// Customers and the platform have an account for each currency, with payment instructions;
	// a currency that is added gets an account for each; another platform sees none of them.
	h := newSharedEnv(t)
	ana, ben := h.createCustomer(), h.createCustomer(object{"customerType": "BUSINESS", "businessInfo": object{"legalName": "Ben GmbH"}})
	other := h.createPlatform("Other", "SANDBOX")

	for customer, owner := range map[string]string{ana: "Ana Silva", ben: "Ben GmbH"} {
		accounts := h.get("/customers/internal-accounts?customerId=" + customer).wantStatus(200)
		if n := len(accounts.list("data")); n != 4 || accounts.int("totalCount") != 4 {
			t.Errorf("%s has %d accounts: %s", owner, n, accounts.body)
		}
		dollars := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).wantValues(map[string]any{
			"data.0.customerId": customer, "data.0.type": "INTERNAL_FIAT", "data.0.status": "ACTIVE", "data.0.balance.amount": 0,
			"data.0.balance.currency.code":                                              "USD",
			"data.0.fundingPaymentInstructions.0.accountOrWalletInfo.accountHolderName": "Causeway Client Money FBO " + owner, "totalCount": 1})
		if code := dollars.text("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.reference"); !strings.HasPrefix(code, "FUND-") {
			t.Errorf("the reference of %s is %q", owner, code)
		}
	}
	own := itemIDs(h.get("/platform/internal-accounts").wantStatus(200))
	if len(own) != 4 {
		t.Errorf("the platform has %v", own)
	}
	wallet := h.get("/customers/internal-accounts?type=EMBEDDED_WALLET&customerId=" + ana).wantStatus(200).text("data.0.id")
	h.patch("/internal-accounts/"+wallet, object{"privateEnabled": true}).wantStatus(202) // its owner has to sign
	h.patch("/internal-accounts/"+own[0], object{"privateEnabled": true}).wantError(400, "INVALID_INPUT")
	h.patch("/internal-accounts/"+own[0], object{}).wantStatus(200).wantValues(map[string]any{"id": own[0]})

	used := h.get("/config").wantStatus(200).list("supportedCurrencies")
	euro := object{"currencyCode": "EUR", "minAmount": 1, "maxAmount": 100, "requiredCounterpartyFields": []any{},
		"enabledTransactionTypes": []any{"OUTGOING"}}
	h.patch("/config", object{"supportedCurrencies": append(used, euro)}).wantStatus(200)

	h.get("/platform/internal-accounts?currency=EUR").wantStatus(200).wantValues(map[string]any{
		"data.0.fundingPaymentInstructions.0.accountOrWalletInfo.accountType": "EUR_ACCOUNT",
		"data.0.fundingPaymentInstructions.0.isPlatformAccount":               true})
	eventually(t, "accounts in EUR of all customers", func() bool {
		return h.get("/customers/internal-accounts?currency=EUR").wantStatus(200).int("totalCount") == 2
	})

	other.get("/customers/internal-accounts?customerId=" + ana).wantStatus(200).wantValues(map[string]any{"totalCount": 0})
	other.patch("/internal-accounts/"+own[0], object{}).wantError(404, "INTERNAL_ACCOUNT_NOT_FOUND")
	if otherAccounts := itemIDs(other.get("/platform/internal-accounts").wantStatus(200)); len(otherAccounts) != 4 ||
		slices.ContainsFunc(otherAccounts, func(id string) bool { return slices.Contains(own, id) }) {
		t.Errorf("another platform has %v", otherAccounts)
	}
}

func TestInternalAccounts_BalancesMatchLedger(t *testing.T) {
	t.Parallel()
	// Crypto that cannot be delivered is credited to its customer's account, and the list
	// shows the exact balance.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	customer := h.createCustomer()
	quote := h.post("/quotes", object{
		"source":             object{"customerId": customer, "currency": "USDC", "cryptoNetwork": "SOLANA"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": h.createBankAccount(customer)},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 50_000_000,
	}).wantStatus(201)

	h.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USDC", "currencyAmount": 49_999_999}).wantStatus(200)
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "REFUND_COMPLETED")

	path := "/customers/internal-accounts?customerId=" + customer
	h.get(path + "&currency=USDC").wantStatus(200).wantValues(map[string]any{"data.0.balance.amount": 49_999_999,
		"data.0.balance.currency.decimals": 6})
	for _, currency := range []string{"USD", "BTC", "USDB"} {
		h.get(path + "&currency=" + currency).wantStatus(200).wantValues(map[string]any{"data.0.balance.amount": 0})
	}
	h.get("/platform/internal-accounts?currency=USDC").wantStatus(200).wantValues(map[string]any{"data.0.balance.amount": 0})
}
