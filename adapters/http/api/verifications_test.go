package api_test

import (
	"strings"
	"testing"

	"causeway/core/platform"
)

const ownerBody = `{"customerId": "%s", "roles": ["UBO", "CONTROL_PERSON"], "ownershipPercentage": 60, "personalInfo": {
	"firstName": "Ana", "middleName": "B", "lastName": "Silva", "birthDate": "1980-01-31", "nationality": "US", "email": "ana@example.com", "phoneNumber": "+14155550123",
	"address": {"line1": "1 A", "city": "B", "state": "CA", "postalCode": "94105", "country": "US"}, "idType": "SSN", "identifier": "123456789", "countryOfIssuance": "US"}}`

// newBusinessOf creates a business of a platform that is not regulated.
func newBusinessOf(c *client) string {
	return c.must(201, "POST", "/customers",
		`{"customerType": "BUSINESS", "businessInfo": {"legalName": "Acme", "registrationNumber": "5523041"}}`).stringAt("id")
}

func TestBeneficialOwners_CreateListUpdate(t *testing.T) {
	t.Parallel()
	// An owner is answered with its masked identifier, and changed field by field; null removes an
	// optional value and is refused for a required one.
	c := newClient(t)
	business := newBusinessOf(c)
	person := func(middleName, email string) string {
		return `{"firstName": "Ana", ` + middleName + `"lastName": "Silva", "birthDate": "1980-01-31", "nationality": "US", ` + email +
			`"phoneNumber": "+14155550123",
			"address": {"line1": "1 A", "city": "B", "state": "CA", "postalCode": "94105", "country": "US"}, "idType": "SSN", "identifier": "***-**-6789", "countryOfIssuance": "US"}`
	}
	want := func(percentage, person string) string {
		return `{"id": "*", "customerId": "` + business + `", "roles": ["CONTROL_PERSON", "UBO"], "ownershipPercentage": ` + percentage +
			`, "personalInfo": ` + person +
			`, "kycStatus": "APPROVED", "createdAt": "2026-03-14T12:00:00.000Z", "updatedAt": "2026-03-14T12:00:00.000Z"}`
	}
	created := c.must(201, "POST", "/beneficial-owners", strings.Replace(ownerBody, "%s", business, 1))
	created.assertBody(t, want("60", person(`"middleName": "B", `, `"email": "ana@example.com", `)))
	path := "/beneficial-owners/" + created.stringAt("id")

	changed := c.must(
		200, "PATCH", path, `{"ownershipPercentage": 75, "personalInfo": {"middleName": null, "email": null, "identifier": "***-**-6789"}}`)

	changed.assertBody(t, want("75", person("", "")))
	c.must(200, "GET", path, "").assertBody(t, want("75", person("", "")))
	if ids := c.must(200, "GET", "/beneficial-owners?customerId="+business, "").dataStrings("id"); len(ids) != 1 ||
		ids[0] != created.stringAt("id") {
		t.Errorf("listed %q", ids)
	}
	for name, body := range map[string]string{
		"no percentage": `{"ownershipPercentage": null}`, "no person": `{"personalInfo": null}`,
		"no name": `{"personalInfo": {"lastName": null}}`, "too much": `{"ownershipPercentage": 101}`,
		"no roles": `{"roles": []}`, "unknown role": `{"roles": ["BOSS"]}`, "another number": `{"personalInfo": {"identifier": "1"}}`,
		"invalid address": `{"personalInfo": {"address": null}}`,
	} {
		if got := c.must(400, "PATCH", path, body); got.stringAt("code") != "INVALID_INPUT" {
			t.Errorf("%s: %s", name, got.stringAt("code"))
		}
	}
	c.must(400, "GET", "/beneficial-owners", "")
	for _, id := range []string{"Customer:0199f0a2-0000-7000-8000-000000000001", "x"} {
		if status := map[bool]int{true: 404, false: 400}[strings.HasPrefix(id, "Customer")]; c.must(status, "GET",
			"/beneficial-owners?customerId="+id, "").stringAt("code") == "" {
			t.Errorf("%s: no code", id)
		}
	}
}

func TestVerifications_ListsErrors(t *testing.T) {
	t.Parallel()
	// A verification is answered with what is missing, and found by its customer and status.
	c := newClient(t)
	business := newBusinessOf(c)

	v := c.must(200, "POST", "/verifications", `{"customerId": "`+business+`"}`)

	v.assertBody(t, `{"id": "*", "customerId": "`+business+
		`", "verificationStatus": "RESOLVE_ERRORS", "createdAt": "*", "updatedAt": "*", "errors": ["*", "*", "*",
		{"resourceId": "`+business+`", "type": "MISSING_FIELD", "field": "address", "reason": "*"}, "*", "*",
		{"resourceId": "`+business+`", "type": "MISSING_OWNERSHIP_STRUCTURE_DOCUMENT", "acceptedDocumentTypes": ["SHAREHOLDER_REGISTER", "TRUST_AGREEMENT", "PARTNERSHIP_AGREEMENT"], "reason": "*"},
		"*", {"resourceId": "`+business+`", "type": "MISSING_BENEFICIAL_OWNER", "reason": "*"}]}`)
	id := v.stringAt("id")
	c.must(200, "GET", "/verifications/"+id, "")
	for query, want := range map[string]int{
		"": 1, "?customerId=" + business: 1, "?verificationStatus=RESOLVE_ERRORS": 1, "?verificationStatus=APPROVED": 0,
		"?customerId=Customer:0199f0a2-0000-7000-8000-000000000001": 0,
	} {
		if ids := c.must(200, "GET", "/verifications"+query, "").dataStrings("id"); len(ids) != want {
			t.Errorf("%q lists %q", query, ids)
		}
	}
	c.must(400, "GET", "/verifications?verificationStatus=DONE", "")
	individual := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`).stringAt("id")
	c.must(400, "POST", "/verifications", `{"customerId": "`+individual+`"}`)
	c.must(404, "POST", "/verifications", `{"customerId": "Customer:0199f0a2-0000-7000-8000-000000000001"}`)
	production := c.createPlatform(t, platform.Production)
	production.must(501, "POST", "/verifications", `{"customerId": "`+business+`"}`)
}

func TestKYCLink_Response(t *testing.T) {
	t.Parallel()
	// The body is optional, and every call returns another URL under that of the pages.
	c := newClient(t)
	c.must(200, "PATCH", "/config", `{"kycRedirectOrigins": ["https://example.com", "http://localhost:3000"]}`)
	path := "/customers/" + newBusinessOf(c) + "/kyc-link"
	urls := map[string]bool{}
	for _, body := range []string{"", `{}`, `{"redirectUri": "https://example.com/done"}`, `{"redirectUri": "http://localhost:3000/"}`} {
		link := c.must(201, "POST", path, body)
		link.assertBody(t, `{"kycUrl": "*", "expiresAt": "2026-03-15T12:00:00.000Z", "provider": "SUMSUB"}`)
		url := link.stringAt("kycUrl")
		if token, ok := strings.CutPrefix(url, "https://pay.test/verify/"); !ok || len(token) != 64 || urls[url] {
			t.Errorf("the URL is %s", url)
		}
		urls[url] = true
	}
	for _, invalid := range []string{"http://example.com", "javascript:alert(1)", "/done"} {
		c.must(400, "POST", path, `{"redirectUri": "`+invalid+`"}`)
	}
	c.must(404, "POST", "/customers/Customer:0199f0a2-0000-7000-8000-000000000001/kyc-link", "")
}
