package ports

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

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
	// Part leaves out other entries.
	Part financials.Part
	// YearPostings are those that close years, or reverse that, which financials.Earned and financials.YearEnd are about.
	YearPostings []RecordedPosting
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
	// Memos are compared exactly: a posting has one of them, or is of the transaction OrOf.
	Memos    []string
	OrOf     ident.Transaction
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
