package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/receiving"
	"causeway/app/webhooks"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// IncomingPayments holds the use cases of incoming payments.
type IncomingPayments interface {
	TransferIn(ctx context.Context, who platform.Principal, t receiving.TransferInRequest, claim *ports.IdempotentRequest) (transaction.Transaction, error)
	Approve(ctx context.Context, who platform.Principal, id ident.Transaction, receiver map[string]string, claim *ports.IdempotentRequest) (transaction.Transaction, error)
	Reject(ctx context.Context, who platform.Principal, id ident.Transaction, reason string, claim *ports.IdempotentRequest) (transaction.Transaction, error)
	Fund(ctx context.Context, who platform.Principal, to ident.InternalAccount, amount int64, claim *ports.IdempotentRequest) (receiving.FundedAccount, error)
	Receive(ctx context.Context, who platform.Principal, in receiving.UMAPayment, claim *ports.IdempotentRequest) (transaction.Transaction, error)
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
		ID: "approvePendingPayment", Path: "/transactions/{transactionId}/approve", Tag: tagTransactions, Summary: "Approve an incoming payment", Permission: platform.Transact,
		Description: "Approves an incoming payment that your webhook endpoint answered with 202, within 5 seconds of that response. The customer's account is credited.",
		Errors:      decisionErrors,
	}, func(ctx context.Context, call httpapi.Call, in *approveInput) (transaction.Transaction, error) {
		var fields map[string]string
		if in.Body != nil {
			fields = receiving.FieldValues(in.Body.ReceiverCustomerInfo)
		}
		return service.Approve(ctx, call.Principal, in.TransactionID.Value, fields, call.IdempotentRequest)
	}, renderTransaction)

	type rejectInput struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
		Body          *rejectPaymentRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "rejectPendingPayment", Path: "/transactions/{transactionId}/reject", Tag: tagTransactions, Summary: "Reject an incoming payment", Permission: platform.Transact,
		Description: "Rejects an incoming payment that your webhook endpoint answered with 202. The transaction becomes FAILED and nothing is credited.",
		Errors:      decisionErrors,
	}, func(ctx context.Context, call httpapi.Call, in *rejectInput) (transaction.Transaction, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return service.Reject(ctx, call.Principal, in.TransactionID.Value, reason, call.IdempotentRequest)
	}, renderTransaction)
}

type sandboxUmaReceiveRequest struct {
	SenderUMAAddress        string                     `json:"senderUmaAddress" maxLength:"320" doc:"UMA address of the sender, at another provider." example:"$bo@bank.example"`
	ReceiverUMAAddress      string                     `json:"receiverUmaAddress,omitempty" maxLength:"320" doc:"UMA address of the receiving customer. Required unless customerId is given." example:"$ana@uma.example.com"`
	CustomerID              httpapi.ID[ident.Customer] `json:"customerId,omitzero" doc:"Id of the receiving customer. Required unless receiverUmaAddress is given."`
	ReceivingCurrencyCode   httpapi.Currency           `json:"receivingCurrencyCode" doc:"Currency that the customer receives." example:"USD"`
	ReceivingCurrencyAmount httpapi.Minor              `json:"receivingCurrencyAmount" minimum:"1" maximum:"9000000000000000" doc:"Amount that the customer receives, in the smallest unit of the currency." example:"1250"`
}

type sandboxFundRequest struct {
	Amount httpapi.Minor `json:"amount" minimum:"1" maximum:"100000000000" doc:"Amount, in the smallest unit of the account's currency." example:"100000"`
}

func registerSandboxIncomingPayments(a *httpapi.API, service IncomingPayments) {
	type fundInput struct {
		AccountID httpapi.ID[ident.InternalAccount] `path:"accountId" doc:"Id of the account."`
		Body      sandboxFundRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxFundInternalAccount", Path: "/sandbox/internal-accounts/{accountId}/fund", Tag: tagSandbox, Summary: "Fund an internal account",
		Permission: platform.Transact, SandboxOnly: true,
		Description: "Simulates a deposit into an internal account and returns the account with its new balance. " +
			"The deposit is listed as an incoming transaction.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.AmountOutOfRange, fault.CustomerDeleted, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *fundInput) (receiving.FundedAccount, error) {
		return service.Fund(ctx, call.Principal, in.AccountID.Value, int64(in.Body.Amount), call.IdempotentRequest)
	}, func(f receiving.FundedAccount) internalAccountBody { return renderInternalAccount(f.WithBalance) })

	type receiveInput struct{ Body sandboxUmaReceiveRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxReceive", Path: "/sandbox/uma/receive", Tag: tagSandbox, Summary: "Simulate an incoming UMA payment", Permission: platform.Transact, SandboxOnly: true,
		Description: "Simulates a payment from another provider to one of your customers. The transaction is `PENDING` until your webhook endpoint " +
			"answers the `INCOMING_PAYMENT.PENDING` event.",
		Errors: []fault.Code{fault.WebhookEndpointNotSet, fault.UserNotFound, fault.UserNotReady, fault.CustomerDeleted, fault.InvalidCurrency,
			fault.InvalidReceiver, fault.AmountOutOfRange, fault.SelfPayment, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *receiveInput) (transaction.Transaction, error) {
		return service.Receive(ctx, call.Principal, receiving.UMAPayment{Sender: in.Body.SenderUMAAddress, Receiver: in.Body.ReceiverUMAAddress,
			Customer: in.Body.CustomerID.Value, Currency: money.Currency(in.Body.ReceivingCurrencyCode), Amount: int64(in.Body.ReceivingCurrencyAmount)}, call.IdempotentRequest)
	}, renderTransaction)
}

type testWebhookResponse struct {
	URL            string `json:"url" format:"uri" doc:"URL that the event was sent to." example:"https://example.com/webhooks"`
	ResponseStatus int    `json:"response_status" doc:"HTTP status of the response." example:"200"`
	ResponseBody   string `json:"response_body" doc:"First bytes of the response body."`
}

func registerSandboxWebhooks(a *httpapi.API, service Webhooks) {
	httpapi.Post(a, httpapi.Operation{
		ID: "sendTestWebhook", Path: "/sandbox/webhooks/test", Tag: tagSandbox, Summary: "Send a test webhook", Permission: platform.Manage, SandboxOnly: true,
		Description: "Sends a TEST event to your webhook endpoint and returns its response. Any response counts as success. The event is not retried.",
		Errors:      []fault.Code{fault.WebhookEndpointNotSet, fault.WebhookDeliveryError, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (webhooks.TestResult, error) {
		return service.SendTest(ctx, call.Principal.Platform)
	}, func(r webhooks.TestResult) testWebhookResponse {
		return testWebhookResponse{URL: r.URL, ResponseStatus: r.StatusCode, ResponseBody: r.Response}
	})
}
