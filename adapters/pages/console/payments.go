package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"causeway/app/exports"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ports"
)

// pageSize is the number of lines of a list.
const pageSize = 50

// maxDownload is the largest number of lines of a download. What is longer is exported with the API.
const maxDownload = 20_000

// paymentsPage lists payments.
type paymentsPage struct {
	page
	Filter   paymentFilter
	Problems []string
	Found    ports.Page[transaction.Transaction]
	// Older is the address of the next page; empty if there is none. Download is that of the list as a file.
	Older, Download string
	Statuses        []transaction.Status
	// Counts are the statuses with the payments that the rest of the filter selects.
	Counts []menuLink
	// Saved are the filters that the person has saved, and FilterQuery is the present one.
	Saved       []menuLink
	FilterQuery string
}

// paymentFilter is the filter of the list as it was entered.
type paymentFilter struct {
	Status, Type, From, To, Currency, Min, Max, Reference, Account, Customer string
}

// filterOf returns the filter of a request, and what is wrong with it.
func filterOf(query url.Values, z *zone) (entered paymentFilter, filter ports.TransactionFilter, problems []string) {
	get := func(name string) string { return strings.TrimSpace(query.Get(name)) }
	entered = paymentFilter{get("status"), get("type"), get("from"), get("to"), strings.ToUpper(get("currency")), get("min"), get("max"),
		get("reference"), get("account"), get("customer")}
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if status := transaction.Status(entered.Status); slices.Contains(transaction.Statuses, status) {
		filter.Statuses = []transaction.Status{status}
	} else if status != "" {
		refuse("%s is not a status.", status)
	}
	switch direction := transaction.Type(entered.Type); direction {
	case "", transaction.Outgoing, transaction.Incoming:
		filter.Type = direction
	default:
		refuse("%s is not a direction.", direction)
	}
	created, wrong := z.interval(func(name string) string { return map[string]string{"from": entered.From, "to": entered.To}[name] })
	filter.Created, problems = created, append(problems, wrong...)
	filter.Reference, filter.Account = entered.Reference, entered.Account
	if entered.Customer != "" {
		var err error
		if filter.Customer, err = ident.ParseCustomer(entered.Customer); err != nil {
			filter.PlatformCustomerID = entered.Customer
		}
	}
	filter.Amounts.Currency = money.Currency(entered.Currency)
	if entered.Currency != "" && !filter.Amounts.Currency.Known() {
		refuse("%s is not a currency of the service.", entered.Currency)
	} else if entered.Currency == "" && entered.Min+entered.Max != "" {
		refuse("An amount needs its currency.")
	} else {
		filter.Amounts.Min = readAmount(entered.Min, filter.Amounts.Currency, "The smallest amount", refuse)
		filter.Amounts.Max = readAmount(entered.Max, filter.Amounts.Currency, "The largest amount", refuse)
		if filter.Amounts.Max > 0 && filter.Amounts.Min > filter.Amounts.Max {
			refuse("The smallest amount must not be above the largest.")
		}
	}
	return entered, filter, problems
}

func readAmount(text string, c money.Currency, name string, refuse func(string, ...any)) int64 {
	if text == "" {
		return 0
	}
	minor, err := reconcile.ParseAmount(text, c, '.', 0)
	if err != nil || minor <= 0 {
		refuse("%s must be between %s and %s and have at most %d decimals, such as 100.", name, major(money.Amount{Minor: 1, Currency: c}),
			major(money.Amount{Minor: money.MaxMinor, Currency: c}), c.Decimals())
	}
	return minor
}

func (c *Console) showPayments(r *request) error {
	query := r.URL.Query()
	data := paymentsPage{page: c.page(r, "Payments", "payments"), Statuses: transaction.Statuses}
	c.refresh(r, &data.page)
	query.Del("until")
	entered, filter, problems := filterOf(query, r.zone())
	data.Filter, data.Problems = entered, problems
	saved, err := c.Filters.SavedFilters(r.Context(), r.platform.ID, r.in.Person.ID, paymentsList)
	if err != nil {
		return err
	}
	for _, f := range saved {
		data.Saved = append(data.Saved, menuLink{Name: f.Name, To: data.Base + "/payments?" + f.Query})
	}
	if len(problems) > 0 {
		return c.render(r, http.StatusUnprocessableEntity, "payments.html", data)
	}
	counts, err := c.Payments.CountTransactionsByStatus(r.Context(), r.platform.ID, filter)
	if err != nil {
		return err
	}
	data.Counts = countLinks(r, counts, entered.Status)
	filter.Paging = ports.Paging{Limit: pageSize, After: after(query), WithoutTotal: true}
	if data.Found, err = c.Payments.ListTransactions(r.Context(), r.platform.ID, filter); err != nil {
		return err
	}
	for status, n := range counts.Counts {
		if entered.Status == "" || entered.Status == string(status) {
			data.Found.Total += n
		}
	}
	data.Found.TotalIsMinimum = counts.AreMinimum || data.Found.Total > ports.MaxTotal
	data.Found.Total = min(data.Found.Total, ports.MaxTotal)
	query.Del("after")
	data.FilterQuery = query.Encode()
	data.Download = data.Base + "/payments.csv?" + query.Encode()
	if n := len(data.Found.Items); data.Found.More {
		query.Set("after", data.Found.Items[n-1].ID.UUID().String())
		data.Older = data.Base + "/payments?" + query.Encode()
	}
	return c.render(r, http.StatusOK, "payments.html", data)
}

// refresh lets a part of the page be read again by script, from the address of the same page, until watchTime after it was loaded, because
// that keeps the session in use.
func (c *Console) refresh(r *request, p *page) {
	c.quicken(r, p)
	p.Refreshes, p.Live = true, c.liveLink(r)
}

func (c *Console) liveLink(r *request) string {
	now, query := c.Clock.Now(), r.URL.Query()
	until, err := strconv.ParseInt(query.Get("until"), 10, 64)
	if err != nil {
		until = now.Add(watchTime).Unix()
	}
	if now.Unix() >= until || until > now.Add(watchTime).Unix() {
		return ""
	}
	query.Set("until", strconv.FormatInt(until, 10))
	return r.URL.Path + "?" + query.Encode()
}

// countLinks returns the statuses with the payments that the rest of the filter selects, each as a link to them.
func countLinks(r *request, counts ports.StatusCounts, current string) (links []menuLink) {
	query := r.URL.Query()
	query.Del("after")
	query.Del("until")
	for _, status := range append([]transaction.Status{""}, transaction.Statuses...) {
		query.Set("status", string(status))
		name := "all"
		if status != "" {
			if name = lower(status) + " " + countText(counts.Counts[status]); counts.AreMinimum && counts.Counts[status] <= ports.MaxTotal {
				name += "+"
			}
		}
		links = append(links, menuLink{name, basePath(r.platform.ID) + "/payments?" + query.Encode(), string(status) == current})
	}
	return links
}

// after returns the last item of the page before.
func after(query url.Values) uuid.UUID {
	id, _ := uuid.Parse(query.Get("after")) // the first page for what is no id
	return id
}

// downloadPayments writes the list as CSV, without personal data.
func (c *Console) downloadPayments(r *request) error {
	_, filter, problems := filterOf(r.URL.Query(), r.zone())
	if len(problems) > 0 {
		return &problem{http.StatusUnprocessableEntity, "The list cannot be made", strings.Join(problems, " ")}
	}
	read := func(p ports.Paging) (ports.Page[transaction.Transaction], error) {
		filter.Paging = p
		return c.Payments.ListTransactions(r.Context(), r.platform.ID, filter)
	}
	var rows [][]string
	paging := ports.Paging{Limit: 1000, WithoutTotal: true}
	for t, err := range ports.All(paging, read, func(t transaction.Transaction) uuid.UUID { return t.ID.UUID() }) {
		if err != nil {
			return err
		}
		if len(rows) >= maxDownload {
			return &problem{http.StatusUnprocessableEntity, "The list is too long", "It has more than " + strconv.Itoa(maxDownload) +
				" payments. Choose a shorter time, or have a file of any length written on the page Exports."}
		}
		rows = append(rows, exports.PaymentRow(t))
	}
	return writeCSV(r, "payments.csv", exports.PaymentColumns, rows)
}
