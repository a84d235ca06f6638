package console

import (
	"fmt"
	"net/http"
	"strings"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// showCustomers lists customers, newest first.
func (c *Console) showCustomers(r *request) error {
	own := strings.TrimSpace(r.URL.Query().Get("own"))
	paging := pagingOf(r)
	paging.WithoutTotal = r.lines != nil // only the page shows it
	found, err := c.Customers.List(r.Context(), r.platform.ID, ports.CustomerFilter{Paging: paging, PlatformCustomerID: own,
		IncludeDeleted: true})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Customers", "customers")}
	v.Filter = &filter{v.Base + "/customers", []field{{Name: "own", Label: "Your id", Value: own}}}
	rows := &table{File: "customers", Label: "Customers", Columns: columns("Created", "Customer", "Your id", "Type", "Region", "Verification",
		"Deleted"), Empty: "There are no customers yet. The platform creates them over the API."}
	if own != "" {
		rows.Empty = "No customer has this id."
	}
	for _, item := range found.Items {
		rows.Rows = append(rows.Rows, []cell{timed(item.CreatedAt), customerCell(v.Base, item.ID), plain(item.PlatformCustomerID),
			plain(lower(item.Type)), plain(item.Region), stated(item.ShownStatus()), timed(item.DeletedAt)})
	}
	if len(found.Items) > 0 && !paging.WithoutTotal {
		count := counted(int(found.Total), "customer")
		if found.TotalIsMinimum {
			count = fmt.Sprintf("%d or more customers", found.Total)
		}
		v.Intro = count + ", newest first, with those that were deleted."
	}
	v.Sections = []section{{Table: rows}}
	v.Older = older(r, found.More, found.Items, func(item customer.Customer) string { return pathOfID(item.ID) })
	return c.show(r, v)
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
