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

// Sandbox are the use cases behind the sandbox operations.
type Sandbox interface {
	Send(ctx context.Context, who platform.Principal, in sandbox.SendRequest, claim *ports.IdempotentRequest) (transaction.Transaction, error)
}

type sandboxSendRequest struct {
	Reference      string                  `json:"reference,omitempty" maxLength:"140" doc:"The reference of a quote's payment instructions, or of an internal account's funding instructions (FUND-…). Give this or quoteId." example:"4T9K2M7PXQ3A"`
	QuoteID        httpapi.ID[ident.Quote] `json:"quoteId,omitzero" doc:"The quote to pay, instead of its reference."`
	CurrencyCode   string                  `json:"currencyCode" pattern:"^[A-Z0-9]{3,5}$" patternDescription:"a currency code in upper case" doc:"The currency paid; it must be the one the quote is paid in, or the account holds." example:"USD"`
	CurrencyAmount *httpapi.Minor          `json:"currencyAmount,omitempty" minimum:"1" maximum:"9000000000000000" doc:"The amount paid, in the smallest unit. Left out: exactly what the quote asks for; an account needs it. Another amount shows what happens to a wrong payment." example:"10050"`
}

func registerSandbox(a *httpapi.API, service Sandbox) {
	type send struct{ Body sandboxSendRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxSend", Path: "/sandbox/send", Tag: tagSandbox, Summary: "Pay a quote or into an account", Permission: platform.Transact, SandboxOnly: true,
		Description: "Plays the payer of a just-in-time quote, or somebody who pays into an internal account by its static reference, as the bank would: " +
			"the answer is the transaction right after the payment arrived. " +
			"A wrong amount fails it (`FUNDING_AMOUNT_MISMATCH`) and is refunded; a late one is refunded with reason `TIMEOUT`; a second one is sent back. " +
			"A payment with a reference nobody knows is answered 404, and when it names an amount the money is kept as unmatched, as it would be in production; " +
			"so is what an account cannot take, because it is of another currency, is not in use, or would hold more than 9000000000000000.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.ReferenceNotFound, fault.InvalidCurrency, fault.AmountOutOfRange, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *send) (transaction.Transaction, error) {
		paid := sandbox.SendRequest{Reference: in.Body.Reference, Quote: in.Body.QuoteID.Value, Currency: money.Currency(in.Body.CurrencyCode)}
		if in.Body.CurrencyAmount != nil {
			amount := int64(*in.Body.CurrencyAmount)
			paid.Amount = &amount
		}
		return service.Send(ctx, call.Principal, paid, call.IdempotentRequest)
	}, renderTransaction)
}
