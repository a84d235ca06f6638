package api

import (
	"context"
	"encoding/hex"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

type timelineBody struct {
	Transaction transactionBody     `json:"transaction" doc:"Transaction with its current status."`
	Data        []timelineEventBody `json:"data" doc:"Events, oldest first."`
	TraceID     string              `json:"traceId,omitempty" doc:"Id of the trace in which the service has recorded what it did for the payment: that of the request that executed it, or until then that of its quote. Absent if nothing was traced." example:"4bf92f3577b34da6a3ce929d0e0e4736"`
	Complete    bool                `json:"complete" doc:"Whether all events are included. False if there are more than 1000 events of one type."`
}

type timelineEventBody struct {
	At         httpapi.Time          `json:"at" doc:"Time of the event."`
	Type       timelineEventType     `json:"type" doc:"Type of the event. REQUESTED: the payment was requested. QUOTED: the quote was created. AGENT: an agent asked for the payment, or you approved or rejected it. AUTHORIZED: the owner of the embedded wallet that pays signed the quote. ASSIGNED: unmatched funds were assigned to the payment. RAIL_REPLIED: a payment rail replied. RECEIVABLE: the payer's bank took back what was collected, or what is owed for it changed. POSTED: a ledger posting was recorded. EVENT: a webhook event was created. WEBHOOK_ATTEMPT: a delivery of the webhook event was attempted."`
	Request    *timelineRequest      `json:"request,omitempty" doc:"REQUESTED only: the request."`
	Quote      *timelineQuote        `json:"quote,omitempty" doc:"QUOTED only: the quote."`
	Agent      *agentAttemptBody     `json:"agentAttempt,omitempty" doc:"AGENT only: the entry in the audit trail of the agent."`
	Assignment *unmatchedFundsBody   `json:"assignment,omitempty" doc:"ASSIGNED only: the assigned funds."`
	Rail       *railReplyBody        `json:"rail,omitempty" doc:"RAIL_REPLIED only: the reply."`
	Receivable *receivableChangeBody `json:"receivable,omitempty" doc:"RECEIVABLE only: the change of the receivable."`
	Wallet     *authorizationBody    `json:"authorization,omitempty" doc:"AUTHORIZED only: the evidence that the owner of the embedded wallet authorised the payment."`
	Posting    *PostingBody          `json:"posting,omitempty" doc:"POSTED only: the posting. A posting without transactionId belongs to another payment with the same reference."`
	Event      *timelineWebhookEvent `json:"event,omitempty" doc:"EVENT and WEBHOOK_ATTEMPT only: the webhook event."`
	Attempt    *deliveryAttemptBody  `json:"attempt,omitempty" doc:"WEBHOOK_ATTEMPT only: the attempt."`
}

type timelineEventType string

// Schema returns the enum of values.
func (timelineEventType) Schema(huma.Registry) *huma.Schema {
	return enumSchema(accounting.TimelineEventTypes)
}

type timelineRequest struct {
	CustomerID  string             `json:"customerId" doc:"Id of the customer, or of your platform." example:"Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Source      paymentSource      `json:"source" doc:"Source of the funds."`
	Destination paymentDestination `json:"destination" doc:"Destination of the funds."`
	Description string             `json:"description,omitempty" doc:"Your note."`
}

type timelineQuote struct {
	ID           httpapi.ID[ident.Quote] `json:"id" doc:"Id of the quote."`
	Sent         currencyAmount          `json:"sent" doc:"Total amount sent, including fees."`
	Received     currencyAmount          `json:"received" doc:"Amount received."`
	Fees         httpapi.Minor           `json:"fees" doc:"Fees included in the amount sent, in the smallest unit of its currency."`
	ExchangeRate httpapi.Decimal         `json:"exchangeRate" doc:"Exact rate: smallest units of the receiving currency per smallest unit of the sending currency."`
	ExpiresAt    httpapi.Time            `json:"expiresAt" doc:"Time the quote expires."`
}

// authorizationBody is everything that is needed to verify a payment of a wallet without this service.
type authorizationBody struct {
	AccountID   httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of the wallet."`
	Payload     string                            `json:"payload" doc:"Text that was signed, byte for byte: payloadToSign of the quote."`
	Signature   string                            `json:"signature" doc:"Header Service-Wallet-Signature, as it was received." example:"sandbox-valid-signature"`
	Form        string                            `json:"signatureForm" enum:"DER,STAMP,TEST_VALUE" doc:"Form of the signature. DER: base64 of an ECDSA signature (P-256, SHA-256). STAMP: base64url of a JSON object that contains it in hexadecimal digits. TEST_VALUE: the published value of the sandbox."`
	SessionID   httpapi.ID[ident.Session]         `json:"sessionId,omitzero" doc:"Id of the session that signed. Omitted for a test value without a session."`
	SessionKey  string                            `json:"sessionPublicKey,omitempty" doc:"Public key of the session on P-256, compressed, in hexadecimal digits. It verifies the signature over the payload."`
	Certificate *certificateBody                  `json:"sessionCertificate,omitempty" doc:"Statement of the wallet that it opened the session for that key."`
}

type certificateBody struct {
	Statement string `json:"statement" doc:"Statement, byte for byte. Its publicKey is that of the session."`
	Key       string `json:"walletPublicKey" doc:"Public key of the wallet on secp256k1, compressed, in hexadecimal digits. It also follows from the words of the wallet."`
	Signature string `json:"signature" doc:"Signature of the wallet over the statement: ECDSA with SHA-256, in DER, in hexadecimal digits."`
}

func renderAuthorization(a wallet.Authorization) *authorizationBody {
	body := &authorizationBody{AccountID: httpapi.NewID(a.Account), Payload: a.Payload, Signature: a.Signature, Form: string(a.Form())}
	if !a.Session.IsZero() {
		body.SessionID, body.SessionKey = httpapi.NewID(a.Session), hex.EncodeToString(a.SessionKey[:])
		body.Certificate = &certificateBody{Statement: a.Certificate.Statement, Key: hex.EncodeToString(a.Certificate.Key[:]),
			Signature: hex.EncodeToString(a.Certificate.Signature)}
	}
	return body
}

type railReplyBody struct {
	Call     string        `json:"call" enum:"DELIVER,COLLECT,REFUND,SEND_BACK,STATUS,COLLECTION_STATUS" doc:"Call to the rail. STATUS: query whether a delivered payment was returned. COLLECTION_STATUS: query whether a collection was taken back."`
	Verdict  string        `json:"verdict" enum:"DONE,WAITING,REFUSED,CANCELLED,RETURNED,UNKNOWN" doc:"Result of the call. UNKNOWN: the rail could not be reached."`
	Reason   string        `json:"reason,omitempty" doc:"Reason of the refusal." example:"COUNTERPARTY_POST_TX_FAILED"`
	Accepted bool          `json:"accepted,omitempty" doc:"Whether the rail had accepted the payment."`
	RetryAt  *httpapi.Time `json:"retryAt,omitempty" doc:"Time of the next call."`
	// What the partner itself has said.
	PartnerID   string        `json:"partnerId,omitempty" doc:"The partner's id of the payment, as its statements name it." example:"20260314021000021000042"`
	PartnerCode string        `json:"partnerCode,omitempty" doc:"The partner's reason, such as AC04 (ISO 20022) or R01 (Nacha)." example:"AC04"`
	PartnerText string        `json:"partnerText,omitempty" doc:"The partner's reason in its own words, or why the service has not called it." example:"Closed account number"`
	ReturnedAt  *httpapi.Time `json:"returnedAt,omitempty" doc:"RETURNED only: when the partner took the money back."`
	ExpectedAt  *httpapi.Time `json:"expectedAt,omitempty" doc:"WAITING only: when the partner expects to settle the payment."`
}

type timelineWebhookEvent struct {
	WebhookID httpapi.ID[ident.Webhook] `json:"webhookId" doc:"Id of the event."`
	Event     string                    `json:"event" doc:"Name of the event." example:"OUTGOING_PAYMENT.COMPLETED"`
	Status    deliveryStatus            `json:"status" doc:"Current status of the delivery."`
}

func renderTimeline(s accounting.Timeline) timelineBody {
	body := timelineBody{Transaction: renderTransaction(s.Transaction), Data: make([]timelineEventBody, len(s.Events)),
		TraceID: s.Transaction.Trace.ID(), Complete: s.Complete}
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
			Destination: withPaymentRail(renderDestination(t.Destination), t.DestinationRail), Description: t.Description}
	}
	if q := c.Quote; q != nil {
		body.Quote = &timelineQuote{ID: httpapi.NewID(q.ID), Sent: renderAmount(q.Pricing.Sent),
			Received: renderAmount(q.Pricing.ToReceiver(q.UMA)),
			Fees:     minor(q.Pricing.Fees), ExchangeRate: httpapi.Decimal{Rate: q.Pricing.Rate}, ExpiresAt: httpapi.NewTime(q.ExpiresAt)}
	}
	if c.AgentAttempt != nil {
		attempt := renderAgentAttempt(*c.AgentAttempt)
		body.Agent = &attempt
	}
	if c.Assignment != nil {
		assigned := renderUnmatchedFunds(*c.Assignment)
		body.Assignment = &assigned
	}
	if c.Authorization != nil {
		body.Wallet = renderAuthorization(*c.Authorization)
	}
	if c.RailReply != nil {
		body.Rail = renderRailReply(*c.RailReply)
	}
	if c.Receivable != nil {
		change := renderReceivableChange(*c.Receivable)
		body.Receivable = &change
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
	return &railReplyBody{Call: string(a.Call), Verdict: string(a.Verdict), Reason: string(a.Reason), Accepted: a.Accepted,
		RetryAt:   optionalTime(a.RetryAt),
		PartnerID: a.PartnerID, PartnerCode: a.Code, PartnerText: a.Text, ReturnedAt: optionalTime(a.ReturnedAt),
		ExpectedAt: optionalTime(a.ExpectedAt)}
}

func registerTimeline(a *httpapi.API, service Accounting) {
	type getParams struct {
		httpapi.ReportFormat
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getTransactionTimeline", Path: "/transactions/{transactionId}/timeline", Tag: tagLedger,
		Summary: "Get the timeline of a transaction", Permission: platform.View,
		Description: "Returns everything that happened to a payment, in order: the request, the quote, what an agent asked for and you " +
			"approved, the authorization by the owner of an embedded wallet, the replies of payment rails, ledger postings, " +
			"webhook events and delivery attempts. With format=csv, one line per event, or per entry of a posting, with what is most important of " +
			"each.",
		Errors: []fault.Code{fault.TransactionNotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (accounting.Timeline, error) {
		return service.Timeline(ctx, call.Principal.Platform, in.TransactionID.Value)
	}, renderTimeline, accounting.Timeline.Table)
}
