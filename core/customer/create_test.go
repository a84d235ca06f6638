package customer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
)

var (
	now             = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	platformID, _   = ident.ParsePlatform("PlatformConfig:019542f5-b3e7-7d02-8000-000000000001")
	customerID, _   = ident.ParseCustomer("Customer:019542f5-b3e7-7d02-8000-000000000002")
	testEventID, _  = ident.ParseWebhook("Webhook:019542f5-b3e7-7d02-8000-000000000004")
	generatedID     = uuid.MustParse("019542f5-b3e7-7d02-8000-000000000003")
	sandboxPlatform = platform.Platform{ID: platformID, Environment: platform.Sandbox, UMADomain: "uma.acme.test"}
)

func create(r customer.Request) (customer.Customer, error) {
	return customer.Create(r, sandboxPlatform, customerID, generatedID, now)
}

// individualRequest returns a request with every field of an individual.
func individualRequest() customer.Request {
	return customer.Request{
		PlatformCustomerID: "user-1", Type: "INDIVIDUAL", Region: "US", Currencies: []string{"USD", "USDC"}, Email: "ana@example.com",
		UMAAddress: "$Ana.Ng@uma.acme.test", FullName: "Ana Ng", BirthDate: "1990-02-28", Nationality: "PH",
		Address: &party.Address{Line1: "1 Main St", Line2: "Flat 2", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"},
	}
}

// businessRequest returns a request with every field of a business.
func businessRequest() customer.Request {
	return customer.Request{
		PlatformCustomerID: "biz-1", Type: "BUSINESS", Region: "DE",
		Address: &party.Address{Line1: "Hauptstr. 1", City: "Berlin", State: "BE", PostalCode: "10115", Country: "DE"},
		Business: &customer.BusinessInfo{
			LegalName: "Acme & Sons GmbH", DoingBusinessAs: "Acme!", Country: "DE", RegistrationNumber: "HRB 12345", IncorporatedOn: "1871-01-18",
			EntityType: "LLC", TaxID: "DE123456789", CountriesOfOperation: []string{"DE", "FR"}, BusinessType: "INFORMATION",
			PurposeOfAccount: "CONTRACTOR_PAYOUTS", SourceOfFunds: "Sales of software", ExpectedMonthlyTransactionCount: "COUNT_100_TO_500",
			ExpectedMonthlyTransactionVolume: "VOLUME_100K_TO_1M", ExpectedRecipientJurisdictions: []string{"US", "MX"},
			SourceOfFundsCategories: []string{"OPERATING_REVENUE", "OTHER"}, SourceOfFundsOtherDescription: "Sale of a patent",
			PurposeOfAccountOtherDescription: "Deposits", ExpectedCounterpartyCountries: []string{"FR"}, NAICSCode: "5112",
			PrimaryContactFirstName: "Ana", PrimaryContactLastName: "Silva",
		},
	}
}

func TestCreate_Individual(t *testing.T) {
	// A person with every field is stored as given, the UMA address in lower case.
	t.Parallel()
	r := individualRequest()

	got, err := create(r)

	if err != nil {
		t.Fatal(err)
	}
	if got.ID != customerID || got.Platform != platformID || got.PlatformCustomerID != "user-1" || got.Type != customer.Individual ||
		got.Region != "US" ||
		got.Email != "ana@example.com" || got.UMAAddress != "$ana.ng@uma.acme.test" ||
		!slices.Equal(got.Currencies, []money.Currency{"USD", "USDC"}) {
		t.Errorf("%+v", got)
	}
	if got.FullName != "Ana Ng" || got.BirthDate != "1990-02-28" || got.Nationality != "PH" || *got.Address != *r.Address ||
		got.Business != nil || got.Name() != "Ana Ng" {
		t.Errorf("%+v", got)
	}
	if !got.CreatedAt.Equal(now) || !got.UpdatedAt.Equal(now) || got.Deleted() {
		t.Errorf("made %s, changed %s, deleted %s", got.CreatedAt, got.UpdatedAt, got.DeletedAt)
	}
}

func TestCreate_Business(t *testing.T) {
	// A business with every field is stored as given, and fields of individuals are ignored.
	t.Parallel()
	r := businessRequest()
	r.FullName, r.BirthDate, r.Nationality = "Ana Silva", "never", "nowhere"

	got, err := create(r)

	if err != nil {
		t.Fatal(err)
	}
	info, want := *got.Business, *r.Business
	if !slices.Equal(info.CountriesOfOperation, want.CountriesOfOperation) || !slices.Equal(info.ExpectedRecipientJurisdictions,
		want.ExpectedRecipientJurisdictions) {
		t.Errorf("countries %v, jurisdictions %v", info.CountriesOfOperation, info.ExpectedRecipientJurisdictions)
	}
	if !reflect.DeepEqual(info, want) {
		t.Errorf("%+v, want %+v", info, want)
	}
	if info.LegalName != want.LegalName || info.TaxID != want.TaxID || info.IncorporatedOn != want.IncorporatedOn ||
		info.BusinessType != want.BusinessType {
		t.Errorf("%+v", info)
	}
	if got.FullName != "" || got.BirthDate != "" || got.Nationality != "" || got.Name() != "Acme & Sons GmbH" ||
		!slices.Equal(got.Currencies, []money.Currency{"EUR"}) {
		t.Errorf("%+v", got)
	}
}

func TestCreate_AppliesDefaults(t *testing.T) {
	// With only a type, platformCustomerId and UMA address are generated, and there is no currency.
	t.Parallel()
	got, err := create(customer.Request{Type: "INDIVIDUAL"})
	if err != nil {
		t.Fatal(err)
	}
	if got.PlatformCustomerID != generatedID.String() || got.UMAAddress != "$019542f5b3e77d028000000000000002@uma.acme.test" ||
		got.Currencies != nil || got.Address != nil {
		t.Errorf("%+v", got)
	}

	again, err := create(customer.Request{Type: "INDIVIDUAL", UMAAddress: got.UMAAddress, Region: "MX"})

	if err != nil || again.UMAAddress != got.UMAAddress || !slices.Equal(again.Currencies, []money.Currency{"MXN"}) {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestCreate_RejectsEachInvalidField(t *testing.T) {
	// Each invalid field is refused by its own path and no other.
	t.Parallel()
	individual := func(change func(*customer.Request)) customer.Request { r := individualRequest(); change(&r); return r }
	said := func(d customer.Diligence) customer.Request { return customer.Request{Type: "INDIVIDUAL", Diligence: d} }
	company := func(change func(*customer.BusinessInfo)) customer.Request {
		r := businessRequest()
		change(r.Business)
		return r
	}
	tests := []struct {
		path    string
		request customer.Request
	}{
		{"customerType", customer.Request{}},
		{"customerType", customer.Request{Type: "individual"}},
		{"customerType", customer.Request{Type: "ROBOT"}},
		{"platformCustomerId", individual(func(r *customer.Request) { r.PlatformCustomerID = strings.Repeat("x", 256) })},
		{"platformCustomerId", individual(func(r *customer.Request) { r.PlatformCustomerID = "a\nb" })},
		{"region", individual(func(r *customer.Request) { r.Region = "USA" })},
		{"currencies[1]", individual(func(r *customer.Request) { r.Currencies = []string{"USD", "usd"} })},
		{"currencies[1]", individual(func(r *customer.Request) { r.Currencies = []string{"USD", "USD"} })},
		{"currencies[1]", individual(func(r *customer.Request) { r.Currencies = []string{"USDC", "ETH"} })},
		{"email", individual(func(r *customer.Request) { r.Email = "ana" })},
		{"umaAddress", individual(func(r *customer.Request) { r.UMAAddress = "ana@uma.acme.test" })},
		{"umaAddress", individual(func(r *customer.Request) { r.UMAAddress = "$ana" })},
		{"umaAddress", individual(func(r *customer.Request) { r.UMAAddress = "$ana@uma.other.test" })},
		{"umaAddress", individual(func(r *customer.Request) { r.UMAAddress = "$" + strings.Repeat("a", 64) + "@uma.acme.test" })},
		{"umaAddress", individual(func(r *customer.Request) { r.UMAAddress = "$a b@uma.acme.test" })},
		{"fullName", individual(func(r *customer.Request) { r.FullName = "Ana  Ng" })},
		{"fullName", individual(func(r *customer.Request) { r.FullName = "Ana <Ng>" })},
		{"birthDate", individual(func(r *customer.Request) { r.BirthDate = "1990-02-30" })},
		{"birthDate", individual(func(r *customer.Request) { r.BirthDate = "2026-03-01" })},
		{"nationality", individual(func(r *customer.Request) { r.Nationality = "Philippines" })},
		{"address.line1", individual(func(r *customer.Request) { r.Address.Line1 = "" })},
		{"address.city", individual(func(r *customer.Request) { r.Address.City = "" })},
		{"address.state", individual(func(r *customer.Request) { r.Address.State = "" })},
		{"address.postalCode", individual(func(r *customer.Request) { r.Address.PostalCode = "" })},
		{"address.country", individual(func(r *customer.Request) { r.Address.Country = "us" })},
		{"businessInfo", customer.Request{Type: "BUSINESS"}},
		{"businessInfo.legalName", customer.Request{Type: "BUSINESS", Business: &customer.BusinessInfo{}}},
		{"businessInfo.legalName", company(func(b *customer.BusinessInfo) { b.LegalName = "Acme\x00" })},
		{"businessInfo.doingBusinessAs", company(func(b *customer.BusinessInfo) { b.DoingBusinessAs = " Acme" })},
		{"businessInfo.country", company(func(b *customer.BusinessInfo) { b.Country = "Germany" })},
		{"businessInfo.registrationNumber", company(func(b *customer.BusinessInfo) { b.RegistrationNumber = strings.Repeat("1", 65) })},
		{"businessInfo.incorporatedOn", company(func(b *customer.BusinessInfo) { b.IncorporatedOn = "2030-01-01" })},
		{"businessInfo.entityType", company(func(b *customer.BusinessInfo) { b.EntityType = "GMBH" })},
		{"businessInfo.taxId", company(func(b *customer.BusinessInfo) { b.TaxID = "  " })},
		{"businessInfo.countriesOfOperation[1]", company(func(b *customer.BusinessInfo) { b.CountriesOfOperation = []string{"DE", "EU"} })},
		{"businessInfo.countriesOfOperation[2]", company(func(b *customer.BusinessInfo) { b.CountriesOfOperation = []string{"DE", "US", "DE"} })},
		{"businessInfo.businessType", company(func(b *customer.BusinessInfo) { b.BusinessType = "BAKERY" })},
		{"businessInfo.purposeOfAccount", company(func(b *customer.BusinessInfo) { b.PurposeOfAccount = "FUN" })},
		{"businessInfo.sourceOfFunds", company(func(b *customer.BusinessInfo) { b.SourceOfFunds = strings.Repeat("x", 1001) })},
		{"businessInfo.expectedMonthlyTransactionCount", company(func(b *customer.BusinessInfo) { b.ExpectedMonthlyTransactionCount = "100" })},
		{"businessInfo.expectedMonthlyTransactionVolume",
			company(func(b *customer.BusinessInfo) { b.ExpectedMonthlyTransactionVolume = "VOLUME" })},
		{"businessInfo.expectedRecipientJurisdictions[0]",
			company(func(b *customer.BusinessInfo) { b.ExpectedRecipientJurisdictions = []string{""} })},
		{"businessInfo.sourceOfFundsCategories[0]", company(func(b *customer.BusinessInfo) { b.SourceOfFundsCategories = []string{"SALARY"} })},
		{"businessInfo.sourceOfFundsCategories[1]",
			company(func(b *customer.BusinessInfo) { b.SourceOfFundsCategories = []string{"LOANS", "LOANS"} })},
		{"businessInfo.sourceOfFundsOtherDescription",
			company(func(b *customer.BusinessInfo) { b.SourceOfFundsOtherDescription = strings.Repeat("x", 501) })},
		{"businessInfo.purposeOfAccountOtherDescription",
			company(func(b *customer.BusinessInfo) { b.PurposeOfAccountOtherDescription = " " })},
		{"businessInfo.expectedCounterpartyCountries[0]",
			company(func(b *customer.BusinessInfo) { b.ExpectedCounterpartyCountries = []string{"Europe"} })},
		{"businessInfo.naicsCode", company(func(b *customer.BusinessInfo) { b.NAICSCode = "5112a" })},
		{"businessInfo.naicsCode", company(func(b *customer.BusinessInfo) { b.NAICSCode = "5112000" })},
		{"businessInfo.primaryContactFirstName", company(func(b *customer.BusinessInfo) { b.PrimaryContactFirstName = "A\x00" })},
		{"businessInfo.primaryContactLastName", company(func(b *customer.BusinessInfo) { b.PrimaryContactLastName = "S\x00" })},
		{"sourceOfFundsCategories[1]", said(customer.Diligence{SourceOfFundsCategories: []string{"SALARY", "OPERATING_REVENUE"}})},
		{"sourceOfFundsOtherDescription", said(customer.Diligence{SourceOfFundsOtherDescription: strings.Repeat("x", 501)})},
		{"sourceOfWealthCategories[2]", said(customer.Diligence{SourceOfWealthCategories: []string{"GIFT", "OTHER", "GIFT"}})},
		{"sourceOfWealthOtherDescription", said(customer.Diligence{SourceOfWealthOtherDescription: " "})},
		{"purposeOfAccount", said(customer.Diligence{PurposeOfAccount: "FUN"})},
		{"purposeOfAccountOtherDescription", said(customer.Diligence{PurposeOfAccountOtherDescription: " "})},
		{"expectedMonthlyTransactionCount", said(customer.Diligence{ExpectedMonthlyTransactionCount: "10"})},
		{"expectedMonthlyTransactionVolume", said(customer.Diligence{ExpectedMonthlyTransactionVolume: "10"})},
		{"annualIncomeRange", said(customer.Diligence{AnnualIncomeRange: "60000"})},
		{"netWorthRange", said(customer.Diligence{NetWorthRange: "MUCH"})},
		{"pepStatus", said(customer.Diligence{PEPStatus: "YES"})},
	}
	for _, tt := range tests {
		_, err := create(tt.request)
		refusal, ok := fault.As(err)
		if !ok || refusal.Code != fault.InvalidInput || len(refusal.Fields) != 1 || refusal.Fields[0].Field != tt.path {
			t.Errorf("%s: %v", tt.path, err)
		}
	}
}

func TestCreate_ListsEveryInvalidField(t *testing.T) {
	// A request with many errors is refused once, with all of them.
	t.Parallel()
	_, err := create(customer.Request{
		Type: "INDIVIDUAL", Region: "X", Currencies: []string{"?"}, Email: "?", UMAAddress: "?", FullName: "?", BirthDate: "?", Nationality: "?",
		Address: &party.Address{},
	})
	refusal, ok := fault.As(err)
	if !ok || len(refusal.Fields) != 11 {
		t.Errorf("%v", err)
	}
}

func TestCreate_WithoutIDsIsInternalError(t *testing.T) {
	// A customer without id, platform or platformCustomerId is a mistake of this program, not of the caller.
	t.Parallel()
	r := customer.Request{Type: "INDIVIDUAL"}
	_, noID := customer.Create(r, sandboxPlatform, ident.Customer{}, generatedID, now)
	_, noPlatform := customer.Create(r, platform.Platform{}, customerID, generatedID, now)
	_, noName := customer.Create(r, sandboxPlatform, customerID, uuid.Nil, now)
	for _, err := range []error{noID, noPlatform, noName} {
		if _, callers := fault.As(err); err == nil || callers {
			t.Errorf("%v", err)
		}
	}
}

func TestCreate_GeneratedUMAAddressesAreValidAndUnique(t *testing.T) {
	// For any id, the generated address is valid and unique to the id.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) customer.Customer {
			raw := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, name)
			raw[0] |= 1 // never the zero UUID
			u, err := uuid.FromBytes(raw)
			if err != nil {
				t.Fatal(err)
			}
			id, err := ident.ParseCustomer("Customer:" + u.String())
			if err != nil {
				t.Fatal(err)
			}
			made, err := customer.Create(customer.Request{Type: "INDIVIDUAL"}, sandboxPlatform, id, generatedID, now)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		a, b := draw("a"), draw("b")

		again, err := create(customer.Request{Type: "INDIVIDUAL", UMAAddress: a.UMAAddress})

		if err != nil || again.UMAAddress != a.UMAAddress {
			t.Fatalf("%s: %v", a.UMAAddress, err)
		}
		if (a.ID == b.ID) != (a.UMAAddress == b.UMAAddress) {
			t.Fatalf("%s and %s have %s and %s", a.ID, b.ID, a.UMAAddress, b.UMAAddress)
		}
	})
}
