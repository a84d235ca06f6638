package api

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/reconcile"
	"causeway/ports"
)

// Reconciliations holds the use cases of the reconciliation operations.
type Reconciliations interface {
	Import(ctx context.Context, in reconciliation.ImportRequest, idempotent *ports.IdempotentRequest) (reconciliation.ImportResult, error)
	Get(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconciliation.RunDetails, error)
	List(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error)
	Lines(ctx context.Context, p ident.Platform, id ident.Reconciliation,
		f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error)
	Breaks(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error)
	BreaksTable(p ident.Platform, id ident.Reconciliation, f ports.BreakFilter) reconciliation.Table
	Resolve(ctx context.Context, in reconciliation.ResolveRequest, idempotent *ports.IdempotentRequest) (
		proposal.Outcome[reconcile.BreakDetails], error)
}

// ReconciliationRun is one imported statement with the results at import time.
type ReconciliationRun struct {
	ID             httpapi.ID[ident.Reconciliation] `json:"id" doc:"Id of the reconciliation."`
	Account        string                           `json:"account" doc:"Path of the reconciled ledger account." example:"rails/RTP"`
	Currency       httpapi.Currency                 `json:"currency" doc:"Currency of the account."`
	Format         string                           `json:"format" enum:"camt053,csv,bai2,mt940" doc:"Format of the statement."`
	Statements     []string                         `json:"statements" doc:"Partner's ids of the statements in the file." example:"[\"STMT-2026-03\"]"`
	PartnerAccount string                           `json:"partnerAccount,omitempty" doc:"Partner's id of the account, such as an IBAN." example:"DE02120300000000202051"`
	FirstDay       string                           `json:"firstDay" format:"date" doc:"First day of the statement." example:"2026-03-09"`
	LastDay        string                           `json:"lastDay" format:"date" doc:"Last day of the statement." example:"2026-03-15"`
	OpeningBalance *int64                           `json:"openingBalance,omitempty" doc:"Opening balance of the statement, in the smallest unit. Omitted if the statement has none." example:"1000000"`
	ClosingBalance *int64                           `json:"closingBalance,omitempty" doc:"Closing balance of the statement, in the smallest unit. Omitted if the statement has none." example:"1250000"`
	Closing        *closingComparison               `json:"closing,omitempty" doc:"Closing balance of the statement against the ledger, at the time of the import. Omitted if the statement has none."`
	Lines          int                              `json:"lines" doc:"Number of lines." example:"1200"`
	KnownLines     int                              `json:"knownLines" doc:"Number of lines that an earlier statement already contained." example:"0"`
	IgnoredLines   int                              `json:"ignoredLines" doc:"Number of lines ignored because they are not booked or have a zero amount." example:"3"`
	MatchedLines   int                              `json:"matchedLines" doc:"Number of matched lines, including lines of earlier statements." example:"1190"`
	MatchedEntries int                              `json:"matchedEntries" doc:"Number of matched ledger entries." example:"1198"`
	Matches        []matchRuleCount                 `json:"matches" doc:"Number of matches by rule."`
	Breaks         []breakReasonCount               `json:"breaks" doc:"Number of new breaks by reason."`
	ClearedBreaks  int                              `json:"clearedBreaks" doc:"Number of breaks of earlier reconciliations that were resolved." example:"4"`
	Mismatches     []string                         `json:"mismatches,omitempty" doc:"What of the statement does not fit its balances or the statement before it. Omitted if all fits."`
	Override       string                           `json:"override,omitempty" doc:"Why it was imported nevertheless. Omitted if all fits." example:"The bank has confirmed that no statement is missing"`
	Others         []string                         `json:"otherReconciliations,omitempty" doc:"In the response to an import: ids of the reconciliations of the other accounts in the file."`
	CreatedBy      string                           `json:"createdBy" doc:"Id of the token, or name of the operator, that imported the statement." example:"Token:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	CreatedAt      httpapi.Time                     `json:"createdAt" doc:"Time of the import."`
}

// closingComparison compares a closing balance with the ledger.
type closingComparison struct {
	LedgerBalance int64 `json:"ledgerBalance" doc:"Ledger balance at the end of the last day, by effective time, in the smallest unit." example:"1250285"`
	Difference    int64 `json:"difference" doc:"Closing balance minus ledger balance: the sum of the four following amounts." example:"-285"`
	OpenBreaks    int64 `json:"openBreaks" doc:"Part of the difference that is in open breaks." example:"-300"`
	OtherDay      int64 `json:"otherDay" doc:"Part that one side has until the last day, and the other, matched with it, later." example:"0"`
	Resolved      int64 `json:"resolved" doc:"Part of breaks that were resolved with a note alone, or with a correction that takes effect later." example:"15"`
	Unexplained   int64 `json:"unexplained" doc:"Part that nothing explains: it was there before the first statement, or a statement's balance does not fit its lines." example:"0"`
}

func renderClosing(b *reconcile.BalanceComparison) *closingComparison {
	if b == nil {
		return nil
	}
	return &closingComparison{LedgerBalance: b.Ledger, Difference: b.Difference(), OpenBreaks: b.OpenBreaks, OtherDay: b.OtherDay,
		Resolved: b.Resolved, Unexplained: b.Unexplained()}
}

type matchRuleCount struct {
	Rule  string `json:"rule" enum:"REFERENCE_AMOUNT_DATE,REFERENCE_AMOUNT,REFERENCE_SUM,AMOUNT_DATE,DAY_SUM,AMOUNT" doc:"Rule of the matches."`
	Count int    `json:"count" doc:"Number of matches." example:"1180"`
}

type breakReasonCount struct {
	Reason string `json:"reason" enum:"RETURNED,DUPLICATE,AMOUNT_DIFFERS,MISSING_IN_LEDGER,MISSING_ON_STATEMENT" doc:"Reason of the breaks."`
	Count  int    `json:"count" doc:"Number of breaks." example:"2"`
}

func renderReconciliationRun(r reconcile.Run) ReconciliationRun {
	body := ReconciliationRun{
		ID: httpapi.NewID(r.ID), Account: r.Account.Path, Currency: httpapi.Currency(r.Account.Currency), Format: string(r.Format),
		Statements: append([]string{}, r.Statements...), PartnerAccount: r.PartnerAccount, FirstDay: r.From.String(), LastDay: r.To.String(),
		OpeningBalance: r.Opening, ClosingBalance: r.Closing, Closing: renderClosing(r.Balance), Lines: r.Lines, KnownLines: r.KnownLines,
		IgnoredLines: r.Ignored,
		MatchedLines: r.MatchedLines, MatchedEntries: r.MatchedEntries, ClearedBreaks: r.EarlierBreaksResolved,
		Mismatches: r.Mismatches, Override: r.Override,
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

// reconciliationDetailsBody is a run with the current results.
type reconciliationDetailsBody struct {
	ReconciliationRun
	Status reconciliationStatus `json:"current" doc:"Current results."`
}

type reconciliationStatus struct {
	MatchedLines   int   `json:"matchedLines" doc:"Number of matched lines that first appeared on this statement." example:"1192"`
	BrokenLines    int   `json:"brokenLines" doc:"Number of such lines in an open break." example:"6"`
	ResolvedLines  int   `json:"resolvedLines" doc:"Number of such lines whose break was resolved." example:"2"`
	OpenBreaks     int   `json:"openBreaks" doc:"Number of open breaks of this reconciliation." example:"7"`
	ResolvedBreaks int   `json:"resolvedBreaks" doc:"Number of resolved breaks of this reconciliation." example:"2"`
	LedgerBalance  int64 `json:"ledgerBalance" doc:"Ledger balance at the end of the last day, by effective time, in the smallest unit. Compare it with closingBalance." example:"1250000"`

	Closing *closingComparison `json:"closing,omitempty" doc:"Closing balance of the statement against the ledger, now."`
}

func renderReconciliation(s reconciliation.RunDetails) reconciliationDetailsBody {
	return reconciliationDetailsBody{renderReconciliationRun(s.Run), reconciliationStatus{MatchedLines: s.Matched, BrokenLines: s.InBreak,
		ResolvedLines: s.Resolved,
		OpenBreaks:    s.OpenBreaks, ResolvedBreaks: s.ResolvedBreaks, LedgerBalance: s.LedgerBalance, Closing: renderClosing(s.Balance)}}
}

// maxStatementBytes is the maximum size of an uploaded statement. The command line
// accepts larger files.
const maxStatementBytes = 64 << 20

type importStatementParams struct {
	Account  string           `query:"account" maxLength:"60" doc:"Path of the ledger account to reconcile: rails/<RAIL>, chains/<network> or own/<NAME>. Required for csv without a column for the account. Without account and currency, a file may have several accounts, and each statement is compared with the ledger account that accounts or an earlier import connects with its number." example:"rails/RTP"`
	Currency httpapi.Currency `query:"currency" doc:"Currency of the account and the statement. Required with account, and for csv without a column for the currency."`
	Accounts string           `query:"accounts" maxLength:"8000" doc:"Ledger accounts of the partner's accounts in the file: pairs of number=path, separated by semicolons. Needed for a number that no earlier statement had, and if an account has another number than before." example:"DE02120300000000202051=rails/SEPA"`
	Override string           `query:"override" maxLength:"500" doc:"Why the file is right although its lines do not lead to its balances, or a statement seems to be missing. It is recorded. Without it such a file is refused." example:"The bank has confirmed that no statement is missing"`
	Format   string           `query:"format" enum:"camt053,csv,bai2,mt940" default:"camt053" doc:"Format of the statement."`
	Map      string           `query:"map" maxLength:"2000" doc:"Column mapping for csv: pairs of name=Column, separated by semicolons. Names are date, account (the partner's number of the account, in a file with several), valueDate, amount (or debit and credit), side (credit or debit, for amounts without a sign), balance (after the line, to be checked), currency, id (the partner's id of the line), reference and description. Formats are set with dateFormat (YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY …), decimal (. or ,) and group (. , ' or space) if amounts may be read in two ways, delimiter (, semicolon tab |), encoding (UTF-8, windows-1252 …) and ignore (beginnings of lines that are not movements). For mt940, encoding alone." example:"date=Booked;amount=Amount;reference=Ref"`
}

func registerReconciliations(a *httpapi.API, service Reconciliations) {
	httpapi.Post(a, httpapi.Operation{
		ID: "createReconciliation", Path: "/ledger/reconciliations", Tag: tagLedger, Summary: "Import a statement", Permission: platform.Manage,
		Status: 201,
		Description: "Compares a partner's statement with the ledger. Each line is either matched by a rule or reported as a break with a " +
			"reason. " +
			"Importing the same file again returns 200 with the existing reconciliation and changes nothing. Lines of earlier statements are " +
			"skipped. " +
			"An incomplete or invalid file is refused as a whole. So is a statement of another partner's account than the earlier ones, and one " +
			"that opens with another balance than the statement before it closed with.\n\n" +
			"Rules, in order: same reference, amount and day; same reference and amount, up to 5 days apart; several entries with the same " +
			"reference that sum to the line; " +
			"same amount and day, if the references of both sides are unknown to each other; all entries of a day that sum to the line; the only " +
			"line and the only entry with an amount.",
		Outcomes: []httpapi.Outcome{{Status: 201, Body: ReconciliationRun{}, Description: "The statement was imported."},
			{Status: 200, Body: ReconciliationRun{}, Description: "The same file was imported before. Nothing changed."}},
		MaxBody: maxStatementBytes, Timeout: 2 * time.Minute,
		Upload: &httpapi.Upload{Types: []string{"application/xml", "text/xml", "text/csv", "text/plain", "application/octet-stream"},
			Description: "Statement file of at most 64 MiB. `causeway ledger reconcile` accepts larger files.", StreamBody: true},
		Errors: []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *importStatementParams) (reconciliation.ImportResult, error) {
		result, err := service.Import(ctx, reconciliation.ImportRequest{Platform: call.Principal.Platform, Path: in.Account,
			Currency: string(in.Currency), Accounts: in.Accounts, Format: in.Format, Layout: in.Map, Override: in.Override,
			By: call.Principal.Token.String(), File: call.File}, call.IdempotentRequest)
		if err != nil {
			// A client that is still sending a refused file would not read the answer.
			_, _ = io.Copy(io.Discard, call.File)
		}
		return result, err
	}, func(result reconciliation.ImportResult) httpapi.Reply {
		body := renderReconciliationRun(result.Run)
		for _, other := range result.Others {
			body.Others = append(body.Others, other.ID.String())
		}
		if result.AlreadyImported {
			return httpapi.Reply{Status: 200, Body: body}
		}
		return httpapi.Reply{Status: 201, Body: body}
	})

	type listParams struct {
		httpapi.Paging
		httpapi.Sorting
		Account  string           `query:"account" maxLength:"60" doc:"Path of the ledger account." example:"rails/RTP"`
		Currency httpapi.Currency `query:"currency" doc:"Currency of the account."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listReconciliations", Path: "/ledger/reconciliations", Tag: tagLedger, Summary: "List reconciliations", Permission: platform.View,
		Description: "Newest first by default.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[reconcile.Run], error) {
		return service.List(ctx, call.Principal.Platform, ports.ReconciliationFilter{
			Paging: page, Path: in.Account, Currency: string(in.Currency)})
	}, renderReconciliationRun, func(run reconcile.Run) ident.Reconciliation { return run.ID })

	type getParams struct {
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"Id of the reconciliation."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getReconciliationById", Path: "/ledger/reconciliations/{reconciliationId}", Tag: tagLedger, Summary: "Get a reconciliation",
		Permission:  platform.View,
		Description: "Returns a reconciliation with the results at import time and the current results.",
		Errors:      []fault.Code{fault.ReconciliationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (reconciliation.RunDetails, error) {
		return service.Get(ctx, call.Principal.Platform, in.ReconciliationID.Value)
	}, renderReconciliation)
	registerStatementLines(a, service)
	registerBreaks(a, service)
}

// Enum fields of a break; core defines their values.
type (
	breakReason       string
	suggestionReason  string
	correctionAccount string
)

// Schema returns the enum of values.
func (breakReason) Schema(huma.Registry) *huma.Schema { return enumSchema(reconcile.Reasons()) }
func (suggestionReason) Schema(huma.Registry) *huma.Schema {
	return enumSchema(reconcile.SuggestionReasons())
}
func (correctionAccount) Schema(huma.Registry) *huma.Schema {
	return enumSchema(reconcile.OffsetAccounts())
}
