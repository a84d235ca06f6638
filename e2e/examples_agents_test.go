package e2e

import "strings"

// recordAgents pairs a program with an agent of a new customer.
func (s *exampleRecorder) recordAgents(string, externalAccounts) {
	nora := s.callUnrecorded("POST", "/customers",
		`{"customerType": "INDIVIDUAL", "fullName": "Nora Vik", "umaAddress": "$nora@uma.example.com"}`).wantStatus(201).text("id")
	account := s.internalAccountID(nora, "USD")
	created := s.record("createAgent", "", "/agents", `{"name": "Travel assistant", "customerId": "`+nora+`", "policy": {
		"permissions": ["VIEW_TRANSACTIONS", "CREATE_QUOTES", "EXECUTE_QUOTES"], "defaultExecutionMode": "AUTO",
		"spendingLimits": {"currency": "USD", "perTransactionLimit": 50000, "dailyLimit": 100000, "dailyTransactionLimit": 10},
		"accountRestrictions": {"allowedAccountIds": ["`+account+`"], "accountRules": [{"accountId": "`+account+
		`", "perTransactionLimit": 20000}]},
		"approvalThresholds": {"currency": "USD", "amount": 15000}}}`).wantStatus(201)
	agent, code := created.text("agent.id"), created.text("deviceCode.code")
	s.record("createAgent", "Several invalid fields", "/agents", `{"name": "", "customerId": "`+nora+`", "policy": {
		"permissions": [], "defaultExecutionMode": "AUTO", "spendingLimits": {"currency": "USD", "perTransactionLimit": 0}, "approvalThresholds": {"amount": 15000}}}`).wantStatus(400)

	s.record("getAgentDeviceCodeStatus", "", "/agents/device-codes/"+code+"/status", "").wantStatus(200)
	code = s.record("regenerateAgentDeviceCode", "", "/agents/"+agent+"/device-codes", "").wantStatus(201).text("code")
	paired := s.record("redeemAgentDeviceCode", "", "/agents/device-codes/"+code+"/redeem", "").wantStatus(200)
	s.record("redeemAgentDeviceCode", "Redeemed before", "/agents/device-codes/"+code+"/redeem", "").wantStatus(400)
	s.record("regenerateAgentDeviceCode", "A program is connected", "/agents/"+agent+"/device-codes", "").wantStatus(409)
	s.recordByAgent(paired.text("accessToken"), "getAgentMe", "", "/agents/me", "").wantStatus(200)

	s.record("updateAgentPolicy", "", "/agents/"+agent+"/policy",
		`{"permissions": ["VIEW_TRANSACTIONS"], "spendingLimits": {"dailyLimit": 80000}, "accountRestrictions": {"accountRules": []}}`).wantStatus(200)
	s.record("updateAgent", "", "/agents/"+agent, `{"isPaused": true}`).wantStatus(200)
	s.record("getAgentById", "", "/agents/"+agent, "").wantStatus(200)
	other := s.callUnrecorded("POST", "/agents", `{"name": "Shopping assistant", "customerId": "`+nora+`", "policy": {
		"permissions": ["CREATE_TRANSFERS"], "defaultExecutionMode": "APPROVAL_REQUIRED", "spendingLimits": {"currency": "EUR", "perTransactionLimit": 1000}}}`).wantStatus(201).text("agent.id")
	s.record("listAgents", "", "/agents?customerId="+nora, "").wantStatus(200)
	s.record("deleteAgent", "", "/agents/"+other, "").wantStatus(204)
}

// recordAgentPayments lets an agent of a new customer pay, wait for approval and be refused.
func (s *exampleRecorder) recordAgentPayments(string, externalAccounts) {
	otto := s.callUnrecorded("POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Otto Lund"}`).wantStatus(201).text("id")
	dollars := s.internalAccountID(otto, "USD")
	s.callUnrecorded("POST", "/sandbox/internal-accounts/"+dollars+"/fund", `{"amount": 100000}`).wantStatus(200)
	created := s.callUnrecorded("POST", "/agents", `{"name": "Bookkeeper", "customerId": "`+otto+`", "policy": {
		"permissions": ["VIEW_TRANSACTIONS", "CREATE_TRANSFERS", "CREATE_QUOTES", "EXECUTE_QUOTES", "MANAGE_EXTERNAL_ACCOUNTS"], "defaultExecutionMode": "AUTO",
		"spendingLimits": {"currency": "USD", "perTransactionLimit": 50000, "dailyLimit": 100000},
		"approvalThresholds": {"currency": "USD", "amount": 20000}}}`).wantStatus(201)
	agent := created.text("agent.id")
	accessToken := s.callUnrecorded("POST", "/agents/device-codes/"+created.text("deviceCode.code")+"/redeem",
		nil).wantStatus(200).text("accessToken")
	record := func(id, title, path, body string) apiResponse {
		s.t.Helper()
		return s.recordByAgent(accessToken, id, title, "/agents/me"+path, body)
	}
	record("agentListInternalAccounts", "", "/internal-accounts?currency=USD", "").wantStatus(200)
	bank := record("agentCreateExternalAccount", "", "/external-accounts", `{"customerId": "`+otto+`", "currency": "USD", "accountInfo": {
		"accountType": "US_ACCOUNT", "accountNumber": "5512345699", "routingNumber": "021000021",
		"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Otto Lund"}}}`).wantStatus(201).text("id")
	supplier := s.callUnrecorded("POST", "/customers/external-accounts",
		`{"customerId": "`+otto+`", "currency": "EUR", "accountInfo": {"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013000",
		"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Jan Winter", "birthDate": "1985-06-12", "nationality": "DE", "countryOfResidence": "DE"}}}`).wantStatus(201).text("id")
	record("agentGetExternalAccount", "", "/external-accounts/"+bank, "").wantStatus(200)
	record("agentListExternalAccounts", "", "/external-accounts?currency=USD", "").wantStatus(200)

	newQuote := `{"source": {"sourceType": "ACCOUNT", "customerId": "` + otto + `", "accountId": "` + dollars + `"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "` + supplier +
		`"}, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 15000}`
	quote := record("agentCreateQuote", "", "/quotes", newQuote).wantStatus(201).text("id")
	record("agentPreviewPayment", "A quote", "/actions/preview", `{"quoteId": "`+quote+`"}`).wantStatus(200)
	executed := record("agentExecuteQuote", "", "/quotes/"+quote+"/execute", "").wantStatus(200)
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", executed.text("transaction.id"))
	record("agentGetQuote", "", "/quotes/"+quote, "").wantStatus(200)
	record("agentGetTransaction", "", "/transactions/"+executed.text("transaction.id"), "").wantStatus(200)
	record("agentListTransactions", "", "/transactions?limit=1&type=OUTGOING", "").wantStatus(200)

	out := func(amount string) string {
		return `{"source": {"accountId": "` + dollars + `"}, "destination": {"accountId": "` + bank + `"}, "amount": ` + amount + `}`
	}
	record("agentPreviewPayment", "A transfer out that would wait for approval", "/actions/preview", `{"transferOut": `+out("25000")+
		`}`).wantStatus(200)
	waiting := record("agentCreateTransferOut", "It waits for approval", "/transfer-out", out("25000")).wantStatus(201).text("id")
	s.recordWebhook("agentAction", "AGENT_ACTION.PENDING_APPROVAL", s.awaitEventAbout("AGENT_ACTION.PENDING_APPROVAL", waiting), "")
	record("agentGetAction", "It waits for approval", "/actions/"+waiting, "").wantStatus(200)
	refused := record("agentCreateTransferOut", "Beyond a limit", "/transfer-out", out("50001")).wantStatus(403)
	record("agentPreviewPayment", "A transfer in that would be refused", "/actions/preview", `{"transferIn": {"source": {"accountId": "`+bank+
		`"}, "destination": {"accountId": "`+dollars+`"}, "amount": 50001}}`).
		wantStatus(200).wantValues(map[string]any{"decision": "REFUSED", "reasons.0.message": refused.text("message")})
	deposit := record("agentCreateTransferIn", "", "/transfer-in", `{"source": {"accountId": "`+bank+`"}, "destination": {"accountId": "`+
		dollars+`"}, "amount": 5000}`).wantStatus(201)
	s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", deposit.text("transaction.id"))
	s.record("listAgentApprovals", "", "/agents/approvals?agentId="+agent+"&customerId="+otto, "").wantStatus(200)
	approved := s.record("approveAgentAction", "", "/agents/"+agent+"/actions/"+waiting+"/approve", "").wantStatus(200)
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", approved.text("transaction.id"))
	s.record("approveAgentAction", "Decided before", "/agents/"+agent+"/actions/"+waiting+"/approve", "").wantStatus(409)

	other := s.callByAgent(accessToken, "/agents/me/quotes", strings.Replace(newQuote, "15000", "20001", 1)).wantStatus(201)
	unwanted := s.callByAgent(accessToken, "/agents/me/quotes/"+other.text("id")+"/execute", "").wantStatus(200).text("id")
	s.record("rejectAgentAction", "", "/agents/"+agent+"/actions/"+unwanted+"/reject",
		`{"reason": "We buy from this supplier by invoice."}`).wantStatus(200)
	late := s.callByAgent(accessToken, "/agents/me/quotes/"+other.text("id")+"/execute", "").wantStatus(200).text("id")
	s.callUnrecorded("PATCH", "/agents/"+agent+"/policy", `{"spendingLimits": {"perTransactionLimit": 20000}}`).wantStatus(200)
	s.record("approveAgentAction", "The limit was lowered meanwhile", "/agents/"+agent+"/actions/"+late+"/approve", "").wantStatus(200)
	record("agentListActions", "", "/actions?limit=2&status=APPROVED", "").wantStatus(200)
	s.record("listAgentAttempts", "", "/agents/"+agent+"/attempts?decision=REFUSED", "").wantStatus(200)
	record("agentDeleteExternalAccount", "", "/external-accounts/"+bank, "").wantStatus(204)
}

// callByAgent posts a request with the access token of an agent, without recording it.
func (s *exampleRecorder) callByAgent(accessToken, path, body string) apiResponse {
	s.t.Helper()
	s.mask.beginStep()
	var sent any
	if body != "" {
		sent = body
	}
	got := s.withHeader("Authorization", "Bearer "+accessToken).post(path, sent)
	s.mask.learnBody(got.body)
	return got
}
