package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/sandbox"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// Sandbox holds the use cases of the sandbox operations.
type Sandbox interface {
	Send(ctx context.Context, who platform.Principal, in sandbox.SendRequest, claim *ports.IdempotentRequest) (transaction.Transaction, error)
}

type sandboxSendRequest struct {
	Reference      string                  `json:"reference,omitempty" maxLength:"140" doc:"Reference of a quote's payment instructions or of an internal account's funding instructions (FUND-…). Required unless quoteId is given." example:"4T9K2M7PXQ3A"`
	QuoteID        httpapi.ID[ident.Quote] `json:"quoteId,omitzero" doc:"Id of the quote to pay. Required unless reference is given."`
	CurrencyCode   string                  `json:"currencyCode" pattern:"^[A-Z0-9]{3,5}$" patternDescription:"a currency code in upper case" doc:"Currency of the payment: the sending currency of the quote, or the currency of the account." example:"USD"`
	CurrencyAmount *httpapi.Minor          `json:"currencyAmount,omitempty" minimum:"1" maximum:"9000000000000000" doc:"Amount of the payment, in the smallest unit. Required for an account. Defaults to the exact amount of the quote; send another amount to test an incorrect payment." example:"10050"`
}

func registerSandbox(a *httpapi.API, service Sandbox) {
	type sendInput struct{ Body sandboxSendRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxSend", Path: "/sandbox/send", Tag: tagSandbox, Summary: "Simulate a payment", Permission: platform.Transact, SandboxOnly: true,
		Description: "Simulates a bank payment that funds a just-in-time quote, or an internal account by its reference, " +
			"and returns the transaction. " +
			"A wrong amount fails the transaction (`FUNDING_AMOUNT_MISMATCH`) and is refunded. A late payment is refunded with the reason `TIMEOUT`. A second payment is returned. " +
			"An unknown reference returns 404; if an amount is given, the money is kept as unmatched funds, as in production. " +
			"So is a payment that an account cannot accept because its currency differs, it is not active, or its balance would exceed 9000000000000000.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.ReferenceNotFound, fault.InvalidCurrency, fault.AmountOutOfRange, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *sendInput) (transaction.Transaction, error) {
		payment := sandbox.SendRequest{Reference: in.Body.Reference, Quote: in.Body.QuoteID.Value, Currency: money.Currency(in.Body.CurrencyCode)}
		if in.Body.CurrencyAmount != nil {
			amount := int64(*in.Body.CurrencyAmount)
			payment.Amount = &amount
		}
		return service.Send(ctx, call.Principal, payment, call.IdempotentRequest)
	}, renderTransaction)
}
