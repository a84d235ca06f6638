package api

import (
	"context"

	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ports"
)

// StatementLine is one line of a partner's statement.
type StatementLine struct {
	ID          httpapi.ID[ident.StatementLine] `json:"id" doc:"The line."`
	Number      int                             `json:"number" doc:"Its place in the file, from 1." example:"17"`
	BookedOn    string                          `json:"bookedOn" format:"date" doc:"The day on which the partner booked it." example:"2026-03-10"`
	ValueOn     string                          `json:"valueOn" format:"date" doc:"The day from which it counts." example:"2026-03-10"`
	Amount      int64                           `json:"amount" doc:"In the smallest unit; above zero when the partner has more for you." example:"-10050"`
	PartnerID   string                          `json:"partnerId,omitempty" doc:"The partner's own name for it." example:"2026031000017"`
	References  []string                        `json:"references" doc:"What it says to tell payments apart." example:"[\"4T9K2M7PXQ3A\"]"`
	Description string                          `json:"description,omitempty" doc:"What else it says." example:"payment 4T9K2M7PXQ3A"`
	IsReturned  bool                            `json:"isReturned,omitempty" doc:"Whether the partner calls it a payment that came back."`
}

func renderStatementLine(l reconcile.Line) StatementLine {
	return StatementLine{ID: statementLineID(l.ID), Number: l.Ordinal, BookedOn: l.Booked.String(), ValueOn: l.Value.String(), Amount: l.Amount,
		PartnerID: l.ServicerReference, References: append([]string{}, l.References...), Description: l.Description, IsReturned: l.Returned}
}

func statementLineID(id uuid.UUID) httpapi.ID[ident.StatementLine] {
	var line ident.StatementLine
	ident.SetUUID(&line, id)
	return httpapi.NewID(line)
}

// matchedEntry is one entry of the books on the account.
type matchedEntry struct {
	PostingID     httpapi.ID[ident.Posting]     `json:"postingId" doc:"The posting."`
	Number        int64                         `json:"number" doc:"The posting's number in the books." example:"4711"`
	Entry         int                           `json:"entry" doc:"The entry's number in the posting." example:"1"`
	Kind          string                        `json:"kind" doc:"What it records." example:"delivered"`
	TransactionID httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"The transaction it was for."`
	Amount        int64                         `json:"amount" doc:"In the smallest unit; above zero when the account grows." example:"-10050"`
	EffectiveAt   httpapi.Time                  `json:"effectiveAt" doc:"When it took effect."`
	Memo          string                        `json:"memo,omitempty" doc:"What it says." example:"4T9K2M7PXQ3A"`
}

func renderMatchedEntry(e reconcile.EntryDetails) matchedEntry {
	return matchedEntry{PostingID: postingID(e.Posting), Number: e.Seq, Entry: e.N, Kind: string(e.Kind), TransactionID: httpapi.NewID(e.Transaction),
		Amount: e.Amount, EffectiveAt: httpapi.NewTime(e.Effective), Memo: e.Memo}
}

// reconciledLine is a line with what has become of it.
type reconciledLine struct {
	StatementLine
	Status      string                  `json:"status" enum:"MATCHED,BREAK,RESOLVED" doc:"MATCHED with entries of the books; in an open BREAK; or RESOLVED, when somebody has settled that."`
	Rule        string                  `json:"rule,omitempty" enum:"REFERENCE_AMOUNT_DATE,REFERENCE_AMOUNT,REFERENCE_SUM,AMOUNT_DATE,DAY_SUM,AMOUNT" doc:"By what rule it was matched."`
	Explanation string                  `json:"explanation,omitempty" doc:"What the match rests on." example:"Both have the reference 4T9K2M7PXQ3A, the amount and the day."`
	Entries     []matchedEntry          `json:"entries,omitempty" doc:"The entries it was matched with, 200 at most."`
	BreakID     httpapi.ID[ident.Break] `json:"breakId,omitzero" doc:"The break it is in."`
}

func renderReconciledLine(l reconcile.LineDetails) reconciledLine {
	body := reconciledLine{StatementLine: renderStatementLine(l.Line), Status: string(l.Status), Rule: string(l.Rule), Explanation: l.Explanation, BreakID: httpapi.NewID(l.Break)}
	for _, e := range l.Entries {
		body.Entries = append(body.Entries, renderMatchedEntry(e))
	}
	return body
}

func registerStatementLines(a *httpapi.API, r Reconciliations) {
	type wanted struct {
		httpapi.Paging
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"The reconciliation."`
		Status           string                           `query:"status" enum:"MATCHED,BREAK,RESOLVED" doc:"In this status."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listReconciliationLines", Path: "/ledger/reconciliations/{reconciliationId}/lines", Tag: tagLedger, Summary: "List a statement's lines", Permission: platform.View,
		Description: "The lines that this statement showed first, in their order, with what has become of each.", Errors: []fault.Code{fault.ReconciliationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[reconcile.LineDetails], error) {
		after, err := httpapi.CursorID[ident.StatementLine](in.Cursor)
		if err != nil {
			return ports.Page[reconcile.LineDetails]{}, err
		}
		return r.Lines(ctx, call.Principal.Platform, in.ReconciliationID.Value, ports.StatementLineFilter{
			Paging: ports.Paging{Limit: in.Limit, After: after.UUID(), Ascending: true}, Status: reconcile.LineStatus(in.Status)})
	}, func(p ports.Page[reconcile.LineDetails]) httpapi.Page[reconciledLine] {
		return renderPage(p, renderReconciledLine, func(l reconcile.LineDetails) string { return statementLineID(l.ID).Value.String() })
	})
}

// reconciliationBreak is a line or an entry without a match.
type reconciliationBreak struct {
	ID               httpapi.ID[ident.Break]          `json:"id" doc:"The break."`
	ReconciliationID httpapi.ID[ident.Reconciliation] `json:"reconciliationId" doc:"The reconciliation that found it."`
	Status           string                           `json:"status" enum:"OPEN,RESOLVED" doc:"Whether it is resolved."`
	Reason           string                           `json:"reason" enum:"RETURNED,DUPLICATE,AMOUNT_DIFFERS,MISSING_IN_LEDGER,MISSING_ON_STATEMENT" doc:"RETURNED: the partner undid a payment, and the books do not say so. DUPLICATE: one side has twice what the other has once. AMOUNT_DIFFERS: a reference in common, and other amounts. MISSING_IN_LEDGER: the books do not have it. MISSING_ON_STATEMENT: the partner does not."`
	Explanation      string                           `json:"explanation" doc:"What was compared." example:"The partner has 99.85 USD on 2026-03-10 and our entry 4711.1 has 100.00 USD on 2026-03-10, with the reference 4T9K2M7PXQ3A."`
	Difference       int64                            `json:"difference" doc:"What the partner has more than the books, in the smallest unit: what a correction posts." example:"-15"`
	Currency         httpapi.Currency                 `json:"currency" doc:"The currency of the account."`
	Reference        string                           `json:"reference,omitempty" doc:"The reference that tells what was compared." example:"4T9K2M7PXQ3A"`
	Line             *StatementLine                   `json:"line,omitempty" doc:"The partner's line; left out when the partner has none."`
	Entry            *matchedEntry                    `json:"entry,omitempty" doc:"Our entry; left out when the books have none."`
	OtherLineID      httpapi.ID[ident.StatementLine]  `json:"otherLineId,omitzero" doc:"DUPLICATE: the line that was there before."`
	OtherEntry       *entryReference                  `json:"otherEntry,omitempty" doc:"RETURNED: the payment that came back. DUPLICATE: the entry that was there before."`
	Resolution       *breakResolution                 `json:"resolution,omitempty" doc:"How it was resolved."`
	CreatedAt        httpapi.Time                     `json:"createdAt" doc:"When it was found."`
}

type entryReference struct {
	Number int64 `json:"number" doc:"The posting's number in the books." example:"4711"`
	Entry  int   `json:"entry" doc:"The entry's number in the posting." example:"1"`
}

type breakResolution struct {
	Method           string                           `json:"method" enum:"NOTE,POSTING,MATCH,BREAK" doc:"NOTE or POSTING by somebody; MATCH by a later statement that shows it; BREAK by another break, when a later comparison knew better what it is."`
	Note             string                           `json:"note,omitempty" doc:"Why it is settled." example:"Monthly fee, as agreed"`
	PostingID        httpapi.ID[ident.Posting]        `json:"postingId,omitzero" doc:"The correction that was posted."`
	ReconciliationID httpapi.ID[ident.Reconciliation] `json:"reconciliationId,omitzero" doc:"The reconciliation that resolved it."`
	ResolvedBy       string                           `json:"resolvedBy" doc:"The token, or the person at the command line, that decided." example:"Token:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	ResolvedAt       httpapi.Time                     `json:"resolvedAt" doc:"When."`
}

func renderBreak(b reconcile.BreakDetails) reconciliationBreak {
	body := reconciliationBreak{ID: httpapi.NewID(b.ID), ReconciliationID: httpapi.NewID(b.Run), Status: "OPEN", Reason: string(b.Reason), Explanation: b.Explanation,
		Difference: b.Difference, Currency: httpapi.Currency(b.Account.Currency), Reference: b.Reference, OtherLineID: statementLineID(b.OtherLine), CreatedAt: httpapi.NewTime(b.At)}
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
	if s := b.Resolution; s != nil {
		body.Status = "RESOLVED"
		body.Resolution = &breakResolution{Method: string(s.Method), Note: s.Note, ReconciliationID: httpapi.NewID(s.Run), ResolvedBy: s.By, ResolvedAt: httpapi.NewTime(s.At)}
		if s.Posting != uuid.Nil {
			body.Resolution.PostingID = postingID(s.Posting)
		}
	}
	return body
}

type resolveBreakRequest struct {
	Note    string            `json:"note" minLength:"1" maxLength:"500" doc:"Why it is settled." example:"Monthly fee, as agreed"`
	Against correctionAccount `json:"against,omitempty" doc:"Post the difference against this account; without it nothing is posted. UNMATCHED: money whose owner nobody knows. EXPENSE: what the partner took for itself, or gave back of that. FEES: what it paid you, as income."`
}

func registerBreaks(a *httpapi.API, r Reconciliations) {
	type wanted struct {
		httpapi.Paging
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"The reconciliation."`
		Reason           breakReason                      `query:"reason" doc:"With this reason."`
		Status           string                           `query:"status" enum:"OPEN,RESOLVED" doc:"In this status."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listReconciliationBreaks", Path: "/ledger/reconciliations/{reconciliationId}/breaks", Tag: tagLedger, Summary: "List breaks", Permission: platform.View,
		Description: "The breaks that this reconciliation found, with what was compared and how each was resolved.", Errors: []fault.Code{fault.ReconciliationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[reconcile.BreakDetails], error) {
		after, err := httpapi.CursorID[ident.Break](in.Cursor)
		if err != nil {
			return ports.Page[reconcile.BreakDetails]{}, err
		}
		return r.Breaks(ctx, call.Principal.Platform, in.ReconciliationID.Value, ports.BreakFilter{
			Paging: ports.Paging{Limit: in.Limit, After: after.UUID(), Ascending: true}, Reason: reconcile.Reason(in.Reason), Status: in.Status})
	}, func(p ports.Page[reconcile.BreakDetails]) httpapi.Page[reconciliationBreak] {
		return renderPage(p, renderBreak, func(b reconcile.BreakDetails) string { return b.ID.String() })
	})

	type resolve struct {
		ReconciliationID httpapi.ID[ident.Reconciliation] `path:"reconciliationId" doc:"The reconciliation that found it."`
		BreakID          httpapi.ID[ident.Break]          `path:"breakId" doc:"The break."`
		Body             resolveBreakRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "resolveReconciliationBreak", Path: "/ledger/reconciliations/{reconciliationId}/breaks/{breakId}/resolve", Tag: tagLedger, Summary: "Resolve a break", Permission: platform.Manage,
		Description: "With a note, or with a correction: a posting of the difference between the partner's account and another, whose memo names the break. " +
			"It stands for good, with who decided and when; a break is resolved once.",
		Errors: []fault.Code{fault.BreakNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *resolve) (reconcile.BreakDetails, error) {
		return r.Resolve(ctx, reconciliation.ResolveRequest{Platform: call.Principal.Platform, Run: in.ReconciliationID.Value, Break: in.BreakID.Value,
			ResolveCommand: reconcile.ResolveCommand{Note: in.Body.Note, Offset: reconcile.OffsetAccount(in.Body.Against)}, By: call.Principal.Token.String()}, call.IdempotentRequest)
	}, renderBreak)
}
