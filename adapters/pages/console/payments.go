package console

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/exports"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
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

// paymentPage shows one payment.
type paymentPage struct {
	page
	accounting.Timeline
	// IsRevealed: personal data is shown in full.
	IsRevealed bool
	Facts      []fact
	// Actions are what the person may do to the payment as it is.
	Actions []fact
	// Sections are about the connections that carry it, and the jobs about it that have stopped.
	Sections []section
	// States are those that it has had, in their order.
	States []paymentState
	Events []timelineRow
}

// fact is a line of a list of facts. Link may be empty. Actor is who has done it, shown behind the value.
type fact struct{ Name, Value, Link, Actor string }

func (c *Console) showPayment(r *request) error { return c.paymentWith(r, false) }

// revealPayment shows a payment with personal data, which is recorded first.
func (c *Console) revealPayment(r *request) error { return c.paymentWith(r, true) }

func (c *Console) paymentWith(r *request, revealed bool) error {
	timeline, err := c.paymentIn(r)
	if err != nil {
		return err
	}
	id := timeline.Transaction.ID
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
			return err
		}
	}
	show := shown(revealed)
	data := paymentPage{page: c.page(r, "Payment", "payments"), Timeline: timeline, IsRevealed: revealed}
	data.Facts = paymentFacts(timeline.Transaction, data.Base, show)
	data.States = statesOf(timeline)
	data.Actions = data.actionsOn(timeline)
	if err := c.addRefund(r, &data); err != nil {
		return err
	}
	if err := c.addConnections(r, &data); err != nil {
		return err
	}
	if err := c.addStoppedJobs(r, &data); err != nil {
		return err
	}
	if err := c.addRequests(r, &data); err != nil {
		return err
	}
	if err := c.addActivity(r, &data); err != nil {
		return err
	}
	data.Events = timelineRows(timeline, data.Base, show)
	if revealed {
		if err := c.addBodies(r, &data); err != nil {
			return err
		}
	}
	return c.render(r, http.StatusOK, "payment.html", data)
}

// maxBodies is how many bodies of webhooks are shown with their payment, the first ones.
const maxBodies = 20

// addBodies adds the bodies of the webhooks of a payment.
func (c *Console) addBodies(r *request, data *paymentPage) error {
	bodies := 0
	for i, e := range data.Timeline.Events {
		if e.Type != accounting.TimelineWebhookEvent || bodies == maxBodies {
			continue
		}
		bodies++
		found, err := c.Webhooks.Delivery(r.Context(), r.platform.ID, e.Delivery.ID)
		if f, ok := fault.As(err); ok && f.Code == fault.NotFound {
			continue // its retention has ended meanwhile
		}
		if err != nil {
			return err
		}
		data.Events[i].Webhook.Pretty = indented(found.Body)
	}
	return nil
}

// addRequests adds the requests of the API that have made and changed a payment and its quote.
func (c *Console) addRequests(r *request, data *paymentPage) error {
	t := data.Transaction
	f := ports.RequestLogFilter{Subjects: []uuid.UUID{t.ID.UUID()}, Paging: ports.Paging{Limit: pageSize, WithoutTotal: true}}
	about := t.ID.String()
	if !t.Quote.IsZero() {
		f.Subjects, about = append(f.Subjects, t.Quote.UUID()), about+" "+t.Quote.String()
	}
	// The log is looked through from the payment on, and a page of a payment is shown without it, if it cannot be read now.
	begun := t.ID.UUID()
	if !t.Quote.IsZero() && bytes.Compare(f.Subjects[1][:], begun[:]) < 0 {
		begun = f.Subjects[1]
	}
	f.Arrived.From = time.Unix(begun.Time().UnixTime()).Add(-time.Hour)
	found, err := c.RequestLog.List(r.Context(), r.platform.ID, f)
	if err != nil && r.Context().Err() != nil {
		return err
	}
	rows := requestTable(data.Base, found.Items)
	rows.Empty = "There are none in the log of requests: the service has made it itself, an earlier version wrote them, or they were " +
		"deleted with age."
	if err != nil {
		c.Log.WithError(err).Warn("the requests about a payment were not read")
		rows.Empty = "The log of requests cannot be read now."
	}
	s := section{Heading: "Requests that made and changed it", Table: &rows}
	if found.More {
		s.Facts = add(nil, "Older", "in the log of requests", data.Base+"/requests?about="+escapeQuery(about))
	}
	s.Facts = add(s.Facts, "That read it", "in the log of requests", data.Base+"/requests?path="+escapeQuery("/transactions/"+t.ID.String()))
	data.Sections = append(data.Sections, s)
	return nil
}

// shown returns how personal data is shown.
func shown(revealed bool) func(string) string {
	if revealed {
		return func(text string) string { return text }
	}
	return person.Mask
}

func paymentFacts(t transaction.Transaction, base string, show func(string) string) []fact {
	facts := []fact{{Name: "Id", Value: t.ID.String()}, {Name: "Direction", Value: string(t.Type)}}
	add := func(name, value, link string) {
		if value != "" {
			facts = append(facts, fact{Name: name, Value: value, Link: link})
		}
	}
	if t.Type == transaction.Outgoing {
		add("Sent", t.Pricing.Sent.String(), "")
		add("Fees included", money.Amount{Minor: t.Pricing.Fees, Currency: t.Pricing.Sent.Currency}.String(), "")
	}
	add("Received", t.Pricing.Received.String(), "")
	if t.Customer.IsZero() {
		add("Customer", "the platform itself", "")
	} else {
		add("Customer", t.Customer.String(), base+"/customers/"+t.Customer.UUID().String())
	}
	add("Your id of the customer", t.PlatformCustomerID, "")
	add("From", endpointText(t.Source, string(t.SourceRail), show), "")
	add("To", endpointText(t.Destination, string(t.DestinationRail), show), "")
	add("Reference", t.Reference, base+"/payments?reference="+escapeQuery(t.Reference))
	add("Description", show(t.Description), "")
	for _, name := range slices.Sorted(maps.Keys(t.Counterparty)) {
		add("Counterparty "+strings.ToLower(strings.ReplaceAll(name, "_", " ")), show(t.Counterparty[name]), "")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Payer)) {
		add("Payer "+strings.ToLower(strings.ReplaceAll(name, "_", " ")), show(t.Payer[name]), "")
	}
	add("Quote", t.Quote.String(), "")
	add("Agent", t.Agent.String(), "")
	add("Failure", string(t.State.Reason), "")
	add("Partner's code", t.Rejection.Code, "")
	add("Partner's words", show(t.Rejection.Text), "")
	if t.Refund != nil {
		add("Refund", fmt.Sprintf("%s, %s, %s", t.Refund.Amount, t.RefundStatus(), t.Refund.Reason), "")
	}
	add("Created", moment(t.CreatedAt), "")
	add("Expected to settle", moment(t.ExpectedSettlementAt), "")
	add("Settled", moment(t.SettledAt), "")
	return facts
}

func endpointText(e transaction.Endpoint, rail string, show func(string) string) string {
	var parts []string
	switch {
	case !e.ExternalAccount.IsZero():
		parts = append(parts, e.ExternalAccount.String())
	case !e.InternalAccount.IsZero():
		parts = append(parts, e.InternalAccount.String())
	case e.UMA == "":
		parts = append(parts, "paid just in time")
	}
	if e.UMA != "" {
		parts = append(parts, show(e.UMA))
	}
	for _, text := range []string{string(e.Currency), e.Network, rail} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
