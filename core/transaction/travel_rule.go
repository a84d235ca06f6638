package transaction

import (
	"time"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// TravelRule is what has to be known of a payment to a wallet, as it was when the payment was accepted: who pays, who is paid, and who
// holds the wallet, or how its owner has proven that it is theirs. Recommendation 16 of the FATF asks for it, and in the European Union
// Regulation (EU) 2023/1113.
type TravelRule struct {
	Originator  TravelParty
	Beneficiary TravelParty
	Ownership   account.OwnershipType
	// VASP is the custodian that holds the wallet; empty for a wallet of its owner.
	VASP string
	// Proof is zero if the ownership was not proven, and ProvenAt then too.
	Proof    account.ProofMethod
	ProvenAt time.Time
	// Worth is what the payment is worth in the currency of the limit for wallets without a proof; zero if it was not compared.
	Worth money.Amount
}

// TravelParty is who pays or is paid. ID is that of the customer or, of the platform itself, of the platform; empty for others.
type TravelParty struct {
	ID, Name, BirthDate, Country string
	Address                      *party.Address
}

// TravelRuleOf returns what is kept of a payment to an account: payer and owner are the customers who pay and who own it, nil if the
// platform does. It is nil for accounts that are no wallets, and for those that were registered without their type of ownership.
func TravelRuleOf(p ident.Platform, payer, owner *customer.Customer, to *account.External) *TravelRule {
	if to == nil || to.Ownership == "" {
		return nil
	}
	rule := &TravelRule{Originator: travelPartyOf(p, payer), Ownership: to.Ownership, VASP: to.VASP()}
	switch b := to.Beneficiary; {
	case b != nil:
		rule.Beneficiary = TravelParty{Name: b.Name(), BirthDate: b.BirthDate, Country: b.CountryOfResidence, Address: b.Address}
	case to.Ownership == account.FirstParty:
		rule.Beneficiary = travelPartyOf(p, owner)
	}
	if to.Proof != nil {
		rule.Proof, rule.ProvenAt = to.Proof.Method, to.Proof.ProvenAt
	}
	return rule
}

func travelPartyOf(p ident.Platform, c *customer.Customer) TravelParty {
	if c == nil {
		return TravelParty{ID: p.String()}
	}
	who := TravelParty{ID: c.ID.String(), Name: c.Name(), BirthDate: c.BirthDate, Country: c.Region, Address: c.Address}
	if c.Address != nil {
		who.Country = c.Address.Country
	}
	return who
}

// worth returns what the payment was compared with, when it was accepted.
func (r *TravelRule) worth() money.Amount {
	if r == nil {
		return money.Amount{}
	}
	return r.Worth
}
