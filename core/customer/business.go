package customer

import (
	"fmt"
	"slices"
	"time"

	"causeway/core/party"
)

// The values a business chooses from to describe itself.
var (
	EntityTypes = []string{
		"SOLE_PROPRIETORSHIP", "PARTNERSHIP", "LLC", "CORPORATION", "S_CORPORATION", "NON_PROFIT", "OTHER",
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

// minIncorporationYear is the first year of incorporation taken for true; the oldest
// company in any register is younger than that.
const minIncorporationYear = 700

// validate notes what is wrong with what a business says of itself, and answers a copy.
func (b *BusinessInfo) validate(bad *party.Problems, now time.Time) *BusinessInfo {
	if b == nil {
		bad.Add("businessInfo", "is required for a BUSINESS, with its legalName")
		return nil
	}
	const path = "businessInfo."
	bad.BusinessName(path+"legalName", b.LegalName, party.Required)
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
	own := *b
	own.CountriesOfOperation = slices.Clone(b.CountriesOfOperation)
	own.ExpectedRecipientJurisdictions = slices.Clone(b.ExpectedRecipientJurisdictions)
	return &own
}

func checkCountries(path string, codes []string, bad *party.Problems) {
	for i, code := range codes {
		bad.Country(fmt.Sprintf("%s[%d]", path, i), code, party.Required)
	}
}
