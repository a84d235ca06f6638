package postgres

import (
	"time"

	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/transaction"
)

// travelRuleColumn is what is kept of a payment to a wallet.
type travelRuleColumn struct {
	Originator  travelPartyColumn `json:"originator,omitzero"`
	Beneficiary travelPartyColumn `json:"beneficiary,omitzero"`
	Ownership   string            `json:"ownership"`
	VASP        string            `json:"vasp,omitempty"`
	Proof       string            `json:"proof,omitempty"`
	ProvenAt    time.Time         `json:"provenAt,omitzero"`
	Worth       int64             `json:"worth,omitempty"`
	Currency    string            `json:"currency,omitempty"`
}

type travelPartyColumn struct {
	ID        string         `json:"id,omitempty"`
	Name      string         `json:"name,omitempty"`
	BirthDate string         `json:"birthDate,omitempty"`
	Country   string         `json:"country,omitempty"`
	Address   *addressColumn `json:"address,omitempty"`
}

func newTravelRuleColumn(r *transaction.TravelRule) *travelRuleColumn {
	if r == nil {
		return nil
	}
	return &travelRuleColumn{Originator: newTravelPartyColumn(r.Originator), Beneficiary: newTravelPartyColumn(r.Beneficiary),
		Ownership: string(r.Ownership), VASP: r.VASP, Proof: string(r.Proof), ProvenAt: r.ProvenAt,
		Worth: r.Worth.Minor, Currency: string(r.Worth.Currency)}
}

func newTravelPartyColumn(p transaction.TravelParty) travelPartyColumn {
	return travelPartyColumn{p.ID, p.Name, p.BirthDate, p.Country, (*addressColumn)(p.Address)}
}

func (c *travelRuleColumn) travelRule() *transaction.TravelRule {
	if c == nil {
		return nil
	}
	return &transaction.TravelRule{Originator: c.Originator.party(), Beneficiary: c.Beneficiary.party(),
		Ownership: account.OwnershipType(c.Ownership), VASP: c.VASP, Proof: account.ProofMethod(c.Proof), ProvenAt: c.ProvenAt,
		Worth: money.Amount{Minor: c.Worth, Currency: money.Currency(c.Currency)}}
}

func (c travelPartyColumn) party() transaction.TravelParty {
	return transaction.TravelParty{ID: c.ID, Name: c.Name, BirthDate: c.BirthDate, Country: c.Country, Address: (*party.Address)(c.Address)}
}
