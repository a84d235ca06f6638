package api

import (
	"context"
	"encoding/hex"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

type adjustmentCreateRequest struct {
	Entries       []adjustmentEntry         `json:"entries" minItems:"1" maxItems:"256" doc:"What moves, all of it together or nothing."`
	Note          string                    `json:"note" minLength:"1" maxLength:"500" doc:"Why. The memo of the posting begins with it; all of it is kept with the token that authorised it." example:"The bank charged the wire of 30 October twice."`
	EffectiveAt   httpapi.Time              `json:"effectiveAt,omitzero" doc:"When it counts; without it, now. It may lie in a held month. For a closed one it counts from the first moment of the month after, and its memo says for which day it was."`
	Corrects      httpapi.ID[ident.Posting] `json:"corrects,omitzero" doc:"The posting that this puts right, if it does one. The memo ends with its id."`
	OwnedAccounts bool                      `json:"ownedAccounts,omitempty" doc:"Say true to adjust balances that belong to somebody: paths that begin with customers/, platform/ or wallets/. Their owners are told of the new balance."`
}

type adjustmentEntry struct {
	Debit    string           `json:"debit" minLength:"1" maxLength:"100" doc:"The path of the account that is debited." example:"expense/rails"`
	Credit   string           `json:"credit" minLength:"1" maxLength:"100" doc:"The path of the account that is credited." example:"rails/WIRE"`
	Currency httpapi.Currency `json:"currency" doc:"The currency."`
	Amount   httpapi.Minor    `json:"amount" minimum:"1" doc:"How much, in the smallest unit." example:"2500"`
}

type adjustmentBody struct {
	PostingID            httpapi.ID[ident.Posting] `json:"postingId" doc:"The posting."`
	EffectiveAt          httpapi.Time              `json:"effectiveAt" doc:"When it counts."`
	RequestedEffectiveAt *httpapi.Time             `json:"requestedEffectiveAt,omitempty" doc:"When it was to count; only when the books are closed there."`
	Memo                 string                    `json:"memo" doc:"The memo of the posting."`
	Corrects             httpapi.ID[ident.Posting] `json:"corrects,omitzero" doc:"The posting that it puts right."`
	Note                 string                    `json:"note" doc:"Why."`
	TokenID              httpapi.ID[ident.Token]   `json:"tokenId" doc:"The token that authorised it."`
	Entries              []adjustmentEntry         `json:"entries" doc:"What moved."`
}

func (r adjustmentCreateRequest) command() period.Adjustment {
	a := period.Adjustment{Note: r.Note, Effective: r.EffectiveAt.Time, OwnedAccounts: r.OwnedAccounts, Corrects: r.Corrects.Value, Entries: make([]ledger.Entry, len(r.Entries))}
	for i, e := range r.Entries {
		a.Entries[i] = ledger.Entry{Debit: e.Debit, Credit: e.Credit, Currency: money.Currency(e.Currency), Amount: int64(e.Amount)}
	}
	return a
}

// Resolve asks core what else is wrong. Whether a moment lies in the future is left to
// the use case, which has a clock.
func (r adjustmentCreateRequest) Resolve(huma.Context) []error {
	return httpapi.FieldErrors(fault.Invalid(r.command().Check(r.EffectiveAt.Time)...))
}

func renderAdjustment(a accounting.PostedAdjustment) adjustmentBody {
	body := adjustmentBody{EffectiveAt: httpapi.NewTime(a.Posting.Effective), Memo: a.Posting.Memo, Corrects: httpapi.NewID(a.Corrects), Note: a.Authorisation.Note,
		TokenID: httpapi.NewID(a.Authorisation.By), Entries: make([]adjustmentEntry, len(a.Posting.Entries))}
	ident.SetUUID(&body.PostingID.Value, a.Posting.ID)
	if !a.RequestedEffective.Equal(a.Posting.Effective) {
		asked := httpapi.NewTime(a.RequestedEffective)
		body.RequestedEffectiveAt = &asked
	}
	for i, e := range a.Posting.Entries {
		body.Entries[i] = adjustmentEntry{e.Debit, e.Credit, httpapi.Currency(e.Currency), minor(e.Amount)}
	}
	return body
}

func registerAdjustments(a *httpapi.API, p Periods) {
	type adjust struct{ Body adjustmentCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createLedgerAdjustment", Path: "/ledger/adjustments", Tag: tagLedger, Summary: "Post an adjustment", Permission: platform.Manage, Status: 201,
		Description: "Puts something right by hand: balanced entries between accounts of the chart, posted together. An account that belongs to somebody never goes below zero. " +
			"Every adjustment keeps who authorised it and why, so it may also count in a month that is held.",
		Errors: []fault.Code{fault.NotFound, fault.InternalAccountNotFound, fault.InsufficientBalance, fault.InvalidAmount},
	}, func(ctx context.Context, call httpapi.Call, in *adjust) (accounting.PostedAdjustment, error) {
		return p.Adjust(ctx, call.Principal.Platform, call.Principal.Token, call.IdempotentRequest, in.Body.command())
	}, renderAdjustment)
}

// encodeHex writes a digest; empty for none.
func encodeHex(digest []byte) string { return hex.EncodeToString(digest) }
