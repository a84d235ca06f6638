package customer

import (
	"fmt"
	"slices"

	"causeway/core/party"
)

// Diligence is what a person says about its money and what the account is for, where enhanced due diligence asks for it (Directive
// (EU) 2015/849, article 18a; FATF recommendations 10 and 12). Each field may be empty.
type Diligence struct {
	SourceOfFundsCategories          []string
	SourceOfFundsOtherDescription    string
	SourceOfWealthCategories         []string
	SourceOfWealthOtherDescription   string
	PurposeOfAccount                 string
	PurposeOfAccountOtherDescription string
	ExpectedMonthlyTransactionCount  string
	ExpectedMonthlyTransactionVolume string
	AnnualIncomeRange                string
	NetWorthRange                    string
	PEPStatus                        string
}

// DiligenceChange is a partial update of a Diligence.
type DiligenceChange struct {
	SourceOfFundsCategories          *[]string
	SourceOfFundsOtherDescription    *string
	SourceOfWealthCategories         *[]string
	SourceOfWealthOtherDescription   *string
	PurposeOfAccount                 *string
	PurposeOfAccountOtherDescription *string
	ExpectedMonthlyTransactionCount  *string
	ExpectedMonthlyTransactionVolume *string
	AnnualIncomeRange                *string
	NetWorthRange                    *string
	PEPStatus                        *string
}

// The allowed values of the fields of a Diligence, and of the sources of funds of a business.
var (
	PersonalFunds = []string{
		"SALARY", "SELF_EMPLOYMENT_INCOME", "INVESTMENT_INCOME", "PENSION", "RENTAL_INCOME", "GIFT", "INHERITANCE", "LOAN", "SAVINGS",
		"SALE_OF_ASSETS", "OTHER",
	}
	BusinessFunds = []string{
		"OPERATING_REVENUE", "INVESTMENT_INCOME", "LOANS", "VENTURE_CAPITAL", "PERSONAL_SAVINGS", "DONATIONS", "OTHER",
	}
	SourcesOfWealth = []string{
		"SALARY", "BUSINESS_INCOME", "INVESTMENTS", "INHERITANCE", "PROPERTY_SALE", "GIFT", "RETIREMENT", "SAVINGS", "OTHER",
	}
	// AnnualIncomes and NetWorths are in US dollars.
	AnnualIncomes = []string{"UNDER_50K", "RANGE_50K_100K", "RANGE_100K_250K", "RANGE_250K_1M", "OVER_1M"}
	NetWorths     = []string{"UNDER_100K", "RANGE_100K_500K", "RANGE_500K_1M", "RANGE_1M_5M", "RANGE_5M_25M", "OVER_25M"}
	// PEPStatuses say whether a person is politically exposed. HIO is an international organisation.
	PEPStatuses = []string{"NONE", "DOMESTIC", "FOREIGN", "HIO", "FAMILY_OR_ASSOCIATE"}
)

// maxDescription is the largest number of characters of what no category names.
const maxDescription = 500

func (d Diligence) check(bad *party.Problems) {
	checkCategories("sourceOfFundsCategories", d.SourceOfFundsCategories, PersonalFunds, bad)
	bad.Text("sourceOfFundsOtherDescription", d.SourceOfFundsOtherDescription, party.Optional, maxDescription)
	checkCategories("sourceOfWealthCategories", d.SourceOfWealthCategories, SourcesOfWealth, bad)
	bad.Text("sourceOfWealthOtherDescription", d.SourceOfWealthOtherDescription, party.Optional, maxDescription)
	bad.OneOf("purposeOfAccount", d.PurposeOfAccount, party.Optional, PurposesOfAccount)
	bad.Text("purposeOfAccountOtherDescription", d.PurposeOfAccountOtherDescription, party.Optional, maxDescription)
	bad.OneOf("expectedMonthlyTransactionCount", d.ExpectedMonthlyTransactionCount, party.Optional, MonthlyCounts)
	bad.OneOf("expectedMonthlyTransactionVolume", d.ExpectedMonthlyTransactionVolume, party.Optional, MonthlyVolumes)
	bad.OneOf("annualIncomeRange", d.AnnualIncomeRange, party.Optional, AnnualIncomes)
	bad.OneOf("netWorthRange", d.NetWorthRange, party.Optional, NetWorths)
	bad.OneOf("pepStatus", d.PEPStatus, party.Optional, PEPStatuses)
}

func checkCategories(path string, categories, allowed []string, bad *party.Problems) {
	for i, category := range categories {
		field := fmt.Sprintf("%s[%d]", path, i)
		bad.OneOf(field, category, party.Required, allowed)
		if slices.Contains(categories[:i], category) {
			bad.Add(field, "is listed twice; list each once")
		}
	}
}

func (d Diligence) clone() Diligence {
	d.SourceOfFundsCategories, d.SourceOfWealthCategories = slices.Clone(d.SourceOfFundsCategories), slices.Clone(d.SourceOfWealthCategories)
	return d
}

// apply returns what is said after a change.
func (ch DiligenceChange) apply(d Diligence) Diligence {
	set(&d.SourceOfFundsCategories, ch.SourceOfFundsCategories)
	set(&d.SourceOfFundsOtherDescription, ch.SourceOfFundsOtherDescription)
	set(&d.SourceOfWealthCategories, ch.SourceOfWealthCategories)
	set(&d.SourceOfWealthOtherDescription, ch.SourceOfWealthOtherDescription)
	set(&d.PurposeOfAccount, ch.PurposeOfAccount)
	set(&d.PurposeOfAccountOtherDescription, ch.PurposeOfAccountOtherDescription)
	set(&d.ExpectedMonthlyTransactionCount, ch.ExpectedMonthlyTransactionCount)
	set(&d.ExpectedMonthlyTransactionVolume, ch.ExpectedMonthlyTransactionVolume)
	set(&d.AnnualIncomeRange, ch.AnnualIncomeRange)
	set(&d.NetWorthRange, ch.NetWorthRange)
	set(&d.PEPStatus, ch.PEPStatus)
	return d
}
