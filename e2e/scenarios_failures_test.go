package e2e

// fundingCase is a just-in-time payment of the failure scenarios: where it is received, and
// where it is refunded to.
type fundingCase struct {
	name, currency               string
	amount                       int64
	sourceAccount, refundAccount string
	newDestination               func(*scenarioEnv) string
	destinationAccount           string
}

// failureScenarios are payments for a quote that fail: all that was received is refunded, fiat
// to its source and crypto to the customer's own account, and unmatched money is kept.
func failureScenarios() []scenario {
	var rows []scenario
	for _, k := range []fundingCase{
		{"fiat", "USD", 10050, "rails/RTP", "rails/RTP", func(s *scenarioEnv) string { return s.createBTCWallet("") }, "chains/LAYER2"},
		{"crypto", "USDC", 50_001_234, "chains/ALTCHAIN", "customer", func(s *scenarioEnv) string { return s.createUSDAccount("000") },
			"rails/RTP"},
	} {
		rows = append(rows, k.wrongAmount("too little", k.amount-1), k.wrongAmount("too much", k.amount+1), k.latePayment(false),
			k.latePayment(true), k.duplicatePayment(), k.unknownReference())
	}
	return rows
}

// refundPostings is the refund of all that was received.
func (k fundingCase) refundPostings(amount int64) []string {
	return flow{flowAccounts: flowAccounts{source: k.sourceAccount, funding: "funding/jit", refund: k.refundAccount}, fromCurrency: k.currency,
		sent: amount}.postings("jit_received", "refund_owed", "refund_paid")
}

// refundBalances are the balance events after a refund.
func (k fundingCase) refundBalances(amount int64) map[string][]int64 {
	if k.refundAccount != "customer" {
		return nil
	}
	return map[string][]int64{k.currency: {amount}}
}

func (k fundingCase) wrongAmount(name string, amount int64) scenario {
	refunded := object{"refund.status": "PENDING", "refund.reason": "TRANSACTION_FAILED", "refund.amount.amount": amount,
		"refund.amount.currency.code": k.currency}
	return scenario{
		name: "failure/" + name + " " + k.name,
		run: func(s *scenarioEnv) scenarioResult {
			quote := s.createJITQuote(k.currency, k.amount, k.newDestination(s))
			s.postTimed("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": k.currency, "currencyAmount": amount}).wantStatus(
				200).wantValues(refunded).wantValues(map[string]any{
				"id": quote.text("transactionId"), "status": "FAILED", "failureReason": "FUNDING_AMOUNT_MISMATCH"})
			return scenarioResult{quote.text("transactionId"), k.refundPostings(amount)}
		},
		events: []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"},
		finalFields: object{"status": "FAILED", "failureReason": "FUNDING_AMOUNT_MISMATCH", "sentAmount.amount": k.amount,
			"refund.status": "COMPLETED", "refund.reason": "TRANSACTION_FAILED", "refund.amount.amount": amount,
			"refund.amount.currency.code": k.currency},
		balances: k.refundBalances(amount),
	}
}

// latePayment is a payment after the expiry of the quote, which has been recorded by then or
// not.
func (k fundingCase) latePayment(noticed bool) scenario {
	name := "failure/late, before the expiry was recorded, "
	if noticed {
		name = "failure/late, after the expiry was recorded, "
	}
	return scenario{
		name: name + k.name,
		run: func(s *scenarioEnv) scenarioResult {
			quote := s.createJITQuote(k.currency, k.amount, k.newDestination(s))
			if noticed {
				s.expireQuote(quote)
				s.checkTransactionEvents(quote.text("transactionId"), []string{"PENDING", "EXPIRED"})
				s.get("/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "EXPIRED"})
			} else {
				s.exec("UPDATE quotes SET expires_at = now() - interval '1 millisecond' WHERE id = $1", uuidOf(quote.text("id")))
			}
			s.postTimed("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": k.currency}).wantStatus(200).wantValues(map[string]any{
				"id": quote.text("transactionId"), "status": "EXPIRED", "refund.status": "PENDING", "refund.reason": "TIMEOUT"})
			return scenarioResult{quote.text("transactionId"), k.refundPostings(k.amount)}
		},
		events: []string{"PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED"},
		finalFields: object{"status": "EXPIRED", "failureReason": "", "refund.status": "COMPLETED", "refund.reason": "TIMEOUT",
			"refund.amount.amount": k.amount, "refund.amount.currency.code": k.currency},
		balances: k.refundBalances(k.amount),
	}
}

// duplicatePayment is a second payment for a quote that was paid.
func (k fundingCase) duplicatePayment() scenario {
	row := outcomeDelivered.newScenario("failure/duplicate in "+k.name, k.amount, k.currency)
	row.balances = k.refundBalances(k.amount)
	row.run = func(s *scenarioEnv) scenarioResult {
		quote := s.createJITQuote(k.currency, k.amount, k.newDestination(s))
		payment := object{"quoteId": quote.text("id"), "currencyCode": k.currency}
		once := s.payJITQuote(quote, payment, flowAccounts{source: k.sourceAccount, destination: k.destinationAccount})
		s.checkTransactionEvents(once.transactionID, row.events)
		s.post("/sandbox/send", payment).wantStatus(200).wantValues(map[string]any{"id": once.transactionID, "status": "COMPLETED",
			"refund.status": ""})
		return scenarioResult{once.transactionID, append(once.postings, k.refundPostings(k.amount)...)}
	}
	return row
}

// unknownReference is a payment with an unknown reference.
func (k fundingCase) unknownReference() scenario {
	return scenario{
		name: "failure/unknown reference, " + k.name,
		run: func(s *scenarioEnv) scenarioResult {
			payment := object{"reference": "NOBODYKNOWS1", "currencyCode": k.currency}
			s.post("/sandbox/send", payment).wantError(404, "REFERENCE_NOT_FOUND") // without an amount no money is received
			payment["currencyAmount"] = k.amount
			s.post("/sandbox/send", payment).wantError(404, "REFERENCE_NOT_FOUND")
			return scenarioResult{postings: postingLines("unmatched_received", ledgerEntry{k.sourceAccount, "funding/unmatched",
				k.amount, k.currency})}
		},
	}
}
