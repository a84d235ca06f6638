package customer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
)

// Request is a request to create a customer. Type is required and, for a business, its legal
// name. Fields of the other type are ignored.
type Request struct {
	PlatformCustomerID string
	Type               string
	Region             string
	Currencies         []string
	Email              string
	PhoneNumber        string
	UMAAddress         string
	FullName           string
	BirthDate          string
	Nationality        string
	IDType             string
	Identifier         string
	CountryOfIssuance  string
	Diligence          Diligence
	Address            *party.Address
	Business           *BusinessInfo
	Consent            *Consent
}

// Create returns the customer of a request, or INVALID_INPUT with every invalid field by its
// path ("businessInfo.legalName"). If the request has no platformCustomerId, it is the
// generated UUID.
func Create(r Request, owner platform.Platform, id ident.Customer, generated uuid.UUID, now time.Time) (Customer, error) {
	if id.IsZero() || owner.ID.IsZero() || (r.PlatformCustomerID == "" && generated == uuid.Nil) {
		return Customer{}, errors.New("a customer needs an id, a platform and a platformCustomerId")
	}
	var bad party.Problems
	c := Customer{
		ID: id, Platform: owner.ID, PlatformCustomerID: r.PlatformCustomerID, Type: Type(r.Type),
		Region: r.Region, Email: r.Email, PhoneNumber: r.PhoneNumber, Address: r.Address, CreatedAt: now, UpdatedAt: now,
	}
	c.Contacts.Required = owner.RequiresSCA(r.Region)
	bad.Text("platformCustomerId", r.PlatformCustomerID, party.Optional, 255)
	bad.OneOf("customerType", r.Type, party.Required, []string{string(Individual), string(Business)})
	bad.Country("region", r.Region, party.Optional)
	r.checkData(c.Type, &bad, now)
	if r.Address != nil {
		c.Address = new(*r.Address)
	}
	if r.Consent != nil {
		c.Consent = new(*r.Consent)
	}
	c.Currencies = parseCurrencies(r.Currencies, r.Region, &bad)
	c.UMAAddress = generatedUMAAddress(id, owner.UMADomain)
	if r.UMAAddress != "" {
		c.UMAAddress = parseUMAAddress(r.UMAAddress, owner.UMADomain, &bad)
	}
	switch c.Type {
	case Individual:
		c.FullName, c.BirthDate, c.Nationality, c.Diligence = r.FullName, r.BirthDate, r.Nationality, r.Diligence.clone()
		c.IDType, c.Identifier, c.CountryOfIssuance = r.IDType, r.Identifier, r.CountryOfIssuance
		c.validateIdentifier(&bad)
	case Business:
		c.Business = r.Business.clone()
		if r.Business == nil {
			bad.Add("businessInfo", "is required for a BUSINESS, with its legalName")
		} else if r.Business.LegalName == "" {
			bad.Add("businessInfo.legalName", "is required")
		}
	}
	if err := bad.Err(); err != nil {
		return Customer{}, err
	}
	if c.PlatformCustomerID == "" {
		c.PlatformCustomerID = generated.String()
	}
	c.Status = initialStatus(owner)
	return c, nil
}

// checkData adds the invalid fields among those that a customer of a type may have, except the
// currencies and the UMA address. Empty fields are valid.
func (r Request) checkData(kind Type, bad *party.Problems, now time.Time) {
	bad.Email("email", r.Email, party.Optional)
	bad.Phone("phoneNumber", r.PhoneNumber, party.Optional)
	if r.Address != nil {
		bad.Fields = append(bad.Fields, r.Address.Check("address")...)
	}
	r.Consent.check(bad, now)
	switch kind {
	case Individual:
		bad.PersonName("fullName", r.FullName, party.Optional)
		bad.PastDate("birthDate", r.BirthDate, party.Optional, minBirthYear, now)
		bad.Country("nationality", r.Nationality, party.Optional)
		r.Diligence.check(bad)
	case Business:
		r.Business.check(bad, now)
	}
}

// minBirthYear is the earliest accepted year of birth.
const minBirthYear = 1900

// parseCurrencies returns the currencies of a request or, without any, that of its region.
func parseCurrencies(codes []string, region string, bad *party.Problems) []money.Currency {
	if len(codes) == 0 {
		if local, ok := corridor.LocalCurrency(region); ok {
			return []money.Currency{local}
		}
		return nil
	}
	list := make([]money.Currency, 0, len(codes))
	seen := make(map[string]bool, len(codes))
	for i, code := range codes {
		currency, err := money.ParsePayable(code)
		path := fmt.Sprintf("currencies[%d]", i)
		switch {
		case err != nil:
			bad.Add(path, "must be a known currency code in capital letters, such as USD or BTC")
		case seen[code]:
			bad.Add(path, "is listed twice; list each currency once")
		}
		seen[code] = true
		list = append(list, currency)
	}
	return list
}

// generatedUMAAddress returns an address made of the customer's id and the platform's domain.
func generatedUMAAddress(id ident.Customer, domain string) string {
	u := id.UUID()
	return fmt.Sprintf("$%x@%s", u[:], domain)
}

// parseUMAAddress returns the address of a request in lower case. An empty domain allows any host.
func parseUMAAddress(wanted, domain string, bad *party.Problems) string {
	address, ok := ParseUMAAddress(wanted)
	if !ok {
		bad.AddRule("umaAddress", UMAAddressRule, "pattern", UMAAddressPattern)
		return address
	}
	if _, host := SplitUMAAddress(address); domain != "" && host != domain {
		bad.Add("umaAddress", "must end in @"+domain+", the umaDomain of your platform")
	}
	return address
}

// The allowed values of the fields of a business.
var (
	EntityTypes = []string{
		"SOLE_PROPRIETORSHIP", "PARTNERSHIP", "LLC", "CORPORATION", "S_CORPORATION", "NON_PROFIT", "PUBLICLY_LISTED_COMPANY",
		"TRUST", "PRIVATE_FOUNDATION", "CHARITY", "OTHER",
	}
	BusinessTypes = []string{
		"AGRICULTURE_FORESTRY_FISHING_AND_HUNTING", "MINING_QUARRYING_AND_OIL_AND_GAS_EXTRACTION", "UTILITIES", "CONSTRUCTION",
		"MANUFACTURING", "WHOLESALE_TRADE", "RETAIL_TRADE", "TRANSPORTATION_AND_WAREHOUSING", "INFORMATION", "FINANCE_AND_INSURANCE",
		"REAL_ESTATE_AND_RENTAL_AND_LEASING", "PROFESSIONAL_SCIENTIFIC_AND_TECHNICAL_SERVICES", "MANAGEMENT_OF_COMPANIES_AND_ENTERPRISES",
		"ADMINISTRATIVE_AND_SUPPORT_AND_WASTE_MANAGEMENT_AND_REMEDIATION_SERVICES", "EDUCATIONAL_SERVICES",
		"HEALTH_CARE_AND_SOCIAL_ASSISTANCE", "ARTS_ENTERTAINMENT_AND_RECREATION", "ACCOMMODATION_AND_FOOD_SERVICES", "OTHER_SERVICES",
		"PUBLIC_ADMINISTRATION",
	}
	PurposesOfAccount = []string{
		"CONTRACTOR_PAYOUTS", "CREATOR_PAYOUTS", "EMPLOYEE_PAYOUTS", "MARKETPLACE_SELLER_PAYOUTS", "SUPPLIER_PAYMENTS", "CROSS_BORDER_B2B",
		"AR_AUTOMATION", "AP_AUTOMATION", "EMBEDDED_PAYMENTS", "PLATFORM_FEE_COLLECTION", "P2P_TRANSFERS", "CHARITABLE_DONATIONS", "OTHER",
	}
	MonthlyCounts = []string{
		"COUNT_UNDER_10", "COUNT_10_TO_100", "COUNT_100_TO_500", "COUNT_500_TO_1000", "COUNT_OVER_1000",
	}
	// MonthlyVolumes are in US dollars.
	MonthlyVolumes = []string{
		"VOLUME_UNDER_10K", "VOLUME_10K_TO_100K", "VOLUME_100K_TO_1M", "VOLUME_1M_TO_10M", "VOLUME_OVER_10M",
	}
)

var naicsCode = regexp.MustCompile(`^[0-9]{2,6}$`)

// minIncorporationYear is the earliest accepted year of incorporation; no registered company
// is older.
const minIncorporationYear = 700

// check adds the invalid fields of a business to bad. Empty fields are valid.
func (b *BusinessInfo) check(bad *party.Problems, now time.Time) {
	if b == nil {
		return
	}
	const path = "businessInfo."
	bad.BusinessName(path+"legalName", b.LegalName, party.Optional)
	bad.BusinessName(path+"doingBusinessAs", b.DoingBusinessAs, party.Optional)
	bad.Country(path+"country", b.Country, party.Optional)
	bad.Text(path+"registrationNumber", b.RegistrationNumber, party.Optional, 64)
	bad.PastDate(path+"incorporatedOn", b.IncorporatedOn, party.Optional, minIncorporationYear, now)
	bad.OneOf(path+"entityType", b.EntityType, party.Optional, EntityTypes)
	bad.Text(path+"taxId", b.TaxID, party.Optional, 64)
	checkCountries(path+"countriesOfOperation", b.CountriesOfOperation, bad)
	bad.OneOf(path+"businessType", b.BusinessType, party.Optional, BusinessTypes)
	bad.OneOf(path+"purposeOfAccount", b.PurposeOfAccount, party.Optional, PurposesOfAccount)
	bad.Text(path+"sourceOfFunds", b.SourceOfFunds, party.Optional, 1000)
	bad.OneOf(path+"expectedMonthlyTransactionCount", b.ExpectedMonthlyTransactionCount, party.Optional, MonthlyCounts)
	bad.OneOf(path+"expectedMonthlyTransactionVolume", b.ExpectedMonthlyTransactionVolume, party.Optional, MonthlyVolumes)
	checkCountries(path+"expectedRecipientJurisdictions", b.ExpectedRecipientJurisdictions, bad)
	checkCategories(path+"sourceOfFundsCategories", b.SourceOfFundsCategories, BusinessFunds, bad)
	bad.Text(path+"sourceOfFundsOtherDescription", b.SourceOfFundsOtherDescription, party.Optional, maxDescription)
	bad.Text(path+"purposeOfAccountOtherDescription", b.PurposeOfAccountOtherDescription, party.Optional, maxDescription)
	checkCountries(path+"expectedCounterpartyCountries", b.ExpectedCounterpartyCountries, bad)
	if b.NAICSCode != "" && !naicsCode.MatchString(b.NAICSCode) {
		bad.AddRule(path+"naicsCode", "must be 2 to 6 digits", "pattern", naicsCode.String())
	}
	bad.PersonName(path+"primaryContactFirstName", b.PrimaryContactFirstName, party.Optional)
	bad.PersonName(path+"primaryContactLastName", b.PrimaryContactLastName, party.Optional)
}

func (b *BusinessInfo) clone() *BusinessInfo {
	if b == nil {
		return nil
	}
	info := *b
	info.CountriesOfOperation = slices.Clone(b.CountriesOfOperation)
	info.ExpectedRecipientJurisdictions = slices.Clone(b.ExpectedRecipientJurisdictions)
	info.SourceOfFundsCategories = slices.Clone(b.SourceOfFundsCategories)
	info.ExpectedCounterpartyCountries = slices.Clone(b.ExpectedCounterpartyCountries)
	return &info
}

func checkCountries(path string, codes []string, bad *party.Problems) {
	seen := make(map[string]bool, len(codes))
	for i, code := range codes {
		field := fmt.Sprintf("%s[%d]", path, i)
		bad.Country(field, code, party.Required)
		if seen[code] {
			bad.Add(field, "is listed twice; list each country once")
		}
		seen[code] = true
	}
}
