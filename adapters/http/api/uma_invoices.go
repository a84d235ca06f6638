package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/receivers"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// UMAInvoices holds the use cases of UMA invoices.
type UMAInvoices interface {
	CreateUMAInvoice(ctx context.Context, p ident.Platform, r receivers.UMAInvoiceRequest, idempotent *ports.IdempotentRequest) (
		receivers.UMAInvoice, error)
	GetUMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (receivers.UMAInvoice, error)
	ListUMAInvoices(ctx context.Context, p ident.Platform, f ports.UMAInvoiceFilter) (ports.Page[receivers.UMAInvoice], error)
}

type umaInvoiceRequest struct {
	CustomerID       httpapi.ID[ident.Customer] `json:"customerId" doc:"Id of the customer who is paid."`
	Amount           httpapi.Minor              `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"Amount that the customer receives, in the smallest unit of the currency." example:"2500"`
	Currency         httpapi.Currency           `json:"currency" doc:"Currency that the customer receives." example:"USD"`
	SenderUMAAddress string                     `json:"senderUmaAddress,omitempty" maxLength:"320" doc:"UMA address of who is asked to pay. If that is at another provider, the invoice is sent there. Omit it if anybody may pay." example:"$bo@bank.example"`
	ExpiresAt        *httpapi.Time              `json:"expiresAt,omitempty" doc:"Time from which the invoice can no longer be paid, from a minute to 30 days ahead. Default: a day."`
}

type umaInvoiceBody struct {
	ID                 httpapi.ID[ident.UMAInvoice]  `json:"id" doc:"Id of the invoice."`
	Invoice            string                        `json:"invoice" doc:"The invoice, for a link (uma://…) or a QR code, and to look it up: GET /receiver/uma/{invoice}." example:"uma1qqxzgen0daqxyctj9e3k7mgpy33nwces"`
	Status             string                        `json:"status" enum:"PENDING,PROCESSING,PAID,EXPIRED" doc:"Status. PENDING: it can be paid. PROCESSING: a quote or a payment of it is under way. PAID: it was paid, which is possible once. EXPIRED: it can no longer be paid."`
	ReceiverUMAAddress string                        `json:"receiverUmaAddress" doc:"UMA address of who is paid." example:"$ana@uma.example.com"`
	SenderUMAAddress   string                        `json:"senderUmaAddress,omitempty" doc:"UMA address of who is asked to pay. Omitted if anybody may." example:"$bo@bank.example"`
	ReceiverCustomerID httpapi.ID[ident.Customer]    `json:"receiverCustomerId,omitzero" doc:"Id of your customer who is paid. Omitted if another provider has issued the invoice."`
	SenderCustomerID   httpapi.ID[ident.Customer]    `json:"senderCustomerId,omitzero" doc:"Id of your customer who is asked to pay, or has a quote."`
	Amount             currencyAmount                `json:"amount" doc:"Amount that is received."`
	TransactionID      httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"Id of its last payment."`
	Delivery           *umaInvoiceDelivery           `json:"delivery,omitempty" doc:"What became of an invoice of yours that is sent to the provider of its sender. Omitted for others."`
	ExpiresAt          httpapi.Time                  `json:"expiresAt" doc:"Time from which it can no longer be paid."`
	CreatedAt          httpapi.Time                  `json:"createdAt" doc:"Time the invoice was issued or arrived here."`
}

type umaInvoiceDelivery struct {
	Status string `json:"status" enum:"SENDING,DELIVERED,REFUSED" doc:"Status. SENDING: it is sent until that provider has answered. DELIVERED: that provider asks its customer to pay. REFUSED: that provider does not take it, or was not reached before the invoice expired."`
	Reason string `json:"reason,omitempty" doc:"Why it was refused." example:"the answer has the status 404 USER_NOT_FOUND"`
}

func renderUMAInvoice(i receivers.UMAInvoice) umaInvoiceBody {
	var delivery *umaInvoiceDelivery
	if i.Delivery.Status != "" {
		delivery = &umaInvoiceDelivery{string(i.Delivery.Status), i.Delivery.Reason}
	}
	return umaInvoiceBody{ID: httpapi.NewID(i.KeptInvoice.ID), Invoice: i.Text, Status: string(i.Status), ReceiverUMAAddress: i.Receiver,
		Delivery:         delivery,
		SenderUMAAddress: i.Sender, ReceiverCustomerID: httpapi.NewID(i.To), SenderCustomerID: httpapi.NewID(i.From),
		Amount: renderAmount(money.Amount{Minor: i.Amount, Currency: i.Currency}), TransactionID: httpapi.NewID(i.Payment),
		ExpiresAt: httpapi.NewTime(i.ExpiresAt), CreatedAt: httpapi.NewTime(i.CreatedAt)}
}

func registerUMAInvoices(a *httpapi.API, service UMAInvoices) {
	type createInput struct{ Body umaInvoiceRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createUmaInvoice", Path: "/uma-invoices", Tag: tagReceivers, Summary: "Create a UMA invoice", Permission: platform.Transact,
		Status: 201,
		Description: "Creates a signed request for a payment to a customer, which anybody with a UMA address can pay once, or only the sender " +
			"that it names. Give the payer the `invoice`, as a link or a QR code. If it names a sender at another provider, it is sent there, and " +
			"that provider asks the sender: `delivery` says whether it does. The payment is an incoming one, which needs your approval as any " +
			"other.\n\nIn the sandbox, customers of your platform can pay it.",
		Errors: []fault.Code{fault.UserNotFound, fault.UserNotReady, fault.CustomerDeleted, fault.InvalidCurrency, fault.AmountOutOfRange,
			fault.SelfPayment, fault.InvalidReceiver, fault.QuoteRequestFailed, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (receivers.UMAInvoice, error) {
		r := receivers.UMAInvoiceRequest{To: in.Body.CustomerID.Value, Amount: int64(in.Body.Amount), Currency: money.Currency(in.Body.Currency),
			Sender: in.Body.SenderUMAAddress}
		if in.Body.ExpiresAt != nil {
			r.ExpiresAt = in.Body.ExpiresAt.Time
		}
		return service.CreateUMAInvoice(ctx, call.Principal.Platform, r, call.IdempotentRequest)
	}, renderUMAInvoice)

	type listParams struct {
		httpapi.Paging
		httpapi.Sorting
		Receiver httpapi.ID[ident.Customer] `query:"receiverCustomerId" doc:"Id of your customer who is paid."`
		Sender   httpapi.ID[ident.Customer] `query:"senderCustomerId" doc:"Id of your customer who is asked to pay, or has a quote."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listUmaInvoices", Path: "/uma-invoices", Tag: tagReceivers, Summary: "List UMA invoices", Permission: platform.View,
		Description: "Returns the invoices that you have created, those that other providers ask your customers to pay, and those that were " +
			"looked up, newest first by default. They are deleted 90 days after their expiry.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[receivers.UMAInvoice], error) {
		return service.ListUMAInvoices(ctx, call.Principal.Platform, ports.UMAInvoiceFilter{Paging: page, To: in.Receiver.Value,
			From: in.Sender.Value})
	}, renderUMAInvoice, func(i receivers.UMAInvoice) ident.UMAInvoice { return i.KeptInvoice.ID })

	type getParams struct {
		InvoiceID httpapi.ID[ident.UMAInvoice] `path:"umaInvoiceId" doc:"Id of the invoice."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getUmaInvoice", Path: "/uma-invoices/{umaInvoiceId}", Tag: tagReceivers, Summary: "Get a UMA invoice", Permission: platform.View,
		Description: "Returns an invoice.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (receivers.UMAInvoice, error) {
		return service.GetUMAInvoice(ctx, call.Principal.Platform, in.InvoiceID.Value)
	}, renderUMAInvoice)
}
