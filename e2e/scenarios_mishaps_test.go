package e2e

// kindOf is what can be paid in, just in time, in the tables of mishaps: where it comes
// in, and where it goes back to.
type kindOf struct {
	name, currency string
	amount         int64
	in, home       string
	to             func(*scene) string
	out            string
}

// mishaps are payments for a quote that go wrong: all that came goes back, fiat to
// where it came from and crypto to the customer's own account, and what nobody knows
// is kept.
func mishaps() []scenario {
	var rows []scenario
	for _, k := range []kindOf{
		{"fiat", "USD", 10050, "rails/RTP", "rails/RTP", func(s *scene) string { return s.bitcoin("") }, "chains/LAYER2"},
		{"crypto", "USDC", 50_001_234, "chains/ALTCHAIN", "customer", func(s *scene) string { return s.dollars("000") }, "rails/RTP"},
	} {
		rows = append(rows, k.wrongAmount("too little", k.amount-1), k.wrongAmount("too much", k.amount+1), k.late(false), k.late(true), k.twice(), k.unknown())
	}
	return rows
}

// back is all that came, on its way back.
func (k kindOf) back(amount int64) []string {
	return flow{way: way{in: k.in, held: "funding/jit", home: k.home}, from: k.currency, sent: amount}.postings("jit_received", "refund_owed", "refund_paid")
}

// kept is what the customer's accounts are told after a refund.
func (k kindOf) kept(amount int64) map[string][]int64 {
	if k.home != "customer" {
		return nil
	}
	return map[string][]int64{k.currency: {amount}}
}

func (k kindOf) wrongAmount(name string, amount int64) scenario {
	refunded := object{"refund.status": "PENDING", "refund.reason": "TRANSACTION_FAILED", "refund.amount.amount": amount, "refund.amount.currency.code": k.currency}
	return scenario{
		name: "mishap/" + name + " " + k.name,
		play: func(s *scene) played {
			quote := s.jit(k.currency, k.amount, k.to(s))
			s.order("/sandbox/send", object{"quoteId": quote.str("id"), "currencyCode": k.currency, "currencyAmount": amount}).want(200).each(refunded).each(map[string]any{
				"id": quote.str("transactionId"), "status": "FAILED", "failureReason": "FUNDING_AMOUNT_MISMATCH"})
			return played{quote.str("transactionId"), k.back(amount)}
		},
		events: []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"},
		final: object{"status": "FAILED", "failureReason": "FUNDING_AMOUNT_MISMATCH", "sentAmount.amount": k.amount,
			"refund.status": "COMPLETED", "refund.reason": "TRANSACTION_FAILED", "refund.amount.amount": amount, "refund.amount.currency.code": k.currency},
		balances: k.kept(amount),
	}
}

// late is a payment after the end of the quote, which somebody has noticed by then or
// not.
func (k kindOf) late(noticed bool) scenario {
	name := "mishap/late, before it expired, "
	if noticed {
		name = "mishap/late, after it expired, "
	}
	return scenario{
		name: name + k.name,
		play: func(s *scene) played {
			quote := s.jit(k.currency, k.amount, k.to(s))
			if noticed {
				s.expire(quote)
				s.checkStory(quote.str("transactionId"), []string{"PENDING", "EXPIRED"})
				s.get("/quotes/" + quote.str("id")).want(200).each(map[string]any{"status": "EXPIRED"})
			} else {
				s.exec("UPDATE quotes SET expires_at = now() - interval '1 millisecond' WHERE id = $1", bare(quote.str("id")))
			}
			s.order("/sandbox/send", object{"quoteId": quote.str("id"), "currencyCode": k.currency}).want(200).each(map[string]any{
				"id": quote.str("transactionId"), "status": "EXPIRED", "refund.status": "PENDING", "refund.reason": "TIMEOUT"})
			return played{quote.str("transactionId"), k.back(k.amount)}
		},
		events: []string{"PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED"},
		final: object{"status": "EXPIRED", "failureReason": "", "refund.status": "COMPLETED", "refund.reason": "TIMEOUT",
			"refund.amount.amount": k.amount, "refund.amount.currency.code": k.currency},
		balances: k.kept(k.amount),
	}
}

// twice is a second payment for a quote that was paid.
func (k kindOf) twice() scenario {
	row := delivered.scenario("mishap/twice in "+k.name, k.amount, k.currency)
	row.balances = k.kept(k.amount)
	row.play = func(s *scene) played {
		quote := s.jit(k.currency, k.amount, k.to(s))
		payment := object{"quoteId": quote.str("id"), "currencyCode": k.currency}
		once := s.paid(quote, payment, way{in: k.in, out: k.out})
		s.checkStory(once.transaction, row.events)
		s.post("/sandbox/send", payment).want(200).each(map[string]any{"id": once.transaction, "status": "COMPLETED", "refund.status": ""})
		return played{once.transaction, append(once.postings, k.back(k.amount)...)}
	}
	return row
}

// unknown is a payment with a reference that nobody has.
func (k kindOf) unknown() scenario {
	return scenario{
		name: "mishap/unknown reference, " + k.name,
		play: func(s *scene) played {
			payment := object{"reference": "NOBODYKNOWS1", "currencyCode": k.currency}
			s.post("/sandbox/send", payment).refused(404, "REFERENCE_NOT_FOUND") // without an amount nothing comes
			payment["currencyAmount"] = k.amount
			s.post("/sandbox/send", payment).refused(404, "REFERENCE_NOT_FOUND")
			return played{postings: posting("unmatched_received", leg{k.in, "funding/unmatched", k.amount, k.currency})}
		},
	}
}
