package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// platformsPage lists the platforms that a person may see.
type platformsPage struct {
	page
	Platforms []platform.Platform
}

// showPlatforms lists the platforms, and goes to the only one that is open.
func (c *Console) showPlatforms(r *request) error {
	data := platformsPage{page: c.page(r, "Platforms", "")}
	for p, err := range c.Platforms.All(ports.ForAllPlatforms(r.Context())) {
		if err != nil {
			return err
		}
		if r.in.Person.May(person.View, p.ID) {
			data.Platforms = append(data.Platforms, p)
		}
	}
	slices.SortStableFunc(data.Platforms, func(a, b platform.Platform) int { return a.ClosedAt.Compare(b.ClosedAt) }) // open ones first
	only := len(data.Platforms) == 1 || len(data.Platforms) > 1 && !data.Platforms[0].Closed() && data.Platforms[1].Closed()
	if only && !r.URL.Query().Has("all") {
		return redirect(r, basePath(data.Platforms[0].ID))
	}
	return c.render(r, http.StatusOK, "platforms.html", data)
}

// peoplePage lists everybody.
type peoplePage struct {
	page
	People []person.Person
}

func (c *Console) showPeople(r *request) error {
	found, err := c.People.List(r.Context())
	if err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "people.html", peoplePage{c.page(r, "People", "people"), found})
}

// homePage is what a platform does now.
type homePage struct {
	page
	Since   time.Time
	Counts  []statusCount
	Waiting []waiting
	Chart   chart
	// SuccessRate is that of the days of the chart; empty if no payment has ended.
	SuccessRate string
	Latest      []transaction.Transaction
}

// statusCount is the number of payments in a status.
type statusCount struct {
	Status transaction.Status
	Count  int64
	// IsMinimum: there are more.
	IsMinimum bool
}

// statuses are those of payments, as the filter lists them.
var statuses = []transaction.Status{transaction.Pending, transaction.Processing, transaction.Completed, transaction.Failed,
	transaction.Expired}

// chartDays is the number of days of the chart.
const chartDays = 7

func (c *Console) showHome(r *request) error {
	p := r.platform.ID
	data := homePage{page: c.page(r, "Overview", "home"), Since: c.Clock.Now().Add(-24 * time.Hour).UTC().Truncate(time.Minute)}
	counts, err := c.Payments.CountTransactions(r.Context(), p, data.Since)
	if err != nil {
		return err
	}
	for _, status := range statuses {
		data.Counts = append(data.Counts, statusCount{status, min(counts[status], ports.MaxTotal), counts[status] > ports.MaxTotal})
	}
	latest, err := c.Payments.ListTransactions(r.Context(), p, ports.TransactionFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil {
		return err
	}
	data.Latest = latest.Items
	days, err := c.Payments.CountTransactionsByDay(r.Context(), p, chartDays)
	if err != nil {
		return err
	}
	data.Chart, data.SuccessRate = newChart(days), successRate(days)
	if data.Waiting, err = c.waitingFor(r); err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "home.html", data)
}

// search goes to what a text names: the page of an id, or the list of payments that match.
func (c *Console) search(r *request) error {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	base := basePath(r.platform.ID)
	kind, id, isID := strings.Cut(text, ":")
	if !isID {
		kind = ""
	}
	list := func(name, value string) error { return redirect(r, base+"/payments?"+name+"="+escapeQuery(value)) }
	switch kind {
	case ident.Transaction{}.Prefix():
		return redirect(r, base+"/payments/"+escapeQuery(id))
	case ident.Customer{}.Prefix():
		return redirect(r, base+"/customers/"+escapeQuery(id))
	case ident.Posting{}.Prefix():
		return redirect(r, base+"/postings/"+escapeQuery(id))
	case ident.Webhook{}.Prefix():
		return redirect(r, base+"/webhooks/"+escapeQuery(id))
	case ident.ExternalAccount{}.Prefix(), ident.InternalAccount{}.Prefix():
		return list("account", text)
	}
	if strings.HasPrefix(text, "$") {
		return list("account", text)
	}
	found, err := c.Payments.ListTransactions(r.Context(), r.platform.ID, ports.TransactionFilter{Paging: ports.Paging{Limit: 1},
		Reference: text})
	if err != nil {
		return err
	}
	if len(found.Items) > 0 || text == "" {
		return list("reference", text)
	}
	customers, err := c.Customers.List(r.Context(), r.platform.ID, ports.CustomerFilter{Paging: ports.Paging{Limit: 1},
		PlatformCustomerID: text,
		IncludeDeleted:     true})
	if err != nil {
		return err
	}
	if len(customers.Items) > 0 {
		return redirect(r, base+"/customers/"+customers.Items[0].ID.UUID().String())
	}
	data := errorPage{page: c.page(r, "Nothing found", ""), Text: "No payment has the reference " + text +
		", and no customer has it as your " +
		"own id. Search for an id of the service, such as Transaction:…, a UMA address such as $ana@bank.example, a reference, or your id " +
		"" +
		"of " +
		"a customer."}
	data.Query = text
	return c.render(r, http.StatusNotFound, "error.html", data)
}
