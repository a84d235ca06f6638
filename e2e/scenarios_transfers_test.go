package e2e

import "time"

// transfersIn are the ends of a bank account that money is pulled from.
func transfersIn() []scenario {
	arrived := map[string][]int64{"USD": {5000}}
	var rows []scenario
	for _, c := range []struct {
		end, status, reason string
		balances            map[string][]int64
		takes               time.Duration
	}{
		{"002", "FAILED", "QUOTE_EXECUTION_FAILED", nil, 0},           // no funds
		{"003", "FAILED", "QUOTE_EXECUTION_FAILED", nil, 0},           // no account
		{"004", "FAILED", "QUOTE_EXECUTION_FAILED", nil, 0},           // the bank rejects it
		{"005", "FAILED", "QUOTE_EXECUTION_FAILED", nil, pendingTime}, // pending, then failed
		{"008", "COMPLETED", "", arrived, 0},
		{"007", "COMPLETED", "", arrived, 0}, // the ends of quotes mean nothing here
	} {
		event := "INCOMING_PAYMENT." + c.status
		rows = append(rows, scenario{
			name: "transfer in/" + c.end,
			play: func(s *scene) played {
				from, to := s.dollars(c.end), s.internal("USD").str("data.0.id")
				made := s.order("/transfer-in", object{"source": object{"accountId": from}, "destination": object{"accountId": to}, "amount": 5000}).want(201)
				made.each(map[string]any{"type": "INCOMING", "status": "PENDING", "settledAt": "", "receivedAmount.amount": 5000, "source.accountId": from, "destination.accountId": to})
				if c.status == "FAILED" {
					return played{made.str("id"), nil}
				}
				return played{made.str("id"), posting("transfer_in", leg{"rails/ACH", "customer", 5000, "USD"})}
			},
			events: []string{event}, balances: c.balances, takes: c.takes, until: event,
			final: object{"status": c.status, "failureReason": c.reason, "refund.status": "", "receivedAmount.amount": 5000, "receivedAmount.currency.code": "USD"},
		})
	}
	return rows
}

// transfersOut are the ends of a bank account that money is sent to.
func transfersOut() []scenario {
	failed := []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}
	rejected := []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}
	delivered := []string{"PENDING", "PROCESSING", "COMPLETED"}
	back := []string{"transfer_out", "reversal", "refund_owed", "refund_paid"}
	var rows []scenario
	for _, c := range []struct {
		end           string
		events, kinds []string
		takes         time.Duration
	}{
		{"002", failed, back, 0},           // no funds
		{"003", failed, back, 0},           // no account
		{"004", rejected, back, 0},         // the bank rejects what it had taken on
		{"005", failed, back, pendingTime}, // pending, then failed
		{"008", delivered, []string{"transfer_out", "delivered"}, 0},
		{"007", delivered, []string{"transfer_out", "delivered"}, 0}, // the ends of quotes mean nothing here
	} {
		money := flow{way{held: "customer", out: "rails/RTP", home: "customer"}, "USD", "USD", 5000, 0, 0, 5000}
		row := scenario{
			name: "transfer out/" + c.end,
			play: func(s *scene) played {
				from, to := s.fund(20_000), s.dollars(c.end)
				made := s.order("/transfer-out", object{"source": object{"accountId": from}, "destination": object{"accountId": to}, "amount": 5000}).want(201)
				made.each(map[string]any{"type": "OUTGOING", "status": "PENDING", "settledAt": "", "sentAmount.amount": 5000, "receivedAmount.amount": 5000, "fees": 0})
				return played{made.str("id"), append(funded(20_000), money.postings(c.kinds...)...)}
			},
			events: c.events, takes: c.takes, until: "FAILED",
			final:    object{"status": "COMPLETED", "failureReason": "", "refund.status": "", "sentAmount.amount": 5000, "receivedAmount.amount": 5000, "exchangeRate": 1},
			balances: map[string][]int64{"USD": {20_000, 15_000}},
		}
		if len(c.kinds) == len(back) {
			row.final = object{"status": "FAILED", "failureReason": "COUNTERPARTY_POST_TX_FAILED", "refund.status": "COMPLETED",
				"refund.reason": "TRANSACTION_FAILED", "refund.amount.amount": 5000, "refund.amount.currency.code": "USD"}
			row.balances = map[string][]int64{"USD": {20_000, 15_000, 20_000}}
		}
		rows = append(rows, row)
	}
	return rows
}

// funded are the entries of dollars that were paid into the customer's account.
func funded(amount int64) []string {
	return posting("deposit", leg{"rails/RTP", "customer", amount, "USD"})
}
