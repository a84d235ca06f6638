package api

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/payments"
	"causeway/app/webhooks"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// Sandbox holds the use cases of the sandbox operations.
type Sandbox interface {
	SimulatePayment(ctx context.Context, p ident.Platform, in payments.SendRequest, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	ExpireQuote(ctx context.Context, p ident.Platform, id ident.Quote, idempotent *ports.IdempotentRequest) (quote.WithStatus, error)
	SettleNow(ctx context.Context, p ident.Platform, id ident.Transaction, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	ReturnNow(ctx context.Context, p ident.Platform, id ident.Transaction, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	TakeBackNow(ctx context.Context, p ident.Platform, id ident.Transaction, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	AnswerApproval(ctx context.Context, p ident.Platform, id ident.Transaction, status int, body string,
		idempotent *ports.IdempotentRequest) (transaction.Transaction, error)
}

type sandboxSendRequest struct {
	Reference      string                   `json:"reference,omitempty" doc:"Reference of a quote's payment instructions or of an internal account's funding instructions (FUND-…). Required unless quoteId is given." example:"4T9K2M7PXQ3A"`
	QuoteID        *httpapi.ID[ident.Quote] `json:"quoteId,omitempty" doc:"Id of the quote to pay. Required unless reference is given."`
	CurrencyCode   string                   `json:"currencyCode" pattern:"^[A-Z0-9]{3,5}$" patternDescription:"a currency code in upper case" doc:"Currency of the payment: the sending currency of the quote, or the currency of the account." example:"USD"`
	CurrencyAmount *httpapi.Minor           `json:"currencyAmount,omitempty" minimum:"1" maximum:"9000000000000000" doc:"Amount of the payment, in the smallest unit. Required for an account. Defaults to the exact amount of the quote; send another amount to test an incorrect payment." example:"10050"`
	Originator     *sandboxOriginator       `json:"originator,omitempty" doc:"Who sends the payment, as a bank would report it. It is then in the source of the transaction."`
}

type sandboxOriginator struct {
	AccountHolderName     string `json:"accountHolderName,omitempty" maxLength:"140" doc:"Name of the payer." example:"Ana Silva"`
	AccountIdentifier     string `json:"accountIdentifier,omitempty" maxLength:"140" doc:"Number of the payer's account. Transactions show the last characters." example:"DE89370400440532013000"`
	BankName              string `json:"bankName,omitempty" maxLength:"140" doc:"Name of the payer's bank." example:"Commerzbank"`
	BankIdentifier        string `json:"bankIdentifier,omitempty" maxLength:"140" doc:"BIC of the payer's bank, or its number in the payment system." example:"COBADEFFXXX"`
	RemittanceInformation string `json:"remittanceInformation,omitempty" maxLength:"140" doc:"What the payer wrote." example:"4T9K2M7PXQ3A"`
	EndToEndID            string `json:"endToEndId,omitempty" maxLength:"140" doc:"Id that the payer has given to the payment." example:"INV-2026-0117"`
	TraceNumber           string `json:"traceNumber,omitempty" maxLength:"140" doc:"Id of the payment in the payment system." example:"021000020000001"`
}

func (o *sandboxOriginator) originator() *transaction.Originator {
	if o == nil {
		return nil
	}
	return transaction.OriginatorOf(nil, transaction.Originator{Name: o.AccountHolderName, Account: o.AccountIdentifier, BankName: o.BankName,
		Bank: o.BankIdentifier, EndToEndID: o.EndToEndID, TraceNumber: o.TraceNumber, Remittance: o.RemittanceInformation})
}

// Resolve reports a missing reference with the other fields that are missing.
func (r sandboxSendRequest) Resolve(huma.Context) []error {
	if r.Reference != "" || r.QuoteID != nil {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(payments.MissingReference))
}

func registerSandbox(a *httpapi.API, service Sandbox) {
	type sendInput struct{ Body sandboxSendRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxSend", Path: "/sandbox/send", Tag: tagSandbox, Summary: "Simulate a payment", Permission: platform.Transact,
		SandboxOnly: true,
		Description: "Simulates a bank payment that funds a just-in-time quote, or an internal account by its reference, " +
			"and returns the transaction. " +
			"A wrong amount fails the transaction (`FUNDING_AMOUNT_MISMATCH`) and is refunded. A late payment is refunded with the reason " +
			"`TIMEOUT`. A second payment is returned. " +
			"An unknown reference returns 404; if an amount is given, the money is kept as unmatched funds, as in production. " +
			"So is a payment that an account cannot accept because its currency differs, it is not active, its balance would exceed " +
			"9000000000000000, or money may not be moved for its customer.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.ReferenceNotFound, fault.InvalidCurrency, fault.AmountOutOfRange, fault.UserNotReady,
			fault.CustomerDeleted, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *sendInput) (transaction.Transaction, error) {
		var quote ident.Quote
		if in.Body.QuoteID != nil {
			quote = in.Body.QuoteID.Value
		}
		payment := payments.SendRequest{Reference: in.Body.Reference, Quote: quote,
			Currency: money.Currency(in.Body.CurrencyCode), Originator: in.Body.Originator.originator()}
		if in.Body.CurrencyAmount != nil {
			amount := int64(*in.Body.CurrencyAmount)
			payment.Amount = &amount
		}
		return service.SimulatePayment(ctx, call.Principal.Platform, payment, call.IdempotentRequest)
	}, renderTransaction)
}

// registerSandboxTime registers the operations that move the time of one quote or payment on.
func registerSandboxTime(a *httpapi.API, service Sandbox) {
	const repeated = " A request that is repeated with the same `Idempotency-Key` returns the first response; without one it is 409 " +
		"`CONFLICT`, because nothing waits any more."
	type quoteParams struct {
		QuoteID httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxExpireQuote", Path: "/sandbox/quotes/{quoteId}/expire", Tag: tagSandbox, Summary: "Expire a quote",
		Permission: platform.Transact, SandboxOnly: true,
		Description: "Ends a quote that waits for its payment or its execution, as if the time were `expiresAt`, which becomes the present. " +
			"The transaction is `EXPIRED`, and a payment that is sent afterwards is late: it is refunded with the reason `TIMEOUT`." + repeated,
		Errors: []fault.Code{fault.QuoteNotFound, fault.Conflict, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *quoteParams) (quote.WithStatus, error) {
		return service.ExpireQuote(ctx, call.Principal.Platform, in.QuoteID.Value, call.IdempotentRequest)
	}, renderQuote)

	type transactionParams struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
	}
	for _, op := range []struct {
		id, action, summary, description string
		run                              func(Sandbox, context.Context, ident.Platform, ident.Transaction, *ports.IdempotentRequest) (
			transaction.Transaction, error)
	}{
		{"sandboxSettleTransaction", "settle", "Settle a payment now",
			"Ends the waiting of a payment, a collection or a refund for the simulated rail, with the outcome that the test value of its account " +
				"selects: account 003 of a quote completes, account 005 of a transfer fails.", Sandbox.SettleNow},
		{"sandboxReturnTransaction", "return", "Return a payment",
			"Makes the beneficiary's bank return a payment that is `COMPLETED`, as one does after days, whatever the account. The transaction is " +
				"`FAILED`, and refunded.", Sandbox.ReturnNow},
		{"sandboxTakeBackTransaction", "take-back", "Take a collection back",
			"Makes the payer's bank take back what was collected from an external account for a payment that has ended, as one does after days, " +
				"whatever the account. The customer owes the money: see `GET /ledger/receivables`.", Sandbox.TakeBackNow},
	} {
		httpapi.Post(a, httpapi.Operation{
			ID: op.id, Path: "/sandbox/transactions/{transactionId}/" + op.action, Tag: tagSandbox, Summary: op.summary,
			Permission: platform.Transact, SandboxOnly: true, Description: op.description + repeated,
			Errors: []fault.Code{fault.TransactionNotFound, fault.Conflict, fault.Forbidden},
		}, func(ctx context.Context, call httpapi.Call, in *transactionParams) (transaction.Transaction, error) {
			return op.run(service, ctx, call.Principal.Platform, in.TransactionID.Value, call.IdempotentRequest)
		}, renderTransaction)
	}
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
		ID: "sandboxFundInternalAccount", Path: "/sandbox/internal-accounts/{accountId}/fund", Tag: tagSandbox,
		Summary:    "Fund an internal account",
		Permission: platform.Transact, SandboxOnly: true,
		Description: "Simulates a deposit into an internal account and returns the account with its new balance. " +
			"The deposit is listed as an incoming transaction.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.AmountOutOfRange, fault.CustomerDeleted, fault.UserNotReady, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *fundInput) (payments.FundedAccount, error) {
		return service.Fund(ctx, call.Principal.Platform, in.AccountID.Value, int64(in.Body.Amount), call.IdempotentRequest)
	}, func(f payments.FundedAccount) internalAccountBody { return renderInternalAccount(f.WithBalance) })

	type receiveInput struct{ Body sandboxUmaReceiveRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxReceive", Path: "/sandbox/uma/receive", Tag: tagSandbox, Summary: "Simulate an incoming UMA payment",
		Permission: platform.Transact, SandboxOnly: true,
		Description: "Simulates a payment from another provider to one of your customers. The transaction is `PENDING` until your webhook " +
			"endpoint " +
			"answers the `INCOMING_PAYMENT.PENDING` event.",
		Errors: []fault.Code{fault.WebhookEndpointNotSet, fault.UserNotFound, fault.UserNotReady, fault.CustomerDeleted, fault.InvalidCurrency,
			fault.InvalidReceiver, fault.AmountOutOfRange, fault.SelfPayment, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *receiveInput) (transaction.Transaction, error) {
		return service.SimulateUMAPayment(ctx, call.Principal.Platform, payments.UMAPayment{Sender: in.Body.SenderUMAAddress,
			Receiver: in.Body.ReceiverUMAAddress,
			Customer: in.Body.CustomerID.Value, Currency: money.Currency(in.Body.ReceivingCurrencyCode),
			Amount: int64(in.Body.ReceivingCurrencyAmount)}, call.IdempotentRequest)
	}, renderTransaction)
}

type testWebhookResponse struct {
	URL            string `json:"url" format:"uri" doc:"URL that the event was sent to." example:"https://example.com/webhooks"`
	ResponseStatus int    `json:"response_status" doc:"HTTP status of the response." example:"200"`
	ResponseBody   string `json:"response_body" doc:"First bytes of the response body. Empty unless the operator of the service allows webhooks to private addresses."`
}

type webhookRequestBody struct {
	WebhookID httpapi.ID[ident.Webhook] `json:"webhookId" doc:"Id of the event."`
	Headers   map[string]string         `json:"headers" doc:"Headers of the request, with the signatures that the platform has selected."`
	Body      string                    `json:"body" doc:"Exact body of the request, which the signatures sign."`
}

func renderWebhookRequest(r webhooks.SignedRequest) webhookRequestBody {
	body := webhookRequestBody{WebhookID: httpapi.NewID(r.ID), Headers: make(map[string]string, len(r.Header)), Body: string(r.Body)}
	for name, values := range r.Header {
		body.Headers[name] = strings.Join(values, ", ")
	}
	return body
}

func registerSandboxWebhooks(a *httpapi.API, service Webhooks) {
	type requestParams struct {
		WebhookID httpapi.ID[ident.Webhook] `path:"webhookId" doc:"Id of the event."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "sandboxGetWebhookRequest", Path: "/sandbox/webhook-deliveries/{webhookId}/request", Tag: tagSandbox,
		Summary: "Get the request of a webhook", Permission: platform.Manage, SandboxOnly: true,
		Description: "Returns the headers and the body with which an event would be sent now, signed for this time. Send both unchanged to a " +
			"program that the service cannot reach, as `causeway listen` does. Nothing is sent or recorded.",
		Errors: []fault.Code{fault.NotFound, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *requestParams) (webhooks.SignedRequest, error) {
		return service.Signed(ctx, call.Principal.Platform, in.WebhookID.Value)
	}, renderWebhookRequest)

	httpapi.Post(a, httpapi.Operation{
		ID: "sendTestWebhook", Path: "/sandbox/webhooks/test", Tag: tagSandbox, Summary: "Send a test webhook", Permission: platform.Manage,
		SandboxOnly: true,
		Description: "Sends a TEST event to your webhook endpoint and returns its response. Any response counts as success. The event is not " +
			"retried. " +
			"An endpoint that cannot be reached, or does not respond, takes up to 10 seconds.",
		Errors: []fault.Code{fault.WebhookEndpointNotSet, fault.WebhookDeliveryError, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (webhooks.TestResult, error) {
		return service.SendTest(ctx, call.Principal.Platform)
	}, func(r webhooks.TestResult) testWebhookResponse {
		return testWebhookResponse{URL: r.URL, ResponseStatus: r.StatusCode, ResponseBody: r.Response}
	})
}
