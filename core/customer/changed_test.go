package customer_test

import (
	"fmt"
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/money"
	"causeway/core/party"
)

func TestChanged_HidesWhatIsPersonal(t *testing.T) {
	t.Parallel()
	// Only fields that say nothing about a person have values. All have the names of the API; times of the change are left out.
	before := customer.Customer{Status: customer.Approved, Email: "ana@a.test", FullName: "Ana Lima", UMAAddress: "$ana@a.test",
		Currencies: []money.Currency{"USD"}, Address: &party.Address{Line1: "Main St 1", City: "Lisbon"},
		Diligence: customer.Diligence{PEPStatus: "NONE"}, Business: &customer.BusinessInfo{TaxID: "1", NAICSCode: "52"}}
	after := before
	after.Status, after.Email, after.UMAAddress, after.IDType = customer.Pending, "ana@b.test", "$lima@a.test", "SSN"
	after.Currencies = []money.Currency{"USD", "EUR"}
	after.Address = &party.Address{Line1: "Main St 2", City: "Lisbon"}
	after.Diligence.PEPStatus = "DOMESTIC"
	after.Business = &customer.BusinessInfo{TaxID: "2", NAICSCode: "53"}
	after.Consent = &customer.Consent{Version: "2026-01", IPAddress: "192.0.2.1"}
	after.UpdatedAt, after.IdentityChangedAt = time.Unix(1, 0), time.Unix(1, 0)
	after.Contacts.Email = customer.VerifiedContact{Address: "ana@b.test"}

	got := fmt.Sprint(customer.Changed(before, after))

	want := "[address.line1 changed businessInfo.naicsCode changed businessInfo.taxId changed currencies: USD → USD, EUR email changed " +
		"endUserTermsConsent.acceptedAt changed endUserTermsConsent.ipAddress changed endUserTermsConsent.version: none → 2026-01 " +
		"idType changed pepStatus changed status: APPROVED → PENDING umaAddress changed]"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
