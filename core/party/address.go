package party

import "causeway/core/fault"

// Address is a postal address. Country is ISO 3166-1 alpha-2.
type Address struct {
	Line1      string
	Line2      string
	City       string
	State      string
	PostalCode string
	Country    string
}

// Check returns what is wrong with the address at path; all but Line2 is needed.
func (a Address) Check(path string) []fault.Field {
	var bad Problems
	bad.Text(path+".line1", a.Line1, Required, 255)
	bad.Text(path+".line2", a.Line2, Optional, 255)
	bad.Text(path+".city", a.City, Required, 255)
	bad.Text(path+".state", a.State, Required, 255)
	bad.Text(path+".postalCode", a.PostalCode, Required, 32)
	bad.Country(path+".country", a.Country, Required)
	return bad.Fields
}
