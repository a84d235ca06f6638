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

// IncomingPayments are the use cases behind the operations on money that comes in.
type IncomingPayments interface {
	TransferIn(ctx context.Context, who platform.Principal, t receiving.TransferInRequest, claim *ports.IdempotentRequest) (transaction.Transaction, error)
	Approve(ctx context.Context, who platform.Principal, id ident.Transaction, receiver map[string]string, claim *ports.IdempotentRequest) (transaction.Transaction, error)
	Reject(ctx context.Context, who platform.Principal, id ident.Transaction, reason string, claim *ports.IdempotentRequest) (transaction.Transaction, error)
	Fund(ctx context.Context, who platform.Principal, to ident.InternalAccount, amount int64, claim *ports.IdempotentRequest) (receiving.FundedAccount, error)
	Receive(ctx context.Context, who platform.Principal, in receiving.UMAPayment, claim *ports.IdempotentRequest) (transaction.Transaction, error)
}

type transferInRequest struct {
	Source struct {
		AccountID httpapi.ID[ident.ExternalAccount] `json:"accountId" doc:"The external account that gives."`
	} `json:"source" doc:"Where the money comes from."`
	Destination struct {
		AccountID httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"The internal account that receives."`
	} `json:"destination" doc:"Where the money goes to."`
	Amount httpapi.Minor `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"In the smallest unit of the currency of both." example:"12550"`
}

func registerTransferIn(a *httpapi.API, r IncomingPayments) {
	type create struct{ Body transferInRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createTransferIn", Path: "/transfer-in", Tag: tagTransactions, Summary: "Transfer in", Status: 201, Permission: platform.Transact,
		Description: "Pulls money from an external account into an internal account of the same owner and currency. The transaction is PENDING until the money " +
			"is here, and then COMPLETED, or FAILED. Only accounts that can be debited (US bank accounts, by ACH) are pulled from; " +
			"into other accounts pay by their `fundingPaymentInstructions`.",
		Errors: []fault.Code{fault.ExternalAccountNotFound, fault.InternalAccountNotFound, fault.InvalidCurrency, fault.UserNotReady,
			fault.AmountOutOfRange, fault.CustomerDeleted, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *create) (transaction.Transaction, error) {
		return r.TransferIn(ctx, call.Principal, receiving.TransferInRequest{From: in.Body.Source.AccountID.Value, To: in.Body.Destination.AccountID.Value,
			Amount: int64(in.Body.Amount)}, call.IdempotentRequest)
	}, renderTransaction)
}

type approvePaymentRequest struct {
	ReceiverCustomerInfo map[string]any `json:"receiverCustomerInfo,omitempty" doc:"The facts about the receiver that the webhook asked for, by the names of the fields."`
}

type rejectPaymentRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, in your own words." example:"The account is closed."`
}

func registerApprovals(a *httpapi.API, r IncomingPayments) {
	type approve struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"The transaction."`
		Body          *approvePaymentRequest
	}
	refusals := []fault.Code{fault.TransactionNotFound, fault.TransactionNotPendingPlatformApproval}
	httpapi.Post(a, httpapi.Operation{
		ID: "approvePendingPayment", Path: "/transactions/{transactionId}/approve", Tag: tagTransactions, Summary: "Approve an incoming payment", Permission: platform.Transact,
		Description: "Takes an incoming payment that your webhook endpoint answered with 202, within 5 seconds of that answer: the customer's account is credited.",
		Errors:      refusals,
	}, func(ctx context.Context, call httpapi.Call, in *approve) (transaction.Transaction, error) {
		var facts map[string]string
		if in.Body != nil {
			facts = receiving.FieldValues(in.Body.ReceiverCustomerInfo)
		}
		return r.Approve(ctx, call.Principal, in.TransactionID.Value, facts, call.IdempotentRequest)
	}, renderTransaction)

	type reject struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"The transaction."`
		Body          *rejectPaymentRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "rejectPendingPayment", Path: "/transactions/{transactionId}/reject", Tag: tagTransactions, Summary: "Reject an incoming payment", Permission: platform.Transact,
		Description: "Refuses an incoming payment that your webhook endpoint answered with 202: the transaction is FAILED and nothing is credited.",
		Errors:      refusals,
	}, func(ctx context.Context, call httpapi.Call, in *reject) (transaction.Transaction, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return r.Reject(ctx, call.Principal, in.TransactionID.Value, reason, call.IdempotentRequest)
	}, renderTransaction)
}

type sandboxUmaReceiveRequest struct {
	SenderUMAAddress        string                     `json:"senderUmaAddress" maxLength:"320" doc:"Who pays; anybody at another provider." example:"$bo@bank.example"`
	ReceiverUMAAddress      string                     `json:"receiverUmaAddress,omitempty" maxLength:"320" doc:"The address of the customer who is paid. Give this or customerId." example:"$ana@uma.example.com"`
	CustomerID              httpapi.ID[ident.Customer] `json:"customerId,omitzero" doc:"The customer who is paid, instead of the address."`
	ReceivingCurrencyCode   httpapi.Currency           `json:"receivingCurrencyCode" doc:"The currency the customer receives." example:"USD"`
	ReceivingCurrencyAmount httpapi.Minor              `json:"receivingCurrencyAmount" minimum:"1" maximum:"9000000000000000" doc:"In the smallest unit of that currency." example:"1250"`
}

type sandboxFundRequest struct {
	Amount httpapi.Minor `json:"amount" minimum:"1" maximum:"100000000000" doc:"In the smallest unit of the account's currency." example:"100000"`
}

func registerSandboxIncomingPayments(a *httpapi.API, r IncomingPayments) {
	type fund struct {
		AccountID httpapi.ID[ident.InternalAccount] `path:"accountId" doc:"The account."`
		Body      sandboxFundRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxFundInternalAccount", Path: "/sandbox/internal-accounts/{accountId}/fund", Tag: tagSandbox, Summary: "Pay into an internal account",
		Permission: platform.Transact, SandboxOnly: true,
		Description: "Plays somebody who pays into a balance: the money is there at once, and the answer is the account with it. " +
			"The deposit stands among the transactions.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.AmountOutOfRange, fault.CustomerDeleted, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *fund) (receiving.FundedAccount, error) {
		return r.Fund(ctx, call.Principal, in.AccountID.Value, int64(in.Body.Amount), call.IdempotentRequest)
	}, func(f receiving.FundedAccount) internalAccountBody { return renderInternalAccount(f.WithBalance) })

	type receive struct{ Body sandboxUmaReceiveRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxReceive", Path: "/sandbox/uma/receive", Tag: tagSandbox, Summary: "Pay a customer from another provider", Permission: platform.Transact, SandboxOnly: true,
		Description: "Plays a person at another provider who pays one of your customers. The transaction is PENDING, and your webhook endpoint is asked " +
			"whether you take it (`INCOMING_PAYMENT.PENDING`); its answer decides.",
		Errors: []fault.Code{fault.WebhookEndpointNotSet, fault.UserNotFound, fault.UserNotReady, fault.CustomerDeleted, fault.InvalidCurrency,
			fault.InvalidReceiver, fault.AmountOutOfRange, fault.SelfPayment, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *receive) (transaction.Transaction, error) {
		return r.Receive(ctx, call.Principal, receiving.UMAPayment{Sender: in.Body.SenderUMAAddress, Receiver: in.Body.ReceiverUMAAddress,
			Customer: in.Body.CustomerID.Value, Currency: money.Currency(in.Body.ReceivingCurrencyCode), Amount: int64(in.Body.ReceivingCurrencyAmount)}, call.IdempotentRequest)
	}, renderTransaction)
}

type testWebhookResponse struct {
	URL            string `json:"url" format:"uri" doc:"Where it was sent." example:"https://example.com/webhooks"`
	ResponseStatus int    `json:"response_status" doc:"The HTTP status of the answer." example:"200"`
	ResponseBody   string `json:"response_body" doc:"The beginning of the answer."`
}

func registerSandboxWebhooks(a *httpapi.API, service Webhooks) {
	httpapi.Post(a, httpapi.Operation{
		ID: "sendTestWebhook", Path: "/sandbox/webhooks/test", Tag: tagSandbox, Summary: "Send a test webhook", Permission: platform.Manage, SandboxOnly: true,
		Description: "Sends a TEST event to your webhook endpoint, waits for the answer and shows it. Any answer is a success here; it is not repeated.",
		Errors:      []fault.Code{fault.WebhookEndpointNotSet, fault.WebhookDeliveryError, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (webhooks.TestResult, error) {
		return service.SendTest(ctx, call.Principal.Platform)
	}, func(r webhooks.TestResult) testWebhookResponse {
		return testWebhookResponse{URL: r.URL, ResponseStatus: r.StatusCode, ResponseBody: r.Response}
	})
}
