package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	// LedgerAccounts returns a page of the accounts that were ever posted to, with their
	// present balances, by path and currency in byte order.
	LedgerAccounts(ctx context.Context, p ident.Platform, f LedgerAccountFilter) (LedgerAccountPage, error)
	// AccountsAtCutoff returns the accounts at a path, in one currency or, if empty, in
	// all, with their balances at a cutoff; none if the path was never posted to.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency, cut Cutoff) ([]LedgerAccount, error)
	// AccountEntries returns a page of the entries of one account, in the order in which
	// they were recorded, with the balance after each; false if there is no such account.
	AccountEntries(ctx context.Context, f AccountEntryFilter) (AccountEntryPage, bool, error)
	// Postings returns a page of postings in the order in which they were recorded.
	Postings(ctx context.Context, f PostingFilter) (PostingPage, error)
	// RecordedPosting returns a posting, or false if there is none.
	RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (RecordedPosting, bool, error)
	// Turnovers calls each for every account of a class (of all classes if empty), by
	// currency and path, with its turnover up to each cutoff. All are read from one
	// snapshot.
	Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []Cutoff, each func(AccountTurnovers) error) error
	// BalancesAt calls each for every account with its balance by effective time at a moment. It returns the
	// state of the ledger that all are read from.
	BalancesAt(ctx context.Context, p ident.Platform, moment time.Time, each func(LedgerAccount) error) (LedgerState, error)
	// CurrentBalances returns the accounts whose paths begin with one of the prefixes, in one currency or, if
	// it is empty, in all, with their present balances, read from one snapshot.
	CurrentBalances(ctx context.Context, p ident.Platform, prefixes []string, currency money.Currency) ([]LedgerAccount, error)
}

// LedgerState identifies the content of a ledger at a time: the number of the last posting and its digest,
// 0 and nil in an empty ledger, and the newest signed checkpoint of the log, empty if there is none.
type LedgerState struct {
	Seq        int64
	Digest     []byte
	Checkpoint string
}

// Cutoff selects the postings up to and including a moment, by one of their two times. A
// zero moment selects all.
type Cutoff struct {
	By     TimeKind
	Moment time.Time
}

// LedgerAccountFilter selects accounts whose path begins with a prefix, in one currency;
// empty fields match all.
type LedgerAccountFilter struct {
	Prefix   string
	Currency money.Currency
	// Overdrawn selects assets below zero.
	Overdrawn bool
	// AfterPath and AfterCurrency are those of the last account of the previous page.
	AfterPath     string
	AfterCurrency money.Currency
	Limit         int
}

// LedgerAccount is an account with its balance, in minor units with the sign of its class.
type LedgerAccount struct {
	Account     ledger.Account
	Class       ledger.Class
	NoOverdraft bool
	Balance     money.Total
}

// LedgerAccountPage is a page of accounts.
type LedgerAccountPage struct {
	Accounts []LedgerAccount
	More     bool
}

// AccountEntryFilter selects entries of one account whose posting's time, of the kind By,
// is in the interval.
type AccountEntryFilter struct {
	Account  ledger.Account
	By       TimeKind
	Interval period.Interval
	// After is the position of the last entry of the previous page; zero for the first.
	After     EntryPosition
	Limit     int
	Ascending bool
}

// AccountEntry is an entry with the balance of the account after it, in the order in which
// entries were recorded.
type AccountEntry struct {
	RecordedEntry
	Balance money.Total
}

// AccountEntryPage is a page of the entries of an account.
type AccountEntryPage struct {
	Class   ledger.Class
	Entries []AccountEntry
	More    bool
}

// PostingFilter selects postings; zero fields match all.
type PostingFilter struct {
	Platform    ident.Platform
	Kind        ledger.Kind
	Transaction ident.Transaction
	// Customer selects the postings of the customer's transactions.
	Customer ident.Customer
	// Memo is compared exactly.
	Memo     string
	By       TimeKind
	Interval period.Interval
	// After is the number of the last posting of the previous page.
	After     int64
	Limit     int
	Ascending bool
}

// RecordedPosting is a posting with what the storage adds.
type RecordedPosting struct {
	ledger.Posting
	Seq        int64
	Recorded   time.Time
	ReversedBy uuid.UUID // zero for none
}

// PostingPage is a page of postings.
type PostingPage struct {
	Postings []RecordedPosting
	More     bool
}

// Turnover holds the sums of the debits and credits of an account, in minor units.
type Turnover struct{ Debits, Credits money.Total }

// Balance returns the balance of an account of a class whose whole turnover this is.
func (t Turnover) Balance(class ledger.Class) money.Total {
	return class.Balance(t.Debits, t.Credits)
}

// AccountTurnovers holds the turnovers of one account, one for each cutoff.
type AccountTurnovers struct {
	Account   ledger.Account
	Class     ledger.Class
	Turnovers []Turnover
}
