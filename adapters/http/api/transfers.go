package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/transfer"
)

type transferOutRequest struct {
	Source struct {
		AccountID httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"The internal account that pays."`
	} `json:"source" doc:"Where the money comes from."`
	Destination struct {
		AccountID   httpapi.ID[ident.ExternalAccount] `json:"accountId" doc:"The external account that receives, in the same currency."`
		PaymentRail string                            `json:"paymentRail,omitempty" doc:"The rail to pay out by. May be left out: the quickest one of the account that takes the amount." example:"ACH"`
	} `json:"destination" doc:"Where the money goes to."`
	Amount httpapi.Minor `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"How much, in the smallest unit of the currency." example:"10000"`
}

func registerTransfers(a *httpapi.API, payments Payments) {
	type create struct{ Body transferOutRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createTransferOut", Path: "/transfer-out", Tag: tagTransfers, Summary: "Transfer money out", Status: 201, Permission: platform.Transact,
		Description: "Sends money from an internal account to an external account in the same currency, without a fee. It leaves the internal account at once; " +
			"the transaction is `PENDING` until the rail has taken it on, then `PROCESSING`, then `COMPLETED`. What cannot be delivered is refunded to the " +
			"internal account. A customer pays to accounts of their own or of your platform; an account of your platform pays to any.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.ExternalAccountNotFound, fault.UserNotReady, fault.InvalidCurrency,
			fault.AmountOutOfRange, fault.InsufficientBalance, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *create) (transaction.Transaction, error) {
		return payments.TransferOut(ctx, transfer.Out{
			Platform: call.Principal.Platform, From: in.Body.Source.AccountID.Value, To: in.Body.Destination.AccountID.Value,
			Amount: int64(in.Body.Amount), Rail: corridor.Rail(in.Body.Destination.PaymentRail),
		}, call.IdempotentRequest)
	}, renderTransaction)
}
