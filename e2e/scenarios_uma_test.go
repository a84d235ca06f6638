package e2e

import "slices"

// umaDomain is the domain of the sandbox's receivers.
const umaDomain = "people.example"

// umaScenarios are the addresses of the sandbox's own provider, paid from an account and just
// in time.
func umaScenarios() []scenario {
	late := outcomeDelivered
	late.delay, late.delayedEvent = longPaymentDelay, "COMPLETED"
	var rows []scenario
	for _, c := range []struct {
		name, currency string
		scenarioOutcome
	}{
		{"$success.usd", "USD", outcomeDelivered},
		{"$success.eur", "EUR", outcomeDelivered},
		{"$success.mxn", "MXN", outcomeDelivered},
		{"$pending.long.usd", "USD", late},
		{"$fail.compliance.usd", "USD", refundedWithReason("COMPLIANCE_REJECTED")},
	} {
		e := c.scenarioOutcome
		if c.currency == "USD" { // dollars for dollars: nothing is exchanged
			e.postingKinds = slices.Replace(slices.Clone(e.postingKinds), 0, 1, "transfer_out")
		}
		to := func(s *scenarioEnv) object { return s.lookUpReceiver(c.name, c.currency) }
		rows = append(rows, prefundedScenario("person paid from an account/"+c.name, e, to, "rails/UMA"),
			fiatFundedScenario("person paid in fiat/"+c.name, e, to, "rails/UMA"))
	}
	return rows
}

// lookUpReceiver looks a receiver up for the customer, and returns the destination of a quote.
func (s *scenarioEnv) lookUpReceiver(name, currency string) object {
	s.t.Helper()
	address := name + "@" + umaDomain
	found := s.get("/receiver/uma/%24" + address[1:] + "?customerId=" + s.customerID).wantStatus(200)
	found.wantValues(map[string]any{"receiverUmaAddress": address, "supportedCurrencies.0.currency.code": currency})
	if n := len(found.list("supportedCurrencies")); n != 1 {
		s.t.Errorf("%s receives %d currencies: %s", address, n, found.body)
	}
	return object{"destinationType": "UMA_ADDRESS", "umaAddress": address, "lookupId": found.text("lookupId"),
		"senderCustomerInfo": object{"FULL_NAME": "Ana Silva"}}
}
