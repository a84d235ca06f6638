package e2e

import (
	"strings"
	"testing"
)

func TestPaymentFields_OfBanks(t *testing.T) {
	t.Parallel()
	// A transaction says who has paid for it, as the bank has reported, what the beneficiary reads and on which rails it went. The
	// webhook says the same, and the database holds no name in plain text. A longer text is refused.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	h.support("EUR")
	customer := h.createCustomer()
	request := object{"source": object{"customerId": customer, "currency": "EUR"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": h.createBankAccount(customer), "paymentRail": "ACH"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 100_00, "remittanceInformation": strings.Repeat("x", 81)}
	h.post("/quotes", request).wantError(400, "INVALID_INPUT")
	request["remittanceInformation"] = "Invoice 2026-0117"
	quote := h.post("/quotes", request).wantStatus(201).wantValues(map[string]any{"remittanceInformation": "Invoice 2026-0117",
		"paymentInstructions.0.accountOrWalletInfo.rail": "SEPA_INSTANT"})

	h.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "EUR", "originator": object{"accountHolderName": "Bo Lin",
		"accountIdentifier": "DE89370400440532013000", "bankName": "Commerzbank", "bankIdentifier": "COBADEFFXXX",
		"remittanceInformation": "for the invoice", "endToEndId": "E2E-7", "traceNumber": "T-7"}}).wantStatus(200)

	want := map[string]any{"source.accountHolderName": "Bo Lin", "source.accountIdentifier": "****3000", "source.bankName": "Commerzbank",
		"source.bankIdentifier": "COBADEFFXXX", "source.remittanceInformation": "for the invoice", "source.endToEndId": "E2E-7",
		"source.traceNumber": "T-7", "destination.paymentRail": "ACH", "paymentRail": "ACH", "railSelectionMode": "MANUAL",
		"remittanceInformation": "Invoice 2026-0117"}
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	h.get("/transactions/" + quote.text("transactionId")).wantStatus(200).wantValues(want)
	if n := h.queryInt(`SELECT count(*) FROM transactions WHERE platform_id = $1 AND (details LIKE '%Bo Lin%' OR details LIKE '%Invoice%')`,
		uuidOf(h.platformID)); n != 0 {
		t.Errorf("%d transactions have who paid in plain text", n)
	}
}

func TestPaymentFields_OfChains(t *testing.T) {
	t.Parallel()
	// A payment from one chain to another has the hash of both transfers. One that is reviewed says so as long as it is.
	h := newTestEnv(t, "--sandbox-speed", "1")
	hooks := h.startReceiver()
	customer := h.createCustomer()
	send := func(end string) apiResponse {
		quote := h.post("/quotes", object{"source": object{"customerId": customer, "currency": "USDC", "cryptoNetwork": "BASE"},
			"destination":        object{"destinationType": "ACCOUNT", "accountId": h.createWallet(customer, end)},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 50_000_000}).wantStatus(201).wantValues(map[string]any{
			"paymentInstructions.0.accountOrWalletInfo.network": "BASE"})
		h.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USDC"}).wantStatus(200)
		return quote
	}

	paid := send("").text("transactionId")
	hooks.awaitOutgoingEvent(paid, "COMPLETED")
	done := h.get("/transactions/" + paid).wantStatus(200).wantValues(map[string]any{
		"source.onChainTransaction.network": "BASE", "destination.onChainTransaction.network": "LAYER2"})
	hash := done.text("destination.onChainTransaction.transactionHash")
	if len(hash) != 64 || done.text("reconciliationInstructions.transactionHash") != hash ||
		!strings.HasPrefix(done.text("source.onChainTransaction.transactionHash"), "0x") {
		t.Errorf("%s", done.body)
	}

	reviewed := send("009").text("transactionId")
	eventually(t, "the payment is reviewed", func() bool {
		return h.get("/transactions/"+reviewed).wantStatus(200).value("pendingReason") == "COMPLIANCE_REVIEW"
	})
	h.post("/sandbox/transactions/"+reviewed+"/settle", nil).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED",
		"pendingReason": ""})
}
