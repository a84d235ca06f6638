package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type agentAttemptBody struct {
	ID                httpapi.ID[ident.AgentAttempt]    `json:"id" doc:"Id of the entry."`
	AgentID           httpapi.ID[ident.Agent]           `json:"agentId" doc:"Id of the agent."`
	CustomerID        httpapi.ID[ident.Customer]        `json:"customerId" doc:"Id of the customer of the agent."`
	At                httpapi.Time                      `json:"at" doc:"Time of the attempt."`
	Operation         agentOperation                    `json:"operation" doc:"What was attempted: by the agent or, for APPROVE_ACTION and REJECT_ACTION, by you."`
	Decision          agentDecision                     `json:"decision" doc:"What the policy said. ALLOWED; APPROVAL_REQUIRED: an action waits for your approval; REFUSED: also for REJECT_ACTION."`
	Reasons           []agentReasonBody                 `json:"reasons" doc:"All the reasons for which the policy refused it or asked for approval; empty if it allowed it."`
	Error             string                            `json:"error,omitempty" doc:"Error code for which it could not run although the policy allowed it." example:"INSUFFICIENT_BALANCE"`
	Amount            *currencyAmount                   `json:"amount,omitempty" doc:"What was to be sent, including fees. Omitted if no money was to move."`
	InternalAccountID httpapi.ID[ident.InternalAccount] `json:"internalAccountId,omitzero" doc:"Internal account that the request named."`
	ExternalAccountID httpapi.ID[ident.ExternalAccount] `json:"externalAccountId,omitzero" doc:"External account that the request named."`
	QuoteID           httpapi.ID[ident.Quote]           `json:"quoteId,omitzero" doc:"Quote that was created or executed."`
	TransactionID     httpapi.ID[ident.Transaction]     `json:"transactionId,omitzero" doc:"Transaction of the payment."`
	ActionID          httpapi.ID[ident.AgentAction]     `json:"actionId,omitzero" doc:"Action of the payment."`
	TokenID           httpapi.ID[ident.Token]           `json:"tokenId,omitzero" doc:"APPROVE_ACTION and REJECT_ACTION only: token that decided."`
}

// agentOperation is an enum field; core defines its values.
type agentOperation string

// Schema returns the enum of values.
func (agentOperation) Schema(huma.Registry) *huma.Schema { return enumSchema(agent.Operations) }

func renderAgentAttempt(a agent.Attempt) agentAttemptBody {
	body := agentAttemptBody{
		ID: httpapi.NewID(a.ID), AgentID: httpapi.NewID(a.Agent), CustomerID: httpapi.NewID(a.Customer), At: httpapi.NewTime(a.At),
		Operation: agentOperation(a.Operation), Decision: agentDecision(a.Decision), Reasons: renderList(a.Reasons, renderAgentReason),
		Error:             string(a.Error),
		InternalAccountID: httpapi.NewID(a.Internal), ExternalAccountID: httpapi.NewID(a.External), QuoteID: httpapi.NewID(a.Quote),
		TransactionID: httpapi.NewID(a.Transaction), ActionID: httpapi.NewID(a.Action), TokenID: httpapi.NewID(a.Token),
	}
	if a.Amount.Currency != "" {
		amount := renderAmount(a.Amount)
		body.Amount = &amount
	}
	return body
}

type listAgentAttemptsParams struct {
	httpapi.Paging
	httpapi.Sorting
	AgentID   httpapi.ID[ident.Agent] `path:"agentId" doc:"Id of the agent."`
	Decision  agentDecision           `query:"decision" doc:"What the policy said."`
	StartDate httpapi.Time            `query:"startDate" doc:"Attempted at or after this time."`
	EndDate   httpapi.Time            `query:"endDate" doc:"Attempted at or before this time."`
}

func registerAgentAttempts(a *httpapi.API, service Agents) {
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listAgentAttempts", Path: "/agents/{agentId}/attempts", Tag: tagAgents, Summary: "List what an agent has attempted",
		Permission: platform.View, Experimental: true,
		Description: "Lists the audit trail of an agent, also after the agent was deleted: each quote, execution, transfer, and registration " +
			"or deletion of an external account that it asked for, with what the policy said and why, " +
			"and each approval and rejection by you. Newest first by default. All filters must match; times are inclusive. Entries are kept for " +
			"400 days.",
		Errors: []fault.Code{fault.AgentNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *listAgentAttemptsParams, page ports.Paging) (ports.Page[agent.Attempt], error) {
		return service.Attempts(ctx, call.Principal.Platform, ports.AgentAttemptFilter{
			Paging: page,
			Agent:  in.AgentID.Value, Decision: agent.Decision(in.Decision), At: inclusiveInterval(in.StartDate, in.EndDate),
		})
	}, renderAgentAttempt, func(a agent.Attempt) ident.AgentAttempt { return a.ID })
}
