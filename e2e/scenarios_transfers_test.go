package e2e

import (
	"cmp"
	"strings"
	"time"
)

// transferInScenarios are the test values of a bank account that money is pulled from.
func transferInScenarios() []scenario {
	arrived := map[string][]int64{"USD": {5000}}
	var rows []scenario
	for _, c := range []struct {
		end, status, reason string
		balances            map[string][]int64
		takes               time.Duration
	}{
		{"002", "FAILED", "COLLECTION_FAILED", nil, 0},            // no funds
		{"003", "FAILED", "COLLECTION_FAILED", nil, 0},            // no account
		{"004", "FAILED", "COLLECTION_FAILED", nil, 0},            // the bank rejects it
		{"005", "FAILED", "COLLECTION_FAILED", nil, pendingDelay}, // pending, then failed
		{"203", "FAILED", "COMPLIANCE_REJECTED", nil, 0},
		{"008", "COMPLETED", "", arrived, 0},
		{"007", "COMPLETED", "", arrived, 0},                              // the ends of quotes mean nothing here
		{"006", "COMPLETED", "", map[string][]int64{"USD": {5000, 0}}, 0}, // taken back by the payer's bank
	} {
		event := "INCOMING_PAYMENT." + c.status
		rows = append(rows, scenario{
			name: "transfer in/" + c.end,
			run: func(s *scenarioEnv) scenarioResult {
				from, to := s.createUSDAccount(c.end), s.internalAccounts("USD").text("data.0.id")
				transfer := s.postTimed("/transfer-in", object{"source": object{"accountId": from}, "destination": object{"accountId": to},
					"amount": 5000}).wantStatus(201)
				transfer.wantValues(map[string]any{"type": "INCOMING", "status": "PENDING", "settledAt": "", "receivedAmount.amount": 5000,
					"source.accountId": from, "destination.accountId": to})
				if c.status == "FAILED" {
					return scenarioResult{transfer.text("id"), nil}
				}
				arrived := postingLines("transfer_in", ledgerEntry{"rails/ACH", "customer", 5000, "USD"})
				if c.end != "006" {
					return scenarioResult{transfer.text("id"), arrived}
				}
				return scenarioResult{transfer.text("id"), append(arrived, s.takenBack(transfer.text("id"), to)...)}
			},
			events: []string{event}, balances: c.balances, delay: c.takes, delayedEvent: event,
			finalFields: object{"status": c.status, "failureReason": c.reason, "refund.status": "", "receivedAmount.amount": 5000,
				"receivedAmount.currency.code": "USD"},
		})
	}
	return rows
}

// takenBack waits until the payer's bank has taken a transfer in of 50.00 back, which the balance pays, and returns the
// postings that follow.
func (s *scenarioEnv) takenBack(transaction, account string) []string {
	s.t.Helper()
	settled := s.receiver.awaitDelivery("the return of "+transaction, func(d delivery) bool {
		return d.event == "RECEIVABLE.COLLECTED" && d.text("receivable.transactionId") == transaction
	})
	settled.wantValues(map[string]any{"receivable.status": "SETTLED", "receivable.reasonCode": "R01", "receivable.owed": 0})
	if timeline := s.get("/transactions/" + transaction + "/timeline").wantStatus(200); !strings.Contains(string(timeline.body),
		`"RECEIVABLE"`) {
		s.t.Errorf("the timeline lacks the return: %s", timeline.body)
	}
	owed := "customer-receivables/" + account
	return append(postingLines("collection_returned", ledgerEntry{owed, "rails/ACH", 5000, "USD"}),
		postingLines("receivable_collected", ledgerEntry{"customer", owed, 5000, "USD"})...)
}

// transferOutScenarios are the test values of a bank account that money is sent to.
func transferOutScenarios() []scenario {
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
		{"002", failed, back, 0},            // no funds
		{"003", failed, back, 0},            // no account
		{"004", rejected, back, 0},          // the bank rejects what it had taken on
		{"005", failed, back, pendingDelay}, // pending, then failed
		{"201", rejected, back, 0},
		{"202", rejected, back, 0},
		{"203", rejected, back, 0},
		{"204", rejected, back, 0},
		{"008", delivered, []string{"transfer_out", "delivered"}, 0},
		{"007", delivered, []string{"transfer_out", "delivered"}, 0}, // the ends of quotes mean nothing here
	} {
		money := flow{flowAccounts{funding: "customer", destination: "rails/RTP", refund: "customer"}, "USD", "USD", 5000, 0, 0, 5000}
		row := scenario{
			name: "transfer out/" + c.end,
			run: func(s *scenarioEnv) scenarioResult {
				from, to := s.fundUSDAccount(20_000), s.createUSDAccount(c.end)
				transfer := s.postTimed("/transfer-out", object{"source": object{"accountId": from}, "destination": object{"accountId": to},
					"amount": 5000}).wantStatus(201)
				transfer.wantValues(map[string]any{"type": "OUTGOING", "status": "PENDING", "settledAt": "", "sentAmount.amount": 5000,
					"receivedAmount.amount": 5000, "fees": 0})
				return scenarioResult{transfer.text("id"), append(depositPostings(20_000), money.postings(c.kinds...)...)}
			},
			events: c.events, delay: c.takes, delayedEvent: "FAILED",
			finalFields: object{"status": "COMPLETED", "failureReason": "", "refund.status": "", "sentAmount.amount": 5000,
				"receivedAmount.amount": 5000, "exchangeRate": 1},
			balances: map[string][]int64{"USD": {20_000, 15_000}},
		}
		if len(c.kinds) == len(back) {
			row.finalFields = object{"status": "FAILED", "failureReason": cmp.Or(refusalReasons[c.end], "COUNTERPARTY_POST_TX_FAILED"),
				"refund.status": "COMPLETED", "refund.reason": "TRANSACTION_FAILED", "refund.amount.amount": 5000, "refund.amount.currency.code": "USD"}
			row.balances = map[string][]int64{"USD": {20_000, 15_000, 20_000}}
		}
		rows = append(rows, row)
	}
	return rows
}

// depositPostings are the entries of a deposit of dollars into the customer's account.
func depositPostings(amount int64) []string {
	return postingLines("deposit", ledgerEntry{"rails/RTP", "customer", amount, "USD"})
}
