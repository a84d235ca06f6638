package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type transactionTimelineBody struct {
	Transaction transactionBody     `json:"transaction" doc:"The transaction as it stands now."`
	Data        []timelineEventBody `json:"data" doc:"Everything that happened, the first thing first."`
	Complete    bool                `json:"complete" doc:"Whether this is all; false when there is more of a kind than the 1000 that are told."`
}

type timelineEventBody struct {
	At         httpapi.Time          `json:"at" doc:"When it happened."`
	Type       timelineEventType     `json:"type" doc:"REQUESTED: it was asked for. QUOTED: it was given a price. ASSIGNED: people found that unmatched money is for it. RAIL_REPLIED: a rail said how it went. POSTED: money moved in the books. EVENT: it came into a state that webhooks tell of. WEBHOOK_ATTEMPT: the event was sent."`
	Request    *timelineRequest      `json:"request,omitempty" doc:"With REQUESTED: who asked for what."`
	Quote      *timelineQuote        `json:"quote,omitempty" doc:"With QUOTED: the price."`
	Assignment *unmatchedFundsBody   `json:"assignment,omitempty" doc:"With ASSIGNED: the money and the decision."`
	Rail       *railReplyBody        `json:"rail,omitempty" doc:"With RAIL_REPLIED: the answer."`
	Posting    *PostingBody          `json:"posting,omitempty" doc:"With POSTED: the posting with its entries. One without a transactionId is about a further payment with the same reference."`
	Event      *timelineWebhookEvent `json:"event,omitempty" doc:"With EVENT and WEBHOOK_ATTEMPT: what is told."`
	Attempt    *deliveryAttemptBody  `json:"attempt,omitempty" doc:"With WEBHOOK_ATTEMPT: how it went."`
}

type timelineEventType string

// Schema lists the values.
func (timelineEventType) Schema(huma.Registry) *huma.Schema {
	return enumSchema(toStrings(accounting.TimelineEventTypes))
}

type timelineRequest struct {
	CustomerID  string       `json:"customerId" doc:"For whom: a customer, or your platform." example:"Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Source      paymentParty `json:"source" doc:"Where the money comes from."`
	Destination paymentParty `json:"destination" doc:"Where the money goes to."`
	Description string       `json:"description,omitempty" doc:"Your note."`
}

type timelineQuote struct {
	ID           httpapi.ID[ident.Quote] `json:"id" doc:"The quote."`
	Sent         currencyAmount          `json:"sent" doc:"All that is paid, fees included."`
	Received     currencyAmount          `json:"received" doc:"What arrives."`
	Fees         httpapi.Minor           `json:"fees" doc:"The part of what is paid that is fees."`
	ExchangeRate httpapi.Decimal         `json:"exchangeRate" doc:"Smallest receiving units for one smallest sending unit."`
	ExpiresAt    httpapi.Time            `json:"expiresAt" doc:"Until when it held."`
}

type railReplyBody struct {
	Call     string        `json:"call" enum:"DELIVER,COLLECT,REFUND,SEND_BACK,STATUS" doc:"The call to the rail. STATUS: whether a delivered payment came back."`
	Verdict  string        `json:"verdict" enum:"DONE,WAITING,REFUSED,CANCELLED,RETURNED,UNKNOWN" doc:"What it said. UNKNOWN: it could not be asked."`
	Reason   string        `json:"reason,omitempty" doc:"Why it refused." example:"COUNTERPARTY_POST_TX_FAILED"`
	Accepted bool          `json:"accepted,omitempty" doc:"Whether it had taken the payment on."`
	RetryAt  *httpapi.Time `json:"retryAt,omitempty" doc:"When it is asked again."`
}

type timelineWebhookEvent struct {
	WebhookID httpapi.ID[ident.Webhook] `json:"webhookId" doc:"The event."`
	Event     string                    `json:"event" doc:"What is told." example:"OUTGOING_PAYMENT.COMPLETED"`
	Status    deliveryStatus            `json:"status" doc:"How its delivery stands now."`
}

func renderTimeline(s accounting.Timeline) transactionTimelineBody {
	body := transactionTimelineBody{Transaction: renderTransaction(s.Transaction), Data: make([]timelineEventBody, len(s.Events)), Complete: s.Complete}
	for i, c := range s.Events {
		body.Data[i] = renderTimelineEvent(s, c)
	}
	return body
}

func renderTimelineEvent(s accounting.Timeline, c accounting.TimelineEvent) timelineEventBody {
	body := timelineEventBody{At: httpapi.NewTime(c.At), Type: timelineEventType(c.Type)}
	if c.Type == accounting.TimelineRequested {
		t := s.Transaction
		body.Request = &timelineRequest{CustomerID: ownerID(t.Platform, t.Customer), Source: renderSource(t.Source),
			Destination: withPaymentRail(renderDestination(t.Destination), t.DestinationAccount), Description: t.Description}
	}
	if q := c.Quote; q != nil {
		body.Quote = &timelineQuote{ID: httpapi.NewID(q.ID), Sent: renderAmount(q.Pricing.Sent), Received: renderAmount(q.Pricing.Received),
			Fees: minor(q.Pricing.Fees), ExchangeRate: httpapi.Decimal{Rate: q.Pricing.Rate}, ExpiresAt: httpapi.NewTime(q.ExpiresAt)}
	}
	if c.Assignment != nil {
		assigned := renderUnmatchedFunds(*c.Assignment)
		body.Assignment = &assigned
	}
	if c.RailReply != nil {
		body.Rail = renderRailReply(*c.RailReply)
	}
	if c.Posting != nil {
		posting := renderPosting(*c.Posting)
		body.Posting = &posting
	}
	if c.Delivery != nil {
		body.Event = &timelineWebhookEvent{httpapi.NewID(c.Delivery.ID), c.Delivery.Name, deliveryStatus(c.Delivery.Status)}
	}
	if c.Attempt != nil {
		attempt := renderAttempt(*c.Attempt)
		body.Attempt = &attempt
	}
	return body
}

func renderRailReply(a ports.RailReply) *railReplyBody {
	return &railReplyBody{Call: string(a.Call), Verdict: string(a.Verdict), Reason: string(a.Reason), Accepted: a.Accepted, RetryAt: optionalTime(a.RetryAt)}
}

func registerTimeline(a *httpapi.API, f Accounting) {
	type one struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"The transaction."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getTransactionTimeline", Path: "/transactions/{transactionId}/timeline", Tag: tagLedger, Summary: "Get the story of a transaction", Permission: platform.View,
		Description: "Everything that happened to one payment, in order: who asked for it, its price, what the rails answered, each posting with its entries, " +
			"each state that was told and every attempt to tell it.",
		Errors: []fault.Code{fault.TransactionNotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *one) (accounting.Timeline, error) {
		return f.Timeline(ctx, call.Principal.Platform, in.TransactionID.Value)
	}, renderTimeline)
}
