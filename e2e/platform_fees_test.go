package e2e

import (
	"testing"
)

func TestPlatformFees_FromQuoteToBank(t *testing.T) {
	t.Parallel()
	// A platform charges fees of its own beside those of the service: by its settings, or for one quote. They are pending until the
	// payment is delivered, lost with a return, and otherwise paid to the platform's own balance, each once. What was returned after
	// it had been paid is made up for by later fees. The service never has any of it, and the ledger explains each.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	config := func(fixed, basisPoints int) object {
		return object{"feeConfigs": []object{{"feeType": "CROSS_CURRENCY_TRANSACTION", "sourceCurrency": "USD",
			"variableFeeBps": basisPoints, "fixedFee": object{"amount": fixed, "currency": "USD"}}}}
	}
	h.patch("/config", config(20, 100)).wantStatus(200).wantValues(map[string]any{"feeConfigs.0.variableFeeBps": 100})
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	quote := func(amount int, more object) apiResponse {
		body := object{"source": object{"customerId": customer, "currency": "USD"}, "destination": object{"accountId": wallet},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount}
		for name, value := range more {
			body[name] = value
		}
		return h.post("/quotes", body)
	}
	complete := func(q apiResponse) string {
		h.payQuote(q, 0).wantStatus(200)
		hooks.awaitOutgoingEvent(q.text("transactionId"), "COMPLETED")
		return q.text("transactionId")
	}
	wantFees := func(pending, earned int) {
		t.Helper()
		h.get("/platform/fees").wantStatus(200).wantValues(map[string]any{"data.0.currency": "USD", "data.0.pending": pending,
			"data.0.earned": earned})
	}

	usual := quote(10050, nil).wantStatus(201).wantValues(map[string]any{"platformFeesIncluded": 120})
	override := func(fixed int, currency string) object {
		return object{"platformFeeOverride": object{"platformVariableFeeBps": 0,
			"platformFixedFee": object{"amount": fixed, "currency": currency}}}
	}
	special := quote(10050, override(500, "USD")).wantStatus(201).wantValues(map[string]any{"platformFeesIncluded": 500,
		"rateDetails.serviceFixedFee": usual.int("rateDetails.serviceFixedFee")})
	if usual.int("feesIncluded")-120 != special.int("feesIncluded")-500 {
		t.Errorf("the service charges %d and %d of the same amount", usual.int("feesIncluded")-120, special.int("feesIncluded")-500)
	}
	quote(10050, override(500, "EUR")).wantError(400, "INVALID_INPUT")
	quote(10050, override(20000, "USD")).wantError(400, "AMOUNT_OUT_OF_RANGE")
	h.patch("/config", config(-1, 10_001)).wantError(400, "INVALID_INPUT")

	first := complete(usual)
	wantFees(0, 120)
	h.get("/transactions/" + first).wantStatus(200).wantValues(map[string]any{"platformFees": 120})
	second := complete(special)
	wantFees(0, 620)
	h.post("/sandbox/transactions/"+first+"/return", nil).wantStatus(200)
	refunded := hooks.awaitOutgoingEvent(first, "REFUND_COMPLETED")
	refunded.wantValues(map[string]any{"transaction.refund.amount.amount": 10050})
	wantFees(0, 500)

	h.post("/platform/fees/payouts", object{"currency": "USD", "amount": 501}).wantError(400, "INSUFFICIENT_BALANCE")
	keyed := h.withHeader("Idempotency-Key", "fees-1")
	paid := keyed.post("/platform/fees/payouts", object{"currency": "USD"}).wantStatus(201).wantValues(map[string]any{"amount.amount": 500})
	if again := keyed.post("/platform/fees/payouts", object{"currency": "USD"}).wantStatus(201); string(again.body) != string(paid.body) {
		t.Errorf("repeated with the key: %s, first %s", again.body, paid.body)
	}
	wantFees(0, 0)
	h.post("/platform/fees/payouts", object{"currency": "USD"}).wantError(400, "INSUFFICIENT_BALANCE")
	h.get("/platform/internal-accounts?currency=USD").wantStatus(200).wantValues(map[string]any{"data.0.id": paid.text("accountId"),
		"data.0.balance.amount": 500})

	h.post("/sandbox/transactions/"+second+"/return", nil).wantStatus(200)
	hooks.awaitOutgoingEvent(second, "REFUND_COMPLETED")
	wantFees(0, -500)
	h.patch("/config", config(0, 0)).wantStatus(200).wantValues(map[string]any{"feeConfigs": ""})
	quote(10050, nil).wantStatus(201).wantValues(map[string]any{"platformFeesIncluded": ""})
	mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "check")
}
