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
	"causeway/core/proposal"
	"causeway/ledger"
)

type adjustmentCreateRequest struct {
	Entries       []adjustmentEntry         `json:"entries" minItems:"1" maxItems:"256" doc:"Entries, posted together."`
	Note          string                    `json:"note" minLength:"1" maxLength:"500" doc:"Reason of the adjustment. It is stored with the authorising token, and the memo of the posting begins with it." example:"The bank charged the wire of 30 October twice."`
	EffectiveAt   httpapi.Time              `json:"effectiveAt,omitzero" doc:"Effective time. Defaults to now. It may be in a soft-closed month. If the month is closed, the posting takes effect at the start of the next open month and its memo contains the requested day."`
	Corrects      httpapi.ID[ident.Posting] `json:"corrects,omitzero" doc:"Id of the posting that this adjustment corrects, if any. The memo ends with it."`
	OwnedAccounts bool                      `json:"ownedAccounts,omitempty" doc:"Must be true to adjust accounts of customers or of the platform: paths that begin with customers/, platform/ or wallets/. A balance event is sent for each."`
}

type adjustmentEntry struct {
	Debit    string           `json:"debit" minLength:"1" maxLength:"100" doc:"Path of the debited account." example:"expense/rails"`
	Credit   string           `json:"credit" minLength:"1" maxLength:"100" doc:"Path of the credited account." example:"rails/WIRE"`
	Currency httpapi.Currency `json:"currency" doc:"Currency of both accounts."`
	Amount   httpapi.Minor    `json:"amount" minimum:"1" doc:"Amount, in the smallest unit of the currency." example:"2500"`
}

type adjustmentBody struct {
	PostingID            httpapi.ID[ident.Posting] `json:"postingId" doc:"Id of the posting."`
	EffectiveAt          httpapi.Time              `json:"effectiveAt" doc:"Effective time of the posting."`
	RequestedEffectiveAt *httpapi.Time             `json:"requestedEffectiveAt,omitempty" doc:"Requested effective time. Only if its month is closed."`
	Memo                 string                    `json:"memo" doc:"Memo of the posting."`
	Corrects             httpapi.ID[ident.Posting] `json:"corrects,omitzero" doc:"Id of the posting that this adjustment corrects."`
	Note                 string                    `json:"note" doc:"Reason of the adjustment."`
	TokenID              httpapi.ID[ident.Token]   `json:"tokenId" doc:"Id of the token that authorised the adjustment."`
	Actor                string                    `json:"actor,omitempty" doc:"Name of the person who authorised it, from Causeway-Actor." example:"Ana Lima"`
	Entries              []adjustmentEntry         `json:"entries" doc:"Entries of the posting."`
}

func (r adjustmentCreateRequest) command() period.Adjustment {
	a := period.Adjustment{Note: r.Note, Effective: r.EffectiveAt.Time, OwnedAccounts: r.OwnedAccounts, Corrects: r.Corrects.Value,
		Entries: make([]ledger.Entry, len(r.Entries))}
	for i, e := range r.Entries {
		a.Entries[i] = ledger.Entry{Debit: e.Debit, Credit: e.Credit, Currency: money.Currency(e.Currency), Amount: int64(e.Amount)}
	}
	return a
}

// Resolve reports what core finds invalid. Only the use case has a clock and checks
// whether a time is in the future.
func (r adjustmentCreateRequest) Resolve(huma.Context) []error {
	return httpapi.FieldErrors(fault.Invalid(r.command().Check(r.EffectiveAt.Time)...))
}

func renderAdjustment(a accounting.PostedAdjustment) adjustmentBody {
	body := adjustmentBody{EffectiveAt: httpapi.NewTime(a.Posting.Effective), Memo: a.Posting.Memo, Corrects: httpapi.NewID(a.Corrects),
		Note:    a.Authorisation.Note,
		TokenID: httpapi.NewID(a.Authorisation.By.Token), Actor: a.Authorisation.By.Actor,
		Entries: make([]adjustmentEntry, len(a.Posting.Entries))}
	body.PostingID.Value.SetUUID(a.Posting.ID)
	if !a.RequestedEffective.Equal(a.Posting.Effective) {
		requested := httpapi.NewTime(a.RequestedEffective)
		body.RequestedEffectiveAt = &requested
	}
	for i, e := range a.Posting.Entries {
		body.Entries[i] = adjustmentEntry{e.Debit, e.Credit, httpapi.Currency(e.Currency), minor(e.Amount)}
	}
	return body
}

func registerAdjustments(a *httpapi.API, service Periods) {
	type adjustInput struct{ Body adjustmentCreateRequest }
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "createLedgerAdjustment", Path: "/ledger/adjustments", Tag: tagLedger, Summary: "Post an adjustment", Permission: platform.Manage,
		Description: "Posts balanced entries between ledger accounts. Accounts of customers and of the platform cannot be overdrawn. " +
			"An adjustment records who authorised it and why, so it may take effect in a soft-closed month.",
		Errors: []fault.Code{fault.NotFound, fault.InternalAccountNotFound, fault.InsufficientBalance, fault.InvalidAmount},
	}, 201, adjustmentBody{}), func(ctx context.Context, call httpapi.Call,
		in *adjustInput) (proposal.Outcome[accounting.PostedAdjustment], error) {
		return service.Adjust(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, in.Body.command())
	}, renderOutcome(201, renderAdjustment))
}

// encodeHex returns a digest in hexadecimal; empty for none.
func encodeHex(digest []byte) string { return hex.EncodeToString(digest) }
