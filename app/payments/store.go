package payments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/connections"
	"causeway/app/internal/limiting"
	"causeway/app/internal/returns"
	"causeway/app/internal/strongauth"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/rail"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads quotes, transactions and receipts, and whom they concern.
type Store interface {
	returns.Accounts
	ports.UnitsOfWork
	// AgentAction returns an action, or AGENT_ACTION_NOT_FOUND.
	AgentAction(ctx context.Context, p ident.Platform, id ident.AgentAction) (agent.Action, error)
	AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (ports.Page[agent.Action], error)
	// QuotesByKey returns quotes with their transactions. What does not exist is omitted.
	QuotesByKey(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error)
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
	// UMAForwardingAccount returns the external account to which payments to a customer's
	// UMA address are forwarded, or false.
	UMAForwardingAccount(ctx context.Context, p ident.Platform, c ident.Customer) (account.External, bool, error)
	// InternalAccountsByReference returns accounts, without their funding instructions, by
	// the reference of payments into them.
	InternalAccountsByReference(ctx context.Context, keys []ports.ReferenceKey) (map[ports.ReferenceKey]account.Internal, error)
	Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error)
	Quotes(ctx context.Context, p ident.Platform, f ports.QuoteFilter) (ports.Page[ports.QuoteState], error)
	Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error)
	Transactions(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
	// CountTransactions returns how many transactions were created since a time, by status. It counts to one above ports.MaxTotal
	// of each; none has no entry.
	CountTransactions(ctx context.Context, p ident.Platform, since time.Time) (map[transaction.Status]int64, error)
	// CountTransactionsByStatus counts the transactions that match a filter by status. It leaves the statuses of the filter out.
	CountTransactionsByStatus(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.StatusCounts, error)
	// CountTransactionsFrom returns how many transactions have ids of each time and the length after it, by status. It counts to one
	// above ports.MaxTotal each.
	CountTransactionsFrom(ctx context.Context, p ident.Platform, times []time.Time,
		length time.Duration) ([]map[transaction.Status]int64, error)
	// TransactionsByKey returns transactions without their payment instructions.
	TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
	// UMAInvoice returns an invoice, or NOT_FOUND.
	UMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uma.KeptInvoice, error)
	// SaveUMAChannels keeps which channels of another provider a payment has used, unless that is kept already.
	SaveUMAChannels(ctx context.Context, key ports.TransactionKey, channels []uma.ChannelUse, at time.Time) error
	// TransactionsByReference returns transactions, without their payment instructions, by
	// the reference of payments for them.
	TransactionsByReference(ctx context.Context, keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error)
	// Payouts returns transactions with the external accounts that they pay to. What does
	// not exist is omitted.
	Payouts(ctx context.Context, keys []ports.TransactionKey) ([]ports.Payout, error)
	// Collections returns transactions with the external accounts that they collect from.
	// What does not exist is omitted.
	Collections(ctx context.Context, keys []ports.TransactionKey) ([]ports.Collection, error)
	// Receipts returns receipts. What does not exist is omitted.
	Receipts(ctx context.Context, p ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error)
	// ReceiptPayers returns the accounts from which receipts were paid, as far as they are known and not erased.
	ReceiptPayers(ctx context.Context, p ident.Platform, ids []ident.Receipt) (map[ident.Receipt]account.External, error)
	// Lookup returns a lookup, or LOOKUP_REQUEST_NOT_FOUND if there is none or it has
	// expired.
	Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (quote.Lookup, error)
	// Platforms returns at most limit platforms after one, or from the first if it is zero, in order of creation.
	Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]ports.RailReply, error)
	// RailPartnerIDs returns the partner's ids of transactions, as the replies to a call have named them last; none for
	// those without one.
	RailPartnerIDs(ctx context.Context, keys []ports.TransactionKey, call ports.RailCall) (map[ports.TransactionKey]string, error)
	RailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error)
	ReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error)
	strongauth.Reads
	// PaymentAuthorizations returns the authorizations of a payment, oldest first.
	PaymentAuthorizations(ctx context.Context, key ports.TransactionKey) ([]transaction.PaymentAuthorization, error)
	// ActiveWalletSessions returns the sessions of a wallet that are active at a time, oldest first, without
	// their nicknames.
	ActiveWalletSessions(ctx context.Context, w ports.WalletID, now time.Time) ([]wallet.Session, error)
}

// Tx changes quotes, transactions and receipts, in batches, and what agents and wallets have to do with them.
type Tx interface {
	connections.Tx
	limiting.Tx
	returns.Tx
	strongauth.Tx
	// LockPlatformShared returns a platform, and locks it against updates.
	LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error)
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	// TransactionsByReference is that of Store, in the unit of work.
	TransactionsByReference(ctx context.Context, keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error)
	// QueuePayouts sets payouts, when the unit of work has ended, to those that Payouts of Store would return, as far as they could
	// be read.
	QueuePayouts(ctx context.Context, keys []ports.TransactionKey, payouts *[]ports.Payout) error
	// SCASession returns a session of a customer that counts at a time, or SCA_SESSION_REQUIRED.
	SCASession(ctx context.Context, p ident.Platform, id ident.Customer, now time.Time) (sca.Session, error)
	// LowValueUse returns what a customer has paid without a proof since its last one.
	LowValueUse(ctx context.Context, p ident.Platform, c ident.Customer) (sca.LowValueUse, error)
	PaymentAuthorizations(ctx context.Context, key ports.TransactionKey) ([]transaction.PaymentAuthorization, error)
	// SavePaymentAuthorizations stores authorizations, before the payments begin that they allow. They never change.
	SavePaymentAuthorizations(ctx context.Context, authorizations []transaction.PaymentAuthorization) error
	LockAgents(ctx context.Context, p ident.Platform, ids []ident.Agent, month string) (map[ident.Agent]ports.CountedAgent, error)
	// AddAgentUsage counts payments that start now, of locked agents.
	AddAgentUsage(ctx context.Context, p ident.Platform, counted []ports.AgentCount) error
	// CreateAgentActions stores actions. One whose id exists already, from a repeated attempt, is skipped.
	CreateAgentActions(ctx context.Context, actions []agent.Action) error
	// LockAgentActions returns actions of a platform, and locks them in one order. What does not exist is omitted.
	LockAgentActions(ctx context.Context, p ident.Platform, ids []ident.AgentAction) (map[ident.AgentAction]agent.Action, error)
	// LockWaitingAgentActions returns the actions of a platform that wait for approval to execute quotes, at most one
	// for each quote, and locks them in one order.
	LockWaitingAgentActions(ctx context.Context, p ident.Platform, quotes []ident.Quote) (map[ident.Quote]agent.Action, error)
	// UpdateAgentActions writes what can change of locked actions.
	UpdateAgentActions(ctx context.Context, actions []agent.Action) error
	SaveAgentAttempts(ctx context.Context, attempts []agent.Attempt) error
	// Parties returns what quotes refer to, one result per key; what does not exist is nil,
	// and so is a deleted external account.
	Parties(ctx context.Context, keys []ports.PartyKey) ([]quote.Parties, error)
	// CreateQuotes stores quotes with their transactions. A quote whose id exists already,
	// from a repeated attempt, is skipped.
	CreateQuotes(ctx context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error
	// ExpireQuoteEarly stores that a locked quote has expired at a time before its own.
	ExpireQuoteEarly(ctx context.Context, p ident.Platform, id ident.Quote, at time.Time) error
	// SaveReceipts stores receipts, unless there is one with the same platform, rail and
	// partner's id, and returns, locked, the transactions that they pay for; one result per
	// receipt. Receipts with the same reference share a transaction.
	SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error)
	// SaveReceiptPayers stores the payers of receipts that are new.
	SaveReceiptPayers(ctx context.Context, payers []ports.ReceiptPayer) error
	// LockQuotes returns quotes with their transactions and parties, and locks the
	// transactions in one order.
	LockQuotes(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error)
	TransactionParties(ctx context.Context, key ports.TransactionKey) (transaction.Parties, error)
	IncomingPaymentParties(ctx context.Context, keys []ports.IncomingPaymentKey) ([]transaction.IncomingParties, error)
	// Balances returns the present balances without locking them, for a use case that
	// only wants to refuse early. The balance of an account never posted to is zero.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	// ConfirmReceipt stores when the receipt of a locked transaction was given to its payer.
	ConfirmReceipt(ctx context.Context, t transaction.Transaction) error
	// SaveReceiptReversal stores that a receipt was taken back. It returns false if that is stored already.
	SaveReceiptReversal(ctx context.Context, r transaction.ReceiptReversal) (isNew bool, err error)
	// IsReceiptReversed reports whether a receipt was taken back. LockUnmatched makes that wait which takes it back.
	IsReceiptReversed(ctx context.Context, p ident.Platform, receipt ident.Receipt) (bool, error)
	// RefundSentAs returns the transaction for whose failed refund a receipt is sent back; zero if for none.
	RefundSentAs(ctx context.Context, p ident.Platform, receipt ident.Receipt) (ident.Transaction, error)
	// ReplaceFundingInstructions stores instructions of accounts that have others.
	ReplaceFundingInstructions(ctx context.Context, accounts []account.Internal) ([]ident.InternalAccount, error)
	// CountWalletPayments returns how many payments of people of whom nothing is known, begun since a time, wait for a customer.
	CountWalletPayments(ctx context.Context, p ident.Platform, to ident.Customer, since time.Time) (int, error)
	// LockUMAInvoice returns an invoice, or NOT_FOUND, and locks it.
	LockUMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uma.KeptInvoice, error)
	// PayUMAInvoice stores the payment of a locked invoice, who pays it, and until when it is reserved for a quote.
	PayUMAInvoice(ctx context.Context, k uma.KeptInvoice) error
	// SaveWalletAuthorizations stores authorizations. They never change.
	SaveWalletAuthorizations(ctx context.Context, authorizations []wallet.Authorization) error
	// LockWalletSessions returns those of the sessions that exist, and keeps them from being ended until the
	// unit of work ends.
	LockWalletSessions(ctx context.Context, p ident.Platform, ids []ident.Session) (map[ident.Session]wallet.Session, error)
}

// PartnerReceipts reads receipts by the partner's ids.
type PartnerReceipts interface {
	// ReceiptsByPartnerID returns the receipts that exist.
	ReceiptsByPartnerID(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]transaction.Receipt, error)
}

// RailBalanceStore stores what partners and chains say that they hold.
type RailBalanceStore interface {
	// SaveRailBalances stores balances of a connection; of each day the last is kept.
	SaveRailBalances(ctx context.Context, connection string, balances []ports.RailBalance) error
}

// RailFeedStore stores how far feeds were read. Each method is one atomic step, and those with a lease return
// ErrLeaseLost, and change nothing, if another process has taken it.
type RailFeedStore interface {
	// KeepRailFeedItems keeps items aside, and returns those that are new. One that is kept already, or was discarded, stays
	// as it is.
	KeepRailFeedItems(ctx context.Context, items []ports.RailFeedItem) ([]ports.RailFeedItem, error)
	// DueRailFeedItems returns items of a connection to be tried again, the longest due first.
	DueRailFeedItems(ctx context.Context, connection string, now time.Time, limit int) ([]ports.RailFeedItem, error)
	// RailFeedItemsByKey returns the items of a kind with the keys that were not discarded.
	RailFeedItemsByKey(ctx context.Context, connection string, kind ports.RailFeedItemKind, keys []string) ([]ports.RailFeedItem, error)
	// RetryRailFeedItem stores the problem of another attempt, and when the next is due.
	RetryRailFeedItem(ctx context.Context, item ports.RailFeedItem) error
	DeleteRailFeedItem(ctx context.Context, item ports.RailFeedItem) error
	// TakeRailFeed takes the lease of a feed. It returns false while another process holds it, and before the feed is to be read
	// again after a failure.
	TakeRailFeed(ctx context.Context, connection string, length time.Duration) (ports.RailFeedLease, bool, error)
	RenewRailFeed(ctx context.Context, lease ports.RailFeedLease, length time.Duration) error
	// AdvanceRailFeed stores the cursor after a piece was passed on, which ends the failures.
	AdvanceRailFeed(ctx context.Context, lease ports.RailFeedLease, cursor string, now time.Time) error
	// MoveRailFeed stores the cursor after a piece with a problem was passed on. Failures stay.
	MoveRailFeed(ctx context.Context, lease ports.RailFeedLease, cursor string) error
	// FailRailFeed records a failure and ends the lease. The feed is to be read again after a delay.
	FailRailFeed(ctx context.Context, lease ports.RailFeedLease, problem string, delay time.Duration) error
	ReleaseRailFeed(ctx context.Context, lease ports.RailFeedLease) error
}

// RailReceiptStore keeps over which connection money was received. Each method is one atomic step, and changes nothing when it
// is repeated.
type RailReceiptStore interface {
	// KeepRailReceipts keeps receipts of a connection, and counts them as available.
	KeepRailReceipts(ctx context.Context, connection string, receipts []transaction.Receipt, now time.Time) error
	// ReverseRailReceipt counts a receipt that the partner has taken back; one that is not kept changes nothing.
	ReverseRailReceipt(ctx context.Context, key ports.RailReceiptKey, at time.Time, now time.Time) error
	// RailReceiptConnections returns the connections of receipts that are kept.
	RailReceiptConnections(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]string, error)
}

// RailStatementStore queues the statements of connections until they are reconciled.
type RailStatementStore interface {
	// QueueRailStatement stores a statement. One with the content of an earlier one of the connection is skipped.
	QueueRailStatement(ctx context.Context, s ports.QueuedStatement) error
}
