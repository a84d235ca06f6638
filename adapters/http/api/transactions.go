package api

import (
	"context"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
)

// Payments are the use cases behind the transaction operations.
type Payments interface {
	Get(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error)
	List(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
	// Execute runs a quote that an account pays.
	Execute(ctx context.Context, p ident.Platform, id ident.Quote, claim *ports.IdempotentRequest) (quote.WithStatus, error)
	TransferOut(ctx context.Context, out transfer.Out, claim *ports.IdempotentRequest) (transaction.Transaction, error)
}

type transactionBody struct {
	ID                  httpapi.ID[ident.Transaction] `json:"id" doc:"The transaction."`
	Status              string                        `json:"status" enum:"PENDING,PROCESSING,COMPLETED,FAILED,EXPIRED" doc:"PENDING until funded; PROCESSING while on its way; then COMPLETED or FAILED. EXPIRED when nobody paid in time. COMPLETED may still turn FAILED, when the beneficiary's bank returns the money."`
	Type                string                        `json:"type" enum:"OUTGOING,INCOMING" doc:"OUTGOING: the customer sends. INCOMING: the customer receives."`
	Source              paymentParty                  `json:"source" doc:"Where the money comes from."`
	Destination         paymentParty                  `json:"destination" doc:"Where the money goes to."`
	SentAmount          *currencyAmount               `json:"sentAmount,omitempty" doc:"All that is paid, fees included. OUTGOING only."`
	ReceivedAmount      currencyAmount                `json:"receivedAmount" doc:"What arrives."`
	CustomerID          string                        `json:"customerId" doc:"Whose transaction it is: a customer's, or with your platform's id, your own." example:"Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	PlatformCustomerID  string                        `json:"platformCustomerId" doc:"Your own id of the customer; empty for a transaction of your platform."`
	SettledAt           *httpapi.Time                 `json:"settledAt" nullable:"true" doc:"When the beneficiary had the money; null before."`
	CreatedAt           httpapi.Time                  `json:"createdAt" doc:"When it was made."`
	UpdatedAt           httpapi.Time                  `json:"updatedAt" doc:"When it last changed."`
	Description         string                        `json:"description,omitempty" doc:"Your note."`
	ExchangeRate        *httpapi.Decimal              `json:"exchangeRate,omitempty" doc:"Smallest receiving units for one smallest sending unit, with all its digits. OUTGOING only."`
	Fees                *httpapi.Minor                `json:"fees,omitempty" doc:"The part of sentAmount that is fees. OUTGOING only."`
	QuoteID             httpapi.ID[ident.Quote]       `json:"quoteId,omitzero" doc:"The quote it came from."`
	PaymentInstructions []paymentInstructions         `json:"paymentInstructions,omitempty" doc:"The ways to pay it, for just-in-time funding."`
	Refund              *refundBody                   `json:"refund,omitempty" doc:"The money on its way back to the payer, when it could not be delivered."`
	RateDetails         *rateDetails                  `json:"rateDetails,omitempty" doc:"What rate and fees are made of. Left out of money that came in as it is."`
	Reconciliation      *reconciliationInstructions   `json:"reconciliationInstructions,omitempty" doc:"How to find the payment in your own books. INCOMING only."`
	Counterparty        map[string]string             `json:"counterpartyInformation,omitempty" doc:"What is known of the other side, by the names of the fields your configuration asks for." example:"{\"FULL_NAME\": \"Ana Silva\"}"`
	SenderUMA           string                        `json:"senderUmaAddress,omitempty" doc:"Who sent it, for a payment between people." example:"$ana@bank.example"`
	ReceiverUMA         string                        `json:"receiverUmaAddress,omitempty" doc:"Who receives it, for a payment between people." example:"$bo@bank.example"`
	RequestedInfo       []customerInfoField           `json:"requestedReceiverCustomerInfoFields,omitempty" doc:"Only in the webhook that asks whether you take the payment: the facts about the receiver that the sending side wants and the service does not have."`
	FailureReason       string                        `json:"failureReason,omitempty" enum:"QUOTE_EXPIRED,QUOTE_EXECUTION_FAILED,LIGHTNING_PAYMENT_FAILED,FUNDING_AMOUNT_MISMATCH,COUNTERPARTY_POST_TX_FAILED,LNURLP_FAILED,PAY_REQUEST_FAILED,PAYMENT_APPROVAL_WEBHOOK_ERROR,PAYMENT_APPROVAL_TIMED_OUT,OFFRAMP_FAILED,MISSING_MANDATORY_PAYEE_DATA" doc:"Why it failed. PAY_REQUEST_FAILED: the platform did not take an incoming payment."`
}

type refundBody struct {
	Reference   string         `json:"reference" doc:"What the payer sees." example:"4T9K2M7PXQ3A-REFUND"`
	Amount      currencyAmount `json:"amount" doc:"What goes back: all that came, fees included."`
	InitiatedAt httpapi.Time   `json:"initiatedAt" doc:"When it was owed."`
	SettledAt   *httpapi.Time  `json:"settledAt,omitempty" doc:"When the payer had it."`
	Status      string         `json:"status" enum:"PENDING,COMPLETED,FAILED" doc:"FAILED: it could not be sent back, and our people look after it."`
	Reason      string         `json:"reason" enum:"TRANSACTION_FAILED,USER_CANCELLATION,TIMEOUT" doc:"Why it goes back."`
}

type reconciliationInstructions struct {
	Reference string `json:"reference" doc:"Stands in the memo of the payment." example:"4T9K2M7PXQ3A"`
}

type customerInfoField struct {
	Name      string `json:"name" doc:"The field." example:"FULL_NAME"`
	Mandatory bool   `json:"mandatory" doc:"Whether the payment fails without it."`
}

func renderInfoFields(fields []transaction.InfoField) []customerInfoField {
	var bodies []customerInfoField
	for _, f := range fields {
		bodies = append(bodies, customerInfoField{f.Name, f.Mandatory})
	}
	return bodies
}

func renderTransaction(t transaction.Transaction) transactionBody {
	return newTransactionBody(t, false)
}

func newTransactionBody(t transaction.Transaction, webhook bool) transactionBody {
	body := transactionBody{
		ID: httpapi.NewID(t.ID), Status: string(t.State.Status), Type: string(t.Type),
		Source: renderSource(t.Source), Destination: withPaymentRail(renderDestination(t.Destination), t.DestinationAccount), ReceivedAmount: renderAmount(t.Pricing.Received),
		CustomerID: ownerID(t.Platform, t.Customer), PlatformCustomerID: t.PlatformCustomerID,
		SettledAt: optionalTime(t.SettledAt), CreatedAt: httpapi.NewTime(t.CreatedAt), UpdatedAt: httpapi.NewTime(t.UpdatedAt),
		Description: t.Description, QuoteID: httpapi.NewID(t.Quote), PaymentInstructions: renderInstructions(t.Instructions, webhook),
		Counterparty: t.Counterparty, SenderUMA: t.Source.UMA, ReceiverUMA: t.Destination.UMA, FailureReason: string(t.State.Reason),
	}
	if t.Type == transaction.Incoming {
		body.Reconciliation = &reconciliationInstructions{t.Reference}
		return body
	}
	sent, fees, details := renderAmount(t.Pricing.Sent), minor(t.Pricing.Fees), renderRateDetails(t.Pricing)
	body.SentAmount, body.ExchangeRate, body.Fees, body.RateDetails = &sent, &httpapi.Decimal{Rate: t.Pricing.Rate}, &fees, &details
	if t.Refund != nil {
		body.Refund = &refundBody{Reference: t.Refund.Reference, Amount: renderAmount(t.Refund.Amount),
			InitiatedAt: httpapi.NewTime(t.Refund.InitiatedAt), SettledAt: optionalTime(t.Refund.SettledAt),
			Status: string(t.State.Refund), Reason: string(t.Refund.Reason)}
	}
	return body
}

// ownerID names whose something is: a customer's or, without one, the platform's.
func ownerID(p ident.Platform, c ident.Customer) string {
	if c.IsZero() {
		return p.String()
	}
	return c.String()
}

func optionalTime(t time.Time) *httpapi.Time {
	if t.IsZero() {
		return nil
	}
	written := httpapi.NewTime(t)
	return &written
}

func registerTransactions(a *httpapi.API, payments Payments) {
	type one struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"The transaction."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getTransactionById", Path: "/transactions/{transactionId}", Tag: tagTransactions, Summary: "Get a transaction", Permission: platform.View,
		Description: "Where a payment stands.", Errors: []fault.Code{fault.TransactionNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (transaction.Transaction, error) {
		return payments.Get(ctx, call.Principal.Platform, in.TransactionID.Value)
	}, renderTransaction)

	httpapi.Get(a, httpapi.Operation{
		ID: "listTransactions", Path: "/transactions", Tag: tagTransactions, Summary: "List transactions", Permission: platform.View,
		Description: "The newest first, unless asked otherwise. Filters add up; dates are inclusive at both ends.",
	}, func(ctx context.Context, call httpapi.Call, in *listTransactionsParams) (ports.Page[transaction.Transaction], error) {
		filter, err := in.filter(call.Principal.Platform)
		if err != nil {
			return ports.Page[transaction.Transaction]{}, err
		}
		return payments.List(ctx, call.Principal.Platform, filter)
	}, func(p ports.Page[transaction.Transaction]) httpapi.Page[transactionBody] {
		return renderPage(p, renderTransaction, func(t transaction.Transaction) string { return t.ID.String() })
	})
}

type listTransactionsParams struct {
	httpapi.Paging
	httpapi.Sorting
	CustomerID                string       `query:"customerId" doc:"Of one customer, or with your platform's id, your own."`
	PlatformCustomerID        string       `query:"platformCustomerId" doc:"Of the customer with this id of yours."`
	AccountIdentifier         string       `query:"accountIdentifier" doc:"From or to this account id or UMA address."`
	SenderAccountIdentifier   string       `query:"senderAccountIdentifier" doc:"From this account id or UMA address."`
	ReceiverAccountIdentifier string       `query:"receiverAccountIdentifier" doc:"To this account id or UMA address."`
	Status                    string       `query:"status" enum:"CREATED,PENDING,PROCESSING,COMPLETED,REJECTED,FAILED,REFUNDED,EXPIRED" doc:"In this status."`
	Type                      string       `query:"type" enum:"INCOMING,OUTGOING" doc:"Of this type."`
	Reference                 string       `query:"reference" doc:"With this payment reference."`
	StartDate                 httpapi.Time `query:"startDate" doc:"Made at this moment or later."`
	EndDate                   httpapi.Time `query:"endDate" doc:"Made at this moment or earlier."`
}

func (in *listTransactionsParams) filter(p ident.Platform) (ports.TransactionFilter, error) {
	after, err := httpapi.CursorID[ident.Transaction](in.Cursor)
	var of ident.Customer
	own := in.CustomerID == p.String()
	if in.CustomerID != "" && !own {
		var bad error
		if of, bad = ident.ParseCustomer(in.CustomerID); bad != nil {
			return ports.TransactionFilter{}, fault.Invalid(fault.Field{Field: "customerId", Message: "must be an id of the form Customer:<uuid>, or the id of your platform"})
		}
	}
	return ports.TransactionFilter{
		Paging:   ports.Paging{Limit: in.Limit, After: after.UUID(), Ascending: in.Ascending()},
		Customer: of, PlatformOwned: own, PlatformCustomerID: in.PlatformCustomerID,
		Account: in.AccountIdentifier, Sender: in.SenderAccountIdentifier, Receiver: in.ReceiverAccountIdentifier,
		Status: transaction.Status(in.Status), Type: transaction.Type(in.Type), Reference: in.Reference,
		Created: inclusiveInterval(in.StartDate, in.EndDate),
	}, err
}
