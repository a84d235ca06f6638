package e2e

import "time"

// ending is what becomes of a quote once it is paid or executed.
type ending struct {
	events []string
	// kinds are those of the postings, from when the money sets out.
	kinds          []string
	status, reason string
	refund, why    string
	takes          time.Duration
	until          string
}

// The endings that several scenarios share.
var (
	delivered = ending{
		events: []string{"PENDING", "PROCESSING", "COMPLETED"}, kinds: []string{"converted", "delivered"}, status: "COMPLETED"}
	turnedBack = ending{
		events: []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"},
		kinds:  []string{"converted", "reversal", "refund_owed", "refund_paid"}, status: "FAILED", refund: "COMPLETED", why: "TRANSACTION_FAILED"}
)

// failing is turnedBack for a reason.
func failing(reason string) ending {
	e := turnedBack
	e.reason = reason
	return e
}

// payoutEnds are the ends of an account that a quote pays.
func payoutEnds() map[string]ending {
	late, returned, cancelled, lost := delivered, failing("COUNTERPARTY_POST_TX_FAILED"), turnedBack, failing("COUNTERPARTY_POST_TX_FAILED")
	late.takes, late.until = longPayment, "COMPLETED"
	returned.events = []string{"PENDING", "PROCESSING", "COMPLETED", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}
	returned.kinds = []string{"converted", "delivered", "returned", "reversal", "refund_owed", "refund_paid"}
	returned.takes, returned.until = returnDelay, "FAILED"
	cancelled.why = "USER_CANCELLATION"
	lost.events = []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_FAILED"}
	lost.kinds, lost.refund = []string{"converted", "reversal", "refund_owed", "refund_failed"}, "FAILED"
	return map[string]ending{
		"002": failing("QUOTE_EXECUTION_FAILED"),
		"003": late,
		"004": failing("COUNTERPARTY_POST_TX_FAILED"),
		"005": returned,
		"006": cancelled,
		"007": lost,
		"000": delivered,
	}
}

// payouts are those ends, for each way of paying a quote.
func payouts() []scenario {
	var rows []scenario
	for end, e := range payoutEnds() {
		rows = append(rows,
			paidInFiat("payout paid in fiat/"+end, e, func(s *scene) object { return object{"accountId": s.bitcoin(end)} }, "chains/LAYER2"),
			paidInCrypto("payout paid in crypto/"+end, e, func(s *scene) object { return object{"accountId": s.dollars(end)} }, "rails/RTP"),
			prefunded("payout from an account/"+end, e, func(s *scene) object { return object{"accountId": s.euros(end)} }, "rails/SEPA_INSTANT"))
		if e.takes < longPayment { // the name before the domain decides
			rows = append(rows, prefunded("payout to a name at a domain/"+end, e, func(s *scene) object { return object{"accountId": s.reais(end)} }, "rails/PIX"))
		}
	}
	return rows
}

// paidInFiat is a quote that somebody pays in dollars, just in time. What fails goes
// back to where it came from.
func paidInFiat(name string, e ending, to func(*scene) object, out string) scenario {
	row := e.scenario(name, 10050, "USD")
	row.play = func(s *scene) played {
		quote := s.quoteTo(to(s), object{"customerId": s.customer, "currency": "USD"}, 10050)
		s.order("/sandbox/send", object{"reference": reference(quote), "currencyCode": "USD"}).want(200).each(map[string]any{
			"id": quote.str("transactionId"), "status": "PROCESSING", "type": "OUTGOING", "quoteId": quote.str("id")})
		money := flowOf(quote, way{"rails/RTP", "funding/jit", out, "rails/RTP"})
		return played{quote.str("transactionId"), append(money.postings("jit_received"), money.postings(e.kinds...)...)}
	}
	return row
}

// paidInCrypto is a quote that somebody pays in a stablecoin, just in time. What fails
// goes to the customer's own account.
func paidInCrypto(name string, e ending, to func(*scene) object, out string) scenario {
	row := e.scenario(name, 50_001_234, "USDC")
	row.play = func(s *scene) played {
		quote := s.quoteTo(to(s), object{"sourceType": "REALTIME_FUNDING", "customerId": s.customer, "currency": "USDC", "cryptoNetwork": "SOLANA"}, 50_001_234)
		s.order("/sandbox/send", object{"quoteId": quote.str("id"), "currencyCode": "USDC"}).want(200).each(map[string]any{
			"id": quote.str("transactionId"), "status": "PROCESSING", "type": "OUTGOING", "quoteId": quote.str("id")})
		money := flowOf(quote, way{"chains/ALTCHAIN", "funding/jit", out, "customer"})
		return played{quote.str("transactionId"), append(money.postings("jit_received"), money.postings(e.kinds...)...)}
	}
	if e.refund == "COMPLETED" {
		row.balances = map[string][]int64{"USDC": {50_001_234}}
	}
	return row
}

// prefunded is a quote that the customer's account pays, in dollars. What fails goes
// back into it.
func prefunded(name string, e ending, to func(*scene) object, out string) scenario {
	row := e.scenario(name, 10050, "USD")
	row.play = func(s *scene) played {
		quote := s.quoteTo(to(s), object{"sourceType": "ACCOUNT", "accountId": s.fund(20_000)}, 10050)
		s.order("/quotes/"+quote.str("id")+"/execute", nil).want(200).each(map[string]any{"status": "PROCESSING", "transactionId": quote.str("transactionId")})
		s.post("/quotes/"+quote.str("id")+"/execute", nil).refused(409, "QUOTE_ALREADY_EXECUTED")
		money := flowOf(quote, way{held: "customer", out: out, home: "customer"})
		return played{quote.str("transactionId"), append(funded(20_000), money.postings(e.kinds...)...)}
	}
	row.balances = map[string][]int64{"USD": {20_000, 9_950}}
	if e.refund == "COMPLETED" {
		row.balances = map[string][]int64{"USD": {20_000, 9_950, 20_000}}
	}
	return row
}

// scenario is all but the beginning of one with this ending.
func (e ending) scenario(name string, sent int64, currency string) scenario {
	final := object{"type": "OUTGOING", "status": e.status, "failureReason": e.reason, "refund.status": e.refund, "refund.reason": e.why,
		"sentAmount.amount": sent, "sentAmount.currency.code": currency, "refund.amount.amount": "", "refund.amount.currency.code": ""}
	if e.refund != "" {
		final["refund.amount.amount"], final["refund.amount.currency.code"] = sent, currency
	}
	return scenario{name: name, events: e.events, final: final, takes: e.takes, until: e.until}
}

// quoteTo makes a quote whose sending side is locked, and checks what it says.
func (s *scene) quoteTo(to, from object, amount int64) answer {
	s.t.Helper()
	body := object{"source": from, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount, "destination": to}
	for _, name := range []string{"lookupId", "senderCustomerInfo"} { // which go beside a person
		if value, given := to[name]; given {
			body[name] = value
			delete(to, name)
		}
	}
	quote := s.post("/quotes", body).want(201)
	return quote.each(map[string]any{"status": "PENDING", "totalSendingAmount": amount})
}
