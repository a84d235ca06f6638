package e2e

import (
	"strings"
	"testing"

	"causeway/adapters/rails/partner/partnertest"
)

// newContactEnv is a production platform whose service sends mails and text messages, with a customer in Germany.
func newContactEnv(t *testing.T) (e *mailEnv, provider *partnertest.SMSProvider, flags []string, path string) {
	t.Helper()
	provider, url := newSMSProvider(t)
	flags = []string{"--sms-url", url, "--sms-secret", nameSecret}
	e = newMailEnv(t, flags...)
	e.tenant = e.createPlatform("Acme Pay", "PRODUCTION")
	id := e.post("/customers", object{"customerType": "INDIVIDUAL", "region": "DE", "fullName": "Ana Silva", "email": "ana@example.com",
		"phoneNumber": "+491701234567"}).wantStatus(201).wantValues(map[string]any{"contactVerification.email": "PENDING",
		"contactVerification.phone": "PENDING", "phoneNumber": "+491701234567"}).text("id")
	return e, provider, flags, "/customers/" + id
}

func TestContacts_VerifiedBeforeKYC(t *testing.T) {
	t.Parallel()
	// A customer in Germany enters the code of a mail and that of a text message, and only then its verification begins. The service is
	// killed after each code was asked for, and the codes arrive all the same. Nothing of them is in the log, nor the number or the address.
	e, provider, flags, path := newContactEnv(t)
	body := object{"customerId": strings.TrimPrefix(path, "/customers/")}
	e.post(path+"/kyc-link", object{}).wantError(409, "CONFLICT")
	e.post("/verifications", body).wantError(409, "CONFLICT")
	restart := func(more ...string) {
		e.server.kill()
		e.start(append(more, flags...)...)
		e.exec("UPDATE jobs SET due_at = now() WHERE step IN ('send-mail', 'send-sms')") // nobody holds the lease of the killed process
	}

	restart("--no-workers")
	e.post(path+"/verify-email", nil).wantStatus(204)
	e.post(path+"/verify-phone", nil).wantStatus(204)
	restart()
	eventually(t, "the mail arrives", func() bool { return len(e.mails.Mails("ana@example.com")) > 0 })
	eventually(t, "the text message arrives", func() bool { return len(provider.Sent("+491701234567")) > 0 })

	mailed, _, _ := strings.Cut(e.mails.Mails("ana@example.com")[0].Get("Subject"), " ")
	texted := provider.Sent("+491701234567")[0]
	code, rest, _ := strings.Cut(texted.Text, " ")
	if rest != "is your code for Acme Pay to confirm your phone number. It expires in 10 minutes. Do not give it to anyone." {
		t.Errorf("sent %+v", texted)
	}
	wrong := "0" + mailed[1:]
	if mailed[0] == '0' {
		wrong = "1" + mailed[1:]
	}
	e.post(path+"/verify-email/confirm", object{"code": wrong}).wantError(400, "INVALID_INPUT")
	e.post(path+"/verify-email/confirm", object{"code": mailed}).wantStatus(200).wantValues(map[string]any{
		"contactVerification.email": "VERIFIED", "contactVerification.phone": "PENDING"})
	e.post(path+"/kyc-link", object{}).wantError(409, "CONFLICT")
	restart()
	e.post(path+"/verify-phone/confirm", object{"code": code}).wantStatus(200)
	e.get(path).wantStatus(200).wantValues(map[string]any{"contactVerification.email": "VERIFIED", "contactVerification.phone": "VERIFIED"})
	e.post(path+"/verify-phone", nil).wantError(409, "CONFLICT")
	e.post(path+"/kyc-link", object{}).wantStatus(201)
	e.post("/verifications", body).wantStatus(200)

	for _, secret := range []string{"+491701234567", "ana@example.com", code, mailed} {
		if strings.Contains(e.server.Output(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	if n := e.queryInt("SELECT count(*) FROM customers WHERE contacts::text LIKE '%4917%'"); n != 0 {
		t.Error("the number is stored as it is")
	}
}

func TestContacts_NewAddressIsUnverified(t *testing.T) {
	t.Parallel()
	// In the sandbox every code is 123456. Another number is not verified, also not by the code of the one before, and neither is the first
	// one when it comes back. Customers of other regions have nothing to verify.
	e := newSharedEnv(t)
	p := e.createPlatform("Acme", "SANDBOX")
	path := "/customers/" + p.post("/customers", object{"customerType": "INDIVIDUAL", "region": "GB",
		"phoneNumber": "+447700900123"}).wantStatus(201).text("id")
	verify := func() {
		t.Helper()
		p.post(path+"/verify-phone", nil).wantStatus(204)
		p.post(path+"/verify-phone/confirm", object{"code": "123456"}).wantStatus(200).wantValues(map[string]any{
			"contactVerification.phone": "VERIFIED"})
	}
	verify()
	for _, number := range []string{"+447700900124", "+447700900123"} {
		p.patch(path, object{"customerType": "INDIVIDUAL", "phoneNumber": number}).wantStatus(200).wantValues(map[string]any{
			"contactVerification.phone": "PENDING"})
		p.post(path+"/verify-phone/confirm", object{"code": "123456"}).wantError(400, "INVALID_INPUT")
	}
	verify()
	p.post(path+"/verify-email", nil).wantError(409, "CONFLICT") // has none

	american := p.post("/customers", object{"customerType": "INDIVIDUAL", "region": "US", "email": "bo@example.com"}).wantStatus(201)
	if american.value("contactVerification") != nil {
		t.Errorf("%s", american.body)
	}
	p.post("/customers/"+american.text("id")+"/verify-email", nil).wantError(409, "CONFLICT")
	p.post("/customers/"+american.text("id")+"/kyc-link", object{}).wantStatus(201)
}
