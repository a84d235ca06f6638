package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/core/yearend"
	"causeway/ledger"
)

// LedgerAudit reads the ledger as it is stored, including damage, to check it.
type LedgerAudit interface {
	// Snapshot calls fn with a view of one snapshot of the whole storage.
	Snapshot(ctx context.Context, fn func(ctx context.Context, view AuditView) error) error
}

// AuditView streams the stored ledger of one platform at a time, in a bounded amount of
// memory. An error of a callback ends the stream and is returned.
type AuditView interface {
	// Platforms returns every platform that any stored row belongs to.
	Platforms(ctx context.Context) ([]AuditPlatform, error)
	// Postings streams postings with their entries in the order of their numbers. Entries
	// without a posting are passed as a posting that is not Found.
	Postings(ctx context.Context, p ident.Platform, each func(AuditPosting) error) error
	// PostingsUpTo streams the postings from number 1 up to and including upto.
	PostingsUpTo(ctx context.Context, p ident.Platform, upto int64, each func(AuditPosting) error) error
	// Accounts streams the accounts in the order of their numbers, each with its entries
	// and balance snapshots in the order of postings.
	Accounts(ctx context.Context, p ident.Platform, visitor AccountVisitor) error
	// OldestAccounts returns the oldest accounts, at most limit.
	OldestAccounts(ctx context.Context, p ident.Platform, limit int) ([]ledger.Account, error)
	// Reversals streams each reversal with the posting that it names; found is false if
	// there is none. Reversals of the same posting follow each other.
	Reversals(ctx context.Context, p ident.Platform, each func(reversal, original NumberedPosting, found bool) error) error
	// OrphanBalances streams stored balances of accounts that do not exist.
	OrphanBalances(ctx context.Context, p ident.Platform, each func(number, balance int64) error) error
	// Log returns the size of the log of a platform, and the edge of its tree.
	Log(ctx context.Context, p ident.Platform) (size int64, edge []byte, err error)
	// LogCheckpoints returns the checkpoints with sizes above a size, in order, at most
	// limit.
	LogCheckpoints(ctx context.Context, p ident.Platform, above int64, limit int) ([]SignedCheckpoint, error)
	// LogTiles returns full tiles, one per index; nil if there is none.
	LogTiles(ctx context.Context, p ident.Platform, indexes []TileIndex) ([][]byte, error)
	// LogKeys returns the public halves of the keys that sign checkpoints, newest first.
	LogKeys(ctx context.Context) ([]CheckpointKey, error)
	// Months returns the stored states and closings of the platform's months.
	Months(ctx context.Context, p ident.Platform) (AuditMonths, error)
	// ClosingCheckpoints returns the checkpoints that are stored with closed months, by
	// month: only Month and Checkpoint of the closings are set.
	ClosingCheckpoints(ctx context.Context, p ident.Platform) ([]period.Closing, error)
	// MonthLines streams the lines of closed months, by account and month, each as stored
	// and as computed from the entries. Entries that are effective before the first closed
	// month are passed as the month before it.
	MonthLines(ctx context.Context, p ident.Platform, m AuditMonths, each func(AuditMonthLine) error) error
	// MonthChanges returns the changes of months, oldest first: the month, the action and
	// the time, which is between the recorded times of the postings before and after it.
	MonthChanges(ctx context.Context, p ident.Platform) ([]period.Change, error)
	// Unauthorised returns the number of postings that the months did not allow when they
	// were recorded, and the number of the first.
	Unauthorised(ctx context.Context, p ident.Platform, c AuditCalendar) (count, first int64, err error)
	// Adjustments streams the postings of adjustments and opening balances in the order of their numbers.
	Adjustments(ctx context.Context, p ident.Platform, each func(AuditAdjustment) error) error
	// ProposedChanges streams the executed proposals with the changes that were made by them, and those that were
	// approved without one; of a platform or, if that is zero, of all platforms together.
	ProposedChanges(ctx context.Context, p ident.Platform, each func(AuditProposedChange) error) error
	// YearClosings calls each for every closing of a year, by year and number.
	YearClosings(ctx context.Context, p ident.Platform, each func(AuditYearClosing) error) error
	// YearEndPostings streams the ids of the postings that close a year, without their other fields.
	YearEndPostings(ctx context.Context, p ident.Platform, each func(NumberedPosting) error) error
	// IndexMismatches compares the tables by which postings are found with the postings.
	IndexMismatches(ctx context.Context, p ident.Platform) (AuditIndexMismatches, error)
	// PostedTransactions streams the transactions that have postings, in batches.
	PostedTransactions(ctx context.Context, p ident.Platform, each func([]PostedTransaction) error) error
}

// AuditPlatform is the stored state of one platform.
type AuditPlatform struct {
	Platform ident.Platform
	// HasClock is false if the platform has accounts or postings but no clock.
	HasClock bool
	// Seq and Recorded are the number and recorded time of the last posting, by the clock.
	Seq      int64
	Recorded time.Time
	// SnapshotSeq is the posting up to which balance snapshots were taken.
	SnapshotSeq int64
	// CompleteMonthEnds are the last postings of the months at whose end every account with
	// postings has a balance snapshot.
	CompleteMonthEnds []int64
}

// AuditIndexMismatches compares the tables by which postings are found with the postings.
type AuditIndexMismatches struct {
	Postings int64
	// UnindexedPostings are postings that are not found by their id. DanglingIDs are ids
	// without a posting. RecordedTimeMismatches are entries whose recorded time is not that
	// of their posting. BackdatedMismatches are postings that are effective long before or
	// after they were recorded and are not listed as such, or the reverse.
	UnindexedPostings, DanglingIDs, RecordedTimeMismatches, BackdatedMismatches Mismatches
	// Months are the months that have postings or are listed with some, in order.
	Months []AuditMonthRange
	// MonthEnd is the end of the clock's present month; zero before the first posting.
	MonthEnd time.Time
}

// Mismatches is a number of mismatches, and the number of the first posting with one.
type Mismatches struct{ Count, First int64 }

// AuditMonthRange is a month with the lowest and highest number of the postings recorded in
// it, 0 if there are none, and the number that is listed as its first, 0 if none is.
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
	// Posting has all fields of the posting but the entries.
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

// AuditSide is the account on one side of an entry: its number, and its path and currency
// if it is Found.
type AuditSide struct {
	Number   int64
	Found    bool
	Path     string
	Currency money.Currency
}

// AccountVisitor receives accounts, each followed by its entries and balance snapshots.
type AccountVisitor interface {
	Account(a AuditAccount) error
	// Movement receives an entry of the account number: the posting seq debits or credits
	// amount. For an account that does not exist there is no call of Account before.
	Movement(number, seq int64, debit bool, amount int64) error
	// BalanceSnapshot is called after the entries that the snapshot covers.
	BalanceSnapshot(c AuditBalanceSnapshot) error
}

// AuditAccount is one account as stored.
type AuditAccount struct {
	Number      int64
	Account     ledger.Account
	Class       ledger.Class
	NoOverdraft bool
	// HasBalance reports whether a balance is stored; only accounts that may not be
	// overdrawn have one.
	HasBalance bool
	Balance    int64
	// Added reports whether finance has added the account to the chart.
	Added bool
}

// AuditBalanceSnapshot is one balance snapshot as stored, with the true times of the entries
// since the previous one.
type AuditBalanceSnapshot struct {
	Number int64 // the account's
	Seq    int64
	// Balance is an integer in decimal digits: it may be larger than an int64.
	Balance string
	// Debits is the sum of all debits up to the snapshot, in decimal digits; empty if it
	// is not stored.
	Debits                   string
	Earliest, Latest         time.Time
	TrueEarliest, TrueLatest time.Time // zero if there are no entries
}

// NumberedPosting is a posting and its number.
type NumberedPosting struct {
	Seq     int64
	Posting ledger.Posting
}

// PostedTransaction holds the postings of one transaction, in order.
type PostedTransaction struct {
	Transaction ident.Transaction
	Postings    []transaction.Posted
}

// AuditMonths are the months of a platform as stored.
type AuditMonths struct {
	// FirstUnclosed is the first month that is not closed, FirstOpen the first that is
	// neither closed nor soft-closed.
	FirstUnclosed, FirstOpen period.Month
	Closings                 []AuditClosing
}

// AuditYearClosing is a closing of a year as stored, with its postings and what it closed.
type AuditYearClosing struct {
	yearend.Closing
	// ClosingPosting and ReversalPosting are those that it and its reversal name; zero if there are none.
	ClosingPosting, ReversalPosting ledger.Posting
	// Balances are those of income and expense at the year's end, of the postings up to Seq.
	Balances []ledger.NetBalance
}

// AuditClosing is a closing as stored, with the true digest of its last posting and the
// postings that were recorded after it but are effective in its month or before.
type AuditClosing struct {
	period.Closing
	// TrueDigest is the digest of the posting with the number Seq; nil if there is none.
	TrueDigest []byte
	// LatePostings counts the postings after Seq, up to the next closing, that are
	// effective in the month or before; FirstLatePosting is the number of the first.
	LatePostings, FirstLatePosting int64
}

// AuditCalendar is the calendar of a platform that was in force for an interval of recorded
// time: it decided which postings could be recorded.
type AuditCalendar struct {
	Recorded period.Interval
	// AuthorisedFrom and OpenFrom are the earliest effective times of authorised postings and
	// of all others.
	AuthorisedFrom, OpenFrom time.Time
	// After is the earliest effective time to check; zero for all.
	After time.Time
}

// AuditAdjustment is a posting of an adjustment, with its authorisation if it has one.
type AuditAdjustment struct {
	Seq           int64
	Posting       uuid.UUID
	Kind          ledger.Kind
	Memo          string
	Authorised    bool
	Authorisation period.Authorisation // only its note
}

// AuditProposedChange is a change that was made by a proposal, with both.
type AuditProposedChange struct {
	Proposal          ident.Proposal
	Operation         string
	Status            proposal.Status // empty if there is no proposal
	Proposer, Decider platform.Author
	// ProposerPerson and DeciderPerson are who they are; zero if that is not known.
	ProposerPerson, DeciderPerson ident.Person
	// Change describes the change; empty if none was made.
	Change         string
	By, ApprovedBy platform.Author // of the change
	// ChangePerson is the person whom the change names beside By; zero in older ones, and if none is known.
	ChangePerson ident.Person
}

// AuditMonthLine is the line of an account in a month, as stored, if it is, and as computed
// from the entries.
type AuditMonthLine struct {
	Number  int64 // the account's
	Account ledger.Account
	Class   ledger.Class
	Month   period.Month
	Stored  bool
	Line    period.Line
	// TrueDebits and TrueCredits are the sums of the entries.
	TrueDebits, TrueCredits money.Total
}
