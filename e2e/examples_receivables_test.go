package e2e

import "encoding/json"

// recordReceivables returns a collection of which some is spent, and writes off what the customer then owes.
func (s *exampleRecorder) recordReceivables(string, externalAccounts) {
	create := func(path, body string) apiResponse {
		return s.callUnrecorded("POST", path, json.RawMessage(body)).wantStatus(201)
	}
	customer := create(
		"/customers", `{"platformCustomerId": "returns-1", "customerType": "INDIVIDUAL", "region": "US", "fullName": "Ana Lima", "birthDate": "1991-02-03", "nationality": "US",
		"address": {"line1": "7 Main Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}}`).text("id")
	s.exec("UPDATE customers SET status = 'APPROVED' WHERE id = $1", uuidOf(customer)) // as a verification does
	bank := create("/customers/external-accounts", `{"customerId": "`+customer+
		`", "currency": "USD", "accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "5512345111", "routingNumber": "021000021",
		"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Lima", "birthDate": "1991-02-03", "nationality": "US"}}}`).text("id")
	balance := s.internalAccountID(customer, "USD")
	in := create("/transfer-in", `{"source": {"accountId": "`+bank+`"}, "destination": {"accountId": "`+balance+`"}, "amount": 10000}`)
	s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", in.text("id"))
	out := create("/transfer-out", `{"source": {"accountId": "`+balance+`"}, "destination": {"accountId": "`+bank+
		`"}, "amount": 8000}`).text("id")
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", out)

	const receivables = "/ledger/receivables"
	owed := s.record("recordReceivable", "", receivables, `{"transactionId": "`+in.text("id")+
		`", "reasonCode": "R01", "partnerId": "RET20260314000042",
		"returnedAt": "`+in.text("createdAt")+`", "note": "Insufficient funds"}`).wantStatus(201).text("id")
	s.recordWebhook("receivable", "RECEIVABLE.COLLECTED", s.awaitEventAbout("RECEIVABLE.COLLECTED", owed), "")
	s.record("listReceivables", "", receivables+"?status=OPEN&customerId="+customer, "").wantStatus(200)
	s.record("getReceivablesAging", "", "/ledger/receivables-aging", "").wantStatus(200)
	s.record("writeOffReceivable", "", receivables+"/"+owed+"/write-off", `{"note": "The customer cannot be reached."}`).wantStatus(200)
	s.record("writeOffReceivable", "Nothing is owed", receivables+"/"+owed+"/write-off",
		`{"note": "The customer cannot be reached."}`).wantStatus(409)
	s.record("getReceivable", "", receivables+"/"+owed, "").wantStatus(200)
}
