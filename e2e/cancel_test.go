package e2e

import "testing"

func TestCancel_BankTransferThatWaits(t *testing.T) {
	t.Parallel()
	// A transfer that waits is cancelled once, however often the platform asks, and also when the first answer was lost. Its money is back
	// on the account. One that has arrived, or that no bank carries, cannot be cancelled; the receipt of either can be confirmed.
	h := newTestEnv(t, "--sandbox-speed", "1")
	ana := h.createCustomer()
	hooks := h.startReceiver()
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + ana).text("data.0.id")
	h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100_00}).wantStatus(200)
	slow := usAccountBody(ana)
	slow["accountInfo"].(object)["accountNumber"] = "5500000005"
	waits := h.post("/customers/external-accounts", slow).wantStatus(201).text("id")
	out := func(to string, amount int) string {
		return h.post("/transfer-out", object{"source": object{"accountId": account}, "destination": object{"accountId": to},
			"amount": amount}).wantStatus(201).text("id")
	}
	first, done := out(waits, 60_00), out(h.createBankAccount(ana), 10_00)
	in := h.post("/transfer-in", object{"source": object{"accountId": waits}, "destination": object{"accountId": account},
		"amount": 25_00}).wantStatus(201).text("id")

	keyed := h.withHeader("Idempotency-Key", "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c")
	for range 2 {
		keyed.post("/transactions/"+first+"/cancel", object{"reason": "The customer has changed their mind."}).wantStatus(200).wantValues(
			map[string]any{"status": "FAILED", "failureReason": "USER_CANCELLATION", "refund.amount.amount": 60_00.0,
				"refund.reason": "USER_CANCELLATION"})
	}
	h.post("/transactions/"+first+"/cancel", nil).wantStatus(200).wantValues(map[string]any{"status": "FAILED"})
	h.post("/transactions/"+in+"/cancel", object{}).wantStatus(200).wantValues(map[string]any{"status": "FAILED",
		"failureReason": "USER_CANCELLATION"})

	hooks.awaitOutgoingEvent(first, "REFUND_COMPLETED").wantValues(map[string]any{"transaction.status": "FAILED"})
	hooks.awaitIncomingEvent(in, "FAILED")
	hooks.awaitOutgoingEvent(done, "COMPLETED")
	h.post("/transactions/"+done+"/cancel", nil).wantError(409, "TRANSACTION_NOT_CANCELLABLE")
	h.post("/transactions/"+done[:len(done)-4]+"0000/cancel", nil).wantError(404, "TRANSACTION_NOT_FOUND")
	crypto := h.createQuote("")
	h.post("/transactions/"+crypto.text("transactionId")+"/cancel", nil).wantError(400, "INVALID_INPUT")
	if got := h.usdBalance(ana); got != 90_00 {
		t.Errorf("the balance is %d", got)
	}
	h.checkLedger()

	confirmed := h.post("/transactions/"+done+"/confirm", nil).wantStatus(200)
	h.post("/transactions/"+done+"/confirm", nil).wantStatus(200).wantValues(map[string]any{
		"receiptDeliveryConfirmedAt": confirmed.text("receiptDeliveryConfirmedAt"), "status": "COMPLETED"})
	h.get("/transactions/" + done).wantStatus(200).wantValues(map[string]any{
		"receiptDeliveryConfirmedAt": confirmed.text("receiptDeliveryConfirmedAt")})
	h.post("/transactions/"+done+"/confirm", object{"receiptDeliveryConfirmedAt": "2001-01-01T00:00:00Z"}).wantError(400, "INVALID_INPUT")
}
