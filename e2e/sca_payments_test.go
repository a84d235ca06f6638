package e2e

import (
	"net/url"
	"testing"

	"causeway/core/sandbox"
)

func TestPayments_AuthorizedByTheirPayer(t *testing.T) {
	t.Parallel()
	// A customer in Germany authorises a payment from its account, also after the server was killed in between, and only once. What
	// a customer has not authorised does not move. A trusted account is kept.
	h := newTestEnv(t)
	payer := h.createCustomer(object{"region": "DE", "phoneNumber": "+491701234567"})
	h.post("/customers/"+payer+"/verify-phone", nil).wantStatus(204)
	h.post("/customers/"+payer+"/verify-phone/confirm", object{"code": sandbox.SCACode}).wantStatus(200)
	from, to := h.fundedAccount(payer), h.createBankAccount(payer)
	code := object{"code": sandbox.SCACode}
	request := object{"source": object{"sourceType": "ACCOUNT", "accountId": from},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": to},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 1000}

	quote := h.post("/quotes", request).wantStatus(201)
	execute := "/quotes/" + quote.text("id") + "/execute"
	if got := h.post(execute, nil).wantStatus(409).text("code"); got != "SCA_SESSION_REQUIRED" {
		t.Errorf("without a session: %s", got)
	}
	at := func(path string) string { return "/sca/login/" + path + "?customerId=" + url.QueryEscape(payer) }
	login := h.post(at("start"), object{"factor": "SMS_OTP"}).wantStatus(200).text("challengeId")
	h.post(at("complete"), object{"factor": "SMS_OTP", "challengeId": login, "code": sandbox.SCACode, "endUserIpAddress": "203.0.113.7"}).
		wantStatus(200)

	asked := h.post(execute, object{"scaFactor": "SMS_OTP"}).wantStatus(200)
	if asked.text("status") != "PENDING_AUTHORIZATION" || asked.text("scaChallenge.purpose") != "PAYOUT" {
		t.Fatalf("executed: %s", asked.body)
	}
	h.server.kill()
	h.server = startServer(t, h.databaseURL)
	h.BaseURL = h.server.baseURL
	authorize := "/quotes/" + quote.text("id") + "/authorize"
	if again := h.get("/quotes/" + quote.text("id")).wantStatus(200); again.text("scaChallenge.id") != asked.text("scaChallenge.id") {
		t.Errorf("after the crash: %s", again.body)
	}
	h.post(authorize, object{"code": "000000"}).wantStatus(400)
	h.post(authorize+"/resend", nil).wantStatus(204)
	if done := h.post(authorize, code).wantStatus(200); done.text("status") != "PROCESSING" {
		t.Errorf("authorised: %s", done.body)
	}
	h.post(authorize, code).wantStatus(409)
	h.post("/transfer-out", object{"source": object{"accountId": from}, "destination": object{"accountId": to}, "amount": 100}).wantStatus(409)

	trust := "/customers/external-accounts/" + to + "/trust"
	challenge := h.post(trust, nil).wantStatus(200).text("scaChallenge.id")
	h.post(trust+"/confirm", object{"challengeId": challenge, "code": sandbox.SCACode}).wantStatus(200)
	if got := h.delete("/customers/external-accounts/" + to).wantStatus(409).text("code"); got != "BENEFICIARY_TRUSTED" {
		t.Errorf("deleting a trusted account: %s", got)
	}
	untrust := "/customers/external-accounts/" + to + "/untrust"
	h.post(untrust, nil).wantStatus(200)
	h.post(untrust+"/confirm", code).wantStatus(200)
	h.delete("/customers/external-accounts/" + to).wantStatus(204)
}
