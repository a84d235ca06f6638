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
	"causeway/core/proposal"
	"causeway/ports"
)

// Periods holds the use cases of accounting periods.
type Periods interface {
	List(ctx context.Context, p ident.Platform) ([]accounting.Month, error)
	Get(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (accounting.Month, error)
	ClosingTable(ctx context.Context, p ident.Platform, m period.Month) (accounting.Table, error)
	ChangeState(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		c accounting.MonthChange) (proposal.Outcome[accounting.Month], error)
	Adjust(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		a period.Adjustment) (proposal.Outcome[accounting.PostedAdjustment], error)
}

// monthText is a month in a path or a body, such as 2026-10.
type monthText string

// Schema returns the schema of a month.
func (monthText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]{4}-(0[1-9]|1[0-2])$", PatternDescription: "a month of the form YYYY-MM",
		Examples: []any{"2026-10"}}
}

// parse returns the month, or INVALID_INPUT for a month that matches the pattern but is out of range.
func (m monthText) parse() (period.Month, error) {
	month, err := period.ParseMonth(string(m))
	if err != nil {
		return month, fault.Invalid(fault.Field{Field: "month", Message: err.Error()})
	}
	return month, nil
}

type accountingPeriodBody struct {
	Month   monthText                    `json:"month" doc:"Calendar month, in UTC."`
	State   string                       `json:"state" enum:"OPEN,SOFT_CLOSED,CLOSED" doc:"State of the month. OPEN: accepts all postings. SOFT_CLOSED: accepts only postings authorised with a note. CLOSED: accepts no postings, permanently."`
	Closing *periodClosingBody           `json:"closing,omitempty" doc:"Closing record of the month."`
	Changes []accountingPeriodChangeBody `json:"changes" doc:"State changes, oldest first. The response to a change contains only that change."`
}

type periodClosingBody struct {
	ClosedAt     httpapi.Time             `json:"closedAt" doc:"Time the month was closed."`
	TokenID      httpapi.ID[ident.Token]  `json:"tokenId,omitzero" doc:"Id of the token that closed the month. Omitted if the operator of the service closed it."`
	Actor        string                   `json:"actor,omitempty" doc:"Name of the person who closed the month: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Posting      int64                    `json:"posting" doc:"Number of the last posting at that time. 0 if there was none." example:"84211"`
	Digest       string                   `json:"digest,omitempty" doc:"SHA-256 digest of that posting, in hexadecimal." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Checkpoint   string                   `json:"checkpoint,omitempty" doc:"Latest signed checkpoint of the ledger log at that time, in C2SP format. Omitted if there was none."`
	TrialBalance *closingTrialBalanceBody `json:"trialBalance,omitempty" doc:"Trial balance of the month. Only in GET /ledger/periods/{month}."`
}

type closingTrialBalanceBody struct {
	Totals     []closingTrialBalanceTotalBody `json:"totals" doc:"Totals, one per currency; debits equal credits."`
	Lines      []closingTrialBalanceLineBody  `json:"lines" doc:"Page of lines, for accounts with postings up to the end of the month."`
	HasMore    bool                           `json:"hasMore" doc:"Whether there are more lines."`
	NextCursor string                         `json:"nextCursor,omitempty" doc:"Cursor of the next page. Only if hasMore is true."`
}

type closingTrialBalanceTotalBody struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency."`
	Accounts int64            `json:"accounts" doc:"Number of accounts in the currency."`
	Debits   httpapi.BigMinor `json:"debits" doc:"Total debits of the month, in the smallest unit."`
	Credits  httpapi.BigMinor `json:"credits" doc:"Total credits of the month, in the smallest unit."`
}

type closingTrialBalanceLineBody struct {
	Account  string           `json:"account" doc:"Path of the account." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"Currency of the account."`
	Class    string           `json:"class" enum:"asset,liability,equity,income,expense,trading" doc:"Class of the account."`
	Opening  httpapi.BigMinor `json:"opening" doc:"Balance before the month, in the smallest unit, with the normal sign of the class."`
	Debits   httpapi.BigMinor `json:"debits" doc:"Debits of the month, in the smallest unit."`
	Credits  httpapi.BigMinor `json:"credits" doc:"Credits of the month, in the smallest unit."`
	Closing  httpapi.BigMinor `json:"closing" doc:"Balance at the end of the month, in the smallest unit, with the normal sign of the class."`
}

type accountingPeriodChangeBody struct {
	Action   string                  `json:"action" enum:"soft-close,reopen,close" doc:"Action."`
	At       httpapi.Time            `json:"at" doc:"Time of the action."`
	TokenID  httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the token. Omitted if the operator of the service did it."`
	Actor    string                  `json:"actor,omitempty" doc:"Name of the person: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Approval *approvalBody           `json:"approval,omitempty" doc:"Approval of the action by a second person, if it needed four eyes."`
	Note     string                  `json:"note,omitempty" doc:"Reason of the action." example:"October is complete."`
}

// accountingPeriodChangeRequest is an optional body.
type accountingPeriodChangeRequest struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"October is complete."`
}

// accountingPeriodSoftCloseRequest is an optional body.
type accountingPeriodSoftCloseRequest struct {
	Note                   string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"October is complete."`
	ConfirmOpeningBalances bool   `json:"confirmOpeningBalances,omitempty" doc:"Confirms that this month becomes the first accounting period. Required if no month is soft-closed or closed yet."`
}

// accountingPeriodCloseRequest is an optional body.
type accountingPeriodCloseRequest struct {
	Note               string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"October is complete."`
	WithoutRevaluation bool   `json:"withoutRevaluation,omitempty" doc:"Closes the month although its exchange result is missing or out of date. Only for platforms with a functional currency."`
	WithoutFeeDeferral bool   `json:"withoutFeeDeferral,omitempty" doc:"Closes the month although its deferral of fees is missing or out of date. Only for platforms that recognise fees at delivery."`
	WithoutAllowance   bool   `json:"withoutAllowance,omitempty" doc:"Closes the month although its allowance for receivables is missing or out of date. Only for platforms that make one."`
	WithoutYearEnd     bool   `json:"withoutYearEnd,omitempty" doc:"Closes the last month of a financial year although the income and expense of the year are not closed into retained earnings."`
}

type accountingPeriodListResponse struct {
	Data []accountingPeriodBody `json:"data" doc:"Months, newest first."`
}

func renderPeriod(m accounting.Month) accountingPeriodBody {
	body := accountingPeriodBody{Month: monthText(m.Month.String()), State: string(m.State),
		Changes: make([]accountingPeriodChangeBody, len(m.Changes))}
	for i, c := range m.Changes {
		body.Changes[i] = accountingPeriodChangeBody{string(c.Action), httpapi.NewTime(c.At), httpapi.NewID(c.By.Token), c.By.Actor,
			renderApproval(c.Approval), c.Note}
	}
	if m.Closing == nil {
		return body
	}
	body.Closing = &periodClosingBody{ClosedAt: httpapi.NewTime(m.Closing.At), TokenID: httpapi.NewID(m.Closing.By.Token),
		Actor: m.Closing.By.Actor, Posting: m.Closing.Seq,
		Digest: encodeHex(m.Closing.Digest), Checkpoint: m.Closing.Checkpoint}
	return body
}

// renderPeriodWithTrialBalance renders a period with its closing trial balance.
func renderPeriodWithTrialBalance(m accounting.Month) accountingPeriodBody {
	body := renderPeriod(m)
	if body.Closing == nil {
		return body
	}
	trialBalance := &closingTrialBalanceBody{Totals: make([]closingTrialBalanceTotalBody, len(m.Totals)),
		Lines: make([]closingTrialBalanceLineBody, len(m.Lines.Lines)), HasMore: m.Lines.More}
	for i, t := range m.Totals {
		trialBalance.Totals[i] = closingTrialBalanceTotalBody{httpapi.Currency(t.Currency), t.Accounts, httpapi.NewBigMinor(t.Debits),
			httpapi.NewBigMinor(t.Credits)}
	}
	for i, l := range m.Lines.Lines {
		trialBalance.Lines[i] = closingTrialBalanceLineBody{l.Account.Path, httpapi.Currency(l.Account.Currency), string(l.Class),
			httpapi.NewBigMinor(l.Opening), httpapi.NewBigMinor(l.Debits), httpapi.NewBigMinor(l.Credits), httpapi.NewBigMinor(l.Closing)}
	}
	if trialBalance.HasMore {
		trialBalance.NextCursor = numberCursor(trialLineCursor, m.Lines.Last).String()
	}
	body.Closing.TrialBalance = trialBalance
	return body
}

func registerPeriods(a *httpapi.API, service Periods) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerPeriods", Path: "/ledger/periods", Tag: tagLedger, Summary: "List accounting periods", Permission: platform.View,
		Description: "Returns every month since the first posting, or since the first soft-closed month, with its state, newest first. " +
			"Months are calendar months in UTC. A posting belongs to the month of its effective time.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]accounting.Month, error) {
		return service.List(ctx, call.Principal.Platform)
	}, func(months []accounting.Month) accountingPeriodListResponse {
		list := accountingPeriodListResponse{Data: make([]accountingPeriodBody, len(months))}
		for i, m := range months {
			list.Data[i] = renderPeriod(m)
		}
		return list
	})

	type getParams struct {
		httpapi.ReportFormat
		Month  monthText      `path:"month" doc:"Month, as YYYY-MM." example:"2026-10"`
		Limit  int            `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of trial balance lines to return."`
		Cursor httpapi.Cursor `query:"cursor" doc:"Cursor of the next page of trial balance lines: nextCursor of the previous response."`
	}
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "getLedgerPeriod", Path: "/ledger/periods/{month}", Tag: tagLedger, Summary: "Get an accounting period", Permission: platform.View,
		Description: "Returns a month. A closed month has the trial balance that was recorded at closing: opening balance, debits, credits and " +
			"closing balance of each account. " +
			"With format=csv, the lines of this trial balance, with debits minus credits as opening and closing balance as in the trial balance " +
			"of the ledger; a month that is not closed is refused.",
		Errors: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (accounting.Month, error) {
		month, err := in.Month.parse()
		if err != nil {
			return accounting.Month{}, err
		}
		after, err := parseNumberCursor(trialLineCursor, in.Cursor)
		if err != nil {
			return accounting.Month{}, err
		}
		return service.Get(ctx, call.Principal.Platform, month, ports.LineFilter{After: after, Limit: in.Limit})
	}, renderPeriodWithTrialBalance, func(ctx context.Context, call httpapi.Call, in *getParams) (accounting.Table, error) {
		month, err := in.Month.parse()
		if err != nil {
			return accounting.Table{}, err
		}
		return service.ClosingTable(ctx, call.Principal.Platform, month)
	})

	registerPeriodChange(a, service, period.SoftClose, httpapi.Operation{ID: "softCloseLedgerPeriod", Summary: "Soft-close an accounting " +
		"period",
		Description: "Stops ordinary postings to a past month, so that finance can review it. A posting that would take effect in it takes " +
			"effect at the start of the first open month instead, " +
			"and its memo contains the original day. Adjustments authorised with a note are still accepted. Months are soft-closed in order.\n\n" +
			"The first soft-closed month is the first accounting period: earlier postings form its opening balances, and no more can be added " +
			"before it. " +
			"So the first soft close is refused with `409 CONFLICT` until it is repeated with `confirmOpeningBalances`. " +
			"`details` has the `firstPeriod`, the `earliestOpenMonth` with postings, if one is earlier, and the `openingBalances` (debits minus " +
			"credits) by line of the chart of accounts and currency."},
		func(b accountingPeriodSoftCloseRequest) accounting.MonthChange {
			return accounting.MonthChange{Note: b.Note, ConfirmOpeningBalances: b.ConfirmOpeningBalances}
		})
	withNote := func(b accountingPeriodChangeRequest) accounting.MonthChange {
		return accounting.MonthChange{Note: b.Note}
	}
	registerPeriodChange(a, service, period.Reopen, httpapi.Operation{ID: "reopenLedgerPeriod", Summary: "Reopen an accounting period",
		Description: "Accepts ordinary postings to a soft-closed month again. Postings that were moved to a later month stay there. The latest " +
			"soft-closed month is reopened first. A closed month cannot be reopened."}, withNote)
	registerPeriodChange(a, service, period.Close, httpapi.Operation{ID: "closeLedgerPeriod", Summary: "Close an accounting period",
		Description: "Closes a soft-closed month permanently and records its trial balance, the last posting and the latest checkpoint of the " +
			"ledger log. The month accepts no more postings: corrections go to the next open month " +
			"and contain the reversed posting or the original day. Months are closed in order.\n\n" +
			"A platform with a functional currency posts the exchange result of the month first, and one that recognises fees at delivery defers " +
			"fees, and one that makes an allowance for receivables posts that; otherwise the request is refused, unless it confirms to close " +
			"without. So is the last month of a financial year before the year is closed (`POST " +
			"/ledger/years/{year}/close`), if the platform has a " +
			"functional currency or has closed a year before."},
		func(b accountingPeriodCloseRequest) accounting.MonthChange {
			return accounting.MonthChange{Note: b.Note, WithoutRevaluation: b.WithoutRevaluation, WithoutFeeDeferral: b.WithoutFeeDeferral,
				WithoutAllowance: b.WithoutAllowance, WithoutYearEnd: b.WithoutYearEnd}
		})
	registerAdjustments(a, service)
}

// registerPeriodChange registers an action on a month, which takes an optional body.
func registerPeriodChange[Body any](a *httpapi.API, service Periods, action period.Action, op httpapi.Operation,
	change func(Body) accounting.MonthChange) {
	type changeInput struct {
		Month monthText `path:"month" doc:"Month, as YYYY-MM." example:"2026-10"`
		Body  *Body
	}
	op.Path, op.Tag, op.Permission = "/ledger/periods/{month}/"+string(action), tagLedger, platform.Manage
	httpapi.Post(a, withFourEyes(op, 200, accountingPeriodBody{}), func(ctx context.Context, call httpapi.Call,
		in *changeInput) (proposal.Outcome[accounting.Month], error) {
		month, err := in.Month.parse()
		if err != nil {
			return proposal.Outcome[accounting.Month]{}, err
		}
		var body Body
		if in.Body != nil {
			body = *in.Body
		}
		requested := change(body)
		requested.Action, requested.Month = action, month
		return service.ChangeState(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, requested)
	}, renderOutcome(200, renderPeriod))
}
