package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// IncomingPayments holds the use cases of incoming payments.
type IncomingPayments interface {
	TransferIn(ctx context.Context, in transaction.TransferIn, idempotent *ports.IdempotentRequest) (transaction.Transaction, error)
	Approve(ctx context.Context, p ident.Platform, id ident.Transaction, receiver map[string]string, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	Reject(ctx context.Context, p ident.Platform, id ident.Transaction, reason string, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	Fund(ctx context.Context, p ident.Platform, to ident.InternalAccount, amount int64, idempotent *ports.IdempotentRequest) (
		payments.FundedAccount, error)
	SimulateUMAPayment(ctx context.Context, p ident.Platform, in payments.UMAPayment, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
}

type approvePaymentRequest struct {
	ReceiverCustomerInfo map[string]any `json:"receiverCustomerInfo,omitempty" doc:"Information about the receiver that the webhook requested, keyed by field name."`
}

type rejectPaymentRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Reason of the rejection." example:"The account is closed."`
}

func registerApprovals(a *httpapi.API, service IncomingPayments) {
	type approveInput struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
		Body          *approvePaymentRequest
	}
	decisionErrors := []fault.Code{fault.TransactionNotFound, fault.TransactionNotPendingPlatformApproval}
	httpapi.Post(a, httpapi.Operation{
		ID: "approvePendingPayment", Path: "/transactions/{transactionId}/approve", Tag: tagTransactions, Summary: "Approve an incoming payment",
		Permission: platform.Transact,
		Description: "Approves an incoming payment that your webhook endpoint answered with 202, within 5 seconds of that response. The " +
			"customer's account is credited.",
		Errors: append([]fault.Code{fault.UserNotReady, fault.CustomerDeleted}, decisionErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *approveInput) (transaction.Transaction, error) {
		var fields map[string]string
		if in.Body != nil {
			fields = payments.FieldValues(in.Body.ReceiverCustomerInfo)
		}
		return service.Approve(ctx, call.Principal.Platform, in.TransactionID.Value, fields, call.IdempotentRequest)
	}, renderTransaction)

	type rejectInput struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
		Body          *rejectPaymentRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "rejectPendingPayment", Path: "/transactions/{transactionId}/reject", Tag: tagTransactions, Summary: "Reject an incoming payment",
		Permission: platform.Transact,
		Description: "Rejects an incoming payment that your webhook endpoint answered with 202. The transaction becomes FAILED and nothing is " +
			"credited.",
		Errors: decisionErrors,
	}, func(ctx context.Context, call httpapi.Call, in *rejectInput) (transaction.Transaction, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return service.Reject(ctx, call.Principal.Platform, in.TransactionID.Value, reason, call.IdempotentRequest)
	}, renderTransaction)
}
