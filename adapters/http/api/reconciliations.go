package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ports"
)

// Reconciliations are the use cases behind the reconciliation operations.
type Reconciliations interface {
	Import(ctx context.Context, in reconciliation.ImportRequest, claim *ports.IdempotentRequest) (reconciliation.ImportResult, error)
	Get(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconciliation.RunDetails, error)
	List(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error)
	Lines(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error)
	Breaks(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error)
	Resolve(ctx context.Context, in reconciliation.ResolveRequest, claim *ports.IdempotentRequest) (reconcile.BreakDetails, error)
}

// ReconciliationRun is one import, with what it found at the time.
type ReconciliationRun struct {
	ID             httpapi.ID[ident.Reconciliation] `json:"id" doc:"The reconciliation."`
	Account        string                           `json:"account" doc:"The account in the books." example:"rails/RTP"`
	Currency       httpapi.Currency                 `json:"currency" doc:"The currency of the account."`
	Format         string                           `json:"format" enum:"camt053,csv,bai2" doc:"How the statement was written."`
	Statements     []string                         `json:"statements" doc:"The partner's own names for the statements in the file." example:"[\"STMT-2026-03\"]"`
	PartnerAccount string                           `json:"partnerAccount,omitempty" doc:"The account as the partner names it, such as an IBAN." example:"DE02120300000000202051"`
	FirstDay       string                           `json:"firstDay" format:"date" doc:"The first day that the statement covers." example:"2026-03-09"`
	LastDay        string                           `json:"lastDay" format:"date" doc:"The last day that it covers." example:"2026-03-15"`
	OpeningBalance *int64                           `json:"openingBalance,omitempty" doc:"What the partner had for you before, in the smallest unit; left out where it does not say." example:"1000000"`
	ClosingBalance *int64                           `json:"closingBalance,omitempty" doc:"What it had afterwards." example:"1250000"`
	Lines          int                              `json:"lines" doc:"The lines of the statement." example:"1200"`
	KnownLines     int                              `json:"knownLines" doc:"Those of them that an earlier statement had shown: they changed nothing." example:"0"`
	IgnoredLines   int                              `json:"ignoredLines" doc:"What is in the file and is no booked movement of money: announced only, or of nothing." example:"3"`
	MatchedLines   int                              `json:"matchedLines" doc:"The lines that were matched, those of earlier statements included." example:"1190"`
	MatchedEntries int                              `json:"matchedEntries" doc:"The entries of the books that were matched." example:"1198"`
	Matches        []matchRuleCount                 `json:"matches" doc:"The matches, by the rule that made them."`
	Breaks         []breakReasonCount               `json:"breaks" doc:"The breaks that were found new, by reason."`
	ClearedBreaks  int                              `json:"clearedBreaks" doc:"The breaks of earlier reconciliations that this one resolved." example:"4"`
	CreatedBy      string                           `json:"createdBy" doc:"The token, or the person at the command line, that imported it." example:"Token:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	CreatedAt      httpapi.Time                     `json:"createdAt" doc:"When it was imported."`
}

type matchRuleCount struct {
	Rule  string `json:"rule" enum:"REFERENCE_AMOUNT_DATE,REFERENCE_AMOUNT,REFERENCE_SUM,AMOUNT_DATE,DAY_SUM,AMOUNT" doc:"The rule."`
	Count int    `json:"count" doc:"How many it made." example:"1180"`
}

type breakReasonCount struct {
	Reason string `json:"reason" enum:"RETURNED,DUPLICATE,AMOUNT_DIFFERS,MISSING_IN_LEDGER,MISSING_ON_STATEMENT" doc:"The reason."`
	Count  int    `json:"count" doc:"How many have it." example:"2"`
}

func renderReconciliationRun(r reconcile.Run) ReconciliationRun {
	body := ReconciliationRun{
		ID: httpapi.NewID(r.ID), Account: r.Account.Path, Currency: httpapi.Currency(r.Account.Currency), Format: string(r.Format),
		Statements: append([]string{}, r.Statements...), PartnerAccount: r.PartnerAccount, FirstDay: r.From.String(), LastDay: r.To.String(),
		OpeningBalance: r.Opening, ClosingBalance: r.Closing, Lines: r.Lines, KnownLines: r.KnownLines, IgnoredLines: r.Ignored,
		MatchedLines: r.MatchedLines, MatchedEntries: r.MatchedEntries, ClearedBreaks: r.EarlierBreaksResolved,
		Matches: []matchRuleCount{}, Breaks: []breakReasonCount{}, CreatedBy: r.By, CreatedAt: httpapi.NewTime(r.At),
	}
	for _, rule := range reconcile.Rules() {
		if n := r.Matches[rule]; n > 0 {
			body.Matches = append(body.Matches, matchRuleCount{string(rule), n})
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Breaks)) {
		body.Breaks = append(body.Breaks, breakReasonCount{string(reason), r.Breaks[reason]})
	}
	return body
}

// reconciliationDetailsBody is a run and how things stand now.
type reconciliationDetailsBody struct {
	ReconciliationRun
	Status reconciliationStatus `json:"current" doc:"How things stand now."`
}

type reconciliationStatus struct {
	MatchedLines   int   `json:"matchedLines" doc:"Lines that this statement showed first, and that are matched." example:"1192"`
	BrokenLines    int   `json:"brokenLines" doc:"Those that are in an open break." example:"6"`
	ResolvedLines  int   `json:"resolvedLines" doc:"Those whose break somebody has resolved." example:"2"`
	OpenBreaks     int   `json:"openBreaks" doc:"Breaks that it found, and that are open." example:"7"`
	ResolvedBreaks int   `json:"resolvedBreaks" doc:"Breaks that it found, and that are resolved." example:"2"`
	LedgerBalance  int64 `json:"ledgerBalance" doc:"What the books have on the account at the end of the last day, by effective time, to be held against closingBalance." example:"1250000"`
}

func renderReconciliation(s reconciliation.RunDetails) reconciliationDetailsBody {
	return reconciliationDetailsBody{renderReconciliationRun(s.Run), reconciliationStatus{MatchedLines: s.Matched, BrokenLines: s.InBreak, ResolvedLines: s.Resolved,
		OpenBreaks: s.OpenBreaks, ResolvedBreaks: s.ResolvedBreaks, LedgerBalance: s.LedgerBalance}}
}

// maxStatementBytes is the largest file that the interface takes, in bytes; the command
// takes larger ones.
const maxStatementBytes = 64 << 20

type importStatementParams struct {
	Account  string           `query:"account" required:"true" maxLength:"60" doc:"The account in the books that the partner keeps: rails/<RAIL> or chains/<network>." example:"rails/RTP"`
	Currency httpapi.Currency `query:"currency" required:"true" doc:"The currency of the account; the statement must be in it."`
	Format   string           `query:"format" enum:"camt053,csv,bai2" default:"camt053" doc:"How the statement is written."`
	Map      string           `query:"map" maxLength:"2000" doc:"For csv: what stands in which column, as name=Column with a semicolon between. Names are date, valueDate, amount (or debit and credit), currency, id (the partner's own for the movement), reference and description; dateFormat (YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY …), decimal (. or ,), group (. , ' or space) and delimiter (, semicolon tab |) say how things are written." example:"date=Booked;amount=Amount;reference=Ref"`
}

func registerReconciliations(a *httpapi.API, r Reconciliations) {
	httpapi.Post(a, httpapi.Operation{
		ID: "createReconciliation", Path: "/ledger/reconciliations", Tag: tagLedger, Summary: "Import a statement", Permission: platform.Manage, Status: 201,
		Description: "Compares a partner's statement with the books: every line is matched, and the match says by which rule, or named as a break with its reason. " +
			"The same file again answers 200 with the reconciliation that it made, and changes nothing; lines that an earlier statement has shown change nothing either. " +
			"A file that is not whole, or says something that cannot be taken exactly, is refused, and nothing of it is kept.\n\n" +
			"Rules, in order: a reference, the amount and the day in common; the same up to 5 days apart; several with one reference that add up; " +
			"the amount and the day, where neither side knows the other's references; all entries of a day that add up to one line; one line and one entry alone with an amount.",
		Outcomes: []httpapi.Outcome{{Status: 201, Body: ReconciliationRun{}, Description: "The statement was imported."},
			{Status: 200, Body: ReconciliationRun{}, Description: "The same file was imported before; nothing was changed."}},
		MaxBody: maxStatementBytes, Timeout: 2 * time.Minute,
		Upload: &httpapi.Upload{Types: []string{"application/xml", "text/xml", "text/csv", "text/plain", "application/octet-stream"}, Description: "The statement, of at most 64 MiB. `causeway ledger reconcile` takes larger ones."},
		Errors: []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *importStatementParams) (reconciliation.ImportResult, error) {
		return r.Import(ctx, reconciliation.ImportRequest{Platform: call.Principal.Platform, Path: in.Account, Currency: string(in.Currency), Format: in.Format, Layout: in.Map,
			By: call.Principal.Token.String(), File: call.File}, call.IdempotentRequest)
	}, func(i reconciliation.ImportResult) httpapi.Reply {
		if i.AlreadyImported {
			return httpapi.Reply{Status: 200, Body: renderReconciliationRun(i.Run)}
		}
		return httpapi.Reply{Status: 201, Body: renderReconciliationRun(i.Run)}
	})

	type wanted struct {
		httpapi.Paging
		httpapi.Sorting
		Account  string           `query:"account" maxLength:"60" doc:"Of this account." example:"rails/RTP"`
		Currency httpapi.Currency `query:"currency" doc:"In this currency."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listReconciliations", Path: "/ledger/reconciliations", Tag: tagLedger, Summary: "List reconciliations", Permission: platform.View,
		Description: "The newest first, unless asked otherwise.",
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[reconcile.Run], error) {
		after, err := httpapi.CursorID[ident.Reconciliation](in.Cursor)
		if err != nil {
			return ports.Page[reconcile.Run]{}, err
		}
		return r.List(ctx, call.Principal.Platform, ports.ReconciliationFilter{
			Paging: ports.Paging{Limit: in.Limit, After: after.UUID(), Ascending: in.Ascending()}, Path: in.Account, Currency: string(in.Currency)})
	}, func(p ports.Page[reconcile.Run]) httpapi.Page[ReconciliationRun] {
		return renderPage(p, renderReconciliationRun, func(run reconcile.Run) string { return run.ID.String() })
	})

	type one struct {
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"The reconciliation."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getReconciliationById", Path: "/ledger/reconciliations/{reconciliationId}", Tag: tagLedger, Summary: "Get a reconciliation", Permission: platform.View,
		Description: "What it found, and how things stand now.", Errors: []fault.Code{fault.ReconciliationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (reconciliation.RunDetails, error) {
		return r.Get(ctx, call.Principal.Platform, in.ReconciliationID.Value)
	}, renderReconciliation)
	registerStatementLines(a, r)
	registerBreaks(a, r)
}

// The texts that a list is narrowed by, from tables of core.
type (
	breakReason       string
	correctionAccount string
)

// Schema and its sibling list the values.
func (breakReason) Schema(huma.Registry) *huma.Schema {
	values := make([]string, 0, len(reconcile.Reasons()))
	for _, reason := range reconcile.Reasons() {
		values = append(values, string(reason))
	}
	return enumSchema(values)
}
func (correctionAccount) Schema(huma.Registry) *huma.Schema {
	return enumSchema(reconcile.OffsetAccounts())
}
