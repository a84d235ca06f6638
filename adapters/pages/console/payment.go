package console

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/transaction"
	"causeway/ports"
)

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
