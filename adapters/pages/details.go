package pages

import (
	"cmp"
	"net/http"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/party"
)

// detailsForm is the form for the data of the customer.
func detailsForm(r *request) *formPage {
	c := r.applicant.Customer
	form := &formPage{page: page{Title: "details.title." + string(c.Type)}, Intro: "details.intro." + string(c.Type), Submit: "button.save"}
	if b := c.Business; b != nil {
		form.Groups = append(form.Groups, group{"legend.business", []field{
			{Name: "businessInfo.legalName", Kind: "text", Autocomplete: "organization", Value: b.LegalName, Hint: "hint.legalName"},
			{Name: "businessInfo.doingBusinessAs", Kind: "text", Value: b.DoingBusinessAs, Optional: true},
			{Name: "businessInfo.country", Kind: "select", Options: r.language.countries, Value: b.Country},
			{Name: "businessInfo.entityType", Kind: "select", Options: options("entity.", customer.EntityTypes), Value: b.EntityType},
			{Name: "businessInfo.registrationNumber", Kind: "text", Value: b.RegistrationNumber, Hint: "hint.registrationNumber"},
			{Name: "businessInfo.incorporatedOn", Kind: "date", Value: b.IncorporatedOn, Optional: true},
			{Name: "businessInfo.taxId", Kind: "text", Value: b.TaxID, Hint: "hint.taxId"},
		}})
	} else {
		form.Groups = append(form.Groups, group{"legend.person", []field{
			{Name: "fullName", Kind: "text", Autocomplete: "name", Value: c.FullName, Hint: "hint.fullName"},
			{Name: "birthDate", Kind: "date", Autocomplete: "bday", Value: c.BirthDate},
			{Name: "nationality", Kind: "select", Options: r.language.countries, Value: c.Nationality},
		}})
	}
	form.Groups = append(form.Groups, addressGroup(r, "address", "legend.address."+string(c.Type), *cmp.Or(c.Address, &party.Address{})))
	return form
}

// detailsFormOf returns the form of a path.
func detailsFormOf(r *request) (*formPage, error) { return detailsForm(r), nil }

// addressGroup returns the fields of an address at a path.
func addressGroup(r *request, path, legend string, a party.Address) group {
	return group{legend, []field{
		{Name: path + ".line1", Kind: "text", Autocomplete: "address-line1", Value: a.Line1},
		{Name: path + ".line2", Kind: "text", Autocomplete: "address-line2", Value: a.Line2, Optional: true},
		{Name: path + ".city", Kind: "text", Autocomplete: "address-level2", Value: a.City},
		{Name: path + ".state", Kind: "text", Autocomplete: "address-level1", Value: a.State, Hint: "hint.state", Optional: true},
		{Name: path + ".postalCode", Kind: "text", Autocomplete: "postal-code", Value: a.PostalCode},
		{Name: path + ".country", Kind: "select", Autocomplete: "country", Options: r.language.countries, Value: a.Country},
	}}
}

// address returns the address that was sent at a path.
func (r *request) address(path string) party.Address {
	return party.Address{Line1: r.text(path + ".line1"), Line2: r.text(path + ".line2"), City: r.text(path + ".city"),
		State:      r.text(path + ".state"),
		PostalCode: r.text(path + ".postalCode"), Country: r.text(path + ".country")}
}

func (p *Pages) showDetails(r *request) error {
	if !r.applicant.CanChange {
		return redirect(r, home)
	}
	form := detailsForm(r)
	for _, m := range r.applicant.Missing {
		if m.Type == customer.InvalidField {
			form.setProblem(r, m.Field, fault.Field{Message: m.Reason})
		}
	}
	form.HasErrors = len(form.Problems()) > 0
	return p.render(r, http.StatusOK, "form.html", form)
}

func (p *Pages) saveDetails(r *request) error {
	// A field that was left empty is not removed: what the platform knows stays.
	known := func(value string) *string {
		if value == "" {
			return nil
		}
		return &value
	}
	sent := func(name string) *string { return known(r.text(name)) }
	sentDate := func(name string) *string { return known(r.date(name)) }
	address := new(r.address("address"))
	change := customer.Change{Address: &address}
	if r.applicant.Customer.Type == customer.Business {
		change.Business = new(&customer.BusinessChange{
			LegalName: sent("businessInfo.legalName"), DoingBusinessAs: sent("businessInfo.doingBusinessAs"), Country: sent("businessInfo.country"),
			EntityType: sent("businessInfo.entityType"), RegistrationNumber: sent("businessInfo.registrationNumber"),
			IncorporatedOn: sentDate("businessInfo.incorporatedOn"), TaxID: sent("businessInfo.taxId"),
		})
	} else {
		change.FullName, change.BirthDate, change.Nationality = sent("fullName"), sentDate("birthDate"), sent("nationality")
	}
	return p.finish(r, detailsForm(r), p.SelfService.Update(r.Context(), r.secret, change), home)
}
