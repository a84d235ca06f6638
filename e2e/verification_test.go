package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var texas = object{"line1": "5 Market Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}

// newBusiness creates a business with complete data; its registration number selects the outcome.
func (p *tenant) newBusiness(registrationNumber string) string {
	p.t.Helper()
	return p.post("/customers", object{"customerType": "BUSINESS", "address": texas, "businessInfo": object{
		"legalName": "Acme LLC", "country": "US", "entityType": "LLC", "registrationNumber": registrationNumber,
		"taxId": "12-3456789"}}).wantStatus(201).text("id")
}

// newOwner adds a control person; the last name selects the outcome.
func (p *tenant) newOwner(business, lastName string) apiResponse {
	p.t.Helper()
	return p.post("/beneficial-owners", object{"customerId": business, "roles": []string{"UBO", "CONTROL_PERSON"}, "ownershipPercentage": 60,
		"personalInfo": object{
			"firstName": "Ana", "lastName": lastName, "birthDate": "1980-01-31", "nationality": "US", "address": texas, "idType": "SSN",
			"identifier": "123-45-6789"}}).wantStatus(201)
}

// uploadBusinessDocuments uploads what a business needs.
func (p *tenant) uploadBusinessDocuments(business string) (ids []string) {
	p.t.Helper()
	for _, kind := range []string{"CERTIFICATE_OF_INCORPORATION", "DIRECTOR_REGISTRY", "SHAREHOLDER_REGISTER", "UTILITY_BILL"} {
		form := formBody(p.t, fmt.Sprintf(`{"documentHolder": %q, "documentType": %q, "country": "US", "file": "scan.png"}`, business, kind),
			passportPhoto())
		ids = append(ids, p.withHeader("Content-Type", formContentType).post("/documents", form).wantStatus(201).text("id"))
	}
	return ids
}

// eventsOf returns the names of the events of a resource that were received.
func (h *webhookReceiver) eventsOf(key, id string) (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deliveries {
		if d.text(key+".id") == id {
			names = append(names, d.event)
		}
	}
	return names
}

func TestVerification_BusinessFromErrorsToPayment(t *testing.T) {
	t.Parallel()
	// A business cannot pay before it is verified. What is missing is listed, corrected and submitted
	// again; then it is approved with its owner and pays. The platform hears of each step in order, and
	// submitted documents stay.
	h := newSharedEnv(t)
	h.tenant = h.createPlatform("Onboarding", "SANDBOX")
	receiver := h.startReceiver()
	business := h.newBusiness("5523041")
	quote := object{"source": object{"customerId": business, "currency": "USD"}, "destination": object{"destinationType": "ACCOUNT",
		"accountId": h.createWallet(business, "")},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050}
	h.post("/quotes", quote).wantError(403, "USER_NOT_READY")

	first := h.post("/verifications", object{"customerId": business}).wantStatus(200).wantValues(
		map[string]any{"verificationStatus": "RESOLVE_ERRORS", "customerId": business})
	documents := h.uploadBusinessDocuments(business)
	h.newOwner(business, "Silva").wantValues(map[string]any{"kycStatus": "APPROVED", "personalInfo.identifier": "***-**-6789"})
	second := h.post("/verifications", object{"customerId": business}).wantStatus(200).wantValues(map[string]any{"id": first.text("id"),
		"verificationStatus": "APPROVED"})

	h.get("/customers/" + business).wantStatus(200).wantValues(map[string]any{"kybStatus": "APPROVED",
		"beneficialOwners.0.personalInfo.lastName": "Silva", "beneficialOwners.0.kycStatus": "APPROVED"})
	h.post("/quotes", quote).wantStatus(201)
	h.delete("/documents/"+documents[0]).wantError(409, "CONFLICT")
	h.post("/verifications", object{"customerId": business}).wantError(400, "INVALID_INPUT")
	receiver.awaitDelivery("the approval of the business", func(d delivery) bool {
		return d.event == "CUSTOMER.KYB_APPROVED" && d.text("customer.id") == business &&
			d.text("customer.beneficialOwners.0.personalInfo.lastName") == "Silva"
	})
	receiver.awaitDelivery("the approval", func(d delivery) bool {
		return d.event == "VERIFICATION.APPROVED" && d.text("verification.id") == second.text("id")
	})
	want := []string{"VERIFICATION.RESOLVE_ERRORS", "VERIFICATION.READY_FOR_VERIFICATION", "VERIFICATION.IN_PROGRESS", "VERIFICATION.APPROVED"}
	if got := receiver.eventsOf("verification", first.text("id")); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestVerification_SandboxValuesDecide(t *testing.T) {
	t.Parallel()
	// The last three digits of the registration number, and the last three characters of the owner's
	// last name, decide.
	h := newSharedEnv(t)
	h.tenant = h.createPlatform("Onboarding", "SANDBOX")
	for _, c := range []struct{ number, owner, kyc, verification, kyb string }{
		{"5523001", "Silva", "APPROVED", "PENDING_MANUAL_REVIEW", "PENDING"},
		{"5523002", "Silva", "APPROVED", "REJECTED", "REJECTED"},
		{"5523003", "Silva", "APPROVED", "APPROVED", "APPROVED"},
		{"5523041", "Silva001", "PENDING", "IN_PROGRESS", "PENDING"},
		{"5523041", "Silva002", "REJECTED", "REJECTED", "REJECTED"},
	} {
		business := h.newBusiness(c.number)
		h.uploadBusinessDocuments(business)
		h.newOwner(business, c.owner).wantValues(map[string]any{"kycStatus": c.kyc})
		v := h.post("/verifications", object{"customerId": business}).wantStatus(200).wantValues(
			map[string]any{"verificationStatus": c.verification})
		if errors := v.value("errors").([]any); (len(errors) > 0) != (c.verification == "REJECTED") {
			t.Errorf("%+v: errors %v", c, errors)
		}
		h.get("/customers/" + business).wantValues(map[string]any{"kybStatus": c.kyb})
	}
}

func TestVerification_ProductionWaitsForReview(t *testing.T) {
	t.Parallel()
	// No test value decides on a production platform: everyone waits for the operator's review. The links
	// to the pages are another one in each response, and the same for a repeated request.
	h := newTestEnv(t)
	h.tenant = h.createPlatform("Live", "PRODUCTION")
	business := h.newBusiness("5523041")
	h.uploadBusinessDocuments(business)
	h.newOwner(business, "Silva002").wantValues(map[string]any{"kycStatus": "PENDING"})
	h.post("/verifications", object{"customerId": business}).wantStatus(200).wantValues(
		map[string]any{"verificationStatus": "PENDING_MANUAL_REVIEW"})
	h.get("/customers/" + business).wantValues(map[string]any{"kybStatus": "PENDING"})

	path := "/customers/" + business + "/kyc-link"
	if got := h.post(path, object{"redirectUri": "https://example.com"}).wantError(400, "INVALID_INPUT").errorFields(); !slices.Equal(got,
		[]string{"redirectUri"}) {
		t.Errorf("without allowed origins the invalid fields are %q", got)
	}
	h.patch("/config", object{"kycRedirectOrigins": []string{"https://example.com"}}).wantStatus(200)
	keyed := h.withHeader("Idempotency-Key", "link")
	first, again, other := keyed.post(path, nil).wantStatus(201), keyed.post(path, nil).wantStatus(201),
		h.post(path, object{"redirectUri": "https://example.com"}).wantStatus(201)
	if first.text("kycUrl") != again.text("kycUrl") || first.text("kycUrl") == other.text("kycUrl") || !strings.HasPrefix(other.text("kycUrl"),
		strings.TrimSuffix(h.server.baseURL, "/2025-10-13")+"/verify/") {
		t.Errorf("links %s, %s, %s", first.text("kycUrl"), again.text("kycUrl"), other.text("kycUrl"))
	}
	if log := h.server.Output(); strings.Contains(log, first.text("kycUrl")[len(first.text("kycUrl"))-64:]) {
		t.Error("the log has the token of a link")
	}
}
