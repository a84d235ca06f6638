package e2e

import (
	"strings"
	"testing"
)

func TestEndUserTerms_BeforeAQuote(t *testing.T) {
	t.Parallel()
	// Once the operator has set terms, a customer of a platform that is not regulated makes no quote before it has accepted a version of
	// them; with a later version the consent remains. Transfers, and customers of regulated platforms, need none.
	h := newTestEnv(t)
	env := []string{"DATABASE_URL=" + h.databaseURL}
	h.tenant = h.createPlatform("Open", "SANDBOX")
	regulated := h.createPlatform("Bank", "SANDBOX", "--regulated")
	ana := h.createCustomer()
	wallet := h.createWallet(ana, "")
	quote := func(c *client, customer, to string) apiResponse {
		return c.post("/quotes", object{"source": object{"sourceType": "REALTIME_FUNDING", "customerId": customer, "currency": "USD"},
			"destination":        object{"destinationType": "ACCOUNT", "accountId": to},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 100_00})
	}
	consent := func(version string) object {
		return object{"customerType": "INDIVIDUAL", "endUserTermsConsent": object{"termsVersion": version, "acceptanceMethod": "CHECKBOX",
			"ipAddress": "203.0.113.7", "acceptedAt": "2026-03-14T12:00:00Z"}}
	}
	h.get("/customers/end-user-terms").wantError(404, "NOT_FOUND")
	quote(h.client, ana, wallet).wantStatus(201)

	set := func(version string) {
		mustRunCommand(t, env, "customers", "terms", "set", version, "https://example.com/terms/"+version, "--actor", "ana")
	}
	set("2026-03")
	if _, errOut, status := runCommand(t, env, "customers", "terms", "set", "2026-03", "http://example.com", "--actor", "ana"); status == 0 ||
		!strings.Contains(errOut, "https") {
		t.Errorf("status %d: %s", status, errOut)
	}

	h.get("/customers/end-user-terms").wantStatus(200).wantValues(map[string]any{"version": "2026-03",
		"url": "https://example.com/terms/2026-03"})
	quote(h.client, ana, wallet).wantError(403, "END_USER_TERMS_NOT_ACCEPTED")
	h.patch("/customers/"+ana, consent("2027-01")).wantError(400, "END_USER_TERMS_VERSION_NOT_FOUND")
	incomplete := consent("2026-03")
	delete(incomplete["endUserTermsConsent"].(object), "ipAddress")
	h.patch("/customers/"+ana, incomplete).wantError(400, "INVALID_INPUT")
	h.patch("/customers/"+ana, consent("2026-03")).wantStatus(200).wantValues(map[string]any{
		"endUserTermsConsent.termsVersion": "2026-03", "kycStatus": "APPROVED"})
	quote(h.client, ana, wallet).wantStatus(201)
	set("2026-04")
	quote(h.client, ana, wallet).wantStatus(201)
	h.get("/customers/" + ana).wantStatus(200).wantValues(map[string]any{"endUserTermsConsent.ipAddress": "203.0.113.7"})
	with := consent("2026-04")
	with["fullName"] = "Bo Berg"
	h.post("/customers", with).wantStatus(201).wantValues(map[string]any{"endUserTermsConsent.termsVersion": "2026-04"})

	bob := regulated.post("/customers", object{"customerType": "INDIVIDUAL", "fullName": "Bob Berg"}).wantStatus(201).text("id")
	to := regulated.post("/customers/external-accounts", usAccountBody(bob)).wantStatus(201).text("id")
	regulated.post("/quotes", object{"source": object{"sourceType": "REALTIME_FUNDING", "customerId": bob, "currency": "USD"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": to},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 100_00}).wantStatus(201)
	if out := mustRunCommand(t, env, "customers", "terms", "list"); strings.Index(out, "2026-04") > strings.Index(out, "2026-03") {
		t.Errorf("the present version is not the first: %s", out)
	}
}
