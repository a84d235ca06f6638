package console

import (
	"net/http"
	"net/url"
	"strings"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// customersPage lists customers.
type customersPage struct {
	page
	Own   string // the filter of the platform's own id
	Found ports.Page[customer.Customer]
	Older string // the address of the next page
}

func (c *Console) showCustomers(r *request) error {
	query := r.URL.Query()
	data := customersPage{page: c.page(r, "Customers", "customers"), Own: strings.TrimSpace(query.Get("own"))}
	var err error
	data.Found, err = c.Customers.List(r.Context(), r.platform.ID, ports.CustomerFilter{Paging: ports.Paging{Limit: pageSize,
		After: after(query)},
		PlatformCustomerID: data.Own, IncludeDeleted: true})
	if err != nil {
		return err
	}
	if n := len(data.Found.Items); data.Found.More {
		data.Older = data.Base + "/customers?" + url.Values{"own": {data.Own}, "after": {data.Found.Items[n-1].ID.UUID().String()}}.Encode()
	}
	return c.render(r, http.StatusOK, "customers.html", data)
}

// customerPage shows one customer.
type customerPage struct {
	page
	Customer   customer.Customer
	IsRevealed bool
	Facts      []fact
	Actions    []fact
	Sections   []section
}

func (c *Console) showCustomer(r *request) error { return c.customerWith(r, false) }

// revealCustomer shows a customer with personal data, which is recorded first.
func (c *Console) revealCustomer(r *request) error { return c.customerWith(r, true) }

func (c *Console) customerWith(r *request, revealed bool) error {
	id, err := ident.ParseCustomer(ident.Customer{}.Prefix() + ":" + r.PathValue("customer"))
	if err != nil {
		return errNotFound
	}
	found, err := c.Customers.Get(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
			return err
		}
	}
	data := customerPage{page: c.page(r, "Customer", "customers"), Customer: found, IsRevealed: revealed}
	data.Facts = customerFacts(found, data.Base, shown(revealed))
	data.Actions = []fact{actionLink("Payments of the customer", data.Base+"/payments?customer="+escapeQuery(id.String()))}
	if path := data.Base + "/customers/" + pathOfID(id); data.Person.May(person.Review, r.platform.ID) && !found.Deleted() {
		switch _, err := found.PutOnHold(c.Clock.Now()); {
		case err == nil:
			data.Actions = append(data.Actions, actionLink("Put on hold", path+"/hold"))
		case found.IsHeldByPerson():
			data.Actions = append(data.Actions, actionLink("Release", path+"/release"))
		}
	}
	if data.MayReveal() {
		path := data.Base + "/customers/" + pathOfID(id)
		data.Actions = append(data.Actions, actionLink("Write a note", path+"/note"), actionLink("Statement", path+"/statement"))
	}
	if data.Sections, err = c.customerSections(r, data); err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "customer.html", data)
}

func customerFacts(c customer.Customer, base string, show func(string) string) []fact {
	currencies := make([]string, len(c.Currencies))
	for i, currency := range c.Currencies {
		currencies[i] = string(currency)
	}
	facts := []fact{{Name: "Id", Value: c.ID.String(), Link: base + "/payments?customer=" + escapeQuery(c.ID.String())}}
	for _, f := range []fact{
		{Name: "Your id", Value: c.PlatformCustomerID}, {Name: "Type", Value: string(c.Type)}, {Name: "Verification",
			Value: string(c.ShownStatus())},
		{Name: "Region", Value: c.Region}, {Name: "Currencies", Value: strings.Join(currencies, ", ")},
		{Name: "Name", Value: show(c.Name())}, {Name: "E-mail", Value: show(c.Email)},
		{Name: "E-mail verified", Value: contactText(c, customer.EmailChannel)}, {Name: "Phone", Value: show(c.PhoneNumber)},
		{Name: "Phone verified", Value: contactText(c, customer.PhoneChannel)}, {Name: "UMA address", Value: show(c.UMAAddress)},
		{Name: "Born", Value: show(c.BirthDate)}, {Name: "Nationality", Value: show(c.Nationality)}, {Name: "Address",
			Value: show(addressText(c))},
		{Name: "Created", Value: moment(c.CreatedAt)}, {Name: "Changed", Value: moment(c.UpdatedAt)},
		{Name: "Held since", Value: moment(c.HeldAt)},
		{Name: "On hold by a person since", Value: moment(c.OnHoldSince)}, {Name: "Deleted", Value: moment(c.DeletedAt)},
		{Name: "Data erased", Value: moment(c.ErasedAt)},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// contactText says when a contact was verified; empty where none is.
func contactText(c customer.Customer, ch customer.Channel) string {
	switch at := c.VerifiedAt(ch); {
	case !at.IsZero():
		return moment(at)
	case c.NeedsSCA && c.ContactStatus(ch) == customer.ContactPending:
		return "no"
	default:
		return ""
	}
}

func addressText(c customer.Customer) string {
	if c.Address == nil {
		return ""
	}
	a := *c.Address
	return joined([]string{a.Line1, a.Line2, a.PostalCode + " " + a.City, a.State, a.Country})
}
