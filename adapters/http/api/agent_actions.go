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
	"causeway/ports"
)

type agentActionBody struct {
	ID                 httpapi.ID[ident.AgentAction] `json:"id" doc:"Id of the action."`
	AgentID            httpapi.ID[ident.Agent]       `json:"agentId" doc:"Id of the agent. It may have been deleted."`
	CustomerID         httpapi.ID[ident.Customer]    `json:"customerId" doc:"Id of the customer for whom the agent pays."`
	PlatformCustomerID string                        `json:"platformCustomerId" doc:"Your id for the customer."`
	Status             agentActionStatus             `json:"status" doc:"Status of the action. PENDING_APPROVAL: waiting for your approval; no money has moved and nothing is reserved. APPROVED: the payment has started; the transaction has its status. REJECTED: you rejected it, or deleted the agent. FAILED: you approved it, but the payment could not start any more. Only PENDING_APPROVAL changes."`
	Type               agentActionType               `json:"type" doc:"What the action does."`
	Quote              *quoteBody                    `json:"quote,omitempty" doc:"EXECUTE_QUOTE only: the quote, with its current status."`
	TransferDetails    *agentTransferDetails         `json:"transferDetails,omitempty" doc:"TRANSFER_OUT and TRANSFER_IN only: the transfer."`
	Transaction        *transactionBody              `json:"transaction,omitempty" doc:"APPROVED only: the transaction, with its current status."`
	RejectionReason    string                        `json:"rejectionReason,omitempty" doc:"REJECTED only: the reason that was given, if any." example:"We buy from this supplier by invoice."`
	FailureCode        string                        `json:"failureCode,omitempty" doc:"FAILED only: the error code for which the payment could not start." example:"QUOTE_EXPIRED"`
	FailureReason      string                        `json:"failureReason,omitempty" doc:"FAILED only: why the payment could not start, in words." example:"The quote has expired. Create a new one."`
	CreatedAt          httpapi.Time                  `json:"createdAt" doc:"Time the agent asked for it."`
	UpdatedAt          httpapi.Time                  `json:"updatedAt" doc:"Time of the last change."`
}

type agentTransferDetails struct {
	Amount               httpapi.Minor    `json:"amount" doc:"Amount, in the smallest unit of the currency." example:"10000"`
	Currency             httpapi.Currency `json:"currency" doc:"Currency of both accounts."`
	SourceAccountID      string           `json:"sourceAccountId" doc:"Id of the account that pays." example:"InternalAccount:0199f0a4-1c2d-7d3e-8f4a-5b6c7d8e9f03"`
	DestinationAccountID string           `json:"destinationAccountId" doc:"Id of the account that receives." example:"ExternalAccount:0199f0a3-0d9a-7c2f-8a47-5b7f8f2f9c02"`
	PaymentRail          string           `json:"paymentRail,omitempty" doc:"TRANSFER_OUT only: the requested payment rail, if any." example:"ACH"`
	RemittanceInfo       string           `json:"remittanceInformation,omitempty" doc:"TRANSFER_OUT that waits or has waited for approval only: what the beneficiary is to read." example:"Invoice 2026-0117"`
}

// Enum fields of an action; core defines their values.
type (
	agentActionStatus string
	agentActionType   string
)

// Schema returns the enum of values.
func (agentActionStatus) Schema(huma.Registry) *huma.Schema { return enumSchema(agent.ActionStatuses) }
func (agentActionType) Schema(huma.Registry) *huma.Schema   { return enumSchema(agent.ActionTypes) }

func renderAgentAction(a payments.AgentAction) agentActionBody {
	body := agentActionBody{
		ID: httpapi.NewID(a.ID), AgentID: httpapi.NewID(a.Agent), CustomerID: httpapi.NewID(a.Customer), PlatformCustomerID: a.PlatformCustomerID,
		Status: agentActionStatus(a.Status), Type: agentActionType(a.Type), RejectionReason: a.RejectionReason,
		CreatedAt: httpapi.NewTime(a.CreatedAt), UpdatedAt: httpapi.NewTime(a.UpdatedAt),
	}
	if a.Quote != nil {
		quote := renderQuote(*a.Quote)
		body.Quote = &quote
	}
	if t := a.Transfer; t != nil {
		body.TransferDetails = &agentTransferDetails{Amount: httpapi.Minor(t.Amount.Minor), Currency: httpapi.Currency(t.Amount.Currency),
			SourceAccountID: t.Internal.String(), DestinationAccountID: t.External.String(), PaymentRail: string(t.Rail),
			RemittanceInfo: t.Remittance}
		if a.Type == agent.TransferIn {
			body.TransferDetails.SourceAccountID, body.TransferDetails.DestinationAccountID = t.External.String(), t.Internal.String()
		}
	}
	if a.Transaction != nil {
		transaction := renderTransaction(*a.Transaction)
		body.Transaction = &transaction
	}
	if a.Failure != nil {
		body.FailureCode, body.FailureReason = string(a.Failure.Code), a.Failure.Message
	}
	return body
}

type agentActionRejectRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Reason, which the agent can read." example:"We buy from this supplier by invoice."`
}

type listAgentApprovalsParams struct {
	httpapi.Paging
	httpapi.Sorting
	AgentID    httpapi.ID[ident.Agent]    `query:"agentId" doc:"Id of the agent."`
	CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Id of the customer."`
	StartDate  httpapi.Time               `query:"startDate" doc:"Created at or after this time."`
	EndDate    httpapi.Time               `query:"endDate" doc:"Created at or before this time."`
}

func registerAgentApprovals(a *httpapi.API, service AgentPayments) {
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listAgentApprovals", Path: "/agents/approvals", Tag: tagAgents, Summary: "List what waits for approval", Permission: platform.View,
		Experimental: true,
		Description: "Lists the actions of agents that wait for your approval, newest first by default. All filters must match; times are " +
			"inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listAgentApprovalsParams, page ports.Paging) (
		ports.Page[payments.AgentAction], error) {
		return service.AgentActions(ctx, call.Principal.Platform, ports.AgentActionFilter{
			Paging: page,
			Agent:  in.AgentID.Value, Customer: in.CustomerID.Value, Status: agent.ActionPending,
			Created: inclusiveInterval(in.StartDate, in.EndDate),
		})
	}, renderAgentAction, func(a payments.AgentAction) ident.AgentAction { return a.ID })

	type actionParams struct {
		AgentID  httpapi.ID[ident.Agent]       `path:"agentId" doc:"Id of the agent."`
		ActionID httpapi.ID[ident.AgentAction] `path:"actionId" doc:"Id of the action."`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "approveAgentAction", Path: "/agents/{agentId}/actions/{actionId}/approve", Tag: tagAgents, Summary: "Approve an action of an agent",
		Permission: platform.Manage, Experimental: true,
		Description: "Starts the payment of an action that waits for approval. The policy is checked again, as it is now: the " +
			"permissions, the accounts and the limits with what the agent has spent meanwhile; " +
			"so are the balance and, for a quote, its expiry. If the payment can start, the action is `APPROVED` and has its transaction. " +
			"Otherwise it is `FAILED`, and `failureCode` and `failureReason` say why: the agent has to ask again. " +
			"While the agent is paused, nothing is decided and the response is `409 CONFLICT`.",
		Errors: []fault.Code{fault.AgentActionNotFound, fault.ActionNotPendingApproval, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *actionParams) (payments.AgentAction, error) {
		return service.ApproveAgentAction(ctx, call.Principal, in.AgentID.Value, in.ActionID.Value, call.IdempotentRequest)
	}, renderAgentAction)

	type rejectInput struct {
		AgentID  httpapi.ID[ident.Agent]       `path:"agentId" doc:"Id of the agent."`
		ActionID httpapi.ID[ident.AgentAction] `path:"actionId" doc:"Id of the action."`
		Body     *agentActionRejectRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "rejectAgentAction", Path: "/agents/{agentId}/actions/{actionId}/reject", Tag: tagAgents, Summary: "Reject an action of an agent",
		Permission: platform.Manage, Experimental: true,
		Description: "Refuses an action that waits for approval, for good. No money moves. The body may be omitted.",
		Errors:      []fault.Code{fault.AgentActionNotFound, fault.ActionNotPendingApproval},
	}, func(ctx context.Context, call httpapi.Call, in *rejectInput) (payments.AgentAction, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return service.RejectAgentAction(ctx, call.Principal, in.AgentID.Value, in.ActionID.Value, reason, call.IdempotentRequest)
	}, renderAgentAction)
}

func registerOwnActions(a *httpapi.API, service AgentPayments) {
	type listParams struct {
		httpapi.Paging
		Status agentActionStatus `query:"status" doc:"Status of the action."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "agentListActions", Path: "/agents/me/actions", Tag: tagForAgents, Summary: "List the actions of the calling agent", Agent: true,
		Experimental: true,
		Description:  "Newest first.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[payments.AgentAction], error) {
		return service.AgentActions(ctx, call.Principal.Platform, ports.AgentActionFilter{
			Paging: page, Agent: call.Principal.Agent, Status: agent.ActionStatus(in.Status),
		})
	}, renderAgentAction, func(a payments.AgentAction) ident.AgentAction { return a.ID })

	type actionParams struct {
		ActionID httpapi.ID[ident.AgentAction] `path:"actionId" doc:"Id of the action."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "agentGetAction", Path: "/agents/me/actions/{actionId}", Tag: tagForAgents, Summary: "Get an action of the calling agent",
		Agent: true, Experimental: true,
		Description: "Returns an action with its current status. While it is `PENDING_APPROVAL`, ask again later: a person decides.",
		Errors:      []fault.Code{fault.AgentActionNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *actionParams) (payments.AgentAction, error) {
		return service.AgentAction(ctx, call.Principal.Platform, call.Principal.Agent, in.ActionID.Value)
	}, renderAgentAction)
}
