package accounting

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/limiting"
	runs "causeway/app/internal/monthend"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/price"
	"causeway/core/quote"
	"causeway/core/recurring"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads what the reports and the months of a ledger are made of.
type Store interface {
	foureyes.Store
	// AgentAttempts returns entries of the audit trail.
	AgentAttempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error)
	// GLMapping returns the mapping to the general ledger as it was at the end of a moment, or as it is if that is
	// zero; version 0 with the built-in one if there was none.
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	// LimitRulesOf returns what the operator of the service allows a platform to send.
	LimitRulesOf(ctx context.Context, p ident.Platform) (limit.Rules, error)
	// TransactionWithQuote returns a transaction with its quote, which is zero if it has none, or TRANSACTION_NOT_FOUND.
	TransactionWithQuote(ctx context.Context, p ident.Platform, id ident.Transaction) (quote.Quote, transaction.Transaction, error)
	// PlatformOfTransaction returns the platform that has a transaction, or TRANSACTION_NOT_FOUND.
	PlatformOfTransaction(ctx context.Context, id ident.Transaction) (ident.Platform, error)
	// PeriodOverview returns everything about the months but their trial balances.
	PeriodOverview(ctx context.Context, p ident.Platform) (ports.PeriodOverview, error)
	// ClosingLines returns a page of the trial balance of a closed month, in the order in
	// which the accounts were created; an empty page for a month that is not closed.
	ClosingLines(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (ports.LinePage, error)
	// ClosingTotals returns the sums of the trial balance of a closed month, by currency.
	ClosingTotals(ctx context.Context, p ident.Platform, m period.Month) ([]period.Total, error)
	// Authorisation returns the authorisation of a posting, or false if it has none.
	Authorisation(ctx context.Context, p ident.Platform, posting uuid.UUID) (period.Authorisation, bool, error)
	// RailReplies returns the replies for a subject, oldest first, at most limit.
	RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]ports.RailReply, error)
	// OpenContradictions returns what partners said about payments of a platform beside what is recorded, and no person has closed.
	OpenContradictions(ctx context.Context, p ident.Platform) ([]ports.RailFeedItem, error)
	// ReceivableOf returns the receivable of a transaction as Receivable does.
	ReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error)
	// Unmatched returns a page of the funds that are or were in funding/unmatched: those of
	// receipts, and those of transactions whose refund failed.
	Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (ports.UnmatchedPage, error)
	// CountUnmatched returns how many of these funds nobody has assigned, at most atMost.
	CountUnmatched(ctx context.Context, p ident.Platform, atMost int) (int, error)
	// UnmatchedOf returns the unmatched funds of a receipt as Tx.LockUnmatched does, without a lock.
	UnmatchedOf(ctx context.Context, p ident.Platform, receipt ident.Receipt) (transaction.Unmatched, bool, error)
	// AssignmentOf returns the unmatched funds that were assigned to a transaction, or
	// false if there were none.
	AssignmentOf(ctx context.Context, p ident.Platform, t ident.Transaction) (transaction.Unmatched, bool, error)
	// WalletAuthorization returns the authorization of a transaction, and false if it has none.
	WalletAuthorization(ctx context.Context, key ports.TransactionKey) (wallet.Authorization, bool, error)
	// YearClosings returns all closings of a platform, with their reversals, by year and number.
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
	RecurringStore
	// RecurringPlatforms returns the platforms that have recurring adjustments.
	RecurringPlatforms(ctx context.Context) ([]ident.Platform, error)
}

// Tx changes months, authorises postings that are effective in soft-closed ones, and assigns unmatched funds.
type Tx interface {
	runs.Tx
	foureyes.Tx
	limiting.Tx
	uow.Tx
	// BooksSettings returns the latest version of the settings; version 0 with the defaults if there is none.
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	// AddedAccounts returns the accounts that finance has added: those with these paths, or all if paths is nil.
	AddedAccounts(ctx context.Context, p ident.Platform, paths []string) (books.AddedAccounts, error)
	// MonthEndRun returns the last run of a kind for a month; one that does not exist if there is none.
	MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error)
	// MonthEndRunBefore returns the last run of a kind for the last month before a month that has one.
	MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error)
	// TransactionParties returns the present parties of a transaction.
	TransactionParties(ctx context.Context, key ports.TransactionKey) (transaction.Parties, error)
	// IncomingPaymentParties returns the parties, one result per key.
	IncomingPaymentParties(ctx context.Context, keys []ports.IncomingPaymentKey) ([]transaction.IncomingParties, error)
	// LockPeriods returns the calendar of a platform, locked for an update: until the unit
	// of work ends no other one changes it or authorises a posting. Ordinary postings are
	// not blocked.
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	// LockPeriodsShared returns the calendar of a platform and locks it against updates;
	// any number of units of work can hold this lock at the same time.
	LockPeriodsShared(ctx context.Context, p ident.Platform) (period.Calendar, error)
	// Authorise stores authorisations of postings that this unit of work is about to
	// write: they may be effective in soft-closed months. It locks the calendar as
	// LockPeriodsShared does. An authorisation without its posting fails the commit.
	Authorise(ctx context.Context, authorisations []period.Authorisation) error
	// ChangePeriods stores a change of a month and the calendar after it. It blocks all
	// postings of the platform until the commit, so it is the last call.
	ChangePeriods(ctx context.Context, change period.Change, next period.Calendar) error
	// RecordClosing computes and stores the closing of a month of a platform that
	// LockPeriods locked; from is the calendar before it. Postings are not blocked; if one
	// is written to the month at the same time, the unit of work is run again.
	RecordClosing(ctx context.Context, change period.Change, from period.Calendar) (period.Closing, error)
	// LockUnmatched returns the unmatched funds of a receipt, or of the transaction with
	// that UUID whose refund failed, and locks them; if they were unmatched twice, it
	// returns the later ones. It returns false if there are none.
	LockUnmatched(ctx context.Context, p ident.Platform, receipt ident.Receipt) (transaction.Unmatched, bool, error)
	// IsReceiptReversed reports whether a receipt was taken back. LockUnmatched makes that wait which takes it back.
	IsReceiptReversed(ctx context.Context, p ident.Platform, receipt ident.Receipt) (bool, error)
	// AssignUnmatched stores an assignment, or returns CONFLICT if the funds have one.
	AssignUnmatched(ctx context.Context, u transaction.Unmatched, a transaction.Assignment) error
	// SaveRefundAgain stores that a receipt is sent back for the refund of a transaction, which failed.
	SaveRefundAgain(ctx context.Context, of ports.TransactionKey, receipt ident.Receipt) error
	RecurringStore
	SaveRecurringAdjustment(ctx context.Context, v recurring.Version) error
	// SaveRecurringRun stores that a month is posted, which it is once. Call LockPeriods first.
	SaveRecurringRun(ctx context.Context, r recurring.Run) error
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
	// ResultBalances returns the balances of all income and expense accounts at the end of a month, zero ones
	// included, by currency and path, and the number of the platform's last posting. The months before it are
	// closed. It reads the postings since the previous month was closed and does not block others.
	ResultBalances(ctx context.Context, p ident.Platform, m period.Month) (balances []ledger.NetBalance, seq int64, err error)
}

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	// LedgerAccounts returns a page of the accounts that were ever posted to, with their
	// present balances, by path and currency in byte order.
	LedgerAccounts(ctx context.Context, p ident.Platform, f ports.LedgerAccountFilter) (ports.LedgerAccountPage, error)
	// AccountsAtCutoff returns the accounts at a path, in one currency or, if empty, in
	// all, with their balances at a cutoff; none if the path was never posted to.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency,
		cut ports.Cutoff) ([]ports.LedgerAccount, error)
	// AccountEntries returns a page of the entries of one account, in the order in which
	// they were recorded, with the balance after each; false if there is no such account.
	AccountEntries(ctx context.Context, f ports.AccountEntryFilter) (ports.AccountEntryPage, bool, error)
	// AccountEntriesSum returns the debits less the credits of all entries that AccountEntries lists, one by one.
	AccountEntriesSum(ctx context.Context, f ports.AccountEntryFilter) (money.Total, error)
	// Postings returns a page of postings in the order in which they were recorded.
	Postings(ctx context.Context, f ports.PostingFilter) (ports.PostingPage, error)
	// RecordedPosting returns a posting, or false if there is none.
	RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.RecordedPosting, bool, error)
	// Turnovers calls each for every account of a class (of all classes if empty), by
	// currency and path, with its turnover up to each cutoff. All are read from one
	// snapshot.
	Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []ports.Cutoff, each func(ports.AccountTurnovers) error) error
	// AccountTurnovers returns the turnover of one account up to each cutoff, all from one snapshot; zero if it was never posted to.
	AccountTurnovers(ctx context.Context, account ledger.Account, cuts []ports.Cutoff) ([]ports.Turnover, error)
}

// KeptRates stores the market rates of the past.
type KeptRates interface {
	// KeepRates stores the rates of a time. If rates of that time are stored, they stay.
	KeepRates(ctx context.Context, rates price.KeptRates) error
	// RatesAt returns the last rates kept up to and including a moment; the zero value if there
	// are none.
	RatesAt(ctx context.Context, moment time.Time) (price.KeptRates, error)
	// FirstRatesAt returns when rates were first kept, of those that are still stored; zero if
	// there are none.
	FirstRatesAt(ctx context.Context) (time.Time, error)
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Balances returns the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	// Posting returns a posting, or false if there is none.
	Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (ledger.Posting, bool, error)
}

// MonthArchiver archives and restores months of the ledger, of all platforms at once. It
// needs the rights of the owner of the tables.
type MonthArchiver interface {
	// LedgerMonths returns which months are in the ledger.
	LedgerMonths(ctx context.Context) (ports.LedgerMonths, error)
	// EndMonth starts the present month for platforms without postings after a month, and
	// takes the balance snapshots of the month's end.
	EndMonth(ctx context.Context, m period.Month, now time.Time) error
	// Blockers returns what prevents archiving a month, by platform.
	Blockers(ctx context.Context, m period.Month) ([]ports.MonthBlocker, error)
	// ArchiveMonth moves the postings and entries of a month to tables of their own.
	ArchiveMonth(ctx context.Context, m period.Month) error
	// RestoreMonth moves them back.
	RestoreMonth(ctx context.Context, m period.Month) error
}

// WebhookLog reads the events of a platform with their deliveries, and requeues events.
type WebhookLog interface {
	// Deliveries returns a page of deliveries, without bodies.
	Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error)
}
