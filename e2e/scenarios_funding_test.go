package e2e

import "slices"

// fundingScenarios are the ways to pay for a quote that are not in the other tables.
func fundingScenarios() []scenario {
	return slices.Concat(pullScenarios(), depositScenarios(), platformFundedScenarios())
}

// depositScenarios are accounts that are funded, and quotes that are paid in time.
func depositScenarios() []scenario {
	pulled, deposited := []int64{20_000, 9_950}, []int64{20_000, 9_950}
	prefund := func(name string, balances []int64, play func(s *scenarioEnv) scenarioResult) scenario {
		row := outcomeDelivered.newScenario("funding/"+name, 10050, "USD")
		row.run, row.balances = play, map[string][]int64{"USD": balances}
		return row
	}
	realtime := func(name string, sent int64, currency string, play func(s *scenarioEnv) scenarioResult) scenario {
		row := outcomeDelivered.newScenario("funding/"+name, sent, currency)
		row.run = play
		return row
	}
	return []scenario{
		prefund("an account that a bank account fills", pulled, func(s *scenarioEnv) scenarioResult {
			account := s.internalAccounts("USD").text("data.0.id")
			in := s.post("/transfer-in", object{"source": object{"accountId": s.createUSDAccount("008")},
				"destination": object{"accountId": account}, "amount": 20_000}).wantStatus(201)
			s.checkTransactionEvents(in.text("id"), []string{"INCOMING_PAYMENT.COMPLETED"})
			return s.executeFromAccount(account, postingLines("transfer_in", ledgerEntry{"rails/ACH", "customer", 20_000, "USD"}))
		}),
		prefund("an account that somebody pays into by its reference", deposited, func(s *scenarioEnv) scenarioResult {
			account := s.internalAccounts("USD")
			code := account.text("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.reference")
			in := s.post("/sandbox/send", object{"reference": code, "currencyCode": "USD", "currencyAmount": 20_000}).wantStatus(200)
			in.wantValues(map[string]any{"type": "INCOMING", "status": "COMPLETED", "reconciliationInstructions.reference": code})
			s.checkTransactionEvents(in.text("id"), []string{"INCOMING_PAYMENT.COMPLETED"})
			return s.executeFromAccount(account.text("data.0.id"), depositPostings(20_000))
		}),
		prefund("an account that has too little at first", []int64{10_049, 20_000, 9_950}, func(s *scenarioEnv) scenarioResult {
			account := s.fundUSDAccount(10_049)
			quote := s.createQuoteTo(object{"accountId": s.createBTCWallet("")}, object{"accountId": account}, 10050)
			s.post("/quotes/"+quote.text("id")+"/execute", nil).wantError(400, "INSUFFICIENT_BALANCE")
			s.get("/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "PENDING"})
			s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 9_951}).wantStatus(200)
			return s.executeQuote(quote, append(depositPostings(10_049), depositPostings(9_951)...))
		}),
		prefund("an account, at once", []int64{10_050, 0}, func(s *scenarioEnv) scenarioResult {
			account := s.fundUSDAccount(10_050)
			s.postTimed("/quotes", object{"source": object{"accountId": account}, "destination": object{"accountId": s.createBTCWallet("")},
				"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10051, "immediatelyExecute": true}).wantError(400, "INSUFFICIENT_BALANCE")
			quote := s.postTimed("/quotes", object{"source": object{"accountId": account}, "destination": object{"accountId": s.createBTCWallet("")},
				"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050, "immediatelyExecute": true}).wantStatus(201).wantValues(
				map[string]any{"status": "PROCESSING"})
			money := newFlow(quote, flowAccounts{funding: "customer", destination: "chains/LAYER2"})
			return scenarioResult{quote.text("transactionId"), append(depositPostings(10_050), money.postings("converted", "delivered")...)}
		}),
		realtime("in fiat, by the quote", 10050, "USD", func(s *scenarioEnv) scenarioResult {
			quote := s.createJITQuote("USD", 10050, s.createBTCWallet(""))
			return s.payJITQuote(quote, object{"quoteId": quote.text("id"), "currencyCode": "USD"},
				flowAccounts{source: "rails/RTP", destination: "chains/LAYER2"})
		}),
		realtime("in fiat, with the amount", 10050, "USD", func(s *scenarioEnv) scenarioResult {
			quote := s.createJITQuote("USD", 10050, s.createBTCWallet(""))
			return s.payJITQuote(quote, object{"reference": paymentReference(quote), "currencyCode": "USD", "currencyAmount": 10050},
				flowAccounts{source: "rails/RTP", destination: "chains/LAYER2"})
		}),
		realtime("in euros", 10050, "EUR", func(s *scenarioEnv) scenarioResult {
			s.support("EUR")
			quote := s.createJITQuote("EUR", 10050, s.createUSDAccount("000"))
			return s.payJITQuote(quote, object{"reference": paymentReference(quote), "currencyCode": "EUR"},
				flowAccounts{source: "rails/SEPA_INSTANT", destination: "rails/RTP"})
		}),
		realtime("after an execution that is refused", 10050, "USD", func(s *scenarioEnv) scenarioResult {
			quote := s.createJITQuote("USD", 10050, s.createBTCWallet(""))
			s.post("/quotes/"+quote.text("id")+"/execute", nil).wantError(409, "QUOTE_NOT_EXECUTABLE")
			return s.payJITQuote(quote, object{"reference": paymentReference(quote), "currencyCode": "USD"},
				flowAccounts{source: "rails/RTP", destination: "chains/LAYER2"})
		}),
	}
}

// pullScenarios are quotes whose money is pulled from a bank account with a test value; what
// cannot be delivered is refunded to it.
func pullScenarios() []scenario {
	empty := scenarioOutcome{events: []string{"PENDING", "PROCESSING", "FAILED"}, status: "FAILED", failureReason: "QUOTE_EXECUTION_FAILED"}
	slow := empty
	slow.delay, slow.delayedEvent = pendingDelay, "FAILED"
	var rows []scenario
	for name, c := range map[string]struct {
		from, to string
		scenarioOutcome
	}{
		"a bank account":                           {"008", "", outcomeDelivered},
		"a bank account without funds":             {"002", "", empty},
		"a bank account that takes its time":       {"005", "", slow},
		"a bank account, for one that is not paid": {"008", "004", refundedWithReason("COUNTERPARTY_POST_TX_FAILED")},
	} {
		row := c.newScenario("funding/"+name, 10050, "USD")
		row.run = func(s *scenarioEnv) scenarioResult {
			quote := s.createQuoteTo(object{"accountId": s.createBTCWallet(c.to)}, object{"accountId": s.createUSDAccount(c.from)}, 10050)
			s.postTimed("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING"})
			money := newFlow(quote, flowAccounts{"rails/ACH", "funding/jit", "chains/LAYER2", "rails/ACH"})
			kinds := c.postingKinds
			if len(kinds) > 0 {
				kinds = append([]string{"jit_received"}, kinds...)
			}
			return scenarioResult{quote.text("transactionId"), money.postings(kinds...)}
		}
		rows = append(rows, row)
	}
	return rows
}

// platformFundedScenarios are quotes that the platform pays itself; what is not delivered is
// refunded to its own accounts, and not to the customer's.
func platformFundedScenarios() []scenario {
	refused := refundedWithReason("COUNTERPARTY_POST_TX_FAILED")
	fromPlatform, forPlatform := refused.newScenario("funding/the platform's account, for one that is not paid", 10050, "USD"),
		refused.newScenario("funding/in crypto by the platform, for one that is not paid", 50_001_234, "USDC")
	fromPlatform.balances = map[string][]int64{"platform USD": {10_050, 0, 10_050}}
	fromPlatform.run = func(s *scenarioEnv) scenarioResult {
		account := s.get("/platform/internal-accounts?currency=USD").wantStatus(200).text("data.0.id")
		s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 10_050}).wantStatus(200)
		quote := s.createQuoteTo(object{"accountId": s.createBTCWallet("004")}, object{"accountId": account, "customerId": s.customerID}, 10050)
		s.postTimed("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
		postings := postingLines("deposit", ledgerEntry{"rails/RTP", "platform", 10_050, "USD"})
		return scenarioResult{quote.text("transactionId"),
			append(postings, newFlow(quote, flowAccounts{funding: "platform", refund: "platform"}).postings(refused.postingKinds...)...)}
	}
	forPlatform.balances = map[string][]int64{"platform USDC": {50_001_234}}
	forPlatform.run = func(s *scenarioEnv) scenarioResult {
		to := s.post("/platform/external-accounts", object{"currency": "USD", "accountInfo": object{
			"accountType": "US_ACCOUNT", "accountNumber": "5512345004", "routingNumber": "021000021", "beneficiary": testBeneficiary}}).wantStatus(
			201).text("id")
		quote := s.createQuoteTo(object{"accountId": to}, object{"sourceType": "REALTIME_FUNDING", "currency": "USDC", "cryptoNetwork": "SOLANA"},
			50_001_234)
		s.postTimed("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USDC"}).wantStatus(200)
		money := newFlow(quote, flowAccounts{source: "chains/ALTCHAIN", funding: "funding/jit", refund: "platform"})
		return scenarioResult{quote.text("transactionId"), append(money.postings("jit_received"), money.postings(refused.postingKinds...)...)}
	}
	return []scenario{fromPlatform, forPlatform}
}

// executeFromAccount executes a quote from a funded account.
func (s *scenarioEnv) executeFromAccount(account string, postings []string) scenarioResult {
	s.t.Helper()
	return s.executeQuote(s.createQuoteTo(object{"accountId": s.createBTCWallet("")}, object{"accountId": account}, 10050), postings)
}

func (s *scenarioEnv) executeQuote(quote apiResponse, postings []string) scenarioResult {
	s.t.Helper()
	s.postTimed("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING",
		"transactionId": quote.text("transactionId")})
	money := newFlow(quote, flowAccounts{funding: "customer", destination: "chains/LAYER2"})
	return scenarioResult{quote.text("transactionId"), append(postings, money.postings("converted", "delivered")...)}
}

// createJITQuote creates a quote that is funded just in time.
func (s *scenarioEnv) createJITQuote(currency string, amount int64, to string) apiResponse {
	s.t.Helper()
	source := object{"customerId": s.customerID, "currency": currency}
	if currency == "USDC" {
		source["cryptoNetwork"] = "SOLANA"
	}
	return s.createQuoteTo(object{"accountId": to}, source, amount)
}

// payJITQuote pays the exact amount, and the payment completes.
func (s *scenarioEnv) payJITQuote(quote apiResponse, payment object, w flowAccounts) scenarioResult {
	s.t.Helper()
	s.postTimed("/sandbox/send", payment).wantStatus(200).wantValues(map[string]any{"id": quote.text("transactionId"), "status": "PROCESSING",
		"quoteId": quote.text("id")})
	w.funding = "funding/jit"
	return scenarioResult{quote.text("transactionId"), newFlow(quote, w).postings("jit_received", "converted", "delivered")}
}
