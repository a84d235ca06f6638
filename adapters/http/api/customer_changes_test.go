package api_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/platform"
)

func TestUpdateCustomer_ChangesWhatIsSent(t *testing.T) {
	t.Parallel()
	// Fields that are sent change, null removes an optional one, business information is merged, and
	// everything else stays. The response is the customer as GET returns it.
	c := newClient(t)
	for name, test := range map[string]struct{ create, change, want string }{
		"a person": {
			`{"customerType": "INDIVIDUAL", "platformCustomerId": "ana", "region": "US", "email": "ana@example.com", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "BR",
			"address": {"line1": "1 Main St", "city": "Springfield", "state": "IL", "postalCode": "62701", "country": "US"}}`,
			`{"customerType": "INDIVIDUAL", "region": "US", "email": null, "fullName": "Ana Souza", "currencies": ["BTC"], "umaAddress": "$Ana@uma.acme.test", "kycStatus": "REJECTED",
			"address": {"line1": "2 High St", "city": "Leeds", "postalCode": "LS1", "country": "GB"}}`,
			`{"id": "*", "platformCustomerId": "ana", "customerType": "INDIVIDUAL", "region": "US", "currencies": ["BTC"], "umaAddress": "$ana@uma.acme.test", "kycStatus": "APPROVED",
			"fullName": "Ana Souza", "birthDate": "1990-01-31", "nationality": "BR", "address": {"line1": "2 High St", "city": "Leeds", "postalCode": "LS1", "country": "GB"},
			"createdAt": "*", "updatedAt": "*", "isDeleted": false}`},
		"what a person says about its money": {
			`{"customerType": "INDIVIDUAL", "platformCustomerId": "cy", "sourceOfFundsCategories": ["SALARY", "OTHER"], "sourceOfFundsOtherDescription": "Prize", "pepStatus": "NONE", "annualIncomeRange": "UNDER_50K"}`,
			`{"customerType": "INDIVIDUAL", "sourceOfFundsCategories": ["PENSION"], "sourceOfFundsOtherDescription": null, "netWorthRange": "OVER_25M", "purposeOfAccount": "P2P_TRANSFERS"}`,
			`{"id": "*", "platformCustomerId": "cy", "customerType": "INDIVIDUAL", "umaAddress": "*", "kycStatus": "APPROVED", "sourceOfFundsCategories": ["PENSION"], "pepStatus": "NONE",
			"annualIncomeRange": "UNDER_50K", "netWorthRange": "OVER_25M", "purposeOfAccount": "P2P_TRANSFERS", "createdAt": "*", "updatedAt": "*", "isDeleted": false}`},
		"a person without an address": {
			`{"customerType": "INDIVIDUAL", "platformCustomerId": "bo", "currencies": ["USD"], "address": {"line1": "2 High St", "city": "Leeds", "postalCode": "LS1", "country": "GB"}}`,
			`{"customerType": "INDIVIDUAL", "address": null, "currencies": null, "fullName": null}`,
			`{"id": "*", "platformCustomerId": "bo", "customerType": "INDIVIDUAL", "umaAddress": "*", "kycStatus": "APPROVED", "createdAt": "*", "updatedAt": "*", "isDeleted": false}`},
		"a business": {
			`{"customerType": "BUSINESS", "platformCustomerId": "acme", "businessInfo": {"legalName": "Acme", "doingBusinessAs": "Ac", "country": "US", "countriesOfOperation": ["US", "MX"], "entityType": "LLC", "naicsCode": "5112", "primaryContactFirstName": "Ana"}}`,
			`{"customerType": "BUSINESS", "fullName": "ignored", "businessInfo": {"doingBusinessAs": null, "taxId": "47-1", "countriesOfOperation": ["CA"], "entityType": null, "naicsCode": null, "sourceOfFundsCategories": ["LOANS"], "expectedCounterpartyCountries": ["MX"]}}`,
			`{"id": "*", "platformCustomerId": "acme", "customerType": "BUSINESS", "umaAddress": "*", "kybStatus": "PENDING",
			"businessInfo": {"legalName": "Acme", "country": "US", "taxId": "47-1", "countriesOfOperation": ["CA"], "sourceOfFundsCategories": ["LOANS"], "expectedCounterpartyCountries": ["MX"],
			"primaryContactFirstName": "Ana"}, "createdAt": "*", "updatedAt": "*", "isDeleted": false}`},
	} {
		t.Run(name, func(t *testing.T) {
			path := "/customers/" + c.must(201, "POST", "/customers", test.create).stringAt("id")

			changed := c.must(200, "PATCH", path, test.change)

			changed.assertBody(t, test.want)
			if read := c.must(200, "GET", path, ""); read.rawBody != changed.rawBody {
				t.Errorf("read %s\nchanged %s", read.rawBody, changed.rawBody)
			}
		})
	}
}

func TestUpdateCustomer_RefusalsNameTheFields(t *testing.T) {
	t.Parallel()
	// Fixed fields with another value, invalid values and removals of required values are named, and
	// nothing changes.
	c := newClient(t)
	person := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "region": "US", "fullName": "Ana Silva"}`)
	business := c.must(201, "POST", "/customers",
		`{"customerType": "BUSINESS", "umaAddress": "$acme@uma.acme.test", "businessInfo": {"legalName": "Acme"}}`)
	for name, test := range map[string]struct {
		of   reply
		body string
		want []string
	}{
		"no type":          {person, `{"fullName": "Bo"}`, []string{"customerType"}},
		"null as the type": {person, `{"customerType": null}`, []string{"customerType"}},
		"another type":     {person, `{"customerType": "BUSINESS"}`, []string{"customerType"}},
		"fixed fields": {person, `{"customerType": "INDIVIDUAL", "region": "GB", "platformCustomerId": "bo"}`,
			[]string{"platformCustomerId", "region"}},
		"fixed fields, null": {person, `{"customerType": "INDIVIDUAL", "region": null, "platformCustomerId": null}`,
			[]string{"platformCustomerId", "region"}},
		"removed address": {person, `{"customerType": "INDIVIDUAL", "umaAddress": null}`, []string{"umaAddress"}},
		"another domain":  {person, `{"customerType": "INDIVIDUAL", "umaAddress": "$ana@uma.other.test"}`, []string{"umaAddress"}},
		"every mistake": {
			person, `{"customerType": "INDIVIDUAL", "currencies": ["usd"], "email": "ana", "umaAddress": "ana", "fullName": 7, "birthDate": "2999-01-01", "nationality": "ZZ",
			"address": {"line1": "", "city": 5, "country": "US"}}`,
			[]string{"address.city", "address.line1", "address.postalCode", "address.state", "birthDate", "currencies[0]", "email", "fullName",
				"nationality", "umaAddress"}},
		"a business": {
			business, `{"customerType": "BUSINESS", "businessInfo": {"legalName": null, "country": "us", "countriesOfOperation": ["ZZ"], "entityType": "CLUB", "taxId": 5}}`,
			[]string{"businessInfo.countriesOfOperation[0]", "businessInfo.country", "businessInfo.entityType", "businessInfo.legalName",
				"businessInfo.taxId"}},
		"fixed and malformed": {person, `{"customerType": "BUSINESS", "region": "GB", "email": "ana", "birthDate": 5}`,
			[]string{"birthDate", "customerType", "email", "region"}},
		"fixed, malformed and too long": {business,
			`{"customerType": "INDIVIDUAL", "platformCustomerId": "bo", "umaAddress": "$acme@uma.other.test", "businessInfo": {"taxId": "` +
				strings.Repeat("1", 65) + `", "country": "ZZ"}}`,
			[]string{"businessInfo.country", "businessInfo.taxId", "customerType", "platformCustomerId", "umaAddress"}},
		"an unknown type and a fixed field": {person, `{"customerType": "CLUB", "region": "GB"}`, []string{"customerType", "region"}},
		"a fixed field of a wrong type":     {person, `{"customerType": "INDIVIDUAL", "region": 5, "email": "ana"}`, []string{"email", "region"}},
		"a business without details":        {business, `{"customerType": "BUSINESS", "businessInfo": null}`, []string{"businessInfo"}},
	} {
		a := c.send("PATCH", "/customers/"+test.of.stringAt("id"), test.body)
		if a.status != 400 || a.stringAt("code") != "INVALID_INPUT" || !slices.Equal(a.invalidFields(), test.want) {
			t.Errorf("%s: %d %s\ngot  %q\nwant %q", name, a.status, a.rawBody, a.invalidFields(), test.want)
		}
	}
	if a := c.must(409, "PATCH", "/customers/"+person.stringAt("id"),
		`{"customerType": "INDIVIDUAL", "umaAddress": "$ACME@uma.acme.test"}`); a.stringAt("code") != "UMA_ADDRESS_EXISTS" ||
		a.header.Get("X-Should-Retry") != "false" {
		t.Errorf("an address in use: %v %s", a.header, a.rawBody)
	}
	for _, before := range []reply{person, business} {
		if read := c.must(200, "GET", "/customers/"+before.stringAt("id"), ""); read.rawBody != before.rawBody {
			t.Errorf("changed from %s\nto %s", before.rawBody, read.rawBody)
		}
	}
}

func TestDeleteCustomer_Lifecycle(t *testing.T) {
	t.Parallel()
	// DELETE returns the deleted customer, which GET still does and lists do if asked. Later changes are
	// 410. The ids can be used again, and are still in conflict while they are in use.
	c := newClient(t)
	const body = `{"customerType": "INDIVIDUAL", "platformCustomerId": "ana", "umaAddress": "$ana@uma.acme.test"}`
	id := c.must(201, "POST", "/customers", body).stringAt("id")

	deleted := c.must(200, "DELETE", "/customers/"+id, "")

	if deleted.stringAt("isDeleted") != "true" || deleted.stringAt("id") != id {
		t.Errorf("deleted %s", deleted.rawBody)
	}
	if read := c.must(200, "GET", "/customers/"+id, ""); read.rawBody != deleted.rawBody {
		t.Errorf("read %s\ndeleted %s", read.rawBody, deleted.rawBody)
	}
	for method, body := range map[string]string{"DELETE": "", "PATCH": `{"customerType": "INDIVIDUAL", "fullName": "Ana"}`} {
		if a := c.must(410, method, "/customers/"+id, body); a.stringAt("code") != "CUSTOMER_DELETED" {
			t.Errorf("%s: %s", method, a.rawBody)
		}
	}
	if got := c.must(200, "GET", "/customers?platformCustomerId=ana", "").dataStrings("id"); len(got) != 0 {
		t.Errorf("listed %q", got)
	}
	if got := c.must(200, "GET", "/customers?platformCustomerId=ana&isIncludingDeleted=true", "").dataStrings("id"); !slices.Equal(got,
		[]string{id}) {
		t.Errorf("listed %q with deleted ones", got)
	}
	c.must(201, "POST", "/customers", body)
	if a := c.must(409, "POST", "/customers", body); a.stringAt("code") != "CONFLICT" || a.header.Get("X-Should-Retry") != "false" {
		t.Errorf("an id in use: %v %s", a.header, a.rawBody)
	}
}

func TestCustomerChanges_OtherPlatformNotFound(t *testing.T) {
	t.Parallel()
	// Another platform gets the same response for a customer of this platform as for an unknown one.
	c := newClient(t)
	id := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`).stringAt("id")
	other := c.createPlatform(t, platform.Sandbox)
	const unknown = "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	for method, body := range map[string]string{"DELETE": "", "PATCH": `{"customerType": "INDIVIDUAL", "fullName": "Ana"}`} {
		foreign, none := other.must(404, method, "/customers/"+id, body), other.must(404, method, "/customers/"+unknown, body)
		if foreign.stringAt("code") != "USER_NOT_FOUND" || strings.Replace(foreign.rawBody, id, unknown, 1) != none.rawBody {
			t.Errorf("%s: foreign %s\nnone %s", method, foreign.rawBody, none.rawBody)
		}
	}
}
