package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"causeway/core/platform"
)

func TestCustomer_ResponseHasAllFields(t *testing.T) {
	t.Parallel()
	// A customer is returned with what was sent, at creation and later; everything else is
	// omitted.
	c := newClient(t)
	for name, test := range map[string]struct{ body, want string }{
		"next to nothing": {`{"customerType": "INDIVIDUAL"}`,
			`{"id": "*", "platformCustomerId": "*", "customerType": "INDIVIDUAL", "umaAddress": "*", "kycStatus": "APPROVED",
			"createdAt": "2026-03-14T12:00:00.000Z", "updatedAt": "2026-03-14T12:00:00.000Z", "isDeleted": false}`},
		"a person": {
			`{"customerType": "INDIVIDUAL", "platformCustomerId": "ana", "region": "US", "currencies": ["USD", "BTC"], "email": "ana@example.com", "umaAddress": "$Ana@uma.acme.test",
			"fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "BR", "kycStatus": "REJECTED", "favouriteColour": "blue",
			"address": {"line1": "1 Main St", "line2": "4B", "city": "Springfield", "state": "IL", "postalCode": "62701", "country": "US"}}`,
			`{"id": "*", "platformCustomerId": "ana", "customerType": "INDIVIDUAL", "region": "US", "currencies": ["USD", "BTC"], "email": "ana@example.com", "umaAddress": "$ana@uma.acme.test",
			"kycStatus": "APPROVED", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "BR",
			"address": {"line1": "1 Main St", "line2": "4B", "city": "Springfield", "state": "IL", "postalCode": "62701", "country": "US"},
			"createdAt": "*", "updatedAt": "*", "isDeleted": false}`},
		"a business": {
			`{"customerType": "BUSINESS", "platformCustomerId": "acme", "businessInfo": {"legalName": "Acme & Sons", "doingBusinessAs": "Acme", "country": "US", "registrationNumber": "123",
			"incorporatedOn": "2018-03-14", "entityType": "LLC", "taxId": "47-1", "countriesOfOperation": ["US", "MX"], "businessType": "INFORMATION", "purposeOfAccount": "CONTRACTOR_PAYOUTS",
			"sourceOfFunds": "sales", "expectedMonthlyTransactionCount": "COUNT_UNDER_10", "expectedMonthlyTransactionVolume": "VOLUME_UNDER_10K", "expectedRecipientJurisdictions": ["BR"]}}`,
			`{"id": "*", "platformCustomerId": "acme", "customerType": "BUSINESS", "umaAddress": "*", "kybStatus": "PENDING", "businessInfo": {"legalName": "Acme & Sons", "doingBusinessAs": "Acme",
			"country": "US", "registrationNumber": "123", "incorporatedOn": "2018-03-14", "entityType": "LLC", "taxId": "47-1", "countriesOfOperation": ["US", "MX"], "businessType": "INFORMATION",
			"purposeOfAccount": "CONTRACTOR_PAYOUTS", "sourceOfFunds": "sales", "expectedMonthlyTransactionCount": "COUNT_UNDER_10", "expectedMonthlyTransactionVolume": "VOLUME_UNDER_10K",
			"expectedRecipientJurisdictions": ["BR"]}, "createdAt": "*", "updatedAt": "*", "isDeleted": false}`},
	} {
		t.Run(name, func(t *testing.T) {
			created := c.must(201, "POST", "/customers", test.body)
			created.assertBody(t, test.want)
			if read := c.must(200, "GET", "/customers/"+created.stringAt("id"), ""); read.rawBody != created.rawBody {
				t.Errorf("read %s\nmade %s", read.rawBody, created.rawBody)
			}
		})
	}
}

func TestCreateCustomer_ListsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All invalid fields are listed once: wrong types and forms, missing fields, and
	// errors found by core.
	c := newClient(t)
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"nothing":         {`{}`, []string{"customerType"}},
		"no such type":    {`{"customerType": "ROBOT"}`, []string{"customerType"}},
		"a nameless firm": {`{"customerType": "BUSINESS"}`, []string{"businessInfo"}},
		"a person of every kind of mistake": {
			`{"customerType": "INDIVIDUAL", "platformCustomerId": 7, "region": "usa", "currencies": ["usd", "XXX"], "email": "ana", "umaAddress": "ana@uma.acme.test",
			"fullName": "Ana  <Silva>", "birthDate": "2999-01-01", "nationality": "ZZ", "address": {"line1": " ", "city": 5, "country": "US"}}`,
			[]string{"address.city", "address.line1", "address.postalCode", "address.state", "birthDate", "currencies[0]", "currencies[1]",
				"email", "fullName",
				"nationality", "platformCustomerId", "region", "umaAddress"}},
		"a firm of every kind of mistake": {
			`{"customerType": "BUSINESS", "businessInfo": {"legalName": "", "country": "us", "incorporatedOn": "yesterday", "entityType": "CLUB",
			"countriesOfOperation": ["US", "ZZ"], "businessType": 1, "purposeOfAccount": "FUN", "registrationNumber": "` +
				strings.Repeat("1", 65) + `",
			"expectedMonthlyTransactionCount": "SOME", "expectedMonthlyTransactionVolume": "MUCH", "expectedRecipientJurisdictions": "US"}}`,
			[]string{"businessInfo.businessType", "businessInfo.countriesOfOperation[1]", "businessInfo.country", "businessInfo.entityType",
				"businessInfo.expectedMonthlyTransactionCount",
				"businessInfo.expectedMonthlyTransactionVolume", "businessInfo.expectedRecipientJurisdictions", "businessInfo.incorporatedOn",
				"businessInfo.legalName",
				"businessInfo.purposeOfAccount", "businessInfo.registrationNumber"}},
		"objects that are none": {`{"customerType": "INDIVIDUAL", "address": "here", "currencies": "USD"}`, []string{"address", "currencies"}},
	} {
		a := c.send("POST", "/customers", test.body)
		if a.status != 400 || a.stringAt("code") != "INVALID_INPUT" || !slices.Equal(a.invalidFields(), test.want) {
			t.Errorf("%s: %d\ngot  %q\nwant %q", name, a.status, a.invalidFields(), test.want)
		}
	}
	if a := c.send("POST", "/customers", `{"customerType": "INDIVIDUAL",`); a.status != 400 ||
		!strings.Contains(a.stringAt("message"), "line 1") {
		t.Errorf("half a body: %d %s", a.status, a.rawBody)
	}
	if a := c.send("POST", "/customers", ""); a.status != 400 {
		t.Errorf("no body: %d %s", a.status, a.rawBody)
	}
	if n := len(c.must(200, "GET", "/customers", "").dataStrings("id")); n != 0 {
		t.Errorf("%d customers after refusals", n)
	}
}

func TestCreateCustomer_DuplicateIDOrAddressConflicts(t *testing.T) {
	t.Parallel()
	// An id or address in use is a conflict with its own code.
	c := newClient(t)
	c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "platformCustomerId": "ana", "umaAddress": "$ana@uma.acme.test"}`)
	if a := c.must(409, "POST", "/customers", `{"customerType": "INDIVIDUAL", "platformCustomerId": "ana"}`); a.stringAt(
		"code") != "CONFLICT" || a.stringAt("reason") == "" {
		t.Errorf("the same platformCustomerId: %s", a.rawBody)
	}
	if a := c.must(409, "POST", "/customers", `{"customerType": "INDIVIDUAL", "umaAddress": "$ana@uma.acme.test"}`); a.stringAt(
		"code") != "UMA_ADDRESS_EXISTS" {
		t.Errorf("the same umaAddress: %s", a.rawBody)
	}
	// On another platform both are available.
	c.createPlatform(t, platform.Sandbox).must(201, "POST", "/customers",
		`{"customerType": "INDIVIDUAL", "platformCustomerId": "ana", "umaAddress": "$ana@uma.acme.test"}`)
}

func TestListCustomers_Pagination(t *testing.T) {
	t.Parallel()
	// Following nextCursor returns every customer once, newest first, and totalCount
	// counts them; filters apply.
	c := newClient(t)
	var want []string
	for i := range 7 {
		kind := []string{"INDIVIDUAL", "BUSINESS"}[i%2]
		created := c.must(201, "POST", "/customers",
			fmt.Sprintf(
				`{"customerType": %q, "platformCustomerId": "c%d", "region": "US", "currencies": ["USD"], "umaAddress": "$c%d@uma.acme.test", "businessInfo": {"legalName": "Acme"}}`, kind, i, i))
		want = append([]string{created.stringAt("id")}, want...)
	}

	var got []string
	for cursor := ""; ; {
		a := c.must(200, "GET", "/customers?limit=3&cursor="+cursor, "")
		got = append(got, a.dataStrings("id")...)
		if a.stringAt("totalCount") != "7" {
			t.Errorf("totalCount is %s", a.stringAt("totalCount"))
		}
		if a.stringAt("hasMore") == "false" {
			if a.stringAt("nextCursor") != "" {
				t.Errorf("the last page has a cursor: %s", a.rawBody)
			}
			break
		}
		cursor = a.stringAt("nextCursor")
	}
	if !slices.Equal(got, want) {
		t.Errorf("walked %q\nwant   %q", got, want)
	}

	for query, count := range map[string]int{
		"platformCustomerId=c3": 1, "customerType=BUSINESS": 3, "region=US&currency=USD": 7, "region=DE": 0, "currency=BTC": 0,
		"umaAddress=$C2@uma.acme.test":                                             1,
		"createdAfter=2026-03-14T12:00:00.000Z&createdBefore=2026-03-14T12:00:00Z": 7, "createdAfter=2026-03-14T12:00:00.001Z": 0,
		"updatedBefore=2026-03-14T11:59:59Z": 0, "updatedAfter=2026-03-14T12:00:00Z&updatedBefore=2026-03-14T12:00:00Z": 7,
		"updatedAfter=2026-03-14T12:00:00.001Z": 0, "isIncludingDeleted=true": 7,
	} {
		if n := len(c.must(200, "GET", "/customers?"+query, "").dataStrings("id")); n != count {
			t.Errorf("%s: %d customers, want %d", query, n, count)
		}
	}
	for query, field := range map[string]string{"customerType=ROBOT": "customerType", "region=us": "region", "currency=usd": "currency",
		"createdAfter=1": "createdAfter", "isIncludingDeleted=perhaps": "isIncludingDeleted"} {
		if a := c.send("GET", "/customers?"+query, ""); a.status != 400 || !slices.Equal(a.invalidFields(), []string{field}) {
			t.Errorf("%s: %d %s", query, a.status, a.rawBody)
		}
	}
}

func TestGetCustomer_OtherPlatformNotFound(t *testing.T) {
	t.Parallel()
	// Another platform gets the same response for a customer of this platform as for an
	// unknown one.
	c := newClient(t)
	id := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`).stringAt("id")
	other := c.createPlatform(t, platform.Sandbox)

	foreign, none := other.must(404, "GET", "/customers/"+id, ""),
		other.must(404, "GET", "/customers/Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", "")

	if foreign.stringAt("code") != "USER_NOT_FOUND" || strings.Replace(foreign.rawBody, id, "Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b",
		1) != none.rawBody {
		t.Errorf("foreign %s\nnone %s", foreign.rawBody, none.rawBody)
	}
	if n := len(other.must(200, "GET", "/customers", "").dataStrings("id")); n != 0 {
		t.Errorf("%d foreign customers are listed", n)
	}
}
