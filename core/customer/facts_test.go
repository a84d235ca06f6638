package customer_test

import (
	"reflect"
	"slices"
	"testing"

	"causeway/core/customer"
	"causeway/core/party"
	"causeway/core/platform"
)

func TestCustomer_Facts(t *testing.T) {
	t.Parallel()
	// What is known stands under the name it is asked for by, and what is not is absent.
	person := customer.Customer{Type: customer.Individual, FullName: "Ana Silva", Nationality: "PT", UMAAddress: "$ana@uma.test",
		Address: &party.Address{Country: "PT"}}
	business := customer.Customer{Type: customer.Business, Email: "pay@acme.example", UMAAddress: "$acme@uma.test",
		Business: &customer.BusinessInfo{LegalName: "Acme", TaxID: "12"}}
	for _, test := range []struct {
		customer customer.Customer
		want     map[string]string
	}{
		{person, map[string]string{"FULL_NAME": "Ana Silva", "NATIONALITY": "PT", "USER_TYPE": "INDIVIDUAL", "ACCOUNT_IDENTIFIER": "$ana@uma.test", "COUNTRY_OF_RESIDENCE": "PT"}},
		{business, map[string]string{"FULL_NAME": "Acme", "COMPANY_LEGAL_NAME": "Acme", "TAX_ID": "12", "EMAIL": "pay@acme.example", "USER_TYPE": "BUSINESS", "ACCOUNT_IDENTIFIER": "$acme@uma.test"}},
	} {
		got := test.customer.Facts()
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("known: %v, want %v", got, test.want)
		}
		for name := range got {
			if !slices.Contains(platform.CounterpartyFieldNames, name) {
				t.Errorf("%s cannot be asked for", name)
			}
		}
	}
}
