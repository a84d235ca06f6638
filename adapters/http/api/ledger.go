package api

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/finance"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// Finance are the use cases behind the operations on the ledger.
type Finance interface {
	Accounts(ctx context.Context, p ident.Platform, f ports.LedgerAccountFilter) (ports.LedgerAccountPage, error)
	Account(ctx context.Context, p ident.Platform, path string, currency money.Currency, at ports.Cut) ([]ports.LedgerAccount, error)
	Entries(ctx context.Context, f ports.AccountEntryFilter) (ports.AccountEntryPage, error)
	Postings(ctx context.Context, f ports.PostingFilter) (ports.PostingPage, error)
	Posting(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.RecordedPosting, error)
	TrialBalance(ctx context.Context, p ident.Platform, period finance.Period) (finance.TrialBalance, error)
	Income(ctx context.Context, p ident.Platform, e finance.Earnings) (finance.Income, error)
	FXPosition(ctx context.Context, p ident.Platform, at ports.Cut, in money.Currency) (finance.FXPosition, error)
	Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (ports.UnmatchedPage, error)
	Assign(ctx context.Context, who platform.Principal, a finance.Assign, claim *ports.Claim) (transaction.Unmatched, error)
	Story(ctx context.Context, p ident.Platform, id ident.Transaction) (finance.Story, error)
}

func registerLedger(a *httpapi.API, f Finance) {
	registerLedgerAccounts(a, f)
	registerLedgerPostings(a, f)
	registerLedgerReports(a, f)
	registerUnmatched(a, f)
	registerStory(a, f)
}

// ByTime is embedded in the input of an operation that asks by one of the two times.
type ByTime struct {
	By string `query:"by" enum:"recorded,effective" default:"recorded" doc:"By which time of the postings: recorded, when it was written into the books; effective, when it counts."`
}

func (b ByTime) kind() ports.TimeKind {
	if b.By == "effective" {
		return ports.ByEffective
	}
	return ports.ByRecorded
}

func timeName(by ports.TimeKind) string {
	if by == ports.ByEffective {
		return "effective"
	}
	return "recorded"
}

// FromTo is embedded in the input of an operation that asks about a span of time.
type FromTo struct {
	From httpapi.Time `query:"from" doc:"At this moment or later."`
	To   httpapi.Time `query:"to" doc:"At this moment or earlier; it takes in its whole millisecond."`
}

func (s FromTo) span() ports.Span { return ports.Span{From: s.From.Time, To: s.To.Time} }

// place reads a cursor of a list that is ordered by the numbers of postings.
func place(c httpapi.Cursor) (at ports.EntryPlace, err error) {
	if c.IsZero() {
		return at, nil
	}
	seq, err := strconv.ParseInt(c.ID, 10, 64)
	n, bad := strconv.ParseInt("0"+c.Key, 10, 16)
	if err != nil || bad != nil || seq < 1 {
		return at, fault.Invalid(fault.Field{Field: "cursor", Message: "is not a cursor of this list; send nextCursor of the page before, or none for the first page"})
	}
	return ports.EntryPlace{Seq: seq, N: int(n)}, nil
}

// ledgerPage renders one part of a list that is not counted as a whole.
func ledgerPage[Item, Body any](items []Item, more bool, body func(Item) Body, cursor func(Item) httpapi.Cursor) httpapi.Page[Body] {
	page := httpapi.Page[Body]{Data: make([]Body, len(items)), HasMore: more}
	for i, item := range items {
		page.Data[i] = body(item)
	}
	if more {
		page.NextCursor = cursor(items[len(items)-1]).String()
	}
	return page
}

func postingID(id uuid.UUID) httpapi.ID[ident.Posting] {
	var posting ident.Posting
	ident.Set(&posting, id)
	return httpapi.WriteID(posting)
}
