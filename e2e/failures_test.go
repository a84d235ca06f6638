package e2e

import (
	"slices"
	"strings"
	"testing"
)

func TestPayment_WrongAmountIsRefunded(t *testing.T) {
	t.Parallel()
	// A payment of another amount than the quote's fails it and is refunded; a later payment
	// of the right amount does not change that.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	for _, amount := range []int64{10049, 10051, 1, 9_000_000_000_000_000} {
		quote := h.createQuote("")
		transaction := quote.text("transactionId")

		h.payQuote(quote, amount).wantStatus(200).wantValues(map[string]any{"status": "FAILED", "failureReason": "FUNDING_AMOUNT_MISMATCH",
			"refund.amount.amount": amount, "refund.status": "PENDING", "refund.reason": "TRANSACTION_FAILED",
			"refund.reference": paymentReference(quote) + "-REFUND"})

		hooks.checkEvents(transaction, "PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
		h.get("/transactions/" + transaction).wantStatus(200).wantValues(map[string]any{"status": "FAILED", "refund.status": "COMPLETED"})
		h.get("/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "FAILED"})
		h.checkLedgerBalances(h.platformID, accountBalances{})

		h.payQuote(quote, 0).wantStatus(200).wantValues(map[string]any{"status": "FAILED"})
		eventually(t, "the refund of the second payment", func() bool { return len(h.ledgerBalances(h.platformID)) == 0 })
	}
	if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'converted' AND platform_id = $1", uuidOf(h.platformID)); n != 0 {
		t.Errorf("%d conversions of payments that failed", n)
	}
}

func TestPayment_AfterExpiryIsRefunded(t *testing.T) {
	t.Parallel()
	// After its expiry a quote is EXPIRED, and a later payment is refunded with the reason
	// TIMEOUT.
	h := newSharedEnv(t)
	hooks := h.startReceiver()

	// There is no payment.
	unpaid := h.createQuote("")
	hooks.checkEvents(unpaid.text("transactionId"), "PENDING")
	h.expireQuote(unpaid)
	hooks.checkEvents(unpaid.text("transactionId"), "PENDING", "EXPIRED")
	h.get("/quotes/" + unpaid.text("id")).wantStatus(200).wantValues(map[string]any{"status": "EXPIRED"})
	h.get("/transactions/" + unpaid.text("transactionId")).wantStatus(200).wantValues(map[string]any{"status": "EXPIRED"})

	// The payment is received after the expiry was recorded.
	h.payQuote(unpaid, 0).wantStatus(200).wantValues(map[string]any{"status": "EXPIRED", "refund.reason": "TIMEOUT",
		"refund.amount.amount": unpaid.int("totalSendingAmount")})
	hooks.checkEvents(unpaid.text("transactionId"), "PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED")

	// The payment is received after the expiry, before it was recorded.
	late := h.createQuote("")
	h.exec("UPDATE quotes SET expires_at = now() - interval '1 millisecond' WHERE id = $1", uuidOf(late.text("id")))
	h.payQuote(late, 0).wantStatus(200).wantValues(map[string]any{"status": "EXPIRED", "refund.reason": "TIMEOUT"})
	hooks.checkEvents(late.text("transactionId"), "PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED")
	h.checkLedgerBalances(h.platformID, accountBalances{})
}

func TestPayment_DuplicateIsRefunded(t *testing.T) {
	t.Parallel()
	// A second payment for a paid reference is refunded, whatever its amount, and the first
	// one is not changed.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	transaction := quote.text("transactionId")
	h.payQuote(quote, 0).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING"})
	hooks.awaitOutgoingEvent(transaction, "COMPLETED")
	once := h.ledgerBalances(h.platformID)

	h.payQuote(quote, 0).wantStatus(200).wantValues(map[string]any{"id": transaction, "status": "COMPLETED"})
	h.payQuote(quote, 77).wantStatus(200).wantValues(map[string]any{"id": transaction, "status": "COMPLETED"})

	eventually(t, "the refunds of both later payments", func() bool {
		return h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'refund_paid' AND platform_id = $1", uuidOf(h.platformID)) == 2
	})
	h.checkLedgerBalances(h.platformID, once)
	h.checkConversion(h.platformID, quote, "rails/RTP USD", "chains/LAYER2 BTC")
	h.get("/transactions/" + transaction).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED", "refund.status": ""})
	hooks.checkEvents(transaction, "PENDING", "PROCESSING", "COMPLETED")
}

func TestPayment_UnknownReferenceIsKeptUnmatched(t *testing.T) {
	t.Parallel()
	// A payment with an unknown reference gets 404 and is recorded as unmatched. Without an
	// amount no money was received, and nothing is recorded.
	h := newSharedEnv(t)
	send := func(amount any) apiResponse {
		body := object{"reference": "NOBODYKNOWS1", "currencyCode": "USD"}
		if amount != nil {
			body["currencyAmount"] = amount
		}
		return h.withHeader("Idempotency-Key", "unknown").post("/sandbox/send", body)
	}

	send(4321).wantError(404, "REFERENCE_NOT_FOUND")
	replayed := send(4321).wantError(404, "REFERENCE_NOT_FOUND")

	if replayed.header.Get("Idempotent-Replayed") != "true" {
		t.Error("the repeated request was not replayed")
	}
	h.checkLedgerBalances(h.platformID, accountBalances{"funding/unmatched USD": 4321, "rails/RTP USD": -4321})
	h.post("/sandbox/send", object{"reference": "NOSUCHREF2", "currencyCode": "USD"}).wantError(404, "REFERENCE_NOT_FOUND")
	h.post("/sandbox/send", object{"quoteId": "Quote:00000000-0000-7000-8000-000000000000", "currencyCode": "USD"}).wantError(404,
		"QUOTE_NOT_FOUND")
	h.checkLedgerBalances(h.platformID, accountBalances{"funding/unmatched USD": 4321, "rails/RTP USD": -4321})
}

func TestPayment_AnyReferenceIsKept(t *testing.T) {
	t.Parallel()
	// What a payer wrote is kept whole, whatever its length and characters.
	h := newSharedEnv(t)
	for _, reference := range []string{
		"two\nlines\t\u0001", strings.Repeat("🙂 rent ", 1000), "FUND-" + strings.Repeat("x", 10_000),
	} {
		h.post("/sandbox/send", object{"reference": reference, "currencyCode": "USD"}).wantError(404, "REFERENCE_NOT_FOUND")
		h.post("/sandbox/send", object{"reference": reference, "currencyCode": "USD", "currencyAmount": 5}).wantError(404, "REFERENCE_NOT_FOUND")
		if kept := h.get("/ledger/unmatched?limit=1&sortOrder=desc").wantStatus(200).text("data.0.reference"); kept != reference {
			t.Errorf("%.20q is kept as %.20q", reference, kept)
		}
	}
}

func TestPayment_WrongCurrencyIsRejected(t *testing.T) {
	t.Parallel()
	// A payment in another currency than the quote's is rejected before money moves, and the
	// quote can still be paid.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")

	for _, currency := range []string{"EUR", "BTC", "USDC"} {
		h.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": currency, "currencyAmount": 10050}).wantError(400,
			"INVALID_CURRENCY")
	}
	for _, currency := range []string{"usd", "XYZ", ""} {
		h.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": currency}).wantError(400, "INVALID_INPUT")
	}

	h.checkLedgerBalances(h.platformID, accountBalances{})
	h.payQuote(quote, 0).wantStatus(200)
	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
}

func TestPayment_ForQuoteFromAccountIsRejected(t *testing.T) {
	t.Parallel()
	// A quote whose source is an account has no payment instructions, so nobody can pay it, by its
	// id or otherwise.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	balance := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	h.post("/sandbox/internal-accounts/"+balance+"/fund", object{"amount": 100_00}).wantStatus(200)
	quote := h.post("/quotes", object{"source": object{"accountId": balance}, "destination": object{"accountId": h.createWallet(customer, "")},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5000}).wantStatus(201)

	if missing := h.post("/sandbox/send", object{}).wantError(400, "INVALID_INPUT").errorFields(); !slices.Contains(missing, "reference") ||
		!slices.Contains(missing, "currencyCode") {
		t.Errorf("an empty payment misses %q", missing)
	}
	wrong := h.post("/sandbox/send", object{"quoteId": "x", "currencyCode": "USD"}).wantError(400, "INVALID_INPUT")
	if bad := wrong.errorFields(); len(bad) != 1 {
		t.Errorf("a wrong id is %q", bad)
	}
	paid := h.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USD"}).wantError(400, "INVALID_INPUT")

	if field := paid.text("details.errors.0.field"); field != "quoteId" {
		t.Errorf("the invalid field is %q: %s", field, paid.body)
	}
	h.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
}
