package treasury

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads movements of money between accounts at partners, and the reports on what is held for customers.
type Store interface {
	foureyes.Store
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	ports.Platforms
	// AccountPurposes returns every version of the purposes that were set, by account and version.
	AccountPurposes(ctx context.Context, p ident.Platform) ([]ports.AccountPurpose, error)
	// SafeguardingReport returns a version of the report of a day with its acknowledgements, or the last version if
	// it is 0; false if there is none.
	SafeguardingReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (ports.KeptReport, bool, error)
	// SafeguardingReports returns a page of the last versions of reports, newest day first.
	SafeguardingReports(ctx context.Context, p ident.Platform, f ports.SafeguardingFilter) (ports.SafeguardingPage, error)
	// LastSafeguardingDay returns the last day with a report; empty if there is none.
	LastSafeguardingDay(ctx context.Context, p ident.Platform) (safeguarding.Day, error)
	// LastStatements returns, for each account, the last statement that ended by a day. Its Difference is
	// not set.
	LastStatements(ctx context.Context, p ident.Platform, by safeguarding.Day) ([]safeguarding.Statement, error)
	// Movement returns a movement, or false if there is none.
	Movement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error)
	// Movements returns a page of movements.
	Movements(ctx context.Context, p ident.Platform, f ports.MovementFilter) (ports.Page[treasury.Movement], error)
	// Overdrafts returns what was announced about the assets of a platform.
	Overdrafts(ctx context.Context, p ident.Platform) ([]treasury.Overdraft, error)
}

// Tx stores movements, the purposes of accounts, the reports on what is held for customers, and what was announced about assets
// below zero.
type Tx interface {
	foureyes.Tx
	uow.Tx
	// LockSafeguarding locks the purposes, the reports and the treasury movements of a platform against
	// other changes until the unit of work ends. Payments are not blocked.
	LockSafeguarding(ctx context.Context, p ident.Platform) error
	// SetAccountPurpose stores the purpose of an account as its next version.
	SetAccountPurpose(ctx context.Context, p ident.Platform, change ports.AccountPurpose) (ports.AccountPurpose, error)
	// SaveSafeguardingReport stores a report with its digest.
	SaveSafeguardingReport(ctx context.Context, r safeguarding.Report) error
	// AcknowledgeSafeguardingReport stores that a person has seen a report.
	AcknowledgeSafeguardingReport(ctx context.Context, p ident.Platform, a safeguarding.Acknowledgement) error
	// CreateMovement stores a movement. Its posting is written by the same unit of work.
	CreateMovement(ctx context.Context, m treasury.Movement) error
	// LockMovement returns a movement, locked by LockSafeguarding, or false if there is none.
	LockMovement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, bool, error)
	// RecordArrival stores the arrival of a transfer in transit.
	RecordArrival(ctx context.Context, m treasury.Movement) error
	// SaveOverdrafts stores what was announced.
	SaveOverdrafts(ctx context.Context, overdrafts []treasury.Overdraft) error
}

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	// AccountsAtCutoff returns the accounts at a path, in one currency or, if empty, in
	// all, with their balances at a cutoff; none if the path was never posted to.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency,
		cut ports.Cutoff) ([]ports.LedgerAccount, error)
	// Postings returns a page of postings in the order in which they were recorded.
	Postings(ctx context.Context, f ports.PostingFilter) (ports.PostingPage, error)
	// BalancesAt calls each for every account with its balance by effective time at a moment. It returns the
	// state of the ledger that all are read from.
	BalancesAt(ctx context.Context, p ident.Platform, moment time.Time, each func(ports.LedgerAccount) error) (ports.LedgerState, error)
	// CurrentBalances returns the accounts whose paths begin with one of the prefixes, in one currency or, if
	// it is empty, in all, with their present balances, read from one snapshot.
	CurrentBalances(ctx context.Context, p ident.Platform, prefixes []string, currency money.Currency) ([]ports.LedgerAccount, error)
}

// KeptRates stores the market rates of the past.
type KeptRates interface {
	// RatesAt returns the last rates kept up to and including a moment; the zero value if there
	// are none.
	RatesAt(ctx context.Context, moment time.Time) (price.KeptRates, error)
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Balances returns the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	// BalanceAt returns the balance of an account at the end of a moment, by recorded or
	// effective time. Errors: ledger.ErrNotInChart, ledger.ErrOverflow.
	BalanceAt(ctx context.Context, account ledger.Account, by ports.TimeKind, moment time.Time) (int64, error)
	// Posting returns a posting, or false if there is none.
	Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (ledger.Posting, bool, error)
}

// RailConnectionReader reads the connections as operators have set them.
type RailConnectionReader interface {
	// RailConnections returns the version in force of every connection that is not deleted, by name: the latest one that was
	// tested or that retires the connection, and if there is none, the latest one.
	RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error)
}

// RailProofReader reads the proofs of past days.
type RailProofReader interface {
	// ProvedRails returns the proofs of the days from first to last that have the state PROVED, by day.
	ProvedRails(ctx context.Context, first time.Time, last time.Time) ([]ports.DayProof, error)
}
