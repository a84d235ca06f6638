package e2e

import "testing"

func TestWrongAmount(t *testing.T) {
	t.Parallel()
	// A payment of another amount than the quote's fails it, and all that came goes
	// back; a later payment of the right amount cannot revive it.
	h := newHouse(t)
	hooks := h.listen()
	for _, amount := range []int64{10049, 10051, 1, 9_000_000_000_000_000} {
		quote := h.quote("")
		transaction := quote.str("transactionId")

		h.pay(quote, amount).want(200).each(map[string]any{"status": "FAILED", "failureReason": "FUNDING_AMOUNT_MISMATCH",
			"refund.amount.amount": amount, "refund.status": "PENDING", "refund.reason": "TRANSACTION_FAILED", "refund.reference": reference(quote) + "-REFUND"})

		hooks.story(transaction, "PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
		h.get("/transactions/" + transaction).want(200).each(map[string]any{"status": "FAILED", "refund.status": "COMPLETED"})
		h.get("/quotes/" + quote.str("id")).want(200).each(map[string]any{"status": "FAILED"})
		h.check(h.platform, books{})

		h.pay(quote, 0).want(200).each(map[string]any{"status": "FAILED"})
		until(t, "the second payment's way back", func() bool { return len(h.books(h.platform)) == 0 })
	}
	if n := h.count("SELECT count(*) FROM ledger_postings WHERE kind = 'converted'"); n != 0 {
		t.Errorf("%d conversions of payments that failed", n)
	}
}

func TestLatePayment(t *testing.T) {
	t.Parallel()
	// When its time has passed a quote is EXPIRED, paid or not, and a payment that
	// comes after that goes back with the reason TIMEOUT.
	h := newHouse(t)
	hooks := h.listen()

	// Nobody pays.
	unpaid := h.quote("")
	hooks.story(unpaid.str("transactionId"), "PENDING")
	h.expire(unpaid)
	hooks.story(unpaid.str("transactionId"), "PENDING", "EXPIRED")
	h.get("/quotes/" + unpaid.str("id")).want(200).each(map[string]any{"status": "EXPIRED"})
	h.get("/transactions/" + unpaid.str("transactionId")).want(200).each(map[string]any{"status": "EXPIRED"})

	// Somebody pays after it was found expired.
	h.pay(unpaid, 0).want(200).each(map[string]any{"status": "EXPIRED", "refund.reason": "TIMEOUT", "refund.amount.amount": unpaid.int("totalSendingAmount")})
	hooks.story(unpaid.str("transactionId"), "PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED")

	// Somebody pays late, before anybody has looked.
	late := h.quote("")
	h.exec("UPDATE quotes SET expires_at = now() - interval '1 millisecond' WHERE id = $1", bare(late.str("id")))
	h.pay(late, 0).want(200).each(map[string]any{"status": "EXPIRED", "refund.reason": "TIMEOUT"})
	hooks.story(late.str("transactionId"), "PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED")
	h.check(h.platform, books{})
}

func TestPaidTwice(t *testing.T) {
	t.Parallel()
	// A second payment for a paid reference is sent back, whatever its amount, and the
	// first one is not touched.
	h := newHouse(t)
	hooks := h.listen()
	quote := h.quote("")
	transaction := quote.str("transactionId")
	h.pay(quote, 0).want(200).each(map[string]any{"status": "PROCESSING"})
	hooks.end(transaction, "COMPLETED")
	once := h.books(h.platform)

	h.pay(quote, 0).want(200).each(map[string]any{"id": transaction, "status": "COMPLETED"})
	h.pay(quote, 77).want(200).each(map[string]any{"id": transaction, "status": "COMPLETED"})

	until(t, "both further payments' way back", func() bool {
		return h.count("SELECT count(*) FROM ledger_postings WHERE kind = 'refund_paid'") == 2
	})
	h.check(h.platform, once)
	h.checkConversion(h.platform, quote, "rails/RTP USD", "chains/LAYER2 BTC")
	h.get("/transactions/" + transaction).want(200).each(map[string]any{"status": "COMPLETED", "refund.status": ""})
	hooks.story(transaction, "PENDING", "PROCESSING", "COMPLETED")
}

func TestUnknownReference(t *testing.T) {
	t.Parallel()
	// A payment that nobody knows is answered 404 and never lost: it stands in the
	// books as unmatched. Without an amount nothing came, and nothing is kept.
	h := newHouse(t)
	send := func(amount any) answer {
		body := object{"reference": "NOBODYKNOWS1", "currencyCode": "USD"}
		if amount != nil {
			body["currencyAmount"] = amount
		}
		return h.with("Idempotency-Key", "unknown").post("/sandbox/send", body)
	}

	send(4321).refused(404, "REFERENCE_NOT_FOUND")
	replayed := send(4321).refused(404, "REFERENCE_NOT_FOUND")

	if replayed.header.Get("Idempotent-Replayed") != "true" {
		t.Error("the repeated request was not answered from memory")
	}
	h.check(h.platform, books{"funding/unmatched USD": 4321, "rails/RTP USD": -4321})
	h.post("/sandbox/send", object{"reference": "NOBODYKNOWS2", "currencyCode": "USD"}).refused(404, "REFERENCE_NOT_FOUND")
	h.post("/sandbox/send", object{"quoteId": "Quote:00000000-0000-7000-8000-000000000000", "currencyCode": "USD"}).refused(404, "QUOTE_NOT_FOUND")
	h.check(h.platform, books{"funding/unmatched USD": 4321, "rails/RTP USD": -4321})
}

func TestWrongCurrency(t *testing.T) {
	t.Parallel()
	// A payment in another currency than the quote's is refused before any money is
	// taken, and the quote can still be paid.
	h := newHouse(t)
	hooks := h.listen()
	quote := h.quote("")

	for _, currency := range []string{"EUR", "BTC", "USDC"} {
		h.post("/sandbox/send", object{"reference": reference(quote), "currencyCode": currency, "currencyAmount": 10050}).refused(400, "INVALID_CURRENCY")
	}
	for _, currency := range []string{"usd", "XYZ", ""} {
		h.post("/sandbox/send", object{"reference": reference(quote), "currencyCode": currency}).refused(400, "INVALID_INPUT")
	}

	h.check(h.platform, books{})
	h.pay(quote, 0).want(200)
	hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
}
