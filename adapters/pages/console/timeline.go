package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/app/accounting"
	"causeway/core/event"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// timelineRow is one event of a payment.
type timelineRow struct {
	At time.Time
	// Kind is what has happened, and Text says more about it.
	Kind, Text, Link string
	// Bad: it needs a look.
	Bad     bool
	Entries entryList
	Webhook *webhookDetails // nil for what is no webhook
}

// webhookDetails is what was sent as a webhook, and each attempt to send it. The body is empty where personal data is masked.
type webhookDetails struct {
	// Label tells the attempts from those of others on the page.
	Label    string
	Attempts []event.Attempt
	Pretty   string
}

// entryList is the entries of a posting, whose number tells it from others on the page.
type entryList struct {
	Posting int64
	Rows    []entryRow
}

// entryRow is an entry of a posting.
type entryRow struct {
	Debit, Credit, DebitLink, CreditLink string
	Amount                               money.Amount
}

func newEntryList(p ports.RecordedPosting, base string) entryList {
	rows := make([]entryRow, len(p.Entries))
	for i, e := range p.Entries {
		rows[i] = entryRow{e.Debit, e.Credit, accountLink(base, e.Debit, e.Currency), accountLink(base, e.Credit, e.Currency),
			money.Amount{Minor: e.Amount, Currency: e.Currency}}
	}
	return entryList{p.Seq, rows}
}

func accountLink(base, path string, c money.Currency) string {
	return base + "/entries?path=" + escapeQuery(path) + "&currency=" + escapeQuery(string(c))
}

// paymentState is a state of a payment, and when it began.
type paymentState struct {
	Status string
	At     time.Time
}

// statesOf returns the states of a payment, which its events name. Of a payment whose first events were deleted with age, it says when it
// was requested, and of one without any when it ended.
func statesOf(t accounting.Timeline) (states []paymentState) {
	requested := paymentState{"REQUESTED", t.Transaction.CreatedAt}
	for _, e := range t.Events {
		if e.Type == accounting.TimelineWebhookEvent {
			if status := stateIn(*e.Delivery); status != "" {
				states = append(states, paymentState{status, e.At})
			}
		}
	}
	if len(states) == 0 {
		states = []paymentState{requested}
		if at := t.Transaction.SettledAt; !at.IsZero() {
			states = append(states, paymentState{string(t.Transaction.State.Status), at})
		}
	} else if states[0].At.After(requested.At) {
		states = slices.Insert(states, 0, requested)
	}
	return states
}

// stateIn returns the state that a payment has come to with an event; empty for an event of something else.
func stateIn(d ports.Delivery) string {
	if d.Type != event.OutgoingPayment && d.Type != event.IncomingPayment {
		return ""
	}
	_, status, _ := strings.Cut(d.Name, ".")
	return status
}

// deliveryText says what has become of a webhook.
func deliveryText(d ports.Delivery) string {
	if d.Status == event.Unsent {
		return "not sent: the platform had no webhook endpoint"
	}
	return lower(d.Status)
}

func timelineRows(t accounting.Timeline, base string, show func(string) string) []timelineRow {
	rows := make([]timelineRow, len(t.Events))
	for i, e := range t.Events {
		rows[i] = newTimelineRow(t, e, base, show)
		rows[i].At = e.At
	}
	return rows
}

func newTimelineRow(t accounting.Timeline, e accounting.TimelineEvent, base string, show func(string) string) timelineRow {
	switch e.Type {
	case accounting.TimelineQuoted:
		text := fmt.Sprintf("%s for %s, until %s", e.Quote.Pricing.Received, e.Quote.Pricing.Sent, moment(e.Quote.ExpiresAt))
		return timelineRow{Kind: "Quote", Text: text}
	case accounting.TimelineAgent:
		return timelineRow{Kind: "Agent", Text: joined([]string{string(e.AgentAttempt.Operation), string(e.AgentAttempt.Decision),
			string(e.AgentAttempt.Error)})}
	case accounting.TimelineAuthorized:
		return timelineRow{Kind: "Signed by the owner of the wallet", Text: string(e.Authorization.Form())}
	case accounting.TimelineAssigned:
		return timelineRow{Kind: "Unmatched funds assigned", Text: e.Assignment.Receipt.Amount.String()}
	case accounting.TimelineRailReplied:
		reply := e.RailReply
		parts := []string{lower(reply.Verdict), lower(reply.Reason), reply.PartnerID, reply.Code, show(reply.Text)}
		if !reply.RetryAt.IsZero() {
			parts = append(parts, "asked again at "+moment(reply.RetryAt))
		}
		return timelineRow{Kind: "Rail: " + strings.ToLower(string(reply.Call)), Text: joined(parts), Bad: reply.Reason != ""}
	case accounting.TimelineReceivable:
		return timelineRow{Kind: "Receivable", Text: string(e.Receivable.Kind)}
	case accounting.TimelinePosted:
		p := e.Posting
		text := ""
		if p.Transaction != t.Transaction.ID {
			text = "of another payment with the same reference"
		}
		return timelineRow{Kind: "Posting: " + strings.ToLower(strings.ReplaceAll(string(p.Kind), "_", " ")), Text: text,
			Link: base + "/postings/" + p.ID.String(), Entries: newEntryList(*p, base)}
	case accounting.TimelineWebhookEvent:
		row := timelineRow{Kind: "Webhook " + e.Delivery.Name, Text: deliveryText(*e.Delivery), Link: base + "/webhooks/" +
			e.Delivery.ID.UUID().String(), Webhook: &webhookDetails{Label: "Attempts of " + e.Delivery.ID.String(),
			Attempts: e.Delivery.Attempts}}
		if status := stateIn(*e.Delivery); status != "" {
			row.Kind, row.Text = "The payment is "+lower(status), "webhook "+e.Delivery.Name+", "+row.Text
		}
		return row
	case accounting.TimelineWebhookAttempt:
		text := joined([]string{string(e.Attempt.Outcome), statusText(e.Attempt.StatusCode), e.Attempt.Error})
		return timelineRow{Kind: fmt.Sprintf("Attempt %d of %s", e.Attempt.Number, e.Delivery.Name), Text: text,
			Bad: e.Attempt.StatusCode < 200 || e.Attempt.StatusCode > 299}
	case accounting.TimelineRequested:
	}
	return timelineRow{Kind: "Requested", Text: requestText(t.Transaction)}
}

func requestText(t transaction.Transaction) string {
	if !t.Agent.IsZero() {
		return "by " + t.Agent.String()
	}
	return ""
}

func statusText(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("HTTP %d", code)
}

func joined(parts []string) string { return joinedWith(", ", parts...) }

// joinedWith joins the parts that are not empty.
func joinedWith(separator string, parts ...string) string {
	var present []string
	for _, part := range parts {
		if part != "" {
			present = append(present, part)
		}
	}
	return strings.Join(present, separator)
}
