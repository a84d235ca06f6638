package main

import (
	"strings"
	"testing"
)

func TestCompanyFlags_Check(t *testing.T) {
	t.Parallel()
	// Texts that do not fit on a statement are refused, and so is a licence or an address of nobody.
	for name, c := range map[string]struct {
		flags companyFlags
		want  string // the refused setting
	}{
		"none":               {companyFlags{}, ""},
		"all":                {companyFlags{"Łódź Payments Ltd", "Authorised, number 900000.", "1 High Street, London"}, ""},
		"name only":          {companyFlags{CompanyName: "Acme Ltd"}, ""},
		"licence of nobody":  {companyFlags{CompanyLicence: "Authorised."}, "--company-name"},
		"address of nobody":  {companyFlags{CompanyAddress: "1 High Street"}, "--company-name"},
		"two lines":          {companyFlags{CompanyName: "Acme", CompanyAddress: "1 High Street\nLondon"}, "--company-address"},
		"too long":           {companyFlags{CompanyName: strings.Repeat("é", 201)}, "--company-name"},
		"as long as allowed": {companyFlags{CompanyName: strings.Repeat("é", 200)}, ""},
		"not UTF-8":          {companyFlags{CompanyName: "Acme", CompanyLicence: "\xff"}, "--company-licence"},
	} {
		var refused []string
		c.flags.checkCompany(func(setting, _ string, _ any) { refused = append(refused, setting) })
		if got := strings.Join(refused, ", "); c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: refused %q, want %q", name, got, c.want)
		}
	}
}
