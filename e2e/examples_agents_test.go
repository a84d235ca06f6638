package e2e

// recordAgents pairs a program with an agent of a new customer.
func (s *exampleRecorder) recordAgents(string, externalAccounts) {
	nora := s.callUnrecorded("POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Nora Vik", "umaAddress": "$nora@uma.example.com"}`).wantStatus(201).text("id")
	account := s.internalAccountID(nora, "USD")
	created := s.record("createAgent", "", "/agents", `{"name": "Travel assistant", "customerId": "`+nora+`", "policy": {
		"permissions": ["VIEW_TRANSACTIONS", "CREATE_QUOTES", "EXECUTE_QUOTES"], "defaultExecutionMode": "AUTO",
		"spendingLimits": {"currency": "USD", "perTransactionLimit": 50000, "dailyLimit": 100000, "dailyTransactionLimit": 10},
		"accountRestrictions": {"allowedAccountIds": ["`+account+`"], "accountRules": [{"accountId": "`+account+`", "perTransactionLimit": 20000}]},
		"approvalThresholds": {"currency": "USD", "amount": 15000}}}`).wantStatus(201)
	agent, code := created.text("agent.id"), created.text("deviceCode.code")
	s.record("createAgent", "Several invalid fields", "/agents", `{"name": "", "customerId": "`+nora+`", "policy": {
		"permissions": [], "defaultExecutionMode": "AUTO", "spendingLimits": {"currency": "USD", "perTransactionLimit": 0}, "approvalThresholds": {"amount": 15000}}}`).wantStatus(400)

	s.record("getAgentDeviceCodeStatus", "", "/agents/device-codes/"+code+"/status", "").wantStatus(200)
	code = s.record("regenerateAgentDeviceCode", "", "/agents/"+agent+"/device-codes", "").wantStatus(201).text("code")
	paired := s.record("redeemAgentDeviceCode", "", "/agents/device-codes/"+code+"/redeem", "").wantStatus(200)
	s.record("redeemAgentDeviceCode", "Redeemed before", "/agents/device-codes/"+code+"/redeem", "").wantStatus(400)
	s.record("regenerateAgentDeviceCode", "A program is connected", "/agents/"+agent+"/device-codes", "").wantStatus(409)
	s.recordByAgent(paired.text("accessToken"), "getAgentMe", "", "/agents/me").wantStatus(200)

	s.record("updateAgentPolicy", "", "/agents/"+agent+"/policy", `{"permissions": ["VIEW_TRANSACTIONS"], "spendingLimits": {"dailyLimit": 80000}, "accountRestrictions": {"accountRules": []}}`).wantStatus(200)
	s.record("updateAgent", "", "/agents/"+agent, `{"isPaused": true}`).wantStatus(200)
	s.record("getAgentById", "", "/agents/"+agent, "").wantStatus(200)
	other := s.callUnrecorded("POST", "/agents", `{"name": "Shopping assistant", "customerId": "`+nora+`", "policy": {
		"permissions": ["CREATE_TRANSFERS"], "defaultExecutionMode": "APPROVAL_REQUIRED", "spendingLimits": {"currency": "EUR", "perTransactionLimit": 1000}}}`).wantStatus(201).text("agent.id")
	s.record("listAgents", "", "/agents?customerId="+nora, "").wantStatus(200)
	s.record("deleteAgent", "", "/agents/"+other, "").wantStatus(204)
}
