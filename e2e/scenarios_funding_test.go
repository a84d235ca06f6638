package e2e

import "slices"

// fundings are the ways to pay for a quote that the other tables do not have.
func fundings() []scenario { return slices.Concat(pulls(), fills(), owned()) }

// fills are accounts that are filled, and payers who pay in time.
func fills() []scenario {
	pulled, deposited := []int64{20_000, 9_950}, []int64{20_000, 9_950}
	prefund := func(name string, balances []int64, play func(s *scene) played) scenario {
		row := delivered.scenario("funding/"+name, 10050, "USD")
		row.play, row.balances = play, map[string][]int64{"USD": balances}
		return row
	}
	realtime := func(name string, sent int64, currency string, play func(s *scene) played) scenario {
		row := delivered.scenario("funding/"+name, sent, currency)
		row.play = play
		return row
	}
	return []scenario{
		prefund("an account that a bank account fills", pulled, func(s *scene) played {
			account := s.internal("USD").str("data.0.id")
			in := s.post("/transfer-in", object{"source": object{"accountId": s.dollars("008")}, "destination": object{"accountId": account}, "amount": 20_000}).want(201)
			s.checkStory(in.str("id"), []string{"INCOMING_PAYMENT.COMPLETED"})
			return s.execute(account, posting("transfer_in", leg{"rails/ACH", "customer", 20_000, "USD"}))
		}),
		prefund("an account that somebody pays into by its reference", deposited, func(s *scene) played {
			account := s.internal("USD")
			code := account.str("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.reference")
			in := s.post("/sandbox/send", object{"reference": code, "currencyCode": "USD", "currencyAmount": 20_000}).want(200)
			in.each(map[string]any{"type": "INCOMING", "status": "COMPLETED", "reconciliationInstructions.reference": code})
			s.checkStory(in.str("id"), []string{"INCOMING_PAYMENT.COMPLETED"})
			return s.execute(account.str("data.0.id"), funded(20_000))
		}),
		prefund("an account that has too little at first", []int64{10_049, 20_000, 9_950}, func(s *scene) played {
			account := s.fund(10_049)
			quote := s.quoteTo(object{"accountId": s.bitcoin("")}, object{"accountId": account}, 10050)
			s.post("/quotes/"+quote.str("id")+"/execute", nil).refused(400, "INSUFFICIENT_BALANCE")
			s.get("/quotes/" + quote.str("id")).want(200).each(map[string]any{"status": "PENDING"})
			s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 9_951}).want(200)
			return s.run(quote, append(funded(10_049), funded(9_951)...))
		}),
		prefund("an account, at once", []int64{10_050, 0}, func(s *scene) played {
			account := s.fund(10_050)
			s.order("/quotes", object{"source": object{"accountId": account}, "destination": object{"accountId": s.bitcoin("")},
				"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10051, "immediatelyExecute": true}).refused(400, "INSUFFICIENT_BALANCE")
			quote := s.order("/quotes", object{"source": object{"accountId": account}, "destination": object{"accountId": s.bitcoin("")},
				"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050, "immediatelyExecute": true}).want(201).each(map[string]any{"status": "PROCESSING"})
			money := flowOf(quote, way{held: "customer", out: "chains/LAYER2"})
			return played{quote.str("transactionId"), append(funded(10_050), money.postings("converted", "delivered")...)}
		}),
		realtime("in fiat, by the quote", 10050, "USD", func(s *scene) played {
			quote := s.jit("USD", 10050, s.bitcoin(""))
			return s.paid(quote, object{"quoteId": quote.str("id"), "currencyCode": "USD"}, way{in: "rails/RTP", out: "chains/LAYER2"})
		}),
		realtime("in fiat, with the amount", 10050, "USD", func(s *scene) played {
			quote := s.jit("USD", 10050, s.bitcoin(""))
			return s.paid(quote, object{"reference": reference(quote), "currencyCode": "USD", "currencyAmount": 10050}, way{in: "rails/RTP", out: "chains/LAYER2"})
		}),
		realtime("in euros", 10050, "EUR", func(s *scene) played {
			quote := s.jit("EUR", 10050, s.dollars("000"))
			return s.paid(quote, object{"reference": reference(quote), "currencyCode": "EUR"}, way{in: "rails/SEPA_INSTANT", out: "rails/RTP"})
		}),
		realtime("after an execution that is refused", 10050, "USD", func(s *scene) played {
			quote := s.jit("USD", 10050, s.bitcoin(""))
			s.post("/quotes/"+quote.str("id")+"/execute", nil).refused(409, "QUOTE_NOT_EXECUTABLE")
			return s.paid(quote, object{"reference": reference(quote), "currencyCode": "USD"}, way{in: "rails/RTP", out: "chains/LAYER2"})
		}),
	}
}

// pulls are quotes whose money is pulled from a bank account, which picks what comes of
// that; what comes and cannot be delivered goes back there.
func pulls() []scenario {
	empty := ending{events: []string{"PENDING", "PROCESSING", "FAILED"}, status: "FAILED", reason: "QUOTE_EXECUTION_FAILED"}
	slow := empty
	slow.takes, slow.until = pendingTime, "FAILED"
	var rows []scenario
	for name, c := range map[string]struct {
		from, to string
		ending
	}{
		"a bank account":                           {"008", "", delivered},
		"a bank account without funds":             {"002", "", empty},
		"a bank account that takes its time":       {"005", "", slow},
		"a bank account, for one that is not paid": {"008", "004", failing("COUNTERPARTY_POST_TX_FAILED")},
	} {
		row := c.scenario("funding/"+name, 10050, "USD")
		row.play = func(s *scene) played {
			quote := s.quoteTo(object{"accountId": s.bitcoin(c.to)}, object{"accountId": s.dollars(c.from)}, 10050)
			s.order("/quotes/"+quote.str("id")+"/execute", nil).want(200).each(map[string]any{"status": "PROCESSING"})
			money := flowOf(quote, way{"rails/ACH", "funding/jit", "chains/LAYER2", "rails/ACH"})
			kinds := c.kinds
			if len(kinds) > 0 {
				kinds = append([]string{"jit_received"}, kinds...)
			}
			return played{quote.str("transactionId"), money.postings(kinds...)}
		}
		rows = append(rows, row)
	}
	return rows
}

// owned are quotes that the platform pays itself; what is not delivered goes back to
// its own accounts, and not to the customer's.
func owned() []scenario {
	refused := failing("COUNTERPARTY_POST_TX_FAILED")
	fromPlatform, forPlatform := refused.scenario("funding/the platform's account, for one that is not paid", 10050, "USD"),
		refused.scenario("funding/in crypto by the platform, for one that is not paid", 50_001_234, "USDC")
	fromPlatform.balances = map[string][]int64{"platform USD": {10_050, 0, 10_050}}
	fromPlatform.play = func(s *scene) played {
		account := s.get("/platform/internal-accounts?currency=USD").want(200).str("data.0.id")
		s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 10_050}).want(200)
		quote := s.quoteTo(object{"accountId": s.bitcoin("004")}, object{"accountId": account, "customerId": s.customer}, 10050)
		s.order("/quotes/"+quote.str("id")+"/execute", nil).want(200)
		books := posting("deposit", leg{"rails/RTP", "platform", 10_050, "USD"})
		return played{quote.str("transactionId"), append(books, flowOf(quote, way{held: "platform", home: "platform"}).postings(refused.kinds...)...)}
	}
	forPlatform.balances = map[string][]int64{"platform USDC": {50_001_234}}
	forPlatform.play = func(s *scene) played {
		to := s.post("/platform/external-accounts", object{"currency": "USD", "accountInfo": object{
			"accountType": "US_ACCOUNT", "accountNumber": "5512345004", "routingNumber": "021000021", "beneficiary": ana}}).want(201).str("id")
		quote := s.quoteTo(object{"accountId": to}, object{"sourceType": "REALTIME_FUNDING", "currency": "USDC"}, 50_001_234)
		s.order("/sandbox/send", object{"quoteId": quote.str("id"), "currencyCode": "USDC"}).want(200)
		money := flowOf(quote, way{in: "chains/ALTCHAIN", held: "funding/jit", home: "platform"})
		return played{quote.str("transactionId"), append(money.postings("jit_received"), money.postings(refused.kinds...)...)}
	}
	return []scenario{fromPlatform, forPlatform}
}

// execute runs a quote from an account that was filled with what the books hold.
func (s *scene) execute(account string, books []string) played {
	s.t.Helper()
	return s.run(s.quoteTo(object{"accountId": s.bitcoin("")}, object{"accountId": account}, 10050), books)
}

func (s *scene) run(quote answer, books []string) played {
	s.t.Helper()
	s.order("/quotes/"+quote.str("id")+"/execute", nil).want(200).each(map[string]any{"status": "PROCESSING", "transactionId": quote.str("transactionId")})
	money := flowOf(quote, way{held: "customer", out: "chains/LAYER2"})
	return played{quote.str("transactionId"), append(books, money.postings("converted", "delivered")...)}
}

// jit is a quote that somebody pays just in time.
func (s *scene) jit(currency string, amount int64, to string) answer {
	s.t.Helper()
	return s.quoteTo(object{"accountId": to}, object{"customerId": s.customer, "currency": currency}, amount)
}

// paid pays it right, and so it is delivered.
func (s *scene) paid(quote answer, payment object, w way) played {
	s.t.Helper()
	s.order("/sandbox/send", payment).want(200).each(map[string]any{"id": quote.str("transactionId"), "status": "PROCESSING", "quoteId": quote.str("id")})
	w.held = "funding/jit"
	return played{quote.str("transactionId"), flowOf(quote, w).postings("jit_received", "converted", "delivered")}
}
