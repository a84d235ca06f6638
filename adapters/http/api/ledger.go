package api

import (
	"context"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ports"
)

// Accounting are the use cases behind the operations on the ledger.
type Accounting interface {
	Accounts(ctx context.Context, p ident.Platform, f ports.LedgerAccountFilter) (ports.LedgerAccountPage, error)
	Account(ctx context.Context, p ident.Platform, path string, currency money.Currency, at ports.Cutoff) ([]ports.LedgerAccount, error)
	Entries(ctx context.Context, f ports.AccountEntryFilter) (ports.AccountEntryPage, error)
	Postings(ctx context.Context, f ports.PostingFilter) (ports.PostingPage, error)
	Posting(ctx context.Context, p ident.Platform, id uuid.UUID) (accounting.Posting, error)
	TrialBalance(ctx context.Context, p ident.Platform, period accounting.TrialBalanceQuery) (accounting.TrialBalance, error)
	Income(ctx context.Context, p ident.Platform, e accounting.IncomeQuery) (accounting.Income, error)
	FXPosition(ctx context.Context, p ident.Platform, at ports.Cutoff, in money.Currency) (accounting.FXPosition, error)
	Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (ports.UnmatchedPage, error)
	AssignUnmatched(ctx context.Context, p ident.Platform, by ident.Token, a accounting.AssignCommand, claim *ports.IdempotentRequest) (transaction.Unmatched, error)
	Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (accounting.Timeline, error)
}

func registerLedger(a *httpapi.API, f Accounting) {
	registerLedgerAccounts(a, f)
	registerLedgerPostings(a, f)
	registerLedgerReports(a, f)
	registerUnmatched(a, f)
	registerTimeline(a, f)
}

// TimeBasis is embedded in the input of an operation that asks by one of the two times.
type TimeBasis struct {
	By string `query:"by" enum:"recorded,effective" default:"recorded" doc:"By which time of the postings: recorded, when it was written into the books; effective, when it counts."`
}

func (b TimeBasis) kind() ports.TimeKind {
	if b.By == "effective" {
		return ports.ByEffective
	}
	return ports.ByRecorded
}

func timeKindName(by ports.TimeKind) string {
	if by == ports.ByEffective {
		return "effective"
	}
	return "recorded"
}

// TimeRange is embedded in the input of an operation that asks about a span of time.
type TimeRange struct {
	From httpapi.Time `query:"from" doc:"At this moment or later; not in the future."`
	To   httpapi.Time `query:"to" doc:"At this moment or earlier; it takes in its whole millisecond, and does not lie in the future."`
}

func (s TimeRange) interval() period.Interval { return inclusiveInterval(s.From, s.To) }

// inclusiveInterval is the interval from one timestamp of a request to another, both
// included. Timestamps are written in milliseconds, so the last one includes its whole
// millisecond.
func inclusiveInterval(from, to httpapi.Time) period.Interval {
	if to.IsZero() {
		return period.Interval{From: from.Time}
	}
	return period.Interval{From: from.Time, To: to.Truncate(time.Millisecond).Add(time.Millisecond)}
}

// Resolve finds a span that ends before it begins. Whether it lies in the future is left
// to the use case, which has a clock.
func (s TimeRange) Resolve(huma.Context) []error {
	if s.To.IsZero() || !s.To.Before(s.From.Time) {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "to", Message: "must not be before from"}))
}

// entryCursor is the place of an entry in a list of entries.
func entryCursor(at ports.EntryPosition) httpapi.Cursor {
	return httpapi.Cursor{ID: strconv.FormatInt(at.Seq, 10), Key: strconv.Itoa(at.N)}
}

// parseEntryCursor reads a cursor of a list of entries.
func parseEntryCursor(c httpapi.Cursor) (at ports.EntryPosition, err error) {
	if c.IsZero() {
		return at, nil
	}
	seq, err := strconv.ParseInt(c.ID, 10, 64)
	n, bad := strconv.ParseInt(c.Key, 10, 16)
	if err != nil || bad != nil || seq < 1 || n < 1 {
		return at, invalidCursor()
	}
	return ports.EntryPosition{Seq: seq, N: int(n)}, nil
}

// What a number in a cursor counts, so that no list takes the cursor of another.
const (
	postingCursor    = "posting"
	checkpointCursor = "checkpoint"
	trialLineCursor  = "line"
)

// numberCursor is a place in a list that is ordered by numbers.
func numberCursor(of string, number int64) httpapi.Cursor {
	return httpapi.Cursor{ID: strconv.FormatInt(number, 10), Key: of}
}

// parseNumberCursor reads a cursor of such a list; zero is its beginning.
func parseNumberCursor(of string, c httpapi.Cursor) (int64, error) {
	if c.IsZero() {
		return 0, nil
	}
	number, err := strconv.ParseInt(c.ID, 10, 64)
	if err != nil || number < 1 || c.Key != of {
		return 0, invalidCursor()
	}
	return number, nil
}

func invalidCursor() error {
	return fault.Invalid(fault.Field{Field: "cursor", Message: "is not a cursor of this list; send nextCursor of the page before, or none for the first page"})
}

// renderUncountedPage renders one part of a list that is not counted as a whole.
func renderUncountedPage[Item, Body any](items []Item, more bool, body func(Item) Body, cursor func(Item) httpapi.Cursor) httpapi.Page[Body] {
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
	ident.SetUUID(&posting, id)
	return httpapi.NewID(posting)
}
