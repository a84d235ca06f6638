package customer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
)

var (
	later              = now.Add(time.Hour)
	productionPlatform = platform.Platform{ID: platformID, Environment: platform.Production, UMADomain: "uma.acme.test"}
	regulatedPlatform  = platform.Platform{ID: platformID, Environment: platform.Production, Regulated: true, UMADomain: "uma.acme.test"}
)

// approved returns the customer of a request on the sandbox platform, approved.
func approved(t interface{ Fatal(...any) }, r customer.Request) customer.Customer {
	c, err := create(r)
	if err != nil {
		t.Fatal(err)
	}
	c.Status = customer.Approved
	return c
}

// invalidFields returns the fields of an INVALID_INPUT fault, sorted.
func invalidFields(err error) []string {
	var names []string
	if f, ok := fault.As(err); ok && f.Code == fault.InvalidInput {
		for _, field := range f.Fields {
			names = append(names, field.Field)
		}
	}
	slices.Sort(names)
	return names
}

func TestCustomer_UpdateChangesOnlyWhatIsSent(t *testing.T) {
	// Each field can be changed alone; everything else stays, except the time of the change.
	t.Parallel()
	person, business := approved(t, individualRequest()), approved(t, businessRequest())
	other := party.Address{Line1: "2 High St", City: "Leeds", PostalCode: "LS1", Country: "GB"}
	tests := map[string]struct {
		of     customer.Customer
		change customer.Change
		want   func(*customer.Customer)
	}{
		"email":         {person, customer.Change{Email: new("bo@example.com")}, func(c *customer.Customer) { c.Email = "bo@example.com" }},
		"email removed": {person, customer.Change{Email: new("")}, func(c *customer.Customer) { c.Email = "" }},
		"currencies": {person, customer.Change{Currencies: &[]string{"EUR", "BTC"}},
			func(c *customer.Customer) { c.Currencies = []money.Currency{"EUR", "BTC"} }},
		"currencies removed": {person, customer.Change{Currencies: &[]string{}},
			func(c *customer.Customer) { c.Currencies = []money.Currency{"USD"} }},
		"UMA address": {person, customer.Change{UMAAddress: new("$Bo@uma.acme.test")},
			func(c *customer.Customer) { c.UMAAddress = "$bo@uma.acme.test" }},
		"address":         {person, customer.Change{Address: new(&other)}, func(c *customer.Customer) { c.Address = &other }},
		"address removed": {person, customer.Change{Address: new(*party.Address)}, func(c *customer.Customer) { c.Address = nil }},
		"full name": {person, customer.Change{FullName: new("Bo Berg")}, func(c *customer.Customer) {
			c.FullName, c.IdentityChangedAt, c.Status = "Bo Berg", later, customer.Pending
		}},
		"nationality removed": {person, customer.Change{Nationality: new("")},
			func(c *customer.Customer) { c.Nationality, c.IdentityChangedAt, c.Status = "", later, customer.Pending }},
		"volume": {business, customer.Change{Business: new(&customer.BusinessChange{ExpectedMonthlyTransactionVolume: new("VOLUME_OVER_10M")})},
			func(c *customer.Customer) { c.Business.ExpectedMonthlyTransactionVolume = "VOLUME_OVER_10M" }},
		"countries removed": {business, customer.Change{Business: new(&customer.BusinessChange{CountriesOfOperation: new([]string)})},
			func(c *customer.Customer) { c.Business.CountriesOfOperation = nil }},
		"the present region": {person, customer.Change{Region: new("US"), PlatformCustomerID: new("user-1"), Email: new("bo@example.com")},
			func(c *customer.Customer) { c.Email = "bo@example.com" }},
		"fields of the other type": {person, customer.Change{Email: new("bo@example.com"),
			Business: new(&customer.BusinessChange{LegalName: new("")})},
			func(c *customer.Customer) { c.Email = "bo@example.com" }},
	}
	for name, test := range tests {
		want := test.of
		if want.Business != nil {
			want.Business = new(*want.Business)
		}
		test.want(&want)
		want.UpdatedAt = later
		test.change.Type = string(test.of.Type)

		got, err := test.of.Update(test.change, sandboxPlatform, later)

		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, want)
		}
	}
}

func TestCustomer_UpdateListsAllInvalidFields(t *testing.T) {
	// Every invalid field of a change is named, and nothing changes: fixed fields with another value,
	// invalid values, and the removal of what a customer must have.
	t.Parallel()
	tests := map[string]struct {
		of     customer.Customer
		change customer.Change
		want   []string
	}{
		"another type": {approved(t, individualRequest()), customer.Change{Type: "BUSINESS"}, []string{"customerType"}},
		"no type":      {approved(t, individualRequest()), customer.Change{}, []string{"customerType"}},
		"a person": {approved(t, individualRequest()), customer.Change{Type: "INDIVIDUAL", PlatformCustomerID: new("user-2"), Region: new("GB"),
			Currencies: &[]string{"usd", "XXX"},
			Email:      new("ana"), UMAAddress: new("$ana@elsewhere.test"), FullName: new("Ana  <Silva>"), BirthDate: new("2999-01-01"),
			Nationality: new("ZZ"),
			Address:     new(&party.Address{Line1: "1 Main St", City: "Austin", Country: "US"})},
			[]string{"address.postalCode", "address.state", "birthDate", "currencies[0]", "currencies[1]", "email", "fullName", "nationality",
				"platformCustomerId", "region", "umaAddress"}},
		"a removed UMA address": {approved(t, individualRequest()), customer.Change{Type: "INDIVIDUAL", UMAAddress: new(""), Region: new("")},
			[]string{"region", "umaAddress"}},
		"removed business details": {approved(t, businessRequest()), customer.Change{Type: "BUSINESS", Business: new(*customer.BusinessChange)},
			[]string{"businessInfo"}},
		"a business": {approved(t, businessRequest()),
			customer.Change{Type: "BUSINESS", Business: new(&customer.BusinessChange{LegalName: new(""), Country: new("us"),
				IncorporatedOn: new("yesterday"),
				EntityType:     new("CLUB"), TaxID: new(strings.Repeat("1", 65)), CountriesOfOperation: &[]string{"US", "ZZ"}})},
			[]string{"businessInfo.countriesOfOperation[1]", "businessInfo.country", "businessInfo.entityType", "businessInfo.incorporatedOn",
				"businessInfo.legalName", "businessInfo.taxId"}},
	}
	for name, test := range tests {
		got, err := test.of.Update(test.change, sandboxPlatform, later)
		if !slices.Equal(invalidFields(err), test.want) || !reflect.DeepEqual(got, test.of) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", name, err, invalidFields(err), test.want)
		}
	}
}

func TestCustomer_UpdateOfIdentityEndsApproval(t *testing.T) {
	// The status of an approved customer whose identity changes is that of a new customer. Other changes,
	// and other statuses, keep the status.
	t.Parallel()
	tests := map[string]struct {
		request customer.Request
		status  customer.Status
		owner   platform.Platform
		change  customer.Change
		want    customer.Status
	}{
		"name in production": {individualRequest(), customer.Approved, productionPlatform, customer.Change{FullName: new("Bo Berg")},
			customer.Pending},
		"birth date in production": {individualRequest(), customer.Approved, productionPlatform,
			customer.Change{BirthDate: new("1991-01-31")}, customer.Pending},
		"birth date removed": {individualRequest(), customer.Approved, productionPlatform, customer.Change{BirthDate: new("")},
			customer.Pending},
		"the same name": {individualRequest(), customer.Approved, productionPlatform, customer.Change{FullName: new("Ana Ng")},
			customer.Approved},
		"address in production": {individualRequest(), customer.Approved, productionPlatform,
			customer.Change{Address: new(*party.Address)}, customer.Approved},
		"name of a regulated platform": {individualRequest(), customer.Approved, regulatedPlatform, customer.Change{FullName: new("Bo Berg")},
			customer.Approved},
		"name in the sandbox": {individualRequest(), customer.Approved, sandboxPlatform, customer.Change{FullName: new("Bo Berg")},
			customer.Pending},
		"a rejected customer": {individualRequest(), customer.Rejected, productionPlatform, customer.Change{FullName: new("Bo Berg")},
			customer.Rejected},
		"legal name in the sandbox": {businessRequest(), customer.Approved, sandboxPlatform,
			customer.Change{Business: new(&customer.BusinessChange{LegalName: new("Other")})}, customer.Pending},
		"tax id in production": {businessRequest(), customer.Approved, productionPlatform,
			customer.Change{Business: new(&customer.BusinessChange{TaxID: new("99")})}, customer.Pending},
		"trading name in production": {businessRequest(), customer.Approved, productionPlatform,
			customer.Change{Business: new(&customer.BusinessChange{DoingBusinessAs: new("Other")})}, customer.Approved},
	}
	for name, test := range tests {
		c := approved(t, test.request)
		c.Status, test.change.Type = test.status, string(c.Type)

		got, err := c.Update(test.change, test.owner, later)

		if changed := got.Identity() != c.Identity(); err != nil || got.Status != test.want || changed == got.IdentityChangedAt.IsZero() {
			t.Errorf("%s: %s, identity changed at %s, %v; want %s", name, got.Status, got.IdentityChangedAt, err, test.want)
		}
	}
}

func TestCustomer_UpdateKeepsAddressOfFormerDomain(t *testing.T) {
	// The present UMA address may be sent although the platform's domain has changed since.
	t.Parallel()
	c := approved(t, individualRequest())
	moved := sandboxPlatform
	moved.UMADomain = "uma.new.test"

	if _, err := c.Update(customer.Change{Type: "INDIVIDUAL", UMAAddress: new(strings.ToUpper(c.UMAAddress))}, moved, later); err != nil {
		t.Error(err)
	}
}

func TestCustomer_UpdateRefusesDeleted(t *testing.T) {
	// A deleted customer does not change.
	t.Parallel()
	c := approved(t, individualRequest())
	c.DeletedAt = now
	if _, err := c.Update(customer.Change{Type: "INDIVIDUAL", Email: new("")}, sandboxPlatform, later); !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("got %v", err)
	}
}

func TestCustomer_UpdateTwiceIsOnce(t *testing.T) {
	// A change that is applied again changes nothing but the time of the change, and two changes of different fields give the same
	// customer in either order.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]*string{nil, new(""), new("Ana"), new("Bo")})
		mail := rapid.SampledFrom([]*string{nil, new(""), new("ana@example.com"), new("bo@example.com")})
		business := approved(t, businessRequest())
		first := customer.Change{Type: "BUSINESS", Email: mail.Draw(t, "email"),
			Business: new(&customer.BusinessChange{DoingBusinessAs: text.Draw(t, "name"), TaxID: text.Draw(t, "tax id")})}
		second := customer.Change{Type: "BUSINESS",
			Business: new(&customer.BusinessChange{SourceOfFunds: text.Draw(t, "source"), RegistrationNumber: text.Draw(t, "number")})}
		update := func(c customer.Customer, changes ...customer.Change) customer.Customer {
			for _, change := range changes {
				var err error
				if c, err = c.Update(change, productionPlatform, later); err != nil {
					t.Fatal(err)
				}
			}
			return c
		}

		once := update(business, first)
		twice := update(once, first)
		if twice.UpdatedAt = once.UpdatedAt; !reflect.DeepEqual(once, twice) {
			t.Errorf("once %+v\ntwice %+v", once, twice)
		}
		forward, backward := update(business, first, second), update(business, second, first)
		forward.UpdatedAt, backward.UpdatedAt, forward.IdentityChangedAt, backward.IdentityChangedAt = later, later, later, later
		if !reflect.DeepEqual(forward, backward) {
			t.Errorf("forward %+v\nbackward %+v", forward, backward)
		}
	})
}
