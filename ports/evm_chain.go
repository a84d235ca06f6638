package ports

import (
	"context"
	"math/big"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// EVMAddress is an address on an Ethereum-like chain, and EVMHash the hash of a block or transaction.
type (
	EVMAddress [20]byte
	EVMHash    [32]byte
)

// EVMChainStore stores what connections to Ethereum-like chains must not forget. Each method is one atomic step.
// Everything belongs to a connection, which may serve several platforms.
type EVMChainStore interface {
	EVMAddressStore
	EVMScanStore
	EVMTransactionStore
}

// EVMAddressStore stores the deposit addresses that were issued.
type EVMAddressStore interface {
	// UnknownEVMReferences returns, at most limit, the references of internal accounts and of quotes with just-in-time
	// funding that have no address yet, and are in one of the currencies. Those that were seen before, except for the
	// last minutes before, are not read again, because some are committed later than others.
	UnknownEVMReferences(ctx context.Context, q EVMReferenceQuery) (EVMReferences, error)
	// AddEVMAddresses stores addresses, and how far the references were read. An address that exists stays.
	AddEVMAddresses(ctx context.Context, connection string, addresses []EVMDepositAddress, read []EVMReferencePosition) error
	// EVMDepositAddresses returns those of the addresses that were issued.
	EVMDepositAddresses(ctx context.Context, connection string, addresses []EVMAddress) (map[EVMAddress]EVMDepositAddress, error)
}

// EVMReferenceQuery asks for references without an address.
type EVMReferenceQuery struct {
	Connection string
	Rail       corridor.Rail
	Currencies []money.Currency
	// Platforms are those that the connection serves; none means every one.
	Platforms []ident.Platform
	// Overlap is how long before the last one that was read the next read begins, and QuotesFrom when the first read of
	// quotes begins.
	Overlap    time.Duration
	QuotesFrom time.Time
	Limit      int
}

// EVMReferences are references without an address.
type EVMReferences struct {
	References []EVMReference
	Read       []EVMReferencePosition
	// More: the limit was reached.
	More bool
}

// EVMReference is the reference of an internal account or of a quote.
type EVMReference struct {
	Platform  ident.Platform
	Reference string
}

// EVMReferencePosition is how far the references of a platform were read.
type EVMReferencePosition struct {
	Platform ident.Platform
	Quotes   bool // those of quotes, otherwise of accounts
	Last     uuid.UUID
}

// EVMDepositAddress is an address for payments with a reference.
type EVMDepositAddress struct {
	EVMReference
	Address EVMAddress
}

// EVMScanStore stores what was read of a chain, and what is to be reported of it.
type EVMScanStore interface {
	// EVMChainOf returns the state of a connection, or false if it has none yet.
	EVMChainOf(ctx context.Context, connection string) (EVMChain, bool, error)
	// OpenEVMChain returns the state of a connection, which begins with the given one.
	OpenEVMChain(ctx context.Context, initial EVMChain) (EVMChain, error)
	// AdvanceEVMChain stores what a range of blocks has brought, or takes back what vanished. It does nothing and
	// returns false if the chain is no longer at the position from which the range was read.
	AdvanceEVMChain(ctx context.Context, a EVMAdvance) (bool, error)
	// EVMBlocks returns the ends of the ranges that were read, the latest first.
	EVMBlocks(ctx context.Context, connection string) ([]EVMBlock, error)
	// EVMDepositsAfter returns the deposits in blocks after one, that were not reversed, at most limit.
	EVMDepositsAfter(ctx context.Context, connection string, block uint64, limit int) ([]EVMDeposit, error)
	// EVMDepositsOf returns every deposit that the transactions have brought, with those that were reversed.
	EVMDepositsOf(ctx context.Context, connection string, transactions []EVMHash) ([]EVMDeposit, error)
	// OversizedEVMDeposits returns the latest deposits that are larger than an amount can be.
	OversizedEVMDeposits(ctx context.Context, connection string, limit int) ([]EVMDeposit, error)
	// EVMEvents returns what is to be reported after a number, oldest first, at most limit. What was reported long
	// before that number is deleted.
	EVMEvents(ctx context.Context, connection string, after int64, limit int) ([]EVMEvent, error)
	// ClaimEVMHoldings returns deposit addresses that hold at least an amount of a currency and were not claimed since a
	// time, at most limit. Whatever changes a holding, also by nothing, ends its claim.
	ClaimEVMHoldings(ctx context.Context, connection string, currency money.Currency, atLeast *big.Int, since time.Time,
		limit int) ([]EVMHolding, error)
	// EVMHoldings returns the deposit addresses after one that hold something, in the order of currency and address.
	EVMHoldings(ctx context.Context, connection string, after EVMHolding, limit int) ([]EVMHolding, error)
}

// EVMChain is how far a chain was read by a connection.
type EVMChain struct {
	Connection string
	ChainID    uint64
	// Wallet is the address that pays; it tells another seed.
	Wallet EVMAddress
	// Position is the last block that was read, and PositionHash its hash.
	Position     uint64
	PositionHash EVMHash
}

// EVMBlock is the end of a range of blocks that was read.
type EVMBlock struct {
	Number uint64
	Hash   EVMHash
}

// EVMDeposit is a transfer to a deposit address.
type EVMDeposit struct {
	EVMDepositAddress
	// PartnerID is the hash of the transaction and the index of the event, and a number if the same event was
	// reversed before.
	PartnerID   string
	Transaction EVMHash
	LogIndex    uint64
	Block       EVMBlock
	At          time.Time
	Currency    money.Currency
	Amount      *big.Int
	Payer       EVMAddress
	Reversed    bool
	// Oversized: the amount is larger than one of money can be, so it is kept aside and not reported.
	Oversized bool
}

// EVMAdvance is what a range of blocks has brought: from the present position to another. A position before the
// present one takes back what blocks after it have brought.
type EVMAdvance struct {
	Connection string
	From, To   EVMBlock
	Deposits   []EVMDeposit
	// Reversed are deposits of blocks that vanished.
	Reversed []EVMDeposit
	Events   []EVMEvent
	At       time.Time
}

// EVMEventKind is a kind of event.
type EVMEventKind string

// The kinds.
const (
	EVMReceived EVMEventKind = "RECEIVED"
	EVMReversed EVMEventKind = "REVERSED"
	EVMFee      EVMEventKind = "FEE"
	EVMChanged  EVMEventKind = "CHANGED"
	EVMDiffers  EVMEventKind = "DIFFERS" // a transfer of ours has brought another amount than was sent
)

// EVMEvent is something to report.
type EVMEvent struct {
	Number   int64
	Kind     EVMEventKind
	Platform ident.Platform
	// PartnerID is that of the receipt or of the fee, Receipt the one that a reversal takes back, and Subject that of
	// EVMChanged.
	PartnerID, Receipt string
	Subject            uuid.UUID
	Reference          string
	Amount             money.Amount
	Payer              EVMAddress
	At                 time.Time
	// Memo is a text or, of EVMDiffers, the purpose of the transaction.
	Memo string
	// Transfer is that of EVMDiffers in the currency of Amount; its PartnerID is the hash of its transaction.
	Transfer EVMTransfer
}

// EVMTransfer is what a contract has made of a transfer by its events, in the smallest unit: of Sent, which was to be
// transferred, Arrived came to the recipient, and Taken has left the sender.
type EVMTransfer struct{ Sent, Arrived, Taken *big.Int }

// EVMHolding is what a deposit address holds: what it received, less what it sent.
type EVMHolding struct {
	Address  EVMAddress
	Currency money.Currency
	Received *big.Int
	Sent     *big.Int
}

// EVMTransactionStore stores the transactions that a connection has signed: one for each nonce of each sender.
type EVMTransactionStore interface {
	// NextEVMNonce returns the nonce of the next transaction of a sender: at least the given one, which is that of the
	// chain. A sender belongs to one connection of a chain.
	NextEVMNonce(ctx context.Context, w EVMWallet, atLeast uint64) (uint64, error)
	// AddEVMTransaction stores a transaction with its first attempt, with which a payout or refund has left. It returns EVMAdded, or
	// why it did nothing: the one that the same purpose and subject have already, a nonce that is taken, too little money, or a
	// payment that may not leave.
	AddEVMTransaction(ctx context.Context, w EVMWallet, t EVMTransaction, limit *EVMSpendingLimit) (EVMTransaction, EVMAddition, error)
	// EVMTransactions returns those of the subjects, in no order.
	EVMTransactions(ctx context.Context, connection string, purpose EVMPurpose, subjects []uuid.UUID) ([]EVMTransaction, error)
	// PendingEVMTransactions returns those that are not concluded after a sender and a nonce, in their order, at most
	// limit.
	PendingEVMTransactions(ctx context.Context, connection string, sender EVMAddress, nonce uint64, limit int) ([]EVMTransaction, error)
	// ConcludedEVMTransactions returns those that were concluded by a block after one, at most limit.
	ConcludedEVMTransactions(ctx context.Context, connection string, after uint64, limit int) ([]EVMTransaction, error)
	// AddEVMAttempt stores another signed version. It returns false if the transaction has changed.
	AddEVMAttempt(ctx context.Context, t EVMTransaction, a EVMAttempt) (bool, error)
	// ConcludeEVMTransaction stores how a transaction has ended or, if the state is EVMPending, that its block
	// vanished. It returns false if the transaction has changed.
	ConcludeEVMTransaction(ctx context.Context, t EVMTransaction, c EVMConclusion) (bool, error)
}

// EVMWallet is a sender.
type EVMWallet struct {
	Connection string
	ChainID    uint64
	Address    EVMAddress
}

// EVMPurpose is what a transaction is for.
type EVMPurpose string

// The purposes.
const (
	EVMPayout EVMPurpose = "PAYOUT"
	EVMRefund EVMPurpose = "REFUND"
	EVMTopUp  EVMPurpose = "TOP_UP" // native currency for the fee of a sweep
	EVMSweep  EVMPurpose = "SWEEP"  // of a deposit address
	EVMFill   EVMPurpose = "FILL"   // a nonce that another program had used
)

// EVMState is the state of a transaction.
type EVMState string

// The states.
const (
	EVMPending   EVMState = "PENDING"   // signed; perhaps in a block
	EVMConfirmed EVMState = "CONFIRMED" // in a block with enough confirmations
	EVMReverted  EVMState = "REVERTED"  // the same, but the contract refused
	EVMLost      EVMState = "LOST"      // another transaction has its nonce, so it can never be in a block
)

// EVMTransaction is a transaction. Every attempt has the same nonce and the same call, so only one of them can ever be
// in a block.
type EVMTransaction struct {
	Connection string
	Sender     EVMAddress
	Nonce      uint64
	// Path is that of the key of the sender.
	Path     []uint32
	Purpose  EVMPurpose
	Subject  uuid.UUID
	Platform ident.Platform
	// To, Value, Data and GasLimit are the call.
	To       EVMAddress
	Value    *big.Int
	Data     []byte
	GasLimit uint64
	// Recipient gets Amount of Currency, in its smallest unit.
	Recipient EVMAddress
	Currency  money.Currency
	Amount    *big.Int

	State EVMState
	// Settled: it was confirmed before its block vanished.
	Settled bool
	// Hash, Block and Fee (in wei) are set if it is confirmed or reverted.
	Hash  EVMHash
	Block EVMBlock
	Fee   *big.Int

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
	Attempts  []EVMAttempt
}

// EVMAttempt is a signed version of a transaction.
type EVMAttempt struct {
	Hash           EVMHash
	Raw            []byte
	MaxFee         *big.Int // wei per gas
	MaxPriorityFee *big.Int // wei per gas
	At             time.Time
}

// EVMSpendingLimit is what may be spent: Available of the transaction's currency at a block in which the sender's next
// nonce was FromNonce. What later nonces spend is part of it.
type EVMSpendingLimit struct {
	Available *big.Int
	FromNonce uint64
}

// EVMAddition is what became of a transaction that was to be added.
type EVMAddition string

// What became of it.
const (
	EVMAdded      EVMAddition = "ADDED"
	EVMExists     EVMAddition = "EXISTS"
	EVMNonceTaken EVMAddition = "NONCE_TAKEN"
	EVMTooLittle  EVMAddition = "TOO_LITTLE"
	EVMHeld       EVMAddition = "HELD"      // the payment may not leave now
	EVMWithdrawn  EVMAddition = "WITHDRAWN" // it is no longer a payment of the connection
)

// EVMConclusion is how a transaction has ended.
type EVMConclusion struct {
	State    EVMState
	Hash     EVMHash
	Block    EVMBlock
	Fee      *big.Int // in wei; nil if none was paid
	Native   money.Currency
	Holdings []EVMHolding // changes of what deposit addresses received and sent
	// Changed: the subject is reported.
	Changed bool
	// Differs is reported: another amount than was sent has arrived, or has left. Nil if not.
	Differs *EVMTransfer
	At      time.Time
}
