package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"causeway/e2e/kit"
)

// scaEnv is a sandbox with a customer in Germany whose phone is verified.
type scaEnv struct {
	*mailEnv
	customer string
}

func newSCAEnv(t *testing.T) *scaEnv {
	t.Helper()
	e := &scaEnv{mailEnv: newMailEnv(t)}
	e.tenant = e.createPlatform("Acme Pay", "SANDBOX")
	e.customer = e.post("/customers", object{"customerType": "INDIVIDUAL", "region": "DE", "fullName": "Ana Silva",
		"phoneNumber": "+491701234567"}).wantStatus(201).text("id")
	e.post("/customers/"+e.customer+"/verify-phone", nil).wantStatus(204)
	e.post("/customers/"+e.customer+"/verify-phone/confirm", object{"code": "123456"}).wantStatus(200)
	return e
}

func (e *scaEnv) at(path string) string {
	return "/sca/" + path + "?customerId=" + url.QueryEscape(e.customer)
}

// login completes a login with SMS_OTP.
func (e *scaEnv) login(code string) apiResponse {
	challenge := e.post(e.at("login/start"), object{"factor": "SMS_OTP"}).wantStatus(200).text("challengeId")
	return e.post(e.at("login/complete"), object{"factor": "SMS_OTP", "challengeId": challenge, "code": code,
		"endUserIpAddress": "203.0.113.7"})
}

// totpCode returns the code that an authenticator application shows, by a library that such applications use.
func totpCode(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	env := []string{"SECRET=" + secret, fmt.Sprintf("EPOCH=%d", at.Unix())}
	result, err := kit.MustSucceed(waitContext(t), nodeProgram(t, env, "totp.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	return result.Output
}

func TestSCA_FactorsAndLogins(t *testing.T) {
	t.Parallel()
	// A customer in Germany enrolls an application and a passkey, and logs in with each, with a recovery code and with a text message. The
	// service is killed in between. What was enrolled is deleted. A customer elsewhere can do nothing of it.
	e := newSCAEnv(t)
	e.patch("/config", object{"embeddedWalletConfig": object{"passkeyRpId": "example.com", "passkeyOrigins": []string{
		"https://app.example.com"}}}).wantStatus(200)
	complete := func(proof object) apiResponse {
		proof["endUserIpAddress"] = "203.0.113.7"
		return e.post(e.at("login/complete"), proof)
	}

	totp := e.post(e.at("factors"), object{"type": "TOTP"}).wantStatus(200)
	secret := totp.text("secret")
	e.post(e.at("factors/confirm"), object{"type": "TOTP", "secret": secret, "code": "12345"}).wantError(400, "INVALID_INPUT")
	confirmed := e.post(e.at("factors/confirm"), object{"type": "TOTP", "secret": secret,
		"code": totpCode(t, totp.text("secretBase32Encoded"), time.Now())}).wantStatus(200)
	e.post(e.at("login/start"), object{"factor": "TOTP"}).wantStatus(200)
	next := totpCode(t, secret, time.Now().Add(30*time.Second)) // that of the enrollment counts no more
	complete(object{"factor": "TOTP", "code": next}).wantStatus(200)
	complete(object{"factor": "TOTP", "code": next}).wantError(400, "INVALID_INPUT")
	complete(object{"factor": "TOTP", "code": confirmed.text("recoveryCodes.0")}).wantStatus(200)

	page := virtualwebauthn.RelyingParty{ID: "example.com", Origin: "https://app.example.com"}
	device, passkey := virtualwebauthn.NewAuthenticator(), virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeRSA)
	asked := e.post(e.at("factors"), object{"type": "PASSKEY"}).wantStatus(200).wantValues(map[string]any{"relyingPartyId": "example.com"})
	browser := func(text string) (credential object) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &credential); err != nil {
			t.Fatal(err)
		}
		return credential
	}
	challengeOf := func(text string) []byte {
		t.Helper()
		challenge, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return challenge
	}
	made := browser(virtualwebauthn.CreateAttestationResponse(page, device, passkey,
		virtualwebauthn.AttestationOptions{Challenge: challengeOf(asked.text("options.challenge"))}))
	e.server.kill()
	e.start()
	e.post(e.at("factors/confirm"), object{"type": "PASSKEY", "origin": page.Origin, "credential": made}).wantStatus(200)
	e.post(e.at("factors"), object{"type": "PASSKEY"}).wantError(409, "PASSKEY_ALREADY_ENROLLED")
	sign := func() object {
		start := e.post(e.at("login/start"), object{"factor": "PASSKEY"}).wantStatus(200)
		return browser(virtualwebauthn.CreateAssertionResponse(page, device, passkey,
			virtualwebauthn.AssertionOptions{Challenge: challengeOf(start.text("passkeyOptions.challenge"))}))
	}
	replaced, signed := sign(), sign()
	complete(object{"factor": "PASSKEY", "passkeyAssertion": replaced, "origin": page.Origin}).wantError(400, "INVALID_INPUT")
	complete(object{"factor": "PASSKEY", "passkeyAssertion": signed, "origin": page.Origin}).wantStatus(200)
	complete(object{"factor": "PASSKEY", "passkeyAssertion": signed, "origin": page.Origin}).wantError(400, "INVALID_INPUT")
	e.login("123456").wantStatus(200)

	factors := e.get(e.at("factors")).wantStatus(200).wantValues(map[string]any{"factors.0.factor": "SMS_OTP", "factors.1.factor": "TOTP",
		"factors.2.factor": "PASSKEY"})
	e.delete(e.at("factors/" + factors.text("factors.2.credentialId"))).wantStatus(204)
	e.post(e.at("login/start"), object{"factor": "PASSKEY"}).wantError(409, "CONFLICT")

	e.customer = e.createCustomer()
	e.get(e.at("factors")).wantError(409, "CONFLICT")
	e.post(e.at("record-event"), object{"eventType": "FAILED_LOGIN_ATTEMPT"}).wantError(409, "CONFLICT")
}

func TestSCA_LocksOverRestarts(t *testing.T) {
	t.Parallel()
	// Wrong codes at the same time are each counted, the fifth locks, and a restart forgets nothing. The customer is suspended by the ninth
	// failure, until an operator lifts that on the command line, or the password is reset.
	e := newSCAEnv(t)
	challenge := e.post(e.at("login/start"), object{"factor": "SMS_OTP"}).wantStatus(200).text("challengeId")
	var judged, locked atomic.Int32
	var wait sync.WaitGroup
	for i := range 9 {
		wait.Go(func() {
			answer := e.post(e.at("login/complete"), object{"factor": "SMS_OTP", "challengeId": challenge, "code": fmt.Sprintf("%06d", i),
				"endUserIpAddress": "203.0.113.7"})
			switch answer.status {
			case 400:
				judged.Add(1)
			case 423:
				locked.Add(1)
			}
		})
	}
	wait.Wait()
	if judged.Load() != 5 || locked.Load() != 4 {
		t.Errorf("%d judged, %d locked", judged.Load(), locked.Load())
	}
	e.server.kill()
	e.start()
	e.login("123456").wantError(423, "ACCOUNT_LOCKED").wantValues(map[string]any{"details.failedAttempts": 5, "details.suspended": false})
	failed := object{"eventType": "FAILED_LOGIN_ATTEMPT"}
	for range 4 {
		e.post(e.at("record-event"), failed).wantError(423, "ACCOUNT_LOCKED")
	}
	e.login("123456").wantError(423, "ACCOUNT_LOCKED").wantValues(map[string]any{"details.failedAttempts": 9, "details.suspended": true})
	e.post(e.at("record-event"), object{"eventType": "RESET_PASSWORD_COMPLETED"}).wantStatus(200).wantValues(map[string]any{
		"failedAttempts": 0, "suspended": false})
	e.login("123456").wantStatus(200)
}

func TestSCA_ResetsOfTheFactor(t *testing.T) {
	t.Parallel()
	// A lost factor is reset after the check, and enrolled anew. The sixth reset in 24 hours is refused, with the time to wait.
	e := newSCAEnv(t)
	start := func() apiResponse { return e.post(e.at("factors/reset"), object{"factor": "SMS_OTP"}) }
	id := start().wantStatus(201).text("resetId")
	mobile := object{"mobile": object{"countryCode": "49", "number": "1709999999"}}
	e.post(e.at("factors/reset/"+id+"/complete"), mobile).wantError(400, "INVALID_INPUT")
	eventually(t, "the check passes", func() bool { return e.get(e.at("factors/reset/"+id)).text("status") == "LIVENESS_PASSED" })
	e.post(e.at("factors/reset/"+id+"/complete"), nil).wantError(400, "INVALID_INPUT")
	e.post(e.at("factors/reset/"+id+"/complete"), mobile).wantStatus(204)
	e.get(e.at("factors/reset/" + id)).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED", "enrollmentStatus": "PENDING"})
	e.post(e.at("login/start"), object{"factor": "SMS_OTP"}).wantError(409, "CONFLICT")
	e.post("/customers/"+e.customer+"/verify-phone", nil).wantStatus(204)
	e.post("/customers/"+e.customer+"/verify-phone/confirm", object{"code": "123456"}).wantStatus(200).wantValues(map[string]any{
		"phoneNumber": "+491709999999"})
	e.get(e.at("factors/reset/" + id)).wantStatus(200).wantValues(map[string]any{"enrollmentStatus": "COMPLETED"})
	e.login("123456").wantStatus(200)

	for range 4 {
		start().wantStatus(201)
	}
	if after := start().wantError(429, "RATE_LIMITED").header.Get("Retry-After"); after == "" {
		t.Error("no Retry-After")
	}
}
