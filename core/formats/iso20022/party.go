package iso20022

import "causeway/core/party"

// Party is a debtor or creditor. Empty fields are left out.
type Party struct {
	Name    string
	Address *Address
	// OrganisationID identifies the party to the bank, such as a creditor identifier or the number of a customer;
	// OrganisationScheme is a code of ISO's external list such as BANK or CUST, or empty.
	OrganisationID, OrganisationScheme string
	Person                             bool // the id is that of a person, not of an organisation
}

// Address is a postal address: structured, or hybrid with a town, a country and at most two lines. SEPA takes only
// structured ones.
type Address struct {
	Street         string
	BuildingNumber string
	Room           string // or flat
	PostalCode     string
	Town           string
	State          string
	Country        string // ISO 3166-1 alpha-2
	Lines          []string
}

// AddressOf returns an address as banks take it. The first line is written as the street, with its number, and the second
// as the room: every scheme takes structured addresses, and not every one takes lines.
func AddressOf(a party.Address) Address {
	return Address{Street: a.Line1, Room: a.Line2, PostalCode: a.PostalCode, Town: a.City, State: a.State, Country: a.Country}
}

// Account identifies an account by its IBAN, or by another number.
type Account struct {
	IBAN string
	// Number is the number of an account without an IBAN; NumberScheme is a code of ISO's external list, such as BBAN or CUID, or empty.
	Number, NumberScheme string
	Currency             string // ISO 4217; empty if it is not given
}

// ID returns the IBAN, or the number of an account without one.
func (a Account) ID() string {
	if a.IBAN != "" {
		return a.IBAN
	}
	return a.Number
}

// Agent identifies a bank by its BIC, or by its number in a clearing system.
type Agent struct {
	BIC string
	// ClearingSystem is a code of ISO's external list such as USABA or GBDSC, and MemberID the number of the bank in it.
	ClearingSystem, MemberID string
	Name                     string
	Address                  *Address
}
