package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/platformfees"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// PlatformFees holds the use cases on the fees that a platform charges.
type PlatformFees interface {
	Balances(ctx context.Context, p ident.Platform) ([]platformfees.Balance, error)
	PayOut(ctx context.Context, p ident.Platform, c platformfees.PayOut, request *ports.IdempotentRequest) (platformfees.Paid, error)
}

type platformFeesBody struct {
	Data []platformFeesBalanceBody `json:"data" doc:"One line for each currency in which you have charged a fee."`
}

type platformFeesBalanceBody struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency of the fees: the sending currency of the payments." example:"USD"`
	Pending  httpapi.BigMinor `json:"pending" doc:"Charged for payments that are not completed yet: the balance of the ledger account platform/fees-pending, in the smallest unit."`
	Earned   httpapi.BigMinor `json:"earned" doc:"Charged for completed payments and not paid to you yet: the balance of the ledger account platform/fees, in the smallest unit. Below zero if payments were returned after their fees had been paid; later fees make up for it."`
}

func renderPlatformFees(balances []platformfees.Balance) platformFeesBody {
	body := platformFeesBody{Data: make([]platformFeesBalanceBody, len(balances))}
	for i, b := range balances {
		body.Data[i] = platformFeesBalanceBody{httpapi.Currency(b.Currency), httpapi.NewBigMinor(b.Pending), httpapi.NewBigMinor(b.Earned)}
	}
	return body
}

type platformFeesPayOutRequest struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency of the fees." example:"USD"`
	Amount   httpapi.Minor    `json:"amount,omitempty" minimum:"1" doc:"Amount in the smallest unit. Default: all that is earned." example:"2500"`
}

type platformFeesPayOutBody struct {
	Amount    currencyAmount                    `json:"amount" doc:"Amount that was paid."`
	AccountID httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of your platform's internal account that was credited."`
	PostingID httpapi.ID[ident.Posting]         `json:"postingId" doc:"Id of the posting."`
	PaidAt    httpapi.Time                      `json:"paidAt" doc:"Time of the payment."`
}

func renderPlatformFeesPaid(p platformfees.Paid) platformFeesPayOutBody {
	return platformFeesPayOutBody{renderAmount(p.Amount), httpapi.NewID(p.Account), postingID(p.Posting), httpapi.NewTime(p.At)}
}

func registerPlatformFees(a *httpapi.API, service PlatformFees) {
	httpapi.Get(a, httpapi.Operation{
		ID: "getPlatformFees", Path: "/platform/fees", Tag: tagInternal, Summary: "Get the fees that you have charged",
		Permission: platform.View,
		Description: "Returns what you have charged for payments, by `feeConfigs` of your configuration or `platformFeeOverride` of a " +
			"quote, and not been paid yet. The entries of each payment are those of the ledger accounts platform/fees-pending and platform/fees.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]platformfees.Balance, error) {
		return service.Balances(ctx, call.Principal.Platform)
	}, renderPlatformFees)

	type payInput struct{ Body platformFeesPayOutRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "payPlatformFees", Path: "/platform/fees/payouts", Tag: tagInternal, Summary: "Pay earned fees to your own balance",
		Status: 201, Permission: platform.Transact,
		Description: "Moves fees that you have earned to your platform's internal account in their currency, which is opened if you have none. " +
			"Pay them to your bank from there with POST /transfer-out.",
		Errors: []fault.Code{fault.InsufficientBalance},
	}, func(ctx context.Context, call httpapi.Call, in *payInput) (platformfees.Paid, error) {
		return service.PayOut(ctx, call.Principal.Platform, platformfees.PayOut{Currency: money.Currency(in.Body.Currency),
			Amount: int64(in.Body.Amount)}, call.IdempotentRequest)
	}, renderPlatformFeesPaid)
}
