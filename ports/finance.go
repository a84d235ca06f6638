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

// Finance is the ledger as finance teams ask for it: committed postings only, and sums
// that never overflow. What belongs to another platform is not there.
type Finance interface {
	// LedgerAccounts returns accounts that were ever posted to, with their present
	// balances, by path and currency in the order of their bytes.
	LedgerAccounts(ctx context.Context, p ident.Platform, f LedgerAccountFilter) (LedgerAccountPage, error)
	// AccountsAtCutoff reads the accounts at a path (in one currency, or all when empty) with
	// their balances as a cut says; none for a path never posted to.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency, cut Cutoff) ([]LedgerAccount, error)
	// AccountEntries reads one page of the entries of one account, in the order in which
	// they were recorded, with the balance after each. False when there is no such account.
	AccountEntries(ctx context.Context, f AccountEntryFilter) (AccountEntryPage, bool, error)
	// Postings reads one page of postings, in the order in which they were recorded.
	Postings(ctx context.Context, f PostingFilter) (PostingPage, error)
	// RecordedPosting reads one posting; false when there is none.
	RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (RecordedPosting, bool, error)
	// Turnovers reads what was debited and credited to accounts up to each of several
	// cuts, by currency and path: one call of each for every account, with one turnover a
	// cut. All of one moment. Class narrows it to the accounts of a class; empty means all.
	Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []Cutoff, each func(AccountTurnovers) error) error
}

// Cutoff divides what was posted by one of its two times: up to and with a moment. A zero
// moment takes in everything.
type Cutoff struct {
	By     TimeKind
	Moment time.Time
}

// LedgerAccountFilter narrows a list of accounts: to paths that begin with a text, and
// to one currency.
type LedgerAccountFilter struct {
	Prefix   string
	Currency money.Currency
	// After is the last account of the page before: its path and currency.
	AfterPath     string
	AfterCurrency money.Currency
	Limit         int
}

// LedgerAccount is an account with a balance, in minor units with the sign of its class.
type LedgerAccount struct {
	Account     ledger.Account
	Class       ledger.Class
	NoOverdraft bool
	Balance     money.Total
}

// LedgerAccountPage is one page of accounts.
type LedgerAccountPage struct {
	Accounts []LedgerAccount
	More     bool
}

// AccountEntryFilter says which entries of one account are wanted: of postings whose
// time of the kind By lies in the span, inclusive at both ends.
type AccountEntryFilter struct {
	Account  ledger.Account
	By       TimeKind
	Interval period.Interval
	// After is the last place of the page before; zero for the first page.
	After     EntryPosition
	Limit     int
	Ascending bool
}

// AccountEntry is an entry with the balance of the account after it, as recorded up to
// there.
type AccountEntry struct {
	RecordedEntry
	Balance money.Total
}

// AccountEntryPage is one page of the entries of an account.
type AccountEntryPage struct {
	Class   ledger.Class
	Entries []AccountEntry
	More    bool
}

// PostingFilter says which postings are wanted; what is zero does not narrow.
type PostingFilter struct {
	Platform    ident.Platform
	Kind        ledger.Kind
	Transaction ident.Transaction
	// Customer: those of the customer's transactions.
	Customer ident.Customer
	// Memo is the whole memo, to the letter.
	Memo     string
	By       TimeKind
	Interval period.Interval
	// After is the number of the last posting of the page before.
	After     int64
	Limit     int
	Ascending bool
}

// RecordedPosting is a posting as it stands in the books.
type RecordedPosting struct {
	ledger.Posting
	Seq        int64
	Recorded   time.Time
	ReversedBy uuid.UUID // zero for none
}

// PostingPage is one page of postings.
type PostingPage struct {
	Postings []RecordedPosting
	More     bool
}

// Turnover is what was debited and credited to an account, in minor units.
type Turnover struct{ Debits, Credits money.Total }

// AccountTurnovers are those of one account, one for each cut.
type AccountTurnovers struct {
	Account   ledger.Account
	Class     ledger.Class
	Turnovers []Turnover
}

// Balance returns the balance of an account of a class whose whole turnover this is.
func (t Turnover) Balance(class ledger.Class) money.Total {
	return class.Balance(t.Debits, t.Credits)
}
