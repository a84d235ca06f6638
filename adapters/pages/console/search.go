package console

import (
	"context"
	"net/http"
	"strings"

	"causeway/app/search"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Search is the use case of searching.
type Search interface {
	Find(ctx context.Context, p ident.Platform, text string, personal bool) (search.Found, error)
}

// paymentsOf returns the list of the payments of an account or a UMA address.
func paymentsOf(base, account string) string {
	return base + "/payments?account=" + escapeQuery(account)
}

// search shows what a text names; what is the only thing is opened.
func (c *Console) search(r *request) error {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	v := view{page: c.page(r, "Found", "")}
	v.Query = text
	if text == "" {
		return redirect(r, v.Base+"/payments")
	}
	found, err := c.Search.Find(r.Context(), r.platform.ID, text, v.MayReveal())
	if err != nil {
		return err
	}
	var links []string // of all that was found
	if len(found.Hits) > 0 {
		rows := table{Label: "By id", Columns: columns("Found", "Id")}
		for _, h := range found.Hits {
			links = append(links, objectLink(v.Base, h))
			kind, id, _ := strings.Cut(h, ":")
			rows.Rows = append(rows.Rows, []cell{linked(objectPages[kind].Name, objectLink(v.Base, h)), plain(id)})
		}
		v.Sections = append(v.Sections, section{Heading: "By id", Table: &rows})
	}
	for _, p := range found.Payments {
		for _, t := range p.Items {
			links = append(links, v.Base+"/payments/"+pathOfID(t.ID))
		}
		v.Sections = append(v.Sections, foundPayments(v.Base, found, p))
	}
	for _, k := range found.Customers {
		for _, item := range k.Items {
			links = append(links, v.Base+"/customers/"+pathOfID(item.ID))
		}
		v.Sections = append(v.Sections, foundCustomers(v.Base, k))
	}
	if len(found.Accounts) > 0 {
		for _, a := range found.Accounts {
			links = append(links, paymentsOf(v.Base, a.ID.String()))
		}
		v.Sections = append(v.Sections, foundAccounts(v.Base, found.Accounts, found.MoreAccounts))
	}
	ledgerAccounts, err := c.ledgerAccounts(r, v.Base, text)
	if err != nil {
		return err
	}
	if len(ledgerAccounts.Rows) > 0 {
		for _, row := range ledgerAccounts.Rows {
			links = append(links, row[0].Link)
		}
		v.Sections = append(v.Sections, section{Heading: "Accounts of the ledger", Table: &ledgerAccounts})
	}
	switch {
	case len(links) == 1 && !found.NotSearched:
		return redirect(r, links[0])
	case len(links) == 0:
		return c.render(r, http.StatusNotFound, "error.html", nothingFound(v.page, found.NotSearched))
	case found.NotSearched:
		v.Intro = notSearched
	}
	return c.show(r, v)
}

// ledgerAccounts returns the accounts of the ledger that have a path, one for each currency, with their entries.
func (c *Console) ledgerAccounts(r *request, base, path string) (table, error) {
	rows := table{Label: "Accounts of the ledger", Columns: columns("Account", "Currency")}
	if _, err := ledger.FindChartLine(path); err != nil {
		return rows, nil //nolint:nilerr // it is no path
	}
	found, err := c.Accounting.Account(r.Context(), r.platform.ID, path, "", ports.Cutoff{})
	if fault.Is(err, fault.NotFound) {
		return rows, nil // nothing was posted to it yet
	}
	if fault.Is(err, fault.ServiceUnavailable) {
		return rows, nil // what else was found is shown
	}
	for _, a := range found {
		rows.Rows = append(rows.Rows, []cell{linked(path, accountLink(base, path, a.Account.Currency)), plain(string(a.Account.Currency))})
	}
	return rows, err
}

// notSearched says what a person cannot find.
const notSearched = "Names of customers and numbers of accounts were not searched: your roles do not show personal data."

func nothingFound(p page, isLimited bool) errorPage {
	p.Title = "Nothing found"
	text := "Nothing has the name " + p.Query + ". Search for an id of the service or of a partner, a hash of a transaction on a chain, a " +
		"reference, your id of a customer, a UMA address such as $ana@bank.example, an amount such as 12.50 EUR or 12.50, whole words of the " +
		"name of a customer, the number of an account or its last four characters, or an account of the ledger such as rails/ACH."
	if isLimited {
		text += " " + notSearched
	}
	return errorPage{page: p, Text: text}
}

// foundPayments are payments that were found by a name, with a link to the list where there are more.
func foundPayments(base string, found search.Found, p search.Payments) section {
	name, query := "", ""
	switch p.By {
	case search.ByReference:
		name, query = "By reference", "reference="+escapeQuery(found.Query.Text)
	case search.ByUMA:
		name, query = "By UMA address", "account="+escapeQuery(found.Query.UMA)
	case search.ByAmount:
		name = "By amount"
		if amounts := found.Query.Amounts; len(amounts) == 1 {
			query = "currency=" + string(amounts[0].Currency) + "&min=" + major(amounts[0]) + "&max=" + major(amounts[0])
		}
	case search.ByPartnerID:
		name = "By the id of a partner, or a hash"
	default: // customers are found so
	}
	rows := table{Label: "Payments " + strings.ToLower(name), Columns: columns("Created", "Payment", "Status", ">Amount", ">Received",
		"Reference")}
	for _, t := range p.Items {
		rows.Rows = append(rows.Rows, paymentCells(base, t))
	}
	switch {
	case p.More && query == "":
		rows.Rows = append(rows.Rows, []cell{plain("There are more."), {}, {}, {}, {}, {}})
	case p.More:
		rows.Rows = append(rows.Rows, []cell{linked("All of them", base+"/payments?"+query), {}, {}, {}, {}, {}})
	}
	return section{Heading: "Payments " + strings.ToLower(name), Table: &rows}
}

func paymentCells(base string, t transaction.Transaction) []cell {
	return []cell{timed(t.CreatedAt), shortID(t.ID.String(), base+"/payments/"+pathOfID(t.ID)), stated(t.State.Status),
		amountCell(sent(t).String()), amountCell(t.Pricing.Received.String()), plain(t.Reference)}
}

func foundCustomers(base string, found search.Customers) section {
	name := map[search.By]string{search.ByUMA: "by UMA address", search.ByPlatformID: "by your id", search.ByName: "by name"}[found.By]
	rows := table{Label: "Customers " + name, Columns: columns("Customer", "Your id", "Name", "Verification", "Created")}
	for _, k := range found.Items {
		rows.Rows = append(rows.Rows, customerCells(base, k))
	}
	s := section{Heading: "Customers " + name, Table: &rows}
	if found.More {
		s.Text = "There are more. Enter more words of the name."
	}
	return s
}

func customerCells(base string, k customer.Customer) []cell {
	return []cell{shortID(k.ID.String(), base+"/customers/"+pathOfID(k.ID)), plain(k.PlatformCustomerID), plain(person.Mask(k.Name())),
		stated(k.ShownStatus()), timed(k.CreatedAt)}
}

func foundAccounts(base string, accounts []account.External, more bool) section {
	rows := table{Label: "External accounts", Columns: columns("Account", "Number", "Type", "Currency", "Customer", "State")}
	for _, a := range accounts {
		owner, state := plain("the platform"), string(a.Status)
		if !a.Customer.IsZero() {
			owner = shortID(a.Customer.String(), base+"/customers/"+pathOfID(a.Customer))
		}
		if a.Deleted() {
			state = "DELETED"
		}
		rows.Rows = append(rows.Rows, []cell{shortID(a.ID.String(), paymentsOf(base, a.ID.String())), plain(a.MaskedIdentifier()),
			plain(string(a.Type)), plain(string(a.Currency)), owner, stated(state)})
	}
	s := section{Heading: "External accounts", Text: "An account leads to its payments.", Table: &rows}
	if more {
		s.Text += " There are more. Enter the whole number."
	}
	return s
}
