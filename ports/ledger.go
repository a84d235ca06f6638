package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// LedgerWriter is the ledger inside a unit of work.
type LedgerWriter interface {
	// Post writes postings, of any platforms, in the order given. One whose id is
	// already written with the same content is passed over, so a repeat is harmless.
	//
	// Errors, with nothing written: ledger.ErrInvalid; a *ledger.ShortError when a
	// guarded account would go below zero at any point of the order; ledger.ErrConflict
	// when an id is written with other content; ledger.ErrOverflow.
	Post(ctx context.Context, postings []ledger.Posting) error
	// LockBalances reads the balances of internal accounts and holds them against every
	// other writer until the unit of work ends; and whose accounts they are, which is
	// zero for one that is not opened yet. One never posted to has a zero balance. Name
	// in one call all guarded accounts that the unit will post to: two units that lock a
	// second time can wait for each other in a circle.
	LockBalances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error)
	// Balances reads what accounts hold now without holding them against anybody, for who
	// only wants to refuse early what cannot be; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
}

// LedgerReader is the ledger as finance reads it: committed postings only.
type LedgerReader interface {
	// Balances reads the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	// BalanceAt reads the balance of an account as it was at the end of a moment.
	BalanceAt(ctx context.Context, account ledger.Account, by TimeKind, moment time.Time) (int64, error)
	// TrialBalance returns every account of a platform (of all when zero) that has ever
	// been posted to, with its present balance, by platform, currency and path.
	TrialBalance(ctx context.Context, platform ident.Platform, each func(AccountBalance) error) error
	// Entries reads one page of entries in the order in which they were recorded.
	Entries(ctx context.Context, filter EntryFilter) (EntryPage, error)
	// Posting reads one posting; false when there is none.
	Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (ledger.Posting, bool, error)
}

// TimeKind says by which of a posting's two times a question is asked.
type TimeKind int

// The two times.
const (
	// ByRecorded asks what the books said at the moment.
	ByRecorded TimeKind = iota
	// ByEffective asks what is now known to have been so at the moment.
	ByEffective
)

// AccountBalance is one line of a trial balance.
type AccountBalance struct {
	Account ledger.Account
	Class   ledger.Class
	// Balance is minor units with the sign of the class.
	Balance int64
}

// EntryFilter says which entries are wanted: those of one platform and, where set,
// of one account (path and currency), one transaction or one posting.
type EntryFilter struct {
	Platform    ident.Platform
	Path        string
	Currency    money.Currency
	Transaction ident.Transaction
	Posting     uuid.UUID
	// After is the last place of the page before; zero for the first page.
	After EntryPosition
	// Limit is the size of the page, 100 when zero and 1,000 at most.
	Limit int
}

// EntryPosition is where an entry stands in its platform's books: the number of its
// posting, from one without a gap, and the entry's number in it.
type EntryPosition struct {
	Seq int64
	N   int
}

// RecordedEntry is one entry with what its posting says.
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

// EntryPage is one page of entries.
type EntryPage struct {
	Entries []RecordedEntry
	More    bool
}
