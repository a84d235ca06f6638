package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// LedgerAudit gives the books as they lie in storage, damage included, to whoever
// proves them.
type LedgerAudit interface {
	// Snapshot calls fn with a view of everything as one moment saw it.
	Snapshot(ctx context.Context, fn func(ctx context.Context, view AuditView) error) error
}

// AuditView streams the books of one platform at a time, in a bounded amount of
// memory. An error of a callback ends the stream and is returned.
type AuditView interface {
	// Platforms returns every platform that anything in the books belongs to.
	Platforms(ctx context.Context) ([]AuditPlatform, error)
	// Postings streams postings with their entries in the order of their numbers.
	// Entries without a posting come as one that is not Found.
	Postings(ctx context.Context, p ident.Platform, each func(AuditPosting) error) error
	// PostingsUpTo streams those from number 1 up to another.
	PostingsUpTo(ctx context.Context, p ident.Platform, upto int64, each func(AuditPosting) error) error
	// Accounts streams the accounts in the order of their numbers, each with what
	// touches it in the order of postings.
	Accounts(ctx context.Context, p ident.Platform, visitor AccountVisitor) error
	// OldestAccounts reads the oldest accounts, at most so many.
	OldestAccounts(ctx context.Context, p ident.Platform, most int) ([]ledger.Account, error)
	// Reversals streams each reversal with the posting it names; false when there is
	// none. Reversals of the same posting follow each other.
	Reversals(ctx context.Context, p ident.Platform, each func(reversal, original NumberedPosting, found bool) error) error
	// OrphanBalances streams stored balances of accounts that are not there.
	OrphanBalances(ctx context.Context, p ident.Platform, each func(number, balance int64) error) error
	// Log reads how far the log of a platform has come, and the edge of its tree there.
	Log(ctx context.Context, p ident.Platform) (size int64, edge []byte, err error)
	// LogCheckpoints reads the next heads with a size above one, at most so many.
	LogCheckpoints(ctx context.Context, p ident.Platform, above int64, most int) ([]SignedCheckpoint, error)
	// LogTiles reads full tiles; one that is not there is nil.
	LogTiles(ctx context.Context, p ident.Platform, places []TileIndex) ([][]byte, error)
	// LogKeys returns the public halves of the keys that sign heads, newest first.
	LogKeys(ctx context.Context) ([]CheckpointKey, error)
	// Months says where the months of the platform stand, and what was kept of each that
	// is closed.
	Months(ctx context.Context, p ident.Platform) (AuditMonths, error)
	// ClosingCheckpoints reads the heads of the log that were kept with closed months, the first
	// month first: of the closings, Month and Head.
	ClosingCheckpoints(ctx context.Context, p ident.Platform) ([]period.Closing, error)
	// MonthLines streams what closed months came to, by account and month: what was kept
	// beside what the entries say. What is effective before the first closed month comes
	// as the month before it.
	MonthLines(ctx context.Context, p ident.Platform, m AuditMonths, each func(AuditMonthLine) error) error
	// MonthChanges reads what was done to months, in the order in which it was: the month,
	// the action and the time, which is between the recorded times of the postings before
	// it and after it.
	MonthChanges(ctx context.Context, p ident.Platform) ([]period.Change, error)
	// Unauthorised counts the postings that the months did not take when they were
	// recorded, with the number of the first.
	Unauthorised(ctx context.Context, p ident.Platform, c AuditCalendar) (many, first int64, err error)
	// IndexMismatches says how what postings are found by differs from where they are.
	IndexMismatches(ctx context.Context, p ident.Platform) (AuditIndexMismatches, error)
	// TransactionKinds streams the transactions that have postings, in groups.
	TransactionKinds(ctx context.Context, p ident.Platform, each func([]TransactionKinds) error) error
}

// AuditPlatform is what the books say of one platform.
type AuditPlatform struct {
	Platform ident.Platform
	// HasClock is false when there are accounts or postings but no clock.
	HasClock bool
	// Seq and Recorded are the clock's: number and recorded time of the last posting.
	Seq      int64
	Recorded time.Time
	// SnapshotSeq is how far accounts have been looked at for checkpoints.
	SnapshotSeq int64
	// CompleteMonthEnds are the last postings of the months with whose end every account has a
	// checkpoint, if it was posted to.
	CompleteMonthEnds []int64
}

// AuditIndexMismatches is what postings are found by, held against where they are.
type AuditIndexMismatches struct {
	Postings int64
	// UnindexedPostings are postings that their id does not lead to, Strangers ids that lead to no
	// posting, Apart entries that were not recorded when their posting was, and Astray
	// postings that take effect long before or after they were recorded and are not listed
	// so, or are and do not.
	UnindexedPostings, DanglingIDs, RecordedTimeMismatches, BackdatedMismatches Mismatches
	// Months are those that have postings or are said to, in order.
	Months []AuditMonthRange
	// MonthEnd is when the present month of the clock ends; zero before the first posting.
	MonthEnd time.Time
}

// Mismatches counts what is not where it is looked for, with the number of the first.
type Mismatches struct{ Count, First int64 }

// AuditMonthRange is a month in which postings were recorded: those from number Lowest to
// Highest, 0 where there are none. It is said to begin with number First, 0 where nothing
// is said of it.
type AuditMonthRange struct {
	Month                  period.Month
	First, Lowest, Highest int64
}

// AuditPosting is one posting as stored.
type AuditPosting struct {
	Seq      int64
	Found    bool
	Recorded time.Time
	Digest   []byte
	// Posting has what the posting says but its entries.
	Posting ledger.Posting
	Entries []AuditEntry
}

// WithEntries returns the posting with its entries in the order of their numbers.
func (a AuditPosting) WithEntries() ledger.Posting {
	p := a.Posting
	p.Entries = make([]ledger.Entry, len(a.Entries))
	for i, e := range a.Entries {
		p.Entries[i] = ledger.Entry{Debit: e.Debit.Path, Credit: e.Credit.Path, Currency: e.Currency, Amount: e.Amount}
	}
	return p
}

// AuditEntry is one entry as stored.
type AuditEntry struct {
	N             int
	Debit, Credit AuditSide
	Currency      money.Currency
	Amount        int64
}

// AuditSide is the account on one side of an entry: its number, and what it is if it
// exists.
type AuditSide struct {
	Number   int64
	Found    bool
	Path     string
	Currency money.Currency
}

// AccountVisitor is told of an account and then of what touches it.
type AccountVisitor interface {
	Account(a AuditAccount) error
	// Move: the posting seq debits (or credits) the account number by amount. An account
	// that does not exist has moves without an Account before them.
	Move(number, seq int64, debit bool, amount int64) error
	// BalanceSnapshot comes after the moves that it covers.
	BalanceSnapshot(c AuditBalanceSnapshot) error
}

// AuditAccount is one account as stored.
type AuditAccount struct {
	Number      int64
	Account     ledger.Account
	Class       ledger.Class
	NoOverdraft bool
	// HasBalance says whether a balance is stored, which only guarded accounts have.
	HasBalance bool
	Balance    int64
}

// AuditBalanceSnapshot is one checkpoint as stored, beside what its block really holds.
type AuditBalanceSnapshot struct {
	Number int64 // the account's
	Seq    int64
	// Balance is a whole number in decimal digits: it may be larger than an int64.
	Balance string
	// Debits is all that was debited up to there, written likewise; empty when it is not
	// stored.
	Debits                   string
	Earliest, Latest         time.Time
	TrueEarliest, TrueLatest time.Time // zero when the block has no entries
}

// NumberedPosting is a posting and its number.
type NumberedPosting struct {
	Seq     int64
	Posting ledger.Posting
}

// TransactionKinds is what was posted for one transaction: the kinds in order.
type TransactionKinds struct {
	Transaction ident.Transaction
	Kinds       []ledger.Kind
}

// AuditMonths are the months of a platform as stored.
type AuditMonths struct {
	// FirstUnclosed is the first month that is not closed, Open the first that is not held.
	FirstUnclosed, FirstOpen period.Month
	Closings                 []AuditClosing
}

// AuditClosing is a closing as stored, beside the posting it names and what was posted
// into the month, or before it, later.
type AuditClosing struct {
	period.Closing
	// TrueDigest is that of the posting with the number Seq; nil when there is none.
	TrueDigest []byte
	// LatePostings counts postings after Seq that are effective in the month or before, up
	// to the next closing; Intruder is the number of the first.
	LatePostings, FirstLatePosting int64
}

// AuditCalendar is the calendar of a platform that was in force for an interval of recorded
// time, so which postings could be recorded in it.
type AuditCalendar struct {
	Recorded period.Interval
	// AuthorisedFrom and OpenFrom are the earliest effective times of authorised postings and
	// of all others.
	AuthorisedFrom, OpenFrom time.Time
	// After is the earliest effective time to look at; zero for all.
	After time.Time
}

// AuditMonthLine is an account in a month: its line as kept, if there is one, and what
// its entries say.
type AuditMonthLine struct {
	Number  int64 // the account's
	Account ledger.Account
	Class   ledger.Class
	Month   period.Month
	Stored  bool
	Line    period.Line
	// TrueDebits and TrueCredits are those of the entries.
	TrueDebits, TrueCredits money.Total
}
