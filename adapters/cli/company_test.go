package cli

import (
	"strings"
	"testing"
)

func TestCompanyFlags_Check(t *testing.T) {
	t.Parallel()
	// Texts that do not fit on a statement are refused, and so is a licence or an address of nobody.
	for name, c := range map[string]struct {
		flags CompanyFlags
		want  string // the refused setting
	}{
		"none":               {CompanyFlags{}, ""},
		"all":                {CompanyFlags{"Łódź Payments Ltd", "Authorised, number 900000.", "1 High Street, London"}, ""},
		"name only":          {CompanyFlags{CompanyName: "Acme Ltd"}, ""},
		"licence of nobody":  {CompanyFlags{CompanyLicence: "Authorised."}, "--company-name"},
		"address of nobody":  {CompanyFlags{CompanyAddress: "1 High Street"}, "--company-name"},
		"two lines":          {CompanyFlags{CompanyName: "Acme", CompanyAddress: "1 High Street\nLondon"}, "--company-address"},
		"too long":           {CompanyFlags{CompanyName: strings.Repeat("é", 201)}, "--company-name"},
		"as long as allowed": {CompanyFlags{CompanyName: strings.Repeat("é", 200)}, ""},
		"not UTF-8":          {CompanyFlags{CompanyName: "Acme", CompanyLicence: "\xff"}, "--company-licence"},
	} {
		var refused []string
		c.flags.CheckCompany(func(setting, _ string, _ any) { refused = append(refused, setting) })
		if got := strings.Join(refused, ", "); c.want == "" && got != "" || c.want != "" && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: refused %q, want %q", name, got, c.want)
		}
	}
}
