package e2e

import "slices"

// peopleDomain is where the people of the sandbox have their addresses.
const peopleDomain = "people.example"

// people are the addresses of the sandbox's own provider, paid from an account and
// just in time.
func people() []scenario {
	late := delivered
	late.takes, late.until = longPayment, "COMPLETED"
	var rows []scenario
	for _, c := range []struct {
		name, currency string
		ending
	}{
		{"$success.usd", "USD", delivered},
		{"$success.eur", "EUR", delivered},
		{"$success.mxn", "MXN", delivered},
		{"$pending.long.usd", "USD", late},
		{"$fail.compliance.usd", "USD", failing("COUNTERPARTY_POST_TX_FAILED")},
	} {
		e := c.ending
		if c.currency == "USD" { // dollars for dollars: nothing is exchanged
			e.kinds = slices.Replace(slices.Clone(e.kinds), 0, 1, "transfer_out")
		}
		to := func(s *scene) object { return s.person(c.name, c.currency) }
		rows = append(rows, prefunded("person paid from an account/"+c.name, e, to, "rails/UMA"), paidInFiat("person paid in fiat/"+c.name, e, to, "rails/UMA"))
	}
	return rows
}

// person looks somebody up for the customer, and is the destination that pays them.
func (s *scene) person(name, currency string) object {
	s.t.Helper()
	address := name + "@" + peopleDomain
	found := s.get("/receiver/uma/%24" + address[1:] + "?customerId=" + s.customer).want(200)
	found.each(map[string]any{"receiverUmaAddress": address, "supportedCurrencies.0.currency.code": currency})
	if n := len(found.list("supportedCurrencies")); n != 1 {
		s.t.Errorf("%s receives %d currencies: %s", address, n, found.text)
	}
	return object{"destinationType": "UMA_ADDRESS", "umaAddress": address, "lookupId": found.str("lookupId"), "senderCustomerInfo": object{"FULL_NAME": "Ana Silva"}}
}
