package cli

import (
	"unicode"
	"unicode/utf8"

	"causeway/app/exports/statement"
)

// CompanyFlags say which company issues account statements.
type CompanyFlags struct {
	CompanyName    string `env:"CAUSEWAY_COMPANY_NAME" help:"Legal name of the company that issues account statements. They always name the platform as well." placeholder:"NAME"`
	CompanyLicence string `env:"CAUSEWAY_COMPANY_LICENCE" help:"With --company-name: what account statements say about its licence, such as: Authorised by the Financial Conduct Authority, number 900000." placeholder:"TEXT"`
	CompanyAddress string `env:"CAUSEWAY_COMPANY_ADDRESS" help:"With --company-name: its address on account statements, on one line." placeholder:"ADDRESS"`
}

const maxCompanyText = 200 // characters

// CheckCompany reports invalid values with the name of their setting.
func (f CompanyFlags) CheckCompany(refuse func(setting, must string, got any)) {
	for setting, text := range map[string]string{
		"--company-name (CAUSEWAY_COMPANY_NAME)": f.CompanyName, "--company-licence (CAUSEWAY_COMPANY_LICENCE)": f.CompanyLicence,
		"--company-address (CAUSEWAY_COMPANY_ADDRESS)": f.CompanyAddress,
	} {
		if !isPrintableLine(text) {
			refuse(setting, "one line of at most 200 printable characters", text)
		}
	}
	if f.CompanyName == "" && (f.CompanyLicence != "" || f.CompanyAddress != "") {
		refuse("--company-name (CAUSEWAY_COMPANY_NAME)", "set if the licence or the address of the company is", "empty")
	}
}

func isPrintableLine(text string) bool {
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxCompanyText
}

// Company returns the company, without a name if none is set.
func (f CompanyFlags) Company() statement.Company {
	return statement.Company{Name: f.CompanyName, Licence: f.CompanyLicence, Address: f.CompanyAddress}
}
