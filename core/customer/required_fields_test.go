package customer_test

import (
	"slices"
	"testing"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
)

func TestCustomer_CheckRequiredFields(t *testing.T) {
	// A quote is refused with every field that the currencies require and the customer lacks, each once,
	// by its name in the API.
	t.Parallel()
	unnamed := customer.Customer{ID: customerID, Type: customer.Individual}
	named := customer.Customer{ID: customerID, Type: customer.Individual, FullName: "Ana Ng"}
	whole := customer.Customer{ID: customerID, Type: customer.Individual, FullName: "Ana Ng", BirthDate: "1990-02-28", Nationality: "PH"}
	business := customer.Customer{ID: customerID, Type: customer.Business, Business: &customer.BusinessInfo{LegalName: "Acme"}}
	for name, test := range map[string]struct {
		customer   customer.Customer
		currencies []money.Currency
		want       []string
	}{
		"dollars and bitcoin":     {unnamed, []money.Currency{"USD", "BTC"}, []string{"fullName"}},
		"stablecoins":             {unnamed, []money.Currency{"USDC", "USDB"}, []string{"fullName"}},
		"dollars with a name":     {named, []money.Currency{"USD", "USDC"}, nil},
		"euros without a name":    {unnamed, []money.Currency{"USD", "EUR"}, []string{"fullName"}},
		"euros on both sides":     {unnamed, []money.Currency{"EUR", "GBP"}, []string{"fullName"}},
		"euros with a name":       {named, []money.Currency{"EUR", "GBP"}, nil},
		"rupees with a name only": {named, []money.Currency{"USD", "INR"}, []string{"birthDate", "nationality"}},
		"rupees without anything": {unnamed, []money.Currency{"EUR", "INR"}, []string{"fullName", "birthDate", "nationality"}},
		"rupees with everything":  {whole, []money.Currency{"EUR", "INR"}, nil},
		"rupees of a business":    {business, []money.Currency{"EUR", "INR"}, nil},
		"euros of a business, no record": {customer.Customer{ID: customerID, Type: customer.Business}, []money.Currency{"EUR"},
			[]string{"businessInfo.legalName"}},
	} {
		err := test.customer.CheckRequiredFields(test.currencies...)
		if len(test.want) == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refusal, ok := fault.As(err)
		if !ok || refusal.Code != fault.MissingMandatoryUserInfo {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var fields []string
		for _, f := range refusal.Fields {
			fields = append(fields, f.Field)
		}
		if names, _ := refusal.Details["missingFields"].([]string); !slices.Equal(fields, test.want) || len(names) != len(test.want) {
			t.Errorf("%s: missing %q, %q; want %q", name, fields, names, test.want)
		}
	}
}

func TestRequiredFields_AreKnownFacts(t *testing.T) {
	// Every required field is a known counterparty field and a fact of a complete customer, so that it can
	// be supplied.
	t.Parallel()
	facts := customer.Customer{Type: customer.Individual, FullName: "Ana Ng", BirthDate: "1990-02-28", Nationality: "PH"}.Facts()
	for _, currency := range []money.Currency{"USD", "EUR", "GBP", "INR", "CNY", "MXN", "BRL", "BTC", "USDC"} {
		for _, name := range customer.RequiredFields(currency) {
			if !slices.Contains(platform.CounterpartyFieldNames, name) || facts[name] == "" {
				t.Errorf("%s requires %s, which cannot be supplied", currency, name)
			}
		}
	}
}
