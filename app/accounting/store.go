package accounting

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	runs "causeway/app/internal/monthend"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads what the reports and the months of a ledger are made of.
type Store interface {
	foureyes.Store[Tx]
	// AgentAttempts returns entries of the audit trail.
	AgentAttempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error)
	// GLMapping returns the mapping to the general ledger as it was at the end of a moment, or as it is if that is
	// zero; version 0 with the built-in one if there was none.
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	// Quote returns a quote with its transaction, or QUOTE_NOT_FOUND.
	Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error)
	// Transaction returns a transaction, or TRANSACTION_NOT_FOUND.
	Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error)
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
	// ReceivableOf returns the receivable of a transaction as Receivable does.
	ReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error)
	// Unmatched returns a page of the funds that are or were in funding/unmatched: those of
	// receipts, and those of transactions whose refund failed.
	Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (ports.UnmatchedPage, error)
	// AssignmentOf returns the unmatched funds that were assigned to a transaction, or
	// false if there were none.
	AssignmentOf(ctx context.Context, p ident.Platform, t ident.Transaction) (transaction.Unmatched, bool, error)
	// WalletAuthorization returns the authorization of a transaction, and false if it has none.
	WalletAuthorization(ctx context.Context, key ports.TransactionKey) (wallet.Authorization, bool, error)
	// YearClosings returns all closings of a platform, with their reversals, by year and number.
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
}

// Tx changes months, authorises postings that are effective in soft-closed ones, and assigns unmatched funds.
type Tx interface {
	runs.Tx
	foureyes.Tx
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
	// AssignUnmatched stores an assignment, or returns CONFLICT if the funds have one.
	AssignUnmatched(ctx context.Context, u transaction.Unmatched, a transaction.Assignment) error
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
	// ResultBalances returns the balances of all income and expense accounts at the end of a month, zero ones
	// included, by currency and path, and the number of the platform's last posting. The months before it are
	// closed. It reads the postings since the previous month was closed and does not block others.
	ResultBalances(ctx context.Context, p ident.Platform, m period.Month) (balances []ledger.NetBalance, seq int64, err error)
}
