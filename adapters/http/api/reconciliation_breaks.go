package api

import (
	"context"

	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/reconcile"
	"causeway/ports"
)

// StatementLine is a line of a partner's statement.
type StatementLine struct {
	ID          httpapi.ID[ident.StatementLine] `json:"id" doc:"Id of the line."`
	Number      int                             `json:"number" doc:"Number of the line in the file, from 1." example:"17"`
	BookedOn    string                          `json:"bookedOn" format:"date" doc:"Booking date." example:"2026-03-10"`
	ValueOn     string                          `json:"valueOn" format:"date" doc:"Value date." example:"2026-03-10"`
	Amount      int64                           `json:"amount" doc:"Amount, in the smallest unit; positive if it increases the balance held by the partner." example:"-10050"`
	PartnerID   string                          `json:"partnerId,omitempty" doc:"Partner's id of the line." example:"2026031000017"`
	References  []string                        `json:"references" doc:"Payment references of the line." example:"[\"4T9K2M7PXQ3A\"]"`
	Description string                          `json:"description,omitempty" doc:"Description of the line." example:"payment 4T9K2M7PXQ3A"`
	IsReturned  bool                            `json:"isReturned,omitempty" doc:"Whether the partner marks the line as a returned payment."`
}

func renderStatementLine(l reconcile.Line) StatementLine {
	return StatementLine{ID: statementLineID(l.ID), Number: l.Ordinal, BookedOn: l.Booked.String(), ValueOn: l.Value.String(),
		Amount:    l.Amount,
		PartnerID: l.ServicerReference, References: append([]string{}, l.References...), Description: l.Description, IsReturned: l.Returned}
}

func statementLineID(id uuid.UUID) httpapi.ID[ident.StatementLine] {
	var line ident.StatementLine
	line.SetUUID(id)
	return httpapi.NewID(line)
}

// matchedEntry is a ledger entry on the reconciled account.
type matchedEntry struct {
	PostingID     httpapi.ID[ident.Posting]     `json:"postingId" doc:"Id of the posting."`
	Number        int64                         `json:"number" doc:"Number of the posting." example:"4711"`
	Entry         int                           `json:"entry" doc:"Number of the entry in the posting, from 1." example:"1"`
	Kind          string                        `json:"kind" doc:"Kind of posting." example:"delivered"`
	TransactionID httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"Id of the transaction."`
	Amount        int64                         `json:"amount" doc:"Amount, in the smallest unit; positive if it increases the balance of the account." example:"-10050"`
	EffectiveAt   httpapi.Time                  `json:"effectiveAt" doc:"Effective time of the posting."`
	Memo          string                        `json:"memo,omitempty" doc:"Memo of the posting." example:"4T9K2M7PXQ3A"`
}

func renderMatchedEntry(e reconcile.EntryDetails) matchedEntry {
	return matchedEntry{PostingID: postingID(e.Posting), Number: e.Seq, Entry: e.N, Kind: string(e.Kind),
		TransactionID: httpapi.NewID(e.Transaction),
		Amount:        e.Amount, EffectiveAt: httpapi.NewTime(e.Effective), Memo: e.Memo}
}

// reconciledLine is a statement line with its result.
type reconciledLine struct {
	StatementLine
	Status      string                  `json:"status" enum:"MATCHED,BREAK,RESOLVED" doc:"MATCHED: matched with ledger entries. BREAK: in an open break. RESOLVED: its break was resolved."`
	Rule        string                  `json:"rule,omitempty" enum:"REFERENCE_AMOUNT_DATE,REFERENCE_AMOUNT,REFERENCE_SUM,AMOUNT_DATE,DAY_SUM,AMOUNT" doc:"Rule of the match."`
	Explanation string                  `json:"explanation,omitempty" doc:"Explanation of the match." example:"Both have the reference 4T9K2M7PXQ3A, the amount and the day."`
	Entries     []matchedEntry          `json:"entries,omitempty" doc:"Matched ledger entries, at most 200."`
	BreakID     httpapi.ID[ident.Break] `json:"breakId,omitzero" doc:"Id of its break."`
}

func renderReconciledLine(l reconcile.LineDetails) reconciledLine {
	body := reconciledLine{StatementLine: renderStatementLine(l.Line), Status: string(l.Status), Rule: string(l.Rule),
		Explanation: l.Explanation, BreakID: httpapi.NewID(l.Break)}
	for _, e := range l.Entries {
		body.Entries = append(body.Entries, renderMatchedEntry(e))
	}
	return body
}

func registerStatementLines(a *httpapi.API, service Reconciliations) {
	type listParams struct {
		httpapi.Paging
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"Id of the reconciliation."`
		Status           string                           `query:"status" enum:"MATCHED,BREAK,RESOLVED" doc:"Status of the line."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listReconciliationLines", Path: "/ledger/reconciliations/{reconciliationId}/lines", Tag: tagLedger, Summary: "List statement lines",
		Permission:  platform.View,
		Description: "Returns the lines that first appeared on this statement, in file order, each with its result.",
		Errors:      []fault.Code{fault.ReconciliationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[reconcile.LineDetails], error) {
		return service.Lines(ctx, call.Principal.Platform, in.ReconciliationID.Value, ports.StatementLineFilter{
			Paging: ports.Paging{Limit: page.Limit, After: page.After, Ascending: true}, Status: reconcile.LineStatus(in.Status)})
	}, renderReconciledLine, func(l reconcile.LineDetails) ident.StatementLine { return statementLineID(l.ID).Value })
}

// reconciliationBreak is a statement line or ledger entry without a match.
type reconciliationBreak struct {
	ID               httpapi.ID[ident.Break]          `json:"id" doc:"Id of the break."`
	ReconciliationID httpapi.ID[ident.Reconciliation] `json:"reconciliationId" doc:"Id of the reconciliation that found the break."`
	Status           string                           `json:"status" enum:"OPEN,RESOLVED" doc:"Status of the break."`
	Reason           string                           `json:"reason" enum:"RETURNED,DUPLICATE,AMOUNT_DIFFERS,MISSING_IN_LEDGER,MISSING_ON_STATEMENT" doc:"Reason of the break. RETURNED: the partner returned a payment that the ledger does not show as returned. DUPLICATE: one side has a payment twice. AMOUNT_DIFFERS: same reference, different amounts. MISSING_IN_LEDGER: only on the statement. MISSING_ON_STATEMENT: only in the ledger."`
	Explanation      string                           `json:"explanation" doc:"Explanation of the break." example:"The statement has 99.85 USD on 2026-03-10 and ledger entry 4711.1 has 100.00 USD on 2026-03-10, both with the reference 4T9K2M7PXQ3A."`
	Difference       int64                            `json:"difference" doc:"Statement amount minus ledger amount, in the smallest unit: the amount of a correction." example:"-15"`
	Currency         httpapi.Currency                 `json:"currency" doc:"Currency of the account."`
	Reference        string                           `json:"reference,omitempty" doc:"Payment reference of the break." example:"4T9K2M7PXQ3A"`
	Line             *StatementLine                   `json:"line,omitempty" doc:"Statement line, if any."`
	Entry            *matchedEntry                    `json:"entry,omitempty" doc:"Ledger entry, if any."`
	OtherLineID      httpapi.ID[ident.StatementLine]  `json:"otherLineId,omitzero" doc:"DUPLICATE only: id of the original statement line."`
	OtherEntry       *entryReference                  `json:"otherEntry,omitempty" doc:"RETURNED: entry of the returned payment. DUPLICATE: original entry."`
	Suggestions      []breakSuggestion                `json:"suggestions,omitempty" doc:"In a list: what may explain an open break, the most probable first, at most 5."`
	Resolution       *breakResolution                 `json:"resolution,omitempty" doc:"Resolution of the break."`
	CreatedAt        httpapi.Time                     `json:"createdAt" doc:"Time the break was found."`
}

type entryReference struct {
	Number int64 `json:"number" doc:"Number of the posting." example:"4711"`
	Entry  int   `json:"entry" doc:"Number of the entry in the posting, from 1." example:"1"`
}

type breakSuggestion struct {
	Reason      suggestionReason          `json:"reason" doc:"Reason of the suggestion. SAME_REFERENCE: another open break has the same reference. SIMILAR_REFERENCE: one has the same amount and nearly the same reference. SAME_AMOUNT: one has the same amount. SUM: several add up to the amount. FEE: what is left is as small as a fee of the partner."`
	BreakIDs    []httpapi.ID[ident.Break] `json:"breakIds" doc:"Ids of the open breaks that belong to it. Empty if the partner may have kept a fee of this payment."`
	Remaining   int64                     `json:"remaining" doc:"Sum of the differences of the break and those, in the smallest unit: what they do not explain." example:"-15"`
	Against     correctionAccount         `json:"against,omitempty" doc:"Account to post what remains against."`
	Explanation string                    `json:"explanation" doc:"Explanation of the suggestion." example:"Entry 4711.1 of 100.00 USD on 2026-03-10 has the same reference 4T9K2M7PXQ3A and amount, 8 days apart."`
}

func renderSuggestion(s reconcile.Suggestion) breakSuggestion {
	body := breakSuggestion{Reason: suggestionReason(s.Reason), BreakIDs: []httpapi.ID[ident.Break]{}, Remaining: s.Remaining,
		Against: correctionAccount(s.Against), Explanation: s.Explanation}
	for _, b := range s.Breaks {
		body.BreakIDs = append(body.BreakIDs, httpapi.NewID(b))
	}
	return body
}

type breakResolution struct {
	Method           string                           `json:"method" enum:"NOTE,POSTING,MATCH,BREAK" doc:"Method of the resolution. NOTE: by a note. POSTING: by a correction. MATCH: matched by a later reconciliation. BREAK: replaced by another break of a later reconciliation."`
	Note             string                           `json:"note,omitempty" doc:"Reason of the resolution." example:"Monthly fee, as agreed"`
	PostingID        httpapi.ID[ident.Posting]        `json:"postingId,omitzero" doc:"Id of the correcting posting."`
	ReconciliationID httpapi.ID[ident.Reconciliation] `json:"reconciliationId,omitzero" doc:"Id of the reconciliation that resolved the break."`
	ResolvedBy       string                           `json:"resolvedBy" doc:"Id of the token, or name of the operator, that resolved the break." example:"Token:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Actor            string                           `json:"actor,omitempty" doc:"Name of the person who used the token, from Causeway-Actor." example:"Ana Lima"`
	Approval         *approvalBody                    `json:"approval,omitempty" doc:"Approval of the correction by a second person, if it needed four eyes."`
	ResolvedAt       httpapi.Time                     `json:"resolvedAt" doc:"Time of the resolution."`
}

func renderBreak(b reconcile.BreakDetails) reconciliationBreak {
	body := reconciliationBreak{ID: httpapi.NewID(b.ID), ReconciliationID: httpapi.NewID(b.Run), Status: "OPEN", Reason: string(b.Reason),
		Explanation: b.Explanation,
		Difference:  b.Difference, Currency: httpapi.Currency(b.Account.Currency), Reference: b.Reference,
		OtherLineID: statementLineID(b.OtherLine), CreatedAt: httpapi.NewTime(b.At)}
	if b.Line != nil {
		line := renderStatementLine(*b.Line)
		body.Line = &line
	}
	if b.Entry != nil {
		entry := renderMatchedEntry(*b.Entry)
		body.Entry = &entry
	}
	if b.OtherEntry.Seq != 0 {
		body.OtherEntry = &entryReference{b.OtherEntry.Seq, b.OtherEntry.N}
	}
	for _, s := range b.Suggestions {
		body.Suggestions = append(body.Suggestions, renderSuggestion(s))
	}
	if s := b.Resolution; s != nil {
		body.Status = "RESOLVED"
		body.Resolution = &breakResolution{Method: string(s.Method), Note: s.Note, ReconciliationID: httpapi.NewID(s.Run), ResolvedBy: s.By,
			Actor: s.Actor, Approval: renderApproval(s.Approval), ResolvedAt: httpapi.NewTime(s.At)}
		if s.Posting != uuid.Nil {
			body.Resolution.PostingID = postingID(s.Posting)
		}
	}
	return body
}

type resolveBreakRequest struct {
	Note    string            `json:"note" minLength:"1" maxLength:"500" doc:"Reason of the resolution." example:"Monthly fee, as agreed"`
	Against correctionAccount `json:"against,omitempty" doc:"Account to post the difference against. If omitted, nothing is posted. UNMATCHED: unmatched funds. EXPENSE: fees charged or returned by the partner. FEES: income."`
}

// breakParams selects breaks of a reconciliation.
type breakParams struct {
	httpapi.ReportFormat
	httpapi.Paging
	ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"Id of the reconciliation."`
	Reason           breakReason                      `query:"reason" doc:"Reason of the break."`
	Status           string                           `query:"status" enum:"OPEN,RESOLVED" doc:"Status of the break."`
}

func (p breakParams) filter() (ports.BreakFilter, error) {
	after, err := httpapi.CursorID[ident.Break](p.Cursor)
	return ports.BreakFilter{Paging: ports.Paging{Limit: p.Limit, After: after.UUID(), Ascending: true}, Reason: reconcile.Reason(p.Reason),
		Status: p.Status}, err
}

func registerBreaks(a *httpapi.API, service Reconciliations) {
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "listReconciliationBreaks", Path: "/ledger/reconciliations/{reconciliationId}/breaks", Tag: tagLedger, Summary: "List breaks",
		Permission: platform.View,
		Description: "Returns the breaks that this reconciliation found, with their resolution. An open break has suggestions: other open " +
			"breaks of the account that may be the same money. " +
			"With format=csv, the texts of statement lines are left out, and of the suggestions all but the first.",
		Errors: []fault.Code{fault.ReconciliationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *breakParams) (ports.Page[reconcile.BreakDetails], error) {
		filter, err := in.filter()
		if err != nil {
			return ports.Page[reconcile.BreakDetails]{}, err
		}
		return service.Breaks(ctx, call.Principal.Platform, in.ReconciliationID.Value, filter)
	}, func(p ports.Page[reconcile.BreakDetails]) httpapi.Page[reconciliationBreak] {
		return httpapi.RenderPage(p, renderBreak, func(b reconcile.BreakDetails) string { return b.ID.String() })
	}, func(_ context.Context, call httpapi.Call, in *breakParams) (reconciliation.Table, error) {
		filter, err := in.filter()
		return service.BreaksTable(call.Principal.Platform, in.ReconciliationID.Value, filter), err
	})

	type resolveInput struct {
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"Id of the reconciliation that found the break."`
		BreakID          httpapi.ID[ident.Break]          `path:"breakId" doc:"Id of the break."`
		Body             resolveBreakRequest
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "resolveReconciliationBreak", Path: "/ledger/reconciliations/{reconciliationId}/breaks/{breakId}/resolve", Tag: tagLedger,
		Summary: "Resolve a break", Permission: platform.Manage,
		Description: "Resolves a break with a note, and optionally with a correction: a posting of the difference against another account, " +
			"whose memo contains the break id. " +
			"A correction is an adjustment, also for four eyes; a note alone changes no balance and needs no approval. The resolution cannot be " +
			"changed.",
		Errors: []fault.Code{fault.BreakNotFound},
	}, 200, reconciliationBreak{}), func(ctx context.Context, call httpapi.Call,
		in *resolveInput) (proposal.Outcome[reconcile.BreakDetails], error) {
		return service.Resolve(ctx, reconciliation.ResolveRequest{Platform: call.Principal.Platform, Run: in.ReconciliationID.Value,
			Break:          in.BreakID.Value,
			ResolveCommand: reconcile.ResolveCommand{Note: in.Body.Note, Offset: reconcile.OffsetAccount(in.Body.Against)}, By: call.Author()},
			call.IdempotentRequest)
	}, renderOutcome(200, renderBreak))
}
