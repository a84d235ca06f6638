package e2e

import (
	"net/url"

	"causeway/core/sandbox"
)

// recordSCA enrolls factors of a customer in France, logs in with them, locks the customer, and resets a factor.
func (s *exampleRecorder) recordSCA(string, externalAccounts) {
	marie := s.callUnrecorded("POST", "/customers", `{"platformCustomerId": "marie-1", "customerType": "INDIVIDUAL", "region": "FR",
		"fullName": "Marie Durand", "email": "marie@example.com", "phoneNumber": "+33612345678"}`).wantStatus(201).text("id")
	code := `"code": "` + sandbox.SCACode + `"`
	s.callUnrecorded("POST", "/customers/"+marie+"/verify-phone", "").wantStatus(204)
	s.callUnrecorded("POST", "/customers/"+marie+"/verify-phone/confirm", "{"+code+"}").wantStatus(200)
	at := func(path string) string { return "/sca/" + path + "?customerId=" + url.QueryEscape(marie) }

	secret := s.record("startScaFactorEnrollment", "An authenticator application", at("factors"), `{"type": "TOTP"}`).wantStatus(200).text("secret")
	s.record("confirmScaFactorEnrollment", "An authenticator application", at("factors/confirm"), `{"type": "TOTP", "secret": "`+secret+`", `+
		code+`}`).wantStatus(200)
	options := s.record("startScaFactorEnrollment", "A passkey", at("factors"), `{"type": "PASSKEY"}`).wantStatus(200)
	origin := options.text("allowedOrigins.0")
	clientData := base64URL(`{"type":"webauthn.create","challenge":"` + options.text("options.challenge") + `","origin":"` + origin + `"}`)
	s.mask.replacements[clientData] = s.mask.maskBytes(clientData)
	s.record("confirmScaFactorEnrollment", "A passkey", at("factors/confirm"), `{"type": "PASSKEY", "origin": "`+origin+`", "credential": {
		"id": "cGFzc2tleQ", "rawId": "cGFzc2tleQ", "type": "public-key", "response": {"clientDataJSON": "`+clientData+`", "attestationObject": "o2NmbXRkbm9uZQ"}}}`).wantStatus(200)
	factors := s.record("listScaFactors", "", at("factors"), "").wantStatus(200)

	challenge := s.record("startScaLogin", "", at("login/start"), `{"factor": "SMS_OTP"}`).wantStatus(200).text("challengeId")
	proof := `{"factor": "SMS_OTP", "challengeId": "` + challenge + `", "endUserIpAddress": "203.0.113.7", `
	s.record("completeScaLogin", "A wrong code", at("login/complete"), proof+`"code": "000000"}`).wantStatus(400)
	s.record("completeScaLogin", "", at("login/complete"), proof+code+`}`).wantStatus(200)
	s.record("deleteScaFactor", "", at("factors/"+factors.text("factors.1.credentialId")), "").wantStatus(204)

	failed := `{"eventType": "FAILED_LOGIN_ATTEMPT"}`
	s.record("recordSecurityEvent", "", at("record-event"), failed).wantStatus(200)
	for range 4 {
		s.callUnrecorded("POST", at("record-event"), failed).wantStatus(200)
	}
	s.record("recordSecurityEvent", "Locked", at("record-event"), failed).wantStatus(423)
	s.record("recordSecurityEvent", "The password was reset", at("record-event"), `{"eventType": "RESET_PASSWORD_COMPLETED"}`).wantStatus(200)

	reset := s.record("startTwoFactorReset", "", at("factors/reset"), `{"factor": "SMS_OTP"}`).wantStatus(201).text("resetId")
	mobile := `{"mobile": {"countryCode": "+33", "number": "698765432"}}`
	s.record("completeTwoFactorReset", "Before the check has passed", at("factors/reset/"+reset+"/complete"), mobile).wantStatus(400)
	eventually(s.t, "the check passes", func() bool {
		return s.get(at("factors/reset/"+reset)).wantStatus(200).text("status") == "LIVENESS_PASSED"
	})
	s.record("getTwoFactorResetStatus", "", at("factors/reset/"+reset), "").wantStatus(200)
	s.record("completeTwoFactorReset", "", at("factors/reset/"+reset+"/complete"), mobile).wantStatus(204)
}

// payerInSpain returns a customer who needs strong customer authentication and has logged in, and a bank account of the customer.
func (s *exampleRecorder) payerInSpain(name, phone string) (customer, account string) {
	person := `"fullName": "` + name + `", "birthDate": "1990-01-15", "nationality": "ES",
		"address": {"line1": "Calle Mayor 1", "city": "Madrid", "postalCode": "28013", "country": "ES"}`
	customer = s.callUnrecorded("POST", "/customers", `{"customerType": "INDIVIDUAL", "region": "ES", "phoneNumber": "`+phone+`", `+person+`}`).
		wantStatus(201).text("id")
	s.callUnrecorded("POST", "/customers/"+customer+"/verify-phone", "").wantStatus(204)
	s.callUnrecorded("POST", "/customers/"+customer+"/verify-phone/confirm", `{"code": "`+sandbox.SCACode+`"}`).wantStatus(200)
	login := "?customerId=" + url.QueryEscape(customer)
	challenge := s.callUnrecorded("POST", "/sca/login/start"+login, `{"factor": "SMS_OTP"}`).wantStatus(200).text("challengeId")
	s.callUnrecorded("POST", "/sca/login/complete"+login, `{"factor": "SMS_OTP", "challengeId": "`+challenge+`", "code": "`+sandbox.SCACode+`",
		"endUserIpAddress": "203.0.113.7"}`).wantStatus(200)
	account = s.callUnrecorded("POST", "/customers/external-accounts", `{"customerId": "`+customer+`", "currency": "USD",
		"accountInfo": {"accountType": "USD_ACCOUNT", "accountNumber": "123456789", "routingNumber": "021000021",
			"beneficiary": {"beneficiaryType": "INDIVIDUAL", `+person+`}}}`).wantStatus(201).text("id")
	return customer, account
}

// recordSCAPayments lets a customer authorise a payment, and another one trust an account.
func (s *exampleRecorder) recordSCAPayments(string, externalAccounts) {
	code := `{"code": "` + sandbox.SCACode + `"}`
	lucia, account := s.payerInSpain("Lucia Ruiz", "+34612345678")
	quote := s.record("createQuote", "Its payer has to authorise it", "/quotes", `{
		"source": {"sourceType": "REALTIME_FUNDING", "customerId": "`+lucia+`", "currency": "EUR"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+account+`"}, "lockedCurrencySide": "SENDING",
		"lockedCurrencyAmount": 5000}`).wantStatus(202).text("id")
	authorize := "/quotes/" + quote + "/authorize"
	s.record("authorizeQuote", "A wrong code", authorize, `{"code": "000000"}`).wantStatus(400)
	s.record("resendQuoteScaCode", "", authorize+"/resend", "").wantStatus(204)
	s.record("authorizeQuote", "With the next challenge", authorize, code).wantStatus(200)
	s.record("authorizeQuote", "", authorize, code).wantStatus(200)
	s.record("authorizeQuote", "Authorised already", authorize, code).wantStatus(409)

	_, account = s.payerInSpain("Mateo Gil", "+34687654321")
	path := "/customers/external-accounts/" + account
	s.record("startBeneficiaryTrust", "", path+"/trust", "").wantStatus(200)
	s.record("confirmBeneficiaryTrust", "A wrong code", path+"/trust/confirm", `{"code": "000000"}`).wantStatus(400)
	s.record("confirmBeneficiaryTrust", "", path+"/trust/confirm", code).wantStatus(200)
	s.record("deleteCustomerExternalAccountById", "Trusted by its customer", path, "").wantStatus(409)
	s.record("startBeneficiaryUntrust", "", path+"/untrust", "").wantStatus(200)
	s.record("confirmBeneficiaryUntrust", "", path+"/untrust/confirm", code).wantStatus(200)
}
