package api

import (
	"context"

	httpapi "causeway/adapters/http"
	app "causeway/app/yearend"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/yearend"
	"causeway/ports"
)

// Years holds the use cases on financial years.
type Years interface {
	List(ctx context.Context, p ident.Platform) ([]app.Year, error)
	Get(ctx context.Context, p ident.Platform, number int) (app.Year, error)
	Close(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, c app.Change) (proposal.Outcome[app.Year], error)
	Reverse(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, c app.Change) (proposal.Outcome[app.Year], error)
}

type ledgerYearBody struct {
	Year       int                     `json:"year" doc:"Calendar year in which the financial year ends." example:"2026"`
	FirstMonth monthText               `json:"firstMonth" doc:"First month." example:"2026-01"`
	LastMonth  monthText               `json:"lastMonth" doc:"Last month." example:"2026-12"`
	State      string                  `json:"state" enum:"OPEN,CLOSED" doc:"CLOSED: income and expense are closed into retained earnings. OPEN: they are not, or that was reversed."`
	Closings   []ledgerYearClosingBody `json:"closings" doc:"Closings of the year, oldest first. All but the last are reversed."`
}

type ledgerYearClosingBody struct {
	ClosedAt  httpapi.Time              `json:"closedAt" doc:"Time of the closing."`
	TokenID   httpapi.ID[ident.Token]   `json:"tokenId,omitzero" doc:"Id of the token that closed the year. Omitted if the operator of the service closed it."`
	Actor     string                    `json:"actor,omitempty" doc:"Name of the person who closed the year: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Approval  *approvalBody             `json:"approval,omitempty" doc:"Approval of the closing by a second person, if it needed four eyes."`
	Note      string                    `json:"note" doc:"Reason of the closing." example:"The accounts are audited."`
	PostingID httpapi.ID[ident.Posting] `json:"postingId,omitzero" doc:"Id of the posting that closed income and expense. Omitted if there were none."`
	Results   []ledgerYearResultBody    `json:"results" doc:"What was closed, one per currency."`
	Reversal  *ledgerYearReversalBody   `json:"reversal,omitempty" doc:"Reversal of the closing."`
}

type ledgerYearResultBody struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency." example:"USD"`
	Income   httpapi.BigMinor `json:"income" doc:"Income, in the smallest unit."`
	Expense  httpapi.BigMinor `json:"expense" doc:"Expense, in the smallest unit."`
	Result   httpapi.BigMinor `json:"result" doc:"Income less expense: what retained earnings increased by."`
}

type ledgerYearReversalBody struct {
	ReversedAt  httpapi.Time              `json:"reversedAt" doc:"Time of the reversal."`
	TokenID     httpapi.ID[ident.Token]   `json:"tokenId,omitzero" doc:"Id of the token that reversed the closing. Omitted if the operator of the service did."`
	Actor       string                    `json:"actor,omitempty" doc:"Name of the person who reversed the closing: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Approval    *approvalBody             `json:"approval,omitempty" doc:"Approval of the reversal by a second person, if it needed four eyes."`
	Note        string                    `json:"note" doc:"Reason of the reversal." example:"An invoice is missing."`
	PostingID   httpapi.ID[ident.Posting] `json:"postingId,omitzero" doc:"Id of the reversal posting. Omitted if the closing has no posting."`
	EffectiveAt httpapi.Time              `json:"effectiveAt" doc:"Effective time of the reversal: the end of the year, or, if its last month is closed, the start of the first month that is not."`
}

// ledgerYearChangeRequest is the reason of a change of a year.
type ledgerYearChangeRequest struct {
	Note string `json:"note" minLength:"1" maxLength:"500" doc:"Reason, stored with the change." example:"The accounts are audited."`
}

type ledgerYearListResponse struct {
	Data []ledgerYearBody `json:"data" doc:"Years, newest first."`
}

func renderYear(y app.Year) ledgerYearBody {
	body := ledgerYearBody{Year: y.Year.Number(), FirstMonth: monthText(y.Year.First().String()), LastMonth: monthText(y.Year.Last().String()),
		State:    "OPEN",
		Closings: make([]ledgerYearClosingBody, len(y.Closings))}
	if _, closed := y.Current(); closed {
		body.State = "CLOSED"
	}
	for i, c := range y.Closings {
		body.Closings[i] = renderYearClosing(c)
	}
	return body
}

func renderYearClosing(c yearend.Closing) ledgerYearClosingBody {
	body := ledgerYearClosingBody{ClosedAt: httpapi.NewTime(c.At), TokenID: httpapi.NewID(c.By.Token), Actor: c.By.Actor,
		Approval: renderApproval(c.Approval), Note: c.Note, Results: make([]ledgerYearResultBody, len(c.Results))}
	body.PostingID.Value.SetUUID(c.Posting)
	for i, r := range c.Results {
		body.Results[i] = ledgerYearResultBody{httpapi.Currency(r.Currency), httpapi.NewBigMinor(r.Income), httpapi.NewBigMinor(r.Expense),
			httpapi.NewBigMinor(r.Net())}
	}
	if r := c.Reversal; r != nil {
		body.Reversal = &ledgerYearReversalBody{ReversedAt: httpapi.NewTime(r.At), TokenID: httpapi.NewID(r.By.Token), Actor: r.By.Actor,
			Approval: renderApproval(r.Approval), Note: r.Note, EffectiveAt: httpapi.NewTime(r.Effective)}
		body.Reversal.PostingID.Value.SetUUID(r.Posting)
	}
	return body
}

// YearPath is a financial year in a path.
type YearPath struct {
	Year int `path:"year" minimum:"2000" maximum:"9999" doc:"Calendar year in which the financial year ends." example:"2026"`
}

func registerYears(a *httpapi.API, service Years) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerYears", Path: "/ledger/years", Tag: tagLedger, Summary: "List financial years", Permission: platform.View,
		Description: "Returns every financial year since the first accounting period, newest first, with its closings and their results. " +
			"A financial year ends with the month `yearEndMonth` of the accounting policies.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]app.Year, error) {
		return service.List(ctx, call.Principal.Platform)
	}, func(years []app.Year) ledgerYearListResponse {
		list := ledgerYearListResponse{Data: make([]ledgerYearBody, len(years))}
		for i, y := range years {
			list.Data[i] = renderYear(y)
		}
		return list
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerYear", Path: "/ledger/years/{year}", Tag: tagLedger, Summary: "Get a financial year", Permission: platform.View,
		Description: "Returns a financial year with its closings and their results.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *YearPath) (app.Year, error) {
		return service.Get(ctx, call.Principal.Platform, in.Year)
	}, renderYear)

	registerYearChange(a, service, Years.Close, httpapi.Operation{ID: "closeLedgerYear", Path: "/ledger/years/{year}/close",
		Summary: "Close a financial year",
		Description: "Closes income and expense into `equity/retained-earnings` with one posting of the kind `year_end`, in every currency, " +
			"effective at the end of the year. Afterwards the accounts of income and expense are at zero. " +
			"The income report leaves the posting out. All months of the year but the last are closed, and the last is soft-closed."})
	registerYearChange(a, service, Years.Reverse, httpapi.Operation{ID: "reverseLedgerYear", Path: "/ledger/years/{year}/reverse",
		Summary: "Reverse the closing of a financial year",
		Description: "Reverses the posting that closed the year. While the last month of the year is soft-closed, the reversal takes effect at " +
			"the end of the year as well, and the year can be closed again. " +
			"After that month is closed, the reversal takes effect at the start of the first month that is not closed: the closed months keep " +
			"their balances, the income and expense accounts contain the result of the year from that month on, and the next year that is closed " +
			"includes it."})
}

func registerYearChange(a *httpapi.API, service Years, change func(Years, context.Context, ident.Platform, *ports.IdempotentRequest,
	app.Change) (proposal.Outcome[app.Year], error), op httpapi.Operation) {
	type input struct {
		YearPath
		Body ledgerYearChangeRequest
	}
	op.Tag, op.Permission = tagLedger, platform.Manage
	httpapi.Post(a, withFourEyes(op, 200, ledgerYearBody{}), func(ctx context.Context, call httpapi.Call,
		in *input) (proposal.Outcome[app.Year], error) {
		return change(service, ctx, call.Principal.Platform, call.IdempotentRequest, app.Change{Year: in.Year, By: call.Author(),
			Note: in.Body.Note})
	}, renderOutcome(200, renderYear))
}
