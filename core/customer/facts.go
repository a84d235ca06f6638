package customer

// Facts returns what is known of the customer, by the names of the fields that are asked of
// people on both sides of a payment; nothing that is empty.
func (c Customer) Facts() map[string]string {
	known := map[string]string{
		"FULL_NAME": c.Name(), "BIRTH_DATE": c.BirthDate, "NATIONALITY": c.Nationality,
		"EMAIL": c.Email, "USER_TYPE": string(c.Type), "ACCOUNT_IDENTIFIER": c.UMAAddress,
	}
	if a := c.Address; a != nil {
		known["COUNTRY_OF_RESIDENCE"] = a.Country
	}
	if b := c.Business; b != nil {
		known["COMPANY_LEGAL_NAME"], known["REGISTRATION_NUMBER"] = b.LegalName, b.RegistrationNumber
		known["TAX_ID"], known["BUSINESS_TYPE"] = b.TaxID, b.BusinessType
	}
	for name, fact := range known {
		if fact == "" {
			delete(known, name)
		}
	}
	return known
}
