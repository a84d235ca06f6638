package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Balances returns the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	// BalanceAt returns the balance of an account at the end of a moment, by recorded or
	// effective time. Errors: ledger.ErrNotInChart, ledger.ErrOverflow.
	BalanceAt(ctx context.Context, account ledger.Account, by TimeKind, moment time.Time) (int64, error)
	// TrialBalance calls each for every account of a platform (of all platforms if zero)
	// that was ever posted to, with its present balance, by platform, currency and path.
	TrialBalance(ctx context.Context, platform ident.Platform, each func(AccountBalance) error) error
	// Entries returns a page of entries in the order in which they were recorded.
	Entries(ctx context.Context, filter EntryFilter) (EntryPage, error)
	// Posting returns a posting, or false if there is none.
	Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (ledger.Posting, bool, error)
}

// TimeKind selects one of the two times of a posting.
type TimeKind int

// The two times.
const (
	// ByRecorded selects what the ledger contained at a time.
	ByRecorded TimeKind = iota
	// ByEffective selects what is effective at a time, also if it was recorded later.
	ByEffective
)

// AccountBalance is a line of a trial balance.
type AccountBalance struct {
	Account ledger.Account
	Class   ledger.Class
	// Balance is in minor units with the sign of the class.
	Balance int64
}

// EntryFilter selects entries of one platform and, if set, of one account (path and
// currency), one transaction or one posting.
type EntryFilter struct {
	Platform    ident.Platform
	Path        string
	Currency    money.Currency
	Transaction ident.Transaction
	Posting     uuid.UUID
	// After is the position of the last entry of the previous page; zero for the first.
	After EntryPosition
	// Limit is the size of the page: 100 if zero, at most 1,000.
	Limit int
}

// EntryPosition is the position of an entry in its platform's ledger: the number of its
// posting, which counts from one without a gap, and the number of the entry in it.
type EntryPosition struct {
	Seq int64
	N   int
}

// RecordedEntry is an entry with the fields of its posting.
type RecordedEntry struct {
	ledger.Entry
	Position    EntryPosition
	Posting     uuid.UUID
	Kind        ledger.Kind
	Transaction ident.Transaction // zero for none
	Effective   time.Time
	Recorded    time.Time
	Memo        string
	Reverses    uuid.UUID // zero for none
}

// EntryPage is a page of entries.
type EntryPage struct {
	Entries []RecordedEntry
	More    bool
}
