package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
)

type transferOutRequest struct {
	Source           internalAccountReference `json:"source" doc:"Source of the funds."`
	Destination      transferOutDestination   `json:"destination" doc:"Destination of the funds."`
	Amount           httpapi.Minor            `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"Amount, in the smallest unit of the currency." example:"10000"`
	RemittanceInfo   string                   `json:"remittanceInformation,omitempty" maxLength:"80" doc:"What the beneficiary reads about the payment, on the rails that carry a text." example:"Invoice 2026-0117"`
	PurposeOfPayment string                   `json:"purposeOfPayment,omitempty" enum:"GIFT,SELF,GOODS_OR_SERVICES,EDUCATION,HEALTH_OR_MEDICAL,REAL_ESTATE_PURCHASE,TAX_PAYMENT,LOAN_PAYMENT,UTILITY_BILL,DONATION,TRAVEL,FAMILY_SUPPORT,SALARY_PAYMENT,OTHER" doc:"Purpose of the payment, for partners that ask for it."`
}

// transferOutDestination is an external account, with the rail to reach it.
type transferOutDestination struct {
	AccountID   httpapi.ID[ident.ExternalAccount] `json:"accountId" doc:"Id of the external account, in the currency of the source."`
	PaymentRail string                            `json:"paymentRail,omitempty" doc:"Payment rail. Defaults to the fastest rail of the account that supports the amount." example:"ACH"`
}

type transferInRequest struct {
	Source      externalAccountReference `json:"source" doc:"Source of the funds."`
	Destination internalAccountReference `json:"destination" doc:"Destination of the funds."`
	Amount      httpapi.Minor            `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"Amount, in the smallest unit of the currency of both accounts." example:"12550"`
}

func (r transferOutRequest) transfer(p ident.Platform) transaction.TransferOut {
	return transaction.TransferOut{Platform: p, From: r.Source.AccountID.Value, To: r.Destination.AccountID.Value,
		Amount: int64(r.Amount), Rail: corridor.RailNamed(r.Destination.PaymentRail), Remittance: r.RemittanceInfo, Purpose: r.PurposeOfPayment}
}

func (r transferInRequest) transfer(p ident.Platform) transaction.TransferIn {
	return transaction.TransferIn{Platform: p, From: r.Source.AccountID.Value, To: r.Destination.AccountID.Value, Amount: int64(r.Amount)}
}

type internalAccountReference struct {
	AccountID httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of the internal account."`
}

type externalAccountReference struct {
	AccountID httpapi.ID[ident.ExternalAccount] `json:"accountId" doc:"Id of the external account."`
}

func registerTransfers(a *httpapi.API, service Payments) {
	type createInput struct{ Body transferOutRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createTransferOut", Path: "/transfer-out", Tag: tagTransfers, Summary: "Create a transfer out", Status: 201,
		Permission: platform.Transact,
		Description: "Sends money from an internal account to an external account in the same currency, without a fee. The internal account is " +
			"debited at once; " +
			"the transaction is `PENDING` until the rail accepts the payment, then `PROCESSING`, then `COMPLETED`. A payment that cannot be " +
			"delivered is refunded to the " +
			"internal account. A customer's account can pay only accounts of that customer or of your platform; an account of your platform can " +
			"pay any account. A customer who needs strong customer authentication cannot authorise a transfer: unless an exemption applies, it is " +
			"409, and a quote from the account makes the payment.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.ExternalAccountNotFound, fault.UserNotReady, fault.CustomerDeleted,
			fault.InvalidCurrency, fault.ExternalAccountVerificationRequired,
			fault.AmountOutOfRange, fault.InsufficientBalance, fault.TransactionSizeLimitExceeded,
			fault.DailyVolumeLimitExceeded, fault.Conflict, fault.SCASessionRequired, fault.AccountLocked, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (transaction.Transaction, error) {
		return service.TransferOut(ctx, in.Body.transfer(call.Principal.Platform), call.IdempotentRequest)
	}, renderTransaction)
}

func registerTransferIn(a *httpapi.API, service IncomingPayments) {
	type createInput struct{ Body transferInRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createTransferIn", Path: "/transfer-in", Tag: tagTransfers, Summary: "Create a transfer in", Status: 201,
		Permission: platform.Transact,
		Description: "Debits an external account and credits an internal account of the same owner and currency. The transaction is `PENDING` " +
			"until the funds " +
			"arrive, then `COMPLETED` or `FAILED`. Only US bank accounts can be debited, by ACH. " +
			"To fund an internal account in another way, use its `fundingPaymentInstructions`.",
		Errors: []fault.Code{fault.ExternalAccountNotFound, fault.InternalAccountNotFound, fault.InvalidCurrency, fault.UserNotReady,
			fault.AmountOutOfRange, fault.CustomerDeleted, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (transaction.Transaction, error) {
		return service.TransferIn(ctx, in.Body.transfer(call.Principal.Platform), call.IdempotentRequest)
	}, renderTransaction)
}
