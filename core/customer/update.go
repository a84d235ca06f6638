package customer

import (
	"time"

	"causeway/core/party"
	"causeway/core/platform"
)

// Change is a partial update of a customer. Nil does not change a field; a pointer to an empty value
// removes it. Fields of the other type are ignored.
type Change struct {
	// Type must be that of the customer.
	Type string
	// PlatformCustomerID and Region cannot change; the present values are accepted.
	PlatformCustomerID *string
	Region             *string
	// Currencies replace the previous ones. Without any, the customer gets that of the region.
	Currencies  *[]string
	Email       *string
	PhoneNumber *string
	UMAAddress  *string
	FullName    *string
	BirthDate   *string
	Nationality *string
	// The three are checked together, with those that do not change.
	IDType, Identifier, CountryOfIssuance *string

	Diligence DiligenceChange
	// Address points to nil to remove the address.
	Address **party.Address
	// Consent points to nil if the request tries to remove the consent.
	Consent **Consent
	// Business points to nil if the request tries to remove the business information.
	Business **BusinessChange
}

// BusinessChange is a partial update of a BusinessInfo.
type BusinessChange struct {
	LegalName                        *string
	DoingBusinessAs                  *string
	Country                          *string
	RegistrationNumber               *string
	IncorporatedOn                   *string
	EntityType                       *string
	TaxID                            *string
	CountriesOfOperation             *[]string
	BusinessType                     *string
	PurposeOfAccount                 *string
	SourceOfFunds                    *string
	ExpectedMonthlyTransactionCount  *string
	ExpectedMonthlyTransactionVolume *string
	ExpectedRecipientJurisdictions   *[]string
	SourceOfFundsCategories          *[]string
	SourceOfFundsOtherDescription    *string
	PurposeOfAccountOtherDescription *string
	ExpectedCounterpartyCountries    *[]string
	NAICSCode                        *string
	PrimaryContactFirstName          *string
	PrimaryContactLastName           *string
}

// Check returns INVALID_INPUT with every field that is invalid for any customer of the type.
func (ch Change) Check(now time.Time) error {
	var bad party.Problems
	bad.OneOf("customerType", ch.Type, party.Required, []string{string(Individual), string(Business)})
	ch.check(Type(ch.Type), "", "", &bad, now)
	return bad.Err()
}

// Update returns the customer after a change. An approved customer whose identity changes (see
// Identity) gets the status of a new one, because it was approved with other data. Faults:
// CUSTOMER_DELETED; INVALID_INPUT with every invalid field.
func (c Customer) Update(ch Change, owner platform.Platform, now time.Time) (Customer, error) {
	if c.Deleted() {
		return c, c.errDeleted("it cannot be changed")
	}
	var bad party.Problems
	if ch.Type != string(c.Type) {
		bad.Add("customerType", "must be "+string(c.Type)+", the type of this customer, which cannot change")
	}
	checkFixed("platformCustomerId", ch.PlatformCustomerID, c.PlatformCustomerID, &bad)
	checkFixed("region", ch.Region, c.Region, &bad)
	domain := owner.UMADomain
	if ch.UMAAddress != nil && isSameUMAAddress(*ch.UMAAddress, c.UMAAddress) {
		domain = "" // the platform may have changed its domain since
	}
	ch.check(c.Type, c.Region, domain, &bad, now)
	if c.Identifier != "" && value(ch.Identifier) == c.MaskedIdentifier() {
		ch.Identifier = nil // as it is shown
	}
	if ch.IDType != nil || ch.Identifier != nil || ch.CountryOfIssuance != nil {
		identified := ch.identify(c)
		identified.validateIdentifier(&bad)
		ch.Identifier = &identified.Identifier
	}
	if err := bad.Err(); err != nil {
		return c, err
	}
	next := ch.apply(c)
	next.UpdatedAt = c.nextUpdateTime(now)
	if next.Identity() != c.Identity() {
		next.IdentityChangedAt = next.UpdatedAt
		if c.Status == Approved {
			next.Status = initialStatus(owner)
		}
		if initialStatus(owner) != Approved {
			next.HeldAt = time.Time{} // the new data needs a verification anyway
		}
	}
	return next, nil
}

func checkFixed(field string, sent *string, present string, bad *party.Problems) {
	if sent != nil && *sent != present {
		bad.Add(field, "cannot change; leave it out or send the present value")
	}
}

func isSameUMAAddress(wanted, present string) bool {
	address, ok := ParseUMAAddress(wanted)
	return ok && address == present
}

func (ch Change) check(kind Type, region, domain string, bad *party.Problems, now time.Time) {
	sent := Request{
		Email: value(ch.Email), PhoneNumber: value(ch.PhoneNumber), FullName: value(ch.FullName),
		BirthDate: value(ch.BirthDate), Nationality: value(ch.Nationality),
		Address: value(ch.Address), Consent: value(ch.Consent), Diligence: ch.Diligence.apply(Diligence{}),
	}
	if ch.Consent != nil && *ch.Consent == nil {
		bad.Add("endUserTermsConsent", "cannot be removed; send a later consent or leave it out")
	}
	if ch.Business != nil && kind == Business {
		if business := *ch.Business; business == nil {
			bad.Add("businessInfo", "cannot be removed; send the fields to change")
		} else {
			sent.Business = new(business.apply(BusinessInfo{}))
			if business.LegalName != nil && *business.LegalName == "" {
				bad.Add("businessInfo.legalName", "cannot be removed; a BUSINESS has a legal name")
			}
		}
	}
	sent.checkData(kind, bad, now)
	if ch.Currencies != nil {
		parseCurrencies(*ch.Currencies, region, bad)
	}
	switch {
	case ch.UMAAddress == nil:
	case *ch.UMAAddress == "":
		bad.Add("umaAddress", "cannot be removed; send another address or leave it out")
	default:
		parseUMAAddress(*ch.UMAAddress, domain, bad)
	}
}

// apply returns the customer with the changed fields, which are valid.
func (ch Change) apply(c Customer) Customer {
	set(&c.Email, ch.Email)
	set(&c.PhoneNumber, ch.PhoneNumber)
	for _, channel := range channels {
		if c.ContactStatus(channel) != ContactVerified { // also if the earlier address comes back
			*c.verified(channel) = VerifiedContact{}
		}
	}
	set(&c.Address, ch.Address)
	set(&c.Consent, ch.Consent)
	if ch.Currencies != nil {
		c.Currencies = parseCurrencies(*ch.Currencies, c.Region, &party.Problems{})
	}
	if ch.UMAAddress != nil {
		c.UMAAddress, _ = ParseUMAAddress(*ch.UMAAddress)
	}
	switch {
	case c.Type == Individual:
		set(&c.FullName, ch.FullName)
		set(&c.BirthDate, ch.BirthDate)
		set(&c.Nationality, ch.Nationality)
		c = ch.identify(c)
		c.Diligence = ch.Diligence.apply(c.Diligence)
	case ch.Business != nil:
		c.Business = new((*ch.Business).apply(value(c.Business)))
	}
	return c
}

// identify returns the customer with the changed identifier.
func (ch Change) identify(c Customer) Customer {
	set(&c.IDType, ch.IDType)
	set(&c.Identifier, ch.Identifier)
	set(&c.CountryOfIssuance, ch.CountryOfIssuance)
	return c
}

// apply returns the information with the changed fields.
func (ch BusinessChange) apply(b BusinessInfo) BusinessInfo {
	set(&b.LegalName, ch.LegalName)
	set(&b.DoingBusinessAs, ch.DoingBusinessAs)
	set(&b.Country, ch.Country)
	set(&b.RegistrationNumber, ch.RegistrationNumber)
	set(&b.IncorporatedOn, ch.IncorporatedOn)
	set(&b.EntityType, ch.EntityType)
	set(&b.TaxID, ch.TaxID)
	set(&b.CountriesOfOperation, ch.CountriesOfOperation)
	set(&b.BusinessType, ch.BusinessType)
	set(&b.PurposeOfAccount, ch.PurposeOfAccount)
	set(&b.SourceOfFunds, ch.SourceOfFunds)
	set(&b.ExpectedMonthlyTransactionCount, ch.ExpectedMonthlyTransactionCount)
	set(&b.ExpectedMonthlyTransactionVolume, ch.ExpectedMonthlyTransactionVolume)
	set(&b.ExpectedRecipientJurisdictions, ch.ExpectedRecipientJurisdictions)
	set(&b.SourceOfFundsCategories, ch.SourceOfFundsCategories)
	set(&b.SourceOfFundsOtherDescription, ch.SourceOfFundsOtherDescription)
	set(&b.PurposeOfAccountOtherDescription, ch.PurposeOfAccountOtherDescription)
	set(&b.ExpectedCounterpartyCountries, ch.ExpectedCounterpartyCountries)
	set(&b.NAICSCode, ch.NAICSCode)
	set(&b.PrimaryContactFirstName, ch.PrimaryContactFirstName)
	set(&b.PrimaryContactLastName, ch.PrimaryContactLastName)
	return b
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// value returns what a pointer points to, or the zero value for nil.
func value[T any](p *T) (v T) {
	set(&v, p)
	return v
}

// Identity is the data that a verification approves. Other data, such as the address of a customer
// or the volume of a business, may change afterwards.
type Identity struct {
	FullName, BirthDate, Nationality, IDType, Identifier, CountryOfIssuance   string
	LegalName, Country, RegistrationNumber, IncorporatedOn, EntityType, TaxID string
}

// Identity returns the identity of the customer.
func (c Customer) Identity() Identity {
	b := value(c.Business)
	return Identity{
		FullName: c.FullName, BirthDate: c.BirthDate, Nationality: c.Nationality,
		IDType: c.IDType, Identifier: c.Identifier, CountryOfIssuance: c.CountryOfIssuance,
		LegalName: b.LegalName, Country: b.Country, RegistrationNumber: b.RegistrationNumber, IncorporatedOn: b.IncorporatedOn,
		EntityType: b.EntityType, TaxID: b.TaxID,
	}
}
