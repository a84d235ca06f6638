package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

// Periods are the use cases behind the operations on months of the books.
type Periods interface {
	List(ctx context.Context, p ident.Platform) ([]accounting.Month, error)
	Get(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (accounting.Month, error)
	ChangeState(ctx context.Context, p ident.Platform, by ident.Token, claim *ports.IdempotentRequest, a period.Action, m period.Month, note string) (accounting.Month, error)
	Adjust(ctx context.Context, p ident.Platform, by ident.Token, claim *ports.IdempotentRequest, a period.Adjustment) (accounting.PostedAdjustment, error)
}

// monthText is a month in a path or a body.
type monthText string

// Schema publishes the form.
func (monthText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]{4}-(0[1-9]|1[0-2])$", PatternDescription: "a month of the form YYYY-MM", Examples: []any{"2026-10"}}
}

// parse finds what the pattern lets through.
func (m monthText) parse() (period.Month, error) {
	month, err := period.ParseMonth(string(m))
	if err != nil {
		return month, fault.Invalid(fault.Field{Field: "month", Message: err.Error()})
	}
	return month, nil
}

type accountingPeriodBody struct {
	Month   monthText                    `json:"month" doc:"The month, of UTC."`
	State   string                       `json:"state" enum:"OPEN,SOFT_CLOSED,CLOSED" doc:"OPEN takes every posting. SOFT_CLOSED takes only what somebody authorised with a note. CLOSED takes nothing, for good."`
	Closing *periodClosingBody           `json:"closing,omitempty" doc:"What the books said when the month was closed."`
	Changes []accountingPeriodChangeBody `json:"changes" doc:"What was done to the month, in order. The answer to a change has that change alone."`
}

type periodClosingBody struct {
	ClosedAt     httpapi.Time             `json:"closedAt" doc:"When it was closed."`
	TokenID      httpapi.ID[ident.Token]  `json:"tokenId,omitzero" doc:"The token it was closed with; left out when the operator of the service did it."`
	Posting      int64                    `json:"posting" doc:"The number of the platform's last posting then; 0 when there was none." example:"84211"`
	Digest       string                   `json:"digest,omitempty" doc:"The SHA-256 digest of that posting, in hexadecimal digits." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Checkpoint   string                   `json:"checkpoint,omitempty" doc:"The newest signed head of the log of postings then, a C2SP checkpoint; left out while there was none."`
	TrialBalance *closingTrialBalanceBody `json:"trialBalance,omitempty" doc:"What every account came to. Only where one month is read."`
}

type closingTrialBalanceBody struct {
	Totals     []closingTrialBalanceTotalBody `json:"totals" doc:"Each currency added up: debits equal credits."`
	Lines      []closingTrialBalanceLineBody  `json:"lines" doc:"A page of the accounts that anything was posted to up to the end of the month."`
	HasMore    bool                           `json:"hasMore" doc:"Whether there are more lines after these."`
	NextCursor string                         `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next lines. Only when hasMore is true."`
}

type closingTrialBalanceTotalBody struct {
	Currency httpapi.Currency `json:"currency" doc:"The currency."`
	Accounts int64            `json:"accounts" doc:"How many accounts carry it."`
	Debits   httpapi.BigMinor `json:"debits" doc:"All debits of the month, in the smallest unit."`
	Credits  httpapi.BigMinor `json:"credits" doc:"All credits of the month, in the smallest unit."`
}

type closingTrialBalanceLineBody struct {
	Account  string           `json:"account" doc:"The path of the account." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"Its currency."`
	Class    string           `json:"class" enum:"asset,liability,income,expense,trading" doc:"Its class."`
	Opening  httpapi.BigMinor `json:"opening" doc:"The balance before the month, in the smallest unit, with the sign of the class."`
	Debits   httpapi.BigMinor `json:"debits" doc:"What was debited in the month."`
	Credits  httpapi.BigMinor `json:"credits" doc:"What was credited in the month."`
	Closing  httpapi.BigMinor `json:"closing" doc:"The balance at the end of the month."`
}

type accountingPeriodChangeBody struct {
	Action  string                  `json:"action" enum:"soft-close,reopen,close" doc:"What was done."`
	At      httpapi.Time            `json:"at" doc:"When."`
	TokenID httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"The token it was done with; left out when the operator of the service did it."`
	Note    string                  `json:"note,omitempty" doc:"Why, in the words of who did it." example:"October is complete."`
}

// accountingPeriodChangeRequest may be left out as a whole.
type accountingPeriodChangeRequest struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Why; it is kept with the change." example:"October is complete."`
}

type accountingPeriodListResponse struct {
	Data []accountingPeriodBody `json:"data" doc:"The months, the newest first."`
}

func renderPeriod(m accounting.Month) accountingPeriodBody {
	body := accountingPeriodBody{Month: monthText(m.Month.String()), State: string(m.State), Changes: make([]accountingPeriodChangeBody, len(m.Changes))}
	for i, c := range m.Changes {
		body.Changes[i] = accountingPeriodChangeBody{string(c.Action), httpapi.NewTime(c.At), httpapi.NewID(c.By), c.Note}
	}
	if m.Closing == nil {
		return body
	}
	body.Closing = &periodClosingBody{ClosedAt: httpapi.NewTime(m.Closing.At), TokenID: httpapi.NewID(m.Closing.By), Posting: m.Closing.Seq,
		Digest: encodeHex(m.Closing.Digest), Checkpoint: m.Closing.Checkpoint}
	return body
}

// renderPeriodWithTrialBalance has the trial balance too.
func renderPeriodWithTrialBalance(m accounting.Month) accountingPeriodBody {
	body := renderPeriod(m)
	if body.Closing == nil {
		return body
	}
	trial := &closingTrialBalanceBody{Totals: make([]closingTrialBalanceTotalBody, len(m.Totals)), Lines: make([]closingTrialBalanceLineBody, len(m.Lines.Lines)), HasMore: m.Lines.More}
	for i, t := range m.Totals {
		trial.Totals[i] = closingTrialBalanceTotalBody{httpapi.Currency(t.Currency), t.Accounts, httpapi.NewBigMinor(t.Debits), httpapi.NewBigMinor(t.Credits)}
	}
	for i, l := range m.Lines.Lines {
		trial.Lines[i] = closingTrialBalanceLineBody{l.Account.Path, httpapi.Currency(l.Account.Currency), string(l.Class),
			httpapi.NewBigMinor(l.Opening), httpapi.NewBigMinor(l.Debits), httpapi.NewBigMinor(l.Credits), httpapi.NewBigMinor(l.Closing)}
	}
	if trial.HasMore {
		trial.NextCursor = numberCursor(trialLineCursor, m.Lines.Last).String()
	}
	body.Closing.TrialBalance = trial
	return body
}

func registerPeriods(a *httpapi.API, p Periods) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerPeriods", Path: "/ledger/periods", Tag: tagLedger, Summary: "List the months of the books", Permission: platform.View,
		Description: "Every month since the first posting, or since the first month that was held, with its state: the newest first. " +
			"A month is a calendar month of UTC, and a posting belongs to the month of its effective time.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]accounting.Month, error) {
		return p.List(ctx, call.Principal.Platform)
	}, func(months []accounting.Month) accountingPeriodListResponse {
		list := accountingPeriodListResponse{Data: make([]accountingPeriodBody, len(months))}
		for i, m := range months {
			list.Data[i] = renderPeriod(m)
		}
		return list
	})

	type one struct {
		Month  monthText      `path:"month" doc:"The month." example:"2026-10"`
		Limit  int            `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many lines of the trial balance to return at most."`
		Cursor httpapi.Cursor `query:"cursor" doc:"Where to go on in the trial balance: nextCursor of the answer before."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerPeriod", Path: "/ledger/periods/{month}", Tag: tagLedger, Summary: "Get a month of the books", Permission: platform.View,
		Description: "A month, and once it is closed the trial balance that was recorded then: for each account what it opened with, was debited and credited, and closed with. It never changes.",
		Errors:      []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (accounting.Month, error) {
		month, err := in.Month.parse()
		if err != nil {
			return accounting.Month{}, err
		}
		after, err := parseNumberCursor(trialLineCursor, in.Cursor)
		if err != nil {
			return accounting.Month{}, err
		}
		return p.Get(ctx, call.Principal.Platform, month, ports.LineFilter{After: after, Limit: in.Limit})
	}, renderPeriodWithTrialBalance)

	for _, op := range []struct {
		id, summary, description string
		action                   period.Action
	}{
		{"softCloseLedgerPeriod", "Hold a month", "Keeps ordinary postings out of a month that is over, so that finance can look at it: what would be effective in it is effective at the first moment of the first open month instead, " +
			"and its memo says for which day it was. Only adjustments and other postings that somebody authorised, with a note, may still be effective in it. Months are held in their order. The first one ever held begins the " +
			"books' months: what is effective before it is what it opens with.", period.SoftClose},
		{"reopenLedgerPeriod", "Reopen a month", "Lets ordinary postings into a held month again. What was moved to a later month meanwhile stays there. The last month that was held is reopened first; a closed month is never.", period.Reopen},
		{"closeLedgerPeriod", "Close a month", "Closes a held month for good, and records its trial balance, the last posting and the newest head of the log. From then on nothing is effective in it: corrections go to the next month, " +
			"and name the posting they reverse or the day they are for. Months are closed in their order.", period.Close},
	} {
		type change struct {
			Month monthText `path:"month" doc:"The month." example:"2026-10"`
			Body  *accountingPeriodChangeRequest
		}
		httpapi.Post(a, httpapi.Operation{
			ID: op.id, Path: "/ledger/periods/{month}/" + string(op.action), Tag: tagLedger, Summary: op.summary, Permission: platform.Manage,
			Description: op.description, Errors: []fault.Code{fault.Conflict},
		}, func(ctx context.Context, call httpapi.Call, in *change) (accounting.Month, error) {
			month, err := in.Month.parse()
			if err != nil {
				return accounting.Month{}, err
			}
			var note accountingPeriodChangeRequest
			if in.Body != nil {
				note = *in.Body
			}
			return p.ChangeState(ctx, call.Principal.Platform, call.Principal.Token, call.IdempotentRequest, op.action, month, note.Note)
		}, renderPeriod)
	}
	registerAdjustments(a, p)
}
