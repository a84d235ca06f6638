package api

import (
	"context"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/treasury"
	"causeway/ports"
)

// Treasury holds the use cases on movements between accounts at partners.
type Treasury interface {
	Move(ctx context.Context, m treasury.Movement, idempotent *ports.IdempotentRequest) (proposal.Outcome[treasury.Movement], error)
	Arrive(ctx context.Context, p ident.Platform, id ident.Movement, by platform.Author, effective time.Time,
		idempotent *ports.IdempotentRequest) (proposal.Outcome[treasury.Movement], error)
	Movement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, error)
	Movements(ctx context.Context, p ident.Platform, f ports.MovementFilter) (ports.Page[treasury.Movement], error)
}

type treasuryMovementBody struct {
	ID             httpapi.ID[ident.Movement] `json:"id" doc:"Id of the movement. The memo of its postings begins with it."`
	Kind           string                     `json:"kind" enum:"SWEEP,TRANSFER,SETTLEMENT" doc:"Kind of movement."`
	From           string                     `json:"from" doc:"Path of the account that pays." example:"rails/RTP"`
	To             string                     `json:"to" doc:"Path of the account that receives." example:"own/OPERATING"`
	Amount         currencyAmount             `json:"amount" doc:"Amount that leaves from."`
	Bought         *currencyAmount            `json:"bought,omitempty" doc:"Amount that reaches to. Only of a settlement."`
	Status         string                     `json:"status" enum:"IN_TRANSIT,COMPLETED" doc:"IN_TRANSIT: sent and not arrived."`
	AllowOverdraft bool                       `json:"allowOverdraft,omitempty" doc:"Whether an account was allowed to go below zero."`
	Note           string                     `json:"note,omitempty" doc:"Reason." example:"Fees of October"`
	EffectiveAt    httpapi.Time               `json:"effectiveAt" doc:"Requested effective time. If its month is soft-closed or closed, the posting takes effect at the start of the first open month, and its memo contains this day."`
	PostingID      httpapi.ID[ident.Posting]  `json:"postingId" doc:"Id of the posting."`
	CreatedAt      httpapi.Time               `json:"createdAt" doc:"Time of the request."`
	TokenID        httpapi.ID[ident.Token]    `json:"tokenId,omitzero" doc:"Id of the token. Omitted if the operator of the service did it."`
	Actor          string                     `json:"actor,omitempty" doc:"Name of the person, if given." example:"Ana Silva"`
	Approval       *approvalBody              `json:"approval,omitempty" doc:"Approval by a second person, if it needed four eyes."`
	Arrival        *treasuryArrivalBody       `json:"arrival,omitempty" doc:"Arrival of a transfer that was in transit."`
}

type treasuryArrivalBody struct {
	EffectiveAt httpapi.Time              `json:"effectiveAt" doc:"Time of the arrival."`
	PostingID   httpapi.ID[ident.Posting] `json:"postingId" doc:"Id of its posting."`
	RecordedAt  httpapi.Time              `json:"recordedAt" doc:"Time of the request."`
	TokenID     httpapi.ID[ident.Token]   `json:"tokenId,omitzero" doc:"Id of the token. Omitted if the operator of the service did it."`
	Actor       string                    `json:"actor,omitempty" doc:"Name of the person, if given." example:"Ana Silva"`
	Approval    *approvalBody             `json:"approval,omitempty" doc:"Approval by a second person, if it needed four eyes."`
}

func renderMovement(m treasury.Movement) treasuryMovementBody {
	body := treasuryMovementBody{ID: httpapi.NewID(m.ID), Kind: string(m.Kind), From: m.From, To: m.To, Amount: renderAmount(m.Amount),
		Status: "COMPLETED", AllowOverdraft: m.AllowOverdraft, Note: m.Note,
		EffectiveAt: httpapi.NewTime(m.Effective), PostingID: postingID(m.Posting), CreatedAt: httpapi.NewTime(m.At),
		TokenID: httpapi.NewID(m.By.Token), Actor: m.By.Actor,
		Approval: renderApproval(m.Approval)}
	if m.Kind == treasury.Settlement {
		bought := renderAmount(m.Bought)
		body.Bought = &bought
	}
	if m.IsOpen() {
		body.Status = "IN_TRANSIT"
	}
	if m.Arrival != nil {
		body.Arrival = &treasuryArrivalBody{httpapi.NewTime(m.Arrival.Effective), postingID(m.Arrival.Posting), httpapi.NewTime(m.Arrival.At),
			httpapi.NewID(m.Arrival.By.Token), m.Arrival.By.Actor,
			renderApproval(m.Arrival.Approval)}
	}
	return body
}

// TreasuryMovementRequest holds the fields that the request of every movement has.
type TreasuryMovementRequest struct {
	From           string           `json:"from" minLength:"1" maxLength:"80" doc:"Path of the account that pays." example:"rails/RTP"`
	To             string           `json:"to" minLength:"1" maxLength:"80" doc:"Path of the account that receives." example:"own/OPERATING"`
	Currency       httpapi.Currency `json:"currency" doc:"Currency of the amount."`
	Amount         httpapi.Minor    `json:"amount" minimum:"1" doc:"Amount, in the smallest unit of the currency." example:"2500"`
	Note           string           `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the movement. Required with allowOverdraft." example:"Fees of October"`
	EffectiveAt    httpapi.Time     `json:"effectiveAt,omitzero" doc:"Effective time. Defaults to now. If its month is soft-closed or closed, the posting takes effect at the start of the first open month, and its memo contains the requested day."`
	AllowOverdraft bool             `json:"allowOverdraft,omitempty" doc:"Whether an account may go below zero."`
}

func (r TreasuryMovementRequest) movement(kind treasury.Kind, call httpapi.Call) treasury.Movement {
	return treasury.Movement{Platform: call.Principal.Platform, Kind: kind, From: r.From, To: r.To,
		Amount:         money.Amount{Minor: int64(r.Amount), Currency: money.Currency(r.Currency)},
		AllowOverdraft: r.AllowOverdraft, Note: r.Note, Effective: r.EffectiveAt.Time, By: call.Author()}
}

type sweepCreateRequest struct{ TreasuryMovementRequest }

type treasuryTransferCreateRequest struct {
	TreasuryMovementRequest
	InTransit bool `json:"inTransit,omitempty" doc:"Whether the money arrives later. The transfer stays open until its arrival is posted."`
}

type treasurySettlementCreateRequest struct {
	TreasuryMovementRequest
	BoughtCurrency httpapi.Currency `json:"boughtCurrency" doc:"Currency that is bought."`
	BoughtAmount   httpapi.Minor    `json:"boughtAmount" minimum:"1" doc:"Amount that reaches to, in the smallest unit of boughtCurrency." example:"2300"`
}

type treasuryArrivalRequest struct {
	EffectiveAt httpapi.Time `json:"effectiveAt,omitzero" doc:"Time of the arrival. Defaults to now."`
}

func registerTreasury(a *httpapi.API, service Treasury) {
	refused := []fault.Code{fault.InvalidAmount}
	type sweepInput struct{ Body sweepCreateRequest }
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "createSweep", Path: "/ledger/sweeps", Tag: tagLedger, Summary: "Sweep fees out of an account with customers' money",
		Permission: platform.Manage,
		Description: "Posts that fees earned were moved from an account with customers' money to one with the company's own. At most the " +
			"excess in that currency can be moved, without what people posted and no statement or proof has confirmed: " +
			"otherwise `409 CONFLICT`, with both numbers in `details`. The service moves nothing at the partner.",
		Errors: refused,
	}, 201, treasuryMovementBody{}), func(ctx context.Context, call httpapi.Call,
		in *sweepInput) (proposal.Outcome[treasury.Movement], error) {
		return service.Move(ctx, in.Body.movement(treasury.Sweep, call), call.IdempotentRequest)
	}, renderOutcome(201, renderMovement))

	type transferInput struct{ Body treasuryTransferCreateRequest }
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "createTreasuryTransfer", Path: "/ledger/treasury/transfers", Tag: tagLedger, Summary: "Post a transfer between accounts at partners",
		Permission: platform.Manage,
		Description: "Posts that money was moved between two accounts at partners, in one currency. With `inTransit` it is posted to a transit " +
			"account and arrives with a second posting. " +
			"A transfer from `partner-receivables/<RAIL>` posts what a partner has paid, and one to `partner-payables/<RAIL>` what it was paid. " +
			"Customers' money can leave their accounts only up to the excess that is confirmed, and no account goes below zero unless " +
			"`allowOverdraft` is set with a note. The service moves nothing at the partner.",
		Errors: refused,
	}, 201, treasuryMovementBody{}), func(ctx context.Context, call httpapi.Call,
		in *transferInput) (proposal.Outcome[treasury.Movement], error) {
		m := in.Body.movement(treasury.Transfer, call)
		m.InTransit = in.Body.InTransit
		return service.Move(ctx, m, call.IdempotentRequest)
	}, renderOutcome(201, renderMovement))

	type arriveInput struct {
		MovementID httpapi.ID[ident.Movement] `path:"movementId" doc:"Id of the transfer."`
		Body       *treasuryArrivalRequest
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "arriveTreasuryTransfer", Path: "/ledger/treasury/transfers/{movementId}/arrive", Tag: tagLedger,
		Summary: "Post the arrival of a transfer in transit", Permission: platform.Manage,
		Description: "Posts that a transfer in transit has arrived, once.", Errors: []fault.Code{fault.NotFound},
	}, 200, treasuryMovementBody{}), func(ctx context.Context, call httpapi.Call,
		in *arriveInput) (proposal.Outcome[treasury.Movement], error) {
		var effective time.Time
		if in.Body != nil {
			effective = in.Body.EffectiveAt.Time
		}
		return service.Arrive(ctx, call.Principal.Platform, in.MovementID.Value, call.Author(), effective, call.IdempotentRequest)
	}, renderOutcome(200, renderMovement))

	type settlementInput struct {
		Body treasurySettlementCreateRequest
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "createTreasurySettlement", Path: "/ledger/treasury/settlements", Tag: tagLedger, Summary: "Post an exchange with a liquidity " +
			"provider", Permission: platform.Manage,
		Description: "Posts that the service has sold one currency for another to a liquidity provider, which reduces its position. What is " +
			"paid later is posted from `partner-payables/<RAIL>`, " +
			"and what is received later to `partner-receivables/<RAIL>`. The same limits as for transfers apply. The service moves nothing at the " +
			"partner.",
		Errors: refused,
	}, 201, treasuryMovementBody{}), func(ctx context.Context, call httpapi.Call,
		in *settlementInput) (proposal.Outcome[treasury.Movement], error) {
		m := in.Body.movement(treasury.Settlement, call)
		m.Bought = money.Amount{Minor: int64(in.Body.BoughtAmount), Currency: money.Currency(in.Body.BoughtCurrency)}
		return service.Move(ctx, m, call.IdempotentRequest)
	}, renderOutcome(201, renderMovement))

	type listParams struct {
		httpapi.Paging
		httpapi.Sorting
		Kind   string `query:"kind" enum:"SWEEP,TRANSFER,SETTLEMENT" doc:"Kind of movement."`
		Status string `query:"status" enum:"IN_TRANSIT" doc:"Only transfers that have not arrived."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listTreasuryMovements", Path: "/ledger/treasury/movements", Tag: tagLedger, Summary: "List treasury movements",
		Permission:  platform.View,
		Description: "Returns sweeps, transfers and settlements, newest first by default.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[treasury.Movement], error) {
		return service.Movements(ctx, call.Principal.Platform,
			ports.MovementFilter{Paging: page,
				Kind: treasury.Kind(in.Kind), Open: in.Status != ""})
	}, renderMovement, func(m treasury.Movement) ident.Movement { return m.ID })

	type getParams struct {
		MovementID httpapi.ID[ident.Movement] `path:"movementId" doc:"Id of the movement."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getTreasuryMovement", Path: "/ledger/treasury/movements/{movementId}", Tag: tagLedger, Summary: "Get a treasury movement",
		Permission:  platform.View,
		Description: "Returns a sweep, transfer or settlement.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (treasury.Movement, error) {
		return service.Movement(ctx, call.Principal.Platform, in.MovementID.Value)
	}, renderMovement)
}
