package api

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Proposals holds the use cases of proposals.
type Proposals interface {
	Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Stated, error)
	Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Stated], error)
	Approve(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		id ident.Proposal) (proposal.Stated, error)
	Reject(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest, id ident.Proposal,
		note string) (proposal.Stated, error)
}

type proposalBody struct {
	ID         httpapi.ID[ident.Proposal] `json:"id" doc:"Id of the proposal."`
	Action     proposalAction             `json:"action" doc:"Action that needs four eyes, as in fourEyes of the accounting policies." example:"ADJUSTMENT"`
	Operation  string                     `json:"operation" doc:"Id of the operation that makes the change." example:"createLedgerAdjustment"`
	Request    proposedRequest            `json:"request" doc:"Request of that operation: the fields of its body, and the parameters of its path."`
	Figures    proposedFigures            `json:"figures,omitzero" doc:"What the change comes to, as computed for the proposal: such as the postings of an exchange result, or the income and expense of a year. Amounts are in the smallest unit. An approval that would come to other figures is refused. Omitted for most operations."`
	Status     proposalStatus             `json:"status" doc:"Status of the proposal. PENDING: waiting for the approval of a second person; nothing has changed. EXECUTED: approved, and the change was made. REJECTED: refused or withdrawn. EXPIRED: not approved in time."`
	ProposedBy PersonBody                 `json:"proposedBy" doc:"Who made the proposal."`
	DecidedBy  *PersonBody                `json:"decidedBy,omitempty" doc:"Who approved or rejected it."`
	Note       string                     `json:"note,omitempty" doc:"Reason of the rejection." example:"The bank has returned the fee."`
	Result     string                     `json:"result,omitempty" doc:"EXECUTED only: what the change has made: the id of a posting, transaction, receipt or break, a month, a year, or the number of a version." example:"Posting:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	LastError  *proposalErrorBody         `json:"lastError,omitempty" doc:"Why the change could not be made when the proposal was last approved."`
	CreatedAt  httpapi.Time               `json:"createdAt" doc:"Time of the proposal."`
	ExpiresAt  httpapi.Time               `json:"expiresAt" doc:"Time until which it can be approved: 7 days after the proposal."`
	DecidedAt  *httpapi.Time              `json:"decidedAt,omitempty" doc:"Time of the approval or rejection."`
}

// PersonBody is a person who proposed or approved something.
type PersonBody struct {
	TokenID httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the token. Omitted for the operator of the service."`
	Actor   string                  `json:"actor,omitempty" doc:"Name of the person: from Causeway-Actor, or of the operator." example:"Ana Lima"`
}

type proposalErrorBody struct {
	Code    string       `json:"code" doc:"Error code." example:"INSUFFICIENT_BALANCE"`
	Message string       `json:"message" doc:"What happened, in words." example:"The balance of rails/WIRE would be negative."`
	At      httpapi.Time `json:"at" doc:"Time of the error."`
}

// approvalBody says by which proposal a change was made. It is part of the record of the change.
type approvalBody struct {
	ProposalID httpapi.ID[ident.Proposal] `json:"proposalId" doc:"Id of the proposal."`
	PersonBody
}

func renderApproval(a platform.Approval) *approvalBody {
	if a.IsZero() {
		return nil
	}
	return &approvalBody{httpapi.NewID(a.Proposal), renderPerson(a.By)}
}

func renderPerson(a platform.Author) PersonBody {
	return PersonBody{httpapi.NewID(a.Token), a.Actor}
}

// Fields of a proposal with values of core.
type (
	proposalAction  string
	proposalStatus  string
	proposedRequest json.RawMessage
	proposedFigures json.RawMessage
)

// Schema returns the enum of values.
func (proposalAction) Schema(huma.Registry) *huma.Schema { return enumSchema(books.Actions()) }
func (proposalStatus) Schema(huma.Registry) *huma.Schema { return enumSchema(proposal.Statuses) }

// Schema returns the schema of an object of any form.
func (proposedRequest) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON returns the request as it is stored.
func (r proposedRequest) MarshalJSON() ([]byte, error) { return json.RawMessage(r).MarshalJSON() }

// Schema returns the schema of an object of any form.
func (proposedFigures) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON returns the figures as they are stored.
func (f proposedFigures) MarshalJSON() ([]byte, error) { return json.RawMessage(f).MarshalJSON() }

func renderProposal(p proposal.Stated) proposalBody {
	body := proposalBody{ID: httpapi.NewID(p.ID), Action: proposalAction(p.Action), Operation: p.Operation,
		Request: proposedRequest(p.Request), Figures: proposedFigures(p.Figures), Status: proposalStatus(p.Status),
		ProposedBy: renderPerson(p.By), Note: p.Note, Result: p.Result, CreatedAt: httpapi.NewTime(p.CreatedAt),
		ExpiresAt: httpapi.NewTime(p.ExpiresAt), DecidedAt: optionalTime(p.DecidedAt)}
	if !p.DecidedAt.IsZero() {
		decided := renderPerson(p.DecidedBy)
		body.DecidedBy = &decided
	}
	if f := p.LastError; f != nil {
		body.LastError = &proposalErrorBody{string(f.Code), f.Message, httpapi.NewTime(f.At)}
	}
	return body
}

// withFourEyes adds to an operation that may need four eyes who makes the request, and both of its outcomes: the
// status and body of success, and a proposal.
func withFourEyes(op httpapi.Operation, status int, body any) httpapi.Operation {
	op.Actor, op.Errors = true, append(op.Errors, fault.Conflict)
	op.Outcomes = []httpapi.Outcome{{Status: status, Body: body}, {Status: 202, Body: proposalBody{},
		Description: "Proposed: the accounting policies require the approval of a second person. Nothing has changed yet."}}
	return op
}

// renderOutcome renders the outcome of such an operation.
func renderOutcome[Result, Body any](status int, render func(Result) Body) func(proposal.Outcome[Result]) httpapi.Reply {
	return func(o proposal.Outcome[Result]) httpapi.Reply {
		if o.Proposal != nil {
			return httpapi.Reply{Status: 202, Body: renderProposal(proposal.Stated{Proposal: *o.Proposal, Status: o.Proposal.State})}
		}
		return httpapi.Reply{Status: status, Body: render(o.Done)}
	}
}

type proposalRejectRequest struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the proposal." example:"The bank has returned the fee."`
}

func registerProposals(a *httpapi.API, service Proposals) {
	type listParams struct {
		httpapi.Paging
		httpapi.Sorting
		Action proposalAction `query:"action" doc:"Action of the proposal."`
		Status proposalStatus `query:"status" doc:"Status of the proposal."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listLedgerProposals", Path: "/ledger/proposals", Tag: tagLedger, Summary: "List proposals", Permission: platform.View,
		Description: "Returns the changes of the books that were proposed because they need four eyes, newest first by default.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[proposal.Stated], error) {
		return service.Proposals(ctx, call.Principal.Platform,
			ports.ProposalFilter{Paging: page,
				Action: books.Action(in.Action), Status: proposal.Status(in.Status)})
	}, renderProposal, func(p proposal.Stated) ident.Proposal { return p.ID })

	type proposalParams struct {
		ProposalID httpapi.ID[ident.Proposal] `path:"proposalId" doc:"Id of the proposal."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerProposal", Path: "/ledger/proposals/{proposalId}", Tag: tagLedger, Summary: "Get a proposal", Permission: platform.View,
		Description: "Returns a proposal with its current status.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *proposalParams) (proposal.Stated, error) {
		return service.Proposal(ctx, call.Principal.Platform, in.ProposalID.Value)
	}, renderProposal)

	httpapi.Post(a, httpapi.Operation{
		ID: "approveLedgerProposal", Path: "/ledger/proposals/{proposalId}/approve", Tag: tagLedger, Summary: "Approve a proposal",
		Permission: platform.Manage, Actor: true,
		Description: "Makes the proposed change, in one step with the approval. It needs a token that belongs to a person, " +
			"who has the role FINANCE or ADMINISTRATOR, and has made neither the proposal nor the token that did. " +
			"Both persons are stored with the change. If the change has become impossible, or would come to other `figures` than proposed, the " +
			"response is that error; the proposal stays `PENDING` with `lastError`.",
		Timeout: monthEndTimeout, // the longest of its operations
		Errors: []fault.Code{fault.NotFound, fault.Conflict, fault.TransactionNotFound, fault.InternalAccountNotFound, fault.InsufficientBalance,
			fault.InvalidAmount,
			fault.InvalidCurrency, fault.AmountOutOfRange, fault.CustomerDeleted, fault.BreakNotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *proposalParams) (proposal.Stated, error) {
		return service.Approve(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, in.ProposalID.Value)
	}, renderProposal)

	type rejectInput struct {
		ProposalID httpapi.ID[ident.Proposal] `path:"proposalId" doc:"Id of the proposal."`
		Body       *proposalRejectRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "rejectLedgerProposal", Path: "/ledger/proposals/{proposalId}/reject", Tag: tagLedger, Summary: "Reject a proposal",
		Permission: platform.Manage, Actor: true,
		Description: "Refuses a proposal, for good. The proposer can withdraw it in this way. The body may be omitted.",
		Errors:      []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *rejectInput) (proposal.Stated, error) {
		note := ""
		if in.Body != nil {
			note = in.Body.Note
		}
		return service.Reject(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, in.ProposalID.Value, note)
	}, renderProposal)
}
