package transaction_test

import (
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/transaction"
)

func TestCheckParties_WalletWithoutAProof(t *testing.T) {
	t.Parallel()
	// When the money is committed, a wallet without a proof is paid what it was accepted for, up to the present limit; who forgets the
	// limits pays none.
	id, _ := ident.ParseExternalAccount("ExternalAccount:019542f5-b3e7-7d02-8000-000000000003")
	limits, err := account.ParseOwnershipLimits([]string{"DE=1000 EUR"})
	if err != nil {
		t.Fatal(err)
	}
	euros := func(minor int64) *transaction.TravelRule {
		return &transaction.TravelRule{Worth: money.Amount{Minor: minor, Currency: "EUR"}}
	}
	for name, c := range map[string]struct {
		status account.Status
		rule   *transaction.TravelRule
		region string
		limits account.OwnershipLimits
		ok     bool
	}{
		"at the limit":     {account.Unverified, euros(1000_00), "DE", limits, true},
		"above it":         {account.Unverified, euros(1000_01), "DE", limits, false},
		"proven meanwhile": {account.Active, euros(1000_01), "DE", limits, true},
		"elsewhere":        {account.PendingOwnershipVerification, euros(0), "US", limits, true},
		"never compared":   {account.Unverified, nil, "DE", limits, false},
		"without limits":   {account.Unverified, euros(1), "DE", nil, false},
	} {
		payment := transaction.Transaction{Destination: transaction.Endpoint{ExternalAccount: id}, TravelRule: c.rule}
		err := payment.CheckParties(transaction.Parties{Customer: &customer.Customer{Status: customer.Approved, Region: c.region},
			ToExternal: &account.External{Status: c.status}, OwnershipLimits: c.limits})
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.ExternalAccountVerificationRequired) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Nobody pays from an account without a proof.
	payment := transaction.Transaction{Source: transaction.Endpoint{ExternalAccount: id}}
	if err := payment.CheckParties(transaction.Parties{FromExternal: &account.External{Status: account.Unverified},
		OwnershipLimits: limits}); !fault.Is(err, fault.QuoteNotExecutable) {
		t.Errorf("%v", err)
	}
}

func TestTravelRuleOf(t *testing.T) {
	t.Parallel()
	// What is kept says who pays and who is paid, as far as it is known.
	platformID, _ := ident.ParsePlatform("PlatformConfig:019542f5-b3e7-7d02-8000-000000000001")
	ana := &customer.Customer{FullName: "Ana Ng", BirthDate: "1990-01-31", Region: "DE", Address: &party.Address{Country: "AT"}}
	proven := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	wallet := account.External{Ownership: account.FirstParty, Proof: &account.Proof{Method: account.WalletSignature, ProvenAt: proven}}

	own := transaction.TravelRuleOf(platformID, ana, ana, &wallet)
	if own.Originator.Name != "Ana Ng" || own.Originator.Country != "AT" || own.Beneficiary != own.Originator ||
		own.Proof != account.WalletSignature || !own.ProvenAt.Equal(proven) {
		t.Errorf("to an own wallet: %+v", own)
	}
	if paid := transaction.TravelRuleOf(platformID, nil, ana, &wallet); paid.Originator.ID != platformID.String() ||
		paid.Beneficiary.Name != "Ana Ng" {
		t.Errorf("by the platform: %+v", paid)
	}
	stranger := account.External{Ownership: account.ThirdParty, Fields: map[string]string{"vaspName": "Kraken"},
		Beneficiary: &account.Beneficiary{Type: account.Business, LegalName: "Acme", CountryOfResidence: "SE"}}
	if paid := transaction.TravelRuleOf(platformID, ana, ana, &stranger); paid.Beneficiary.Name != "Acme" ||
		paid.Beneficiary.Country != "SE" || paid.VASP != "Kraken" {
		t.Errorf("to somebody else: %+v", paid)
	}
	if asEver := transaction.TravelRuleOf(platformID, ana, ana, &account.External{}); asEver != nil {
		t.Errorf("to a wallet as ever: %+v", asEver)
	}
}
