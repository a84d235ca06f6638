package api

import (
	"context"
	"time"

	httpapi "causeway/adapters/http"
	booksapp "causeway/app/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
)

type openingBalancesResponse struct {
	Data []openingBalancesBody `json:"data" doc:"Postings, one per currency."`
}

type openingBalancesBody struct {
	PostingID   httpapi.ID[ident.Posting] `json:"postingId" doc:"Id of the posting."`
	Currency    httpapi.Currency          `json:"currency" doc:"Currency of the balances." example:"USD"`
	EffectiveAt httpapi.Time              `json:"effectiveAt" doc:"Effective time of the posting: the end of the day."`
	Accounts    int                       `json:"accounts" doc:"Number of accounts with a balance." example:"1204"`
	Debits      httpapi.BigMinor          `json:"debits" doc:"Sum of the debit balances, in the smallest unit."`
	Credits     httpapi.BigMinor          `json:"credits" doc:"Sum of the credit balances, in the smallest unit."`
	Difference  httpapi.BigMinor          `json:"difference" doc:"Debits minus credits, which equity/brought-forward is left with, in the smallest unit."`
}

func renderOpeningBalances(posted []booksapp.PostedOpening) openingBalancesResponse {
	body := openingBalancesResponse{Data: make([]openingBalancesBody, len(posted))}
	for i, o := range posted {
		body.Data[i] = openingBalancesBody{postingID(o.Posting.ID), httpapi.Currency(o.Currency), httpapi.NewTime(o.Posting.Effective),
			len(o.Lines),
			httpapi.NewBigMinor(o.Debits), httpapi.NewBigMinor(o.Credits), httpapi.NewBigMinor(o.Difference)}
	}
	return body
}

type openingBalancesReversalRequest struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the reversal." example:"The file lacked the loans."`
}

type openingBalancesReversalBody struct {
	PostingID   httpapi.ID[ident.Posting] `json:"postingId" doc:"Id of the reversal."`
	Reverses    httpapi.ID[ident.Posting] `json:"reverses" doc:"Id of the posting that is reversed."`
	EffectiveAt httpapi.Time              `json:"effectiveAt" doc:"Effective time of the reversal."`
}

func renderOpeningReversal(p ledger.Posting) openingBalancesReversalBody {
	return openingBalancesReversalBody{postingID(p.ID), postingID(p.Reverses), httpapi.NewTime(p.Effective)}
}

// maxOpeningBytes is the maximum size of a file of opening balances.
const maxOpeningBytes = 16 << 20

func registerOpeningBalances(a *httpapi.API, service Books) {
	type importParams struct {
		AsOf           string `query:"asOf" required:"true" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$" doc:"Day at whose end, in UTC, the balances were those of the file." example:"2025-12-31"`
		BalanceAgainst string `query:"balanceAgainst" enum:"equity/brought-forward" doc:"Account that is left with the difference of debits and credits. Without it, a file with a difference is refused."`
		Note           string `query:"note" maxLength:"500" doc:"Reason, stored with the authorising token." example:"Balances of the former provider"`
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "importOpeningBalances", Path: "/ledger/opening-balances", Tag: tagLedger, Summary: "Import opening balances",
		Permission: platform.Manage,
		Description: "Takes over the balances of earlier books, in one posting a currency. The file is CSV in UTF-8 (RFC 4180) with the " +
			"columns account, currency, debit, credit and, optionally, gl_code, in any order. " +
			"Amounts are in major units, such as 1234.50; an account has a debit or a credit. In every currency debits equal credits. Accounts of " +
			"customers must exist, and accounts that finance adds must have been added. " +
			"A gl_code is compared with the mapping to the general ledger.\n\n" +
			"Every wrong row is listed, up to 1,000 errors; then nothing is posted. No account may have a balance in the currency at that time, " +
			"so a currency is imported once: to correct it, reverse it and import it again. " +
			"At most 100,000 rows, and 30,000 in a currency.",
		MaxBody: maxOpeningBytes, Timeout: 2 * time.Minute,
		Upload: &httpapi.Upload{Types: []string{"text/csv", "text/plain", "application/octet-stream"},
			Description: "CSV file of at most 16 MiB."},
		Errors: []fault.Code{fault.AmountOutOfRange},
	}, 201, openingBalancesResponse{}), func(ctx context.Context, call httpapi.Call,
		in *importParams) (proposal.Outcome[[]booksapp.PostedOpening], error) {
		day, err := time.Parse(time.DateOnly, in.AsOf)
		if err != nil {
			return proposal.Outcome[[]booksapp.PostedOpening]{}, fault.Invalid(fault.Field{Field: "asOf", Message: "must be a date of the form " +
				"YYYY-MM-DD"})
		}
		return service.ImportOpeningBalances(ctx, call.Principal.Platform, booksChange(call, in.Note), call.IdempotentRequest,
			booksapp.OpeningImport{File: call.File, AsOf: day, AgainstBroughtForward: in.BalanceAgainst != ""})
	}, renderOutcome(201, renderOpeningBalances))

	type reverseInput struct {
		Currency httpapi.Currency `path:"currency" doc:"Currency of the opening balances." example:"USD"`
		Body     *openingBalancesReversalRequest
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "reverseOpeningBalances", Path: "/ledger/opening-balances/{currency}/reverse", Tag: tagLedger, Summary: "Reverse opening balances",
		Permission: platform.Manage,
		Description: "Reverses the opening balances in a currency, so that others can be imported. The reversal takes effect when they did or, " +
			"if that month is closed, at the start of the next open month.",
		Errors: []fault.Code{fault.NotFound, fault.InsufficientBalance},
	}, 201, openingBalancesReversalBody{}), func(ctx context.Context, call httpapi.Call,
		in *reverseInput) (proposal.Outcome[ledger.Posting], error) {
		var note string
		if in.Body != nil {
			note = in.Body.Note
		}
		return service.ReverseOpeningBalances(ctx, call.Principal.Platform, booksChange(call, note), call.IdempotentRequest,
			money.Currency(in.Currency))
	}, renderOutcome(201, renderOpeningReversal))
}
