package e2e

import "causeway/core/sandbox"

// recordContacts verifies the contacts of a customer in Germany, who has to before its verification begins.
func (s *exampleRecorder) recordContacts(string, externalAccounts) {
	lena := s.callUnrecorded("POST", "/customers", `{"platformCustomerId": "lena-1", "customerType": "INDIVIDUAL", "region": "DE",
		"fullName": "Lena Weber", "email": "lena@example.com", "phoneNumber": "+491701234567",
		"umaAddress": "$lena.weber@uma.example.com"}`).wantStatus(201).text("id")
	path := "/customers/" + lena
	code := `{"code": "` + sandbox.SCACode + `"}`
	s.record("createCustomerKycLink", "Contacts are not verified", path+"/kyc-link", `{}`).wantStatus(409)

	s.record("sendCustomerEmailVerification", "", path+"/verify-email", "").wantStatus(204)
	s.record("confirmCustomerEmailVerification", "A wrong code", path+"/verify-email/confirm", `{"code": "000000"}`).wantStatus(400)
	s.record("confirmCustomerEmailVerification", "", path+"/verify-email/confirm", code).wantStatus(200)
	s.record("sendCustomerEmailVerification", "Verified already", path+"/verify-email", "").wantStatus(409)

	s.record("sendCustomerPhoneVerification", "", path+"/verify-phone", "").wantStatus(204)
	s.record("confirmCustomerPhoneVerification", "", path+"/verify-phone/confirm", code).wantStatus(200)
	s.callUnrecorded("POST", path+"/kyc-link", "{}").wantStatus(201)
}
