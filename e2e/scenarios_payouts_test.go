package e2e

import "time"

// scenarioOutcome is the result of a quote that is paid or executed.
type scenarioOutcome struct {
	events []string
	// postingKinds are the kinds of the postings from the dispatch on.
	postingKinds               []string
	status, failureReason      string
	refundStatus, refundReason string
	delay                      time.Duration
	delayedEvent               string
}

// Outcomes that several scenarios share.
var (
	outcomeDelivered = scenarioOutcome{
		events: []string{"PENDING", "PROCESSING", "COMPLETED"}, postingKinds: []string{"converted", "delivered"}, status: "COMPLETED"}
	outcomeRefunded = scenarioOutcome{
		events:       []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"},
		postingKinds: []string{"converted", "reversal", "refund_owed", "refund_paid"}, status: "FAILED", refundStatus: "COMPLETED",
		refundReason: "TRANSACTION_FAILED"}
)

// refundedWithReason is a refund for a reason.
func refundedWithReason(reason string) scenarioOutcome {
	e := outcomeRefunded
	e.failureReason = reason
	return e
}

// payoutOutcomes are the outcomes by test value of the account that is paid to.
func payoutOutcomes() map[string]scenarioOutcome {
	late, returned, cancelled, lost := outcomeDelivered, refundedWithReason("PAYOUT_RETURNED"),
		refundedWithReason("USER_CANCELLATION"), refundedWithReason("COUNTERPARTY_POST_TX_FAILED")
	late.delay, late.delayedEvent = longPaymentDelay, "COMPLETED"
	returned.events = []string{"PENDING", "PROCESSING", "COMPLETED", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}
	returned.postingKinds = []string{"converted", "delivered", "returned", "reversal", "refund_owed", "refund_paid"}
	returned.delay, returned.delayedEvent = returnDelay, "FAILED"
	cancelled.refundReason = "USER_CANCELLATION"
	lost.events = []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_FAILED"}
	lost.postingKinds, lost.refundStatus = []string{"converted", "reversal", "refund_owed", "refund_failed"}, "FAILED"
	outcomes := map[string]scenarioOutcome{
		"002": refundedWithReason("QUOTE_EXECUTION_FAILED"),
		"003": late,
		"004": refundedWithReason("COUNTERPARTY_POST_TX_FAILED"),
		"005": returned,
		"006": cancelled,
		"007": lost,
		"000": outcomeDelivered,
		"205": refundedWithReason("QUOTE_RATE_UNAVAILABLE"),
	}
	for end, reason := range refusalReasons {
		outcomes[end] = refundedWithReason(reason)
	}
	return outcomes
}

// refusalReasons are those of payouts of quotes and transfers that are refused, by test value.
var refusalReasons = map[string]string{"201": "ACCOUNT_INVALID", "202": "ACCOUNT_CANNOT_RECEIVE", "203": "COMPLIANCE_REJECTED",
	"204": "LIMIT_EXCEEDED"}

// payoutScenarios are those outcomes, for each way of paying a quote.
func payoutScenarios() []scenario {
	var rows []scenario
	for end, e := range payoutOutcomes() {
		rows = append(rows,
			fiatFundedScenario("payout paid in fiat/"+end, e, func(s *scenarioEnv) object { return object{"accountId": s.createBTCWallet(end)} },
				"chains/LAYER2"),
			cryptoFundedScenario("payout paid in crypto/"+end, e,
				func(s *scenarioEnv) object { return object{"accountId": s.createUSDAccount(end)} }, "rails/RTP"),
			prefundedScenario("payout from an account/"+end, e, func(s *scenarioEnv) object { return object{"accountId": s.createEURAccount(end)} },
				"rails/SEPA_INSTANT"))
		if e.delay < longPaymentDelay { // the name before the domain decides
			rows = append(rows, prefundedScenario("payout to a name at a domain/"+end, e,
				func(s *scenarioEnv) object { return object{"accountId": s.createBRLAccount(end)} }, "rails/PIX"))
		}
	}
	return rows
}

// fiatFundedScenario is a quote that is paid in dollars, just in time. A failed payment is
// refunded to its source.
func fiatFundedScenario(name string, e scenarioOutcome, to func(*scenarioEnv) object, out string) scenario {
	row := e.newScenario(name, 10050, "USD")
	row.run = func(s *scenarioEnv) scenarioResult {
		quote := s.createQuoteTo(to(s), object{"customerId": s.customerID, "currency": "USD"}, 10050)
		s.postTimed("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD"}).wantStatus(
			200).wantValues(map[string]any{
			"id": quote.text("transactionId"), "status": "PROCESSING", "type": "OUTGOING", "quoteId": quote.text("id")})
		money := newFlow(quote, flowAccounts{"rails/RTP", "funding/jit", out, "rails/RTP"})
		return scenarioResult{quote.text("transactionId"), append(money.postings("jit_received"), money.postings(e.postingKinds...)...)}
	}
	return row
}

// cryptoFundedScenario is a quote that is paid in a stablecoin, just in time. A failed payment
// is credited to the customer's own account.
func cryptoFundedScenario(name string, e scenarioOutcome, to func(*scenarioEnv) object, out string) scenario {
	row := e.newScenario(name, 50_001_234, "USDC")
	row.run = func(s *scenarioEnv) scenarioResult {
		quote := s.createQuoteTo(to(s), object{"sourceType": "REALTIME_FUNDING", "customerId": s.customerID, "currency": "USDC",
			"cryptoNetwork": "SOLANA"}, 50_001_234)
		s.postTimed("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USDC"}).wantStatus(200).wantValues(map[string]any{
			"id": quote.text("transactionId"), "status": "PROCESSING", "type": "OUTGOING", "quoteId": quote.text("id")})
		money := newFlow(quote, flowAccounts{"chains/ALTCHAIN", "funding/jit", out, "customer"})
		return scenarioResult{quote.text("transactionId"), append(money.postings("jit_received"), money.postings(e.postingKinds...)...)}
	}
	if e.refundStatus == "COMPLETED" {
		row.balances = map[string][]int64{"USDC": {50_001_234}}
	}
	return row
}

// prefundedScenario is a quote that the customer's account pays, in dollars. A failed payment
// is refunded to it.
func prefundedScenario(name string, e scenarioOutcome, to func(*scenarioEnv) object, out string) scenario {
	row := e.newScenario(name, 10050, "USD")
	row.run = func(s *scenarioEnv) scenarioResult {
		quote := s.createQuoteTo(to(s), object{"sourceType": "ACCOUNT", "accountId": s.fundUSDAccount(20_000)}, 10050)
		s.postTimed("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING",
			"transactionId": quote.text("transactionId")})
		s.post("/quotes/"+quote.text("id")+"/execute", nil).wantError(409, "QUOTE_ALREADY_EXECUTED")
		money := newFlow(quote, flowAccounts{funding: "customer", destination: out, refund: "customer"})
		return scenarioResult{quote.text("transactionId"), append(depositPostings(20_000), money.postings(e.postingKinds...)...)}
	}
	row.balances = map[string][]int64{"USD": {20_000, 9_950}}
	if e.refundStatus == "COMPLETED" {
		row.balances = map[string][]int64{"USD": {20_000, 9_950, 20_000}}
	}
	return row
}

// newScenario returns a scenario with this outcome, without its run function.
func (e scenarioOutcome) newScenario(name string, sent int64, currency string) scenario {
	final := object{"type": "OUTGOING", "status": e.status, "failureReason": e.failureReason, "refund.status": e.refundStatus,
		"refund.reason":     e.refundReason,
		"sentAmount.amount": sent, "sentAmount.currency.code": currency, "refund.amount.amount": "", "refund.amount.currency.code": ""}
	if e.refundStatus != "" {
		final["refund.amount.amount"], final["refund.amount.currency.code"] = sent, currency
	}
	return scenario{name: name, events: e.events, finalFields: final, delay: e.delay, delayedEvent: e.delayedEvent}
}

// createQuoteTo creates a quote whose sending side is locked, and checks it.
func (s *scenarioEnv) createQuoteTo(to, from object, amount int64) apiResponse {
	s.t.Helper()
	body := object{"source": from, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount, "destination": to}
	for _, name := range []string{"lookupId", "senderCustomerInfo"} { // which go beside a person
		if value, given := to[name]; given {
			body[name] = value
			delete(to, name)
		}
	}
	quote := s.post("/quotes", body).wantStatus(201)
	return quote.wantValues(map[string]any{"status": "PENDING", "totalSendingAmount": amount})
}
