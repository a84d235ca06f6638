package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// AgentPayments holds the use cases of payments by agents, and of their approval.
type AgentPayments interface {
	CreateAgentQuote(ctx context.Context, caller platform.Principal, r quote.Request, idempotent *ports.IdempotentRequest) (
		quote.WithStatus, error)
	AgentQuote(ctx context.Context, caller platform.Principal, id ident.Quote) (quote.WithStatus, error)
	// ExecuteAgentQuote runs a quote of the agent. The signature may be empty.
	ExecuteAgentQuote(ctx context.Context, caller platform.Principal, id ident.Quote, signature payments.Signature,
		idempotent *ports.IdempotentRequest) (payments.AgentAction, error)
	AgentTransferOut(ctx context.Context, caller platform.Principal, out transaction.TransferOut, idempotent *ports.IdempotentRequest) (
		payments.AgentAction, error)
	AgentTransferIn(ctx context.Context, caller platform.Principal, in transaction.TransferIn, idempotent *ports.IdempotentRequest) (
		payments.AgentAction, error)
	PreviewAgentPayment(ctx context.Context, caller platform.Principal, r payments.AgentPaymentRequest) (payments.AgentPreview, error)
	// AgentAction returns an action of an agent; of any if by is zero.
	AgentAction(ctx context.Context, p ident.Platform, by ident.Agent, id ident.AgentAction) (payments.AgentAction, error)
	AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (ports.Page[payments.AgentAction], error)
	ApproveAgentAction(ctx context.Context, by platform.Principal, a ident.Agent, id ident.AgentAction, idempotent *ports.IdempotentRequest) (
		payments.AgentAction, error)
	RejectAgentAction(ctx context.Context, by platform.Principal, a ident.Agent, id ident.AgentAction, reason string,
		idempotent *ports.IdempotentRequest) (payments.AgentAction, error)
}

// The permissions of agents, as those of the operations are checked.
const (
	mayViewTransactions = platform.Permission(agent.ViewTransactions)
	mayCreateQuotes     = platform.Permission(agent.CreateQuotes)
	mayExecuteQuotes    = platform.Permission(agent.ExecuteQuotes)
	mayCreateTransfers  = platform.Permission(agent.CreateTransfers)
	mayManageAccounts   = platform.Permission(agent.ManageExternalAccounts)
)

const agentPaymentDescription = "\n\nThe policy decides, with what the agent has spent and the amount sent including fees. If it allows " +
	"the payment, the action is `APPROVED` and has the transaction. " +
	"If it asks for approval, the action is `PENDING_APPROVAL`: nothing has moved, and the platform approves or rejects it; read the action " +
	"again later. At most 1000 actions of an agent wait; above that the response is 429 `RATE_LIMITED`. " +
	"If it refuses, nothing is created and the response is 403 `FORBIDDEN`, where `reason` is the code of the first reason and " +
	"`details.reasons` lists all."

func registerAgentQuotes(a *httpapi.API, service AgentPayments) {
	type createInput struct{ Body quoteRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "agentCreateQuote", Path: "/agents/me/quotes", Tag: tagForAgents, Summary: "Create a quote as an agent", Status: 201, Agent: true,
		AgentPermissions: []platform.Permission{mayCreateQuotes}, AgentAttempt: true, Experimental: true,
		Description: "Locks a rate and fees for a payment of the agent's customer, whose id may be omitted. All accounts must be the " +
			"customer's. No money moves: execute the quote before `expiresAt`, or have it funded just in time. " +
			"`immediatelyExecute` is refused. A quote counts nothing towards the limits of the agent.",
		Errors: []fault.Code{fault.UserNotFound, fault.UserNotReady, fault.EndUserTermsNotAccepted, fault.CustomerDeleted,
			fault.ExternalAccountVerificationRequired,
			fault.InternalAccountNotFound,
			fault.ExternalAccountNotFound, fault.InvalidCurrency,
			fault.LookupRequestNotFound, fault.MissingMandatoryUserInfo, fault.AmountOutOfRange, fault.InsufficientFunds, fault.QuoteRequestFailed,
			fault.TransactionSizeLimitExceeded, fault.DailyVolumeLimitExceeded, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (quote.WithStatus, error) {
		request, err := in.Body.request(call.Principal.Platform)
		if err != nil {
			return quote.WithStatus{}, err
		}
		return service.CreateAgentQuote(ctx, call.Principal, request, call.IdempotentRequest)
	}, renderQuote)

	type getParams struct {
		QuoteID httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "agentGetQuote", Path: "/agents/me/quotes/{quoteId}", Tag: tagForAgents, Summary: "Get a quote of the calling agent", Agent: true,
		Experimental: true,
		Description:  "Returns a quote that this agent has created, with its current status.", Errors: []fault.Code{fault.QuoteNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (quote.WithStatus, error) {
		return service.AgentQuote(ctx, call.Principal, in.QuoteID.Value)
	}, renderQuote)

	type executeParams struct {
		QuoteID   httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
		Signature string                  `header:"Service-Wallet-Signature" doc:"Signature over payloadToSign of the quote by the owner of the embedded wallet that pays, as for executeQuote. Required if the source is an embedded wallet; ignored otherwise." example:"sandbox-valid-signature"`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "agentExecuteQuote", Path: "/agents/me/quotes/{quoteId}/execute", Tag: tagForAgents, Summary: "Execute a quote as an agent",
		Agent: true, AgentPermissions: []platform.Permission{mayExecuteQuotes}, AgentAttempt: true, Experimental: true,
		Description: "Executes a quote that this agent has created and that an account of its customer pays." + agentPaymentDescription +
			" An approval often comes after the quote has expired; then the action becomes `FAILED`.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.QuoteNotExecutable, fault.UserNotReady, fault.QuoteExpired,
			fault.QuoteAlreadyExecuted, fault.ExternalAccountVerificationRequired, fault.InsufficientBalance, fault.AmountOutOfRange,
			fault.TransactionSizeLimitExceeded, fault.DailyVolumeLimitExceeded},
	}, func(ctx context.Context, call httpapi.Call, in *executeParams) (payments.AgentAction, error) {
		return service.ExecuteAgentQuote(ctx, call.Principal, in.QuoteID.Value,
			payments.Signature{Text: in.Signature, Environment: call.Principal.Environment}, call.IdempotentRequest)
	}, renderAgentAction)
}

func registerAgentTransfers(a *httpapi.API, service AgentPayments) {
	type outInput struct{ Body transferOutRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "agentCreateTransferOut", Path: "/agents/me/transfer-out", Tag: tagForAgents, Summary: "Create a transfer out as an agent",
		Status: 201, Agent: true, AgentPermissions: []platform.Permission{mayCreateTransfers}, AgentAttempt: true, Experimental: true,
		Description: "Sends money from an internal account of the agent's customer to an external account of the customer in the same " +
			"currency, without a fee." + agentPaymentDescription,
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.ExternalAccountNotFound, fault.UserNotReady, fault.CustomerDeleted,
			fault.InvalidCurrency, fault.ExternalAccountVerificationRequired,
			fault.AmountOutOfRange, fault.InsufficientBalance, fault.TransactionSizeLimitExceeded,
			fault.DailyVolumeLimitExceeded, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *outInput) (payments.AgentAction, error) {
		return service.AgentTransferOut(ctx, call.Principal, in.Body.transfer(call.Principal.Platform), call.IdempotentRequest)
	}, renderAgentAction)

	type inInput struct{ Body transferInRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "agentCreateTransferIn", Path: "/agents/me/transfer-in", Tag: tagForAgents, Summary: "Create a transfer in as an agent", Status: 201,
		Agent: true, AgentPermissions: []platform.Permission{mayCreateTransfers}, AgentAttempt: true, Experimental: true,
		Description: "Debits an external account of the agent's customer and credits an internal account of the customer in the same currency. " +
			"Only US bank accounts can be debited." + agentPaymentDescription,
		Errors: []fault.Code{fault.ExternalAccountNotFound, fault.InternalAccountNotFound, fault.InvalidCurrency, fault.UserNotReady,
			fault.AmountOutOfRange, fault.CustomerDeleted, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *inInput) (payments.AgentAction, error) {
		return service.AgentTransferIn(ctx, call.Principal, in.Body.transfer(call.Principal.Platform), call.IdempotentRequest)
	}, renderAgentAction)
}

// agentPaymentPreviewRequest names one payment.
type agentPaymentPreviewRequest struct {
	QuoteID     httpapi.ID[ident.Quote] `json:"quoteId,omitzero" doc:"Id of a quote of this agent, to execute it."`
	TransferOut *transferOutRequest     `json:"transferOut,omitempty" doc:"A transfer out."`
	TransferIn  *transferInRequest      `json:"transferIn,omitempty" doc:"A transfer in."`
}

// Resolve refuses a request that does not name exactly one payment.
func (r agentPaymentPreviewRequest) Resolve(huma.Context) []error {
	named := 0
	for _, given := range []bool{!r.QuoteID.Value.IsZero(), r.TransferOut != nil, r.TransferIn != nil} {
		if given {
			named++
		}
	}
	if named == 1 {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "quoteId", Message: "is one of quoteId, transferOut and transferIn; send " +
		"exactly one of the three"}))
}

func (r agentPaymentPreviewRequest) request(p ident.Platform) payments.AgentPaymentRequest {
	request := payments.AgentPaymentRequest{Quote: r.QuoteID.Value}
	if r.TransferOut != nil {
		out := r.TransferOut.transfer(p)
		request.Out = &out
	}
	if r.TransferIn != nil {
		in := r.TransferIn.transfer(p)
		request.In = &in
	}
	return request
}

type agentPaymentPreviewBody struct {
	Decision    agentDecision     `json:"decision" doc:"What the policy says now. ALLOWED: the payment would start. APPROVAL_REQUIRED: it would wait for the approval of the platform. REFUSED: it would be refused."`
	Reasons     []agentReasonBody `json:"reasons" doc:"All the reasons for which it would be refused or needs approval; empty if it is allowed."`
	Amount      currencyAmount    `json:"amount" doc:"What would be sent, including fees."`
	LimitAmount *currencyAmount   `json:"limitAmount,omitempty" doc:"The same in the currency of the limits, at the present rate, rounded up. Omitted if that is more than 9000000000000000, which is above every limit."`
	Usage       agentUsageBody    `json:"usage" doc:"What the agent has spent."`
}

type agentReasonBody struct {
	Code    agentReasonCode `json:"code" doc:"Code of the reason."`
	Message string          `json:"message" doc:"What the policy allows, and what was asked for." example:"The policy asks for approval of each payment."`
}

// Enum fields of a decision; core defines their values.
type (
	agentDecision   string
	agentReasonCode string
)

// Schema returns the enum of values.
func (agentDecision) Schema(huma.Registry) *huma.Schema   { return enumSchema(agent.Decisions) }
func (agentReasonCode) Schema(huma.Registry) *huma.Schema { return enumSchema(agent.ReasonCodes) }

func renderAgentReason(r agent.Reason) agentReasonBody {
	return agentReasonBody{Code: agentReasonCode(r.Code), Message: r.Message}
}

func registerAgentPreview(a *httpapi.API, service AgentPayments) {
	type previewInput struct{ Body agentPaymentPreviewRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "agentPreviewPayment", Path: "/agents/me/actions/preview", Tag: tagForAgents, Summary: "Preview a payment as an agent", Agent: true,
		Experimental: true,
		Description: "Says whether the policy would allow a payment now, ask for approval or refuse it, with all reasons. Send exactly one of " +
			"`quoteId`, `transferOut` and `transferIn`. " +
			"Moves, reserves and records nothing: the decision may be another one when the payment is made. A payment that would start at once, " +
			"and for which the account does not hold enough, is `INSUFFICIENT_BALANCE` as when it is made.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.QuoteNotExecutable, fault.QuoteExpired, fault.QuoteAlreadyExecuted,
			fault.InternalAccountNotFound, fault.ExternalAccountNotFound,
			fault.UserNotReady, fault.CustomerDeleted, fault.InvalidCurrency, fault.ExternalAccountVerificationRequired, fault.AmountOutOfRange,
			fault.InsufficientBalance, fault.TransactionSizeLimitExceeded, fault.DailyVolumeLimitExceeded, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *previewInput) (payments.AgentPreview, error) {
		return service.PreviewAgentPayment(ctx, call.Principal, in.Body.request(call.Principal.Platform))
	}, func(p payments.AgentPreview) agentPaymentPreviewBody {
		body := agentPaymentPreviewBody{Decision: agentDecision(p.Decision), Reasons: renderList(p.Reasons, renderAgentReason),
			Amount: renderAmount(p.Amount), Usage: renderAgentUsage(p.Usage)}
		if p.Spend.Minor > 0 {
			limit := renderAmount(p.Spend)
			body.LimitAmount = &limit
		}
		return body
	})
}
