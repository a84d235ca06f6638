package pages

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/ident"
)

// ownerForm is the form for a beneficial owner.
func ownerForm(r *request, o customer.BeneficialOwner) *formPage {
	roles := make([]string, len(o.Roles))
	for i, role := range o.Roles {
		roles[i] = string(role)
	}
	percentage := ""
	if !o.ID.IsZero() {
		percentage = strconv.Itoa(o.OwnershipPercentage)
	}
	person := o.Person
	return &formPage{page: page{Title: "owner.title"}, Intro: "owner.intro", Submit: "button.save", Groups: []group{
		{"legend.role", []field{
			{Name: "roles", Kind: "checkboxes", Options: options("role.", customer.OwnerRoles), Values: roles, Hint: "hint.roles"},
			{Name: "ownershipPercentage", Kind: "number", Value: percentage, Hint: "hint.ownershipPercentage"},
		}},
		{"legend.person", []field{
			{Name: "personalInfo.firstName", Kind: "text", Value: person.FirstName},
			{Name: "personalInfo.middleName", Kind: "text", Value: person.MiddleName, Optional: true},
			{Name: "personalInfo.lastName", Kind: "text", Value: person.LastName},
			{Name: "personalInfo.birthDate", Kind: "date", Value: person.BirthDate},
			{Name: "personalInfo.nationality", Kind: "select", Options: r.language.countries, Value: person.Nationality},
			{Name: "personalInfo.email", Kind: "email", Value: person.Email, Optional: true},
		}},
		addressGroup(r, "personalInfo.address", "legend.address.INDIVIDUAL", person.Address),
		{"legend.identifier", []field{
			{Name: "personalInfo.idType", Kind: "select", Options: options("id.", customer.IDTypes), Value: person.IDType},
			{Name: "personalInfo.identifier", Kind: "text", Value: person.MaskedIdentifier(), Hint: "hint.identifier"},
			{Name: "personalInfo.countryOfIssuance", Kind: "select", Options: r.language.countries, Value: person.CountryOfIssuance, Optional: true,
				Hint: "hint.countryOfIssuance"},
		}},
	}}
}

// ownerFormOf returns the form for the owner that a path names.
func ownerFormOf(r *request) (*formPage, error) {
	o, err := r.owner()
	if err != nil {
		return nil, err
	}
	return ownerForm(r, o), nil
}

// owner returns the owner that a path names, zero for a new one; or errNotFound for the owner of
// someone else, and for a customer that has none.
func (r *request) owner() (customer.BeneficialOwner, error) {
	if r.applicant.Customer.Type != customer.Business {
		return customer.BeneficialOwner{}, errNotFound
	}
	name := r.PathValue("owner")
	if name == "new" {
		return customer.BeneficialOwner{}, nil
	}
	id, err := uuid.Parse(name)
	at := slices.IndexFunc(r.applicant.Owners, func(o customer.BeneficialOwner) bool { return o.ID.UUID() == id })
	if err != nil || at < 0 {
		return customer.BeneficialOwner{}, errNotFound
	}
	return r.applicant.Owners[at], nil
}

func (p *Pages) showOwner(r *request) error {
	form, err := ownerFormOf(r)
	if err != nil {
		return err
	}
	if !r.applicant.CanChange {
		return redirect(r, home)
	}
	return p.render(r, http.StatusOK, "form.html", form)
}

func (p *Pages) saveOwner(r *request) error {
	o, err := r.owner()
	if err != nil {
		return err
	}
	percentage, err := strconv.Atoi(r.text("ownershipPercentage"))
	if err != nil {
		percentage = -1 // not valid
	}
	sent := customer.OwnerRequest{Roles: r.PostForm["roles"], OwnershipPercentage: percentage, Person: customer.PersonalInfo{
		FirstName: r.text("personalInfo.firstName"), MiddleName: r.text("personalInfo.middleName"), LastName: r.text("personalInfo.lastName"),
		BirthDate: r.date("personalInfo.birthDate"), Nationality: r.text("personalInfo.nationality"), Email: r.text("personalInfo.email"),
		PhoneNumber: o.Person.PhoneNumber, Address: r.address("personalInfo.address"),
		IDType: r.text("personalInfo.idType"), Identifier: r.text("personalInfo.identifier"),
		CountryOfIssuance: r.text("personalInfo.countryOfIssuance"),
	}}
	if o.ID.IsZero() {
		err = p.SelfService.AddOwner(r.Context(), r.secret, sent)
	} else {
		err = p.SelfService.UpdateOwner(r.Context(), r.secret, o.ID, sent)
	}
	return p.finish(r, ownerForm(r, o), err, home)
}

func documentsURL(owner ident.BeneficialOwner) string {
	if owner.IsZero() {
		return home + "/documents/own"
	}
	return home + "/documents/" + owner.UUID().String()
}
