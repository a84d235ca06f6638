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
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ports"
)

// Accounting holds the use cases of the ledger operations.
type Accounting interface {
	Accounts(ctx context.Context, p ident.Platform, f ports.LedgerAccountFilter) (accounting.LedgerAccountPage, error)
	AccountsTable(p ident.Platform, f ports.LedgerAccountFilter) accounting.Table
	Account(ctx context.Context, p ident.Platform, path string, currency money.Currency, at ports.Cutoff) ([]accounting.LedgerAccount, error)
	Entries(ctx context.Context, f ports.AccountEntryFilter) (ports.AccountEntryPage, error)
	EntriesTable(f ports.AccountEntryFilter) accounting.Table
	PostingsTable(f ports.PostingFilter) accounting.Table
	Postings(ctx context.Context, f ports.PostingFilter) (ports.PostingPage, error)
	Posting(ctx context.Context, p ident.Platform, id uuid.UUID) (accounting.Posting, error)
	TrialBalance(ctx context.Context, p ident.Platform, period accounting.TrialBalanceQuery) (accounting.TrialBalance, error)
	Income(ctx context.Context, p ident.Platform, e accounting.IncomeQuery) (accounting.Income, error)
	FXPosition(ctx context.Context, p ident.Platform, at ports.Cutoff, in money.Currency) (accounting.FXPosition, error)
	Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (ports.UnmatchedPage, error)
	UnmatchedTable(p ident.Platform, f ports.UnmatchedFilter) accounting.Table
	AssignUnmatched(ctx context.Context, p ident.Platform, by platform.Author, a accounting.AssignCommand,
		idempotent *ports.IdempotentRequest) (proposal.Outcome[transaction.Unmatched], error)
	Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (accounting.Timeline, error)
}

func registerLedger(a *httpapi.API, service Accounting) {
	registerLedgerAccounts(a, service)
	registerLedgerPostings(a, service)
	registerLedgerReports(a, service)
	registerUnmatched(a, service)
	registerTimeline(a, service)
}

// TimeBasis is embedded in the input of an operation that reports by one of the two times.
type TimeBasis struct {
	By string `query:"by" enum:"recorded,effective" default:"recorded" doc:"Time to use: recorded, when a posting was written, or effective, when it takes effect."`
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

// TimeRange is embedded in the input of an operation that takes a time range.
type TimeRange struct {
	From httpapi.Time `query:"from" doc:"Start of the time range, inclusive; not in the future."`
	To   httpapi.Time `query:"to" doc:"End of the time range, exclusive; not in the future."`
}

func (s TimeRange) interval() period.Interval {
	return period.Interval{From: s.From.Time, To: s.To.Time}
}

// inclusiveInterval is the interval from one timestamp of a request to another, both
// included. Timestamps are written in milliseconds, so the last one includes its whole
// millisecond.
func inclusiveInterval(from, to httpapi.Time) period.Interval {
	if to.IsZero() {
		return period.Interval{From: from.Time}
	}
	return period.Interval{From: from.Time, To: to.Truncate(time.Millisecond).Add(time.Millisecond)}
}

// Resolve refuses a time range that ends before it begins. Only the use case has a clock
// and checks whether a time is in the future.
func (s TimeRange) Resolve(huma.Context) []error {
	if s.To.IsZero() || !s.To.Before(s.From.Time) {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "to", Message: "must be after from"}))
}

// entryCursor returns the cursor of an entry.
func entryCursor(position ports.EntryPosition) httpapi.Cursor {
	return httpapi.Cursor{ID: strconv.FormatInt(position.Seq, 10), Key: strconv.Itoa(position.N)}
}

// parseEntryCursor parses a cursor of a list of entries.
func parseEntryCursor(c httpapi.Cursor) (position ports.EntryPosition, err error) {
	if c.IsZero() {
		return position, nil
	}
	seq, err := strconv.ParseInt(c.ID, 10, 64)
	n, entryErr := strconv.ParseInt(c.Key, 10, 16)
	if err != nil || entryErr != nil || seq < 1 || n < 1 {
		return position, httpapi.InvalidCursor()
	}
	return ports.EntryPosition{Seq: seq, N: int(n)}, nil
}

// Kinds of number cursors, so that no list accepts the cursor of another.
const (
	postingCursor    = "posting"
	checkpointCursor = "checkpoint"
	trialLineCursor  = "line"
	settingsCursor   = "settings"
	mappingCursor    = "mapping"
)

// numberCursor returns a cursor of a list that is ordered by numbers.
func numberCursor(kind string, number int64) httpapi.Cursor {
	return httpapi.Cursor{ID: strconv.FormatInt(number, 10), Key: kind}
}

// parseNumberCursor parses a cursor of such a list; zero is its beginning.
func parseNumberCursor(kind string, c httpapi.Cursor) (int64, error) {
	if c.IsZero() {
		return 0, nil
	}
	number, err := strconv.ParseInt(c.ID, 10, 64)
	if err != nil || number < 1 || c.Key != kind {
		return 0, httpapi.InvalidCursor()
	}
	return number, nil
}

// renderUncountedPage renders one page of a list without a total count.
func renderUncountedPage[Item, Body any](items []Item, more bool, body func(Item) Body,
	cursor func(Item) httpapi.Cursor) httpapi.Page[Body] {
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
	posting.SetUUID(id)
	return httpapi.NewID(posting)
}
