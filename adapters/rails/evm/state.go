package evm

import (
	"math/big"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// ReferenceQuery asks for references without an address.
type ReferenceQuery struct {
	Connection string
	Rail       corridor.Rail
	Currencies []money.Currency
	// Platforms are those that the connection serves; none means every one.
	Platforms []ident.Platform
	// Overlap is how long before the last one that was read the next read begins, and QuotesFrom when the first read of
	// quotes begins.
	Overlap    time.Duration
	QuotesFrom time.Time
	// Wallets: embedded wallets have addresses too.
	Wallets bool
	Limit   int
}

// References are references without an address.
type References struct {
	References []PlatformReference
	Read       []ReferencePosition
	// More: the limit was reached.
	More bool
}

// PlatformReference is the reference of an internal account or of a quote.
type PlatformReference struct {
	Platform  ident.Platform
	Reference string
	// Wallet is the account of an embedded wallet, whose address is that of its own key; zero for others.
	Wallet ident.InternalAccount
}

// ReferencePosition is how far the references of a platform were read.
type ReferencePosition struct {
	Platform ident.Platform
	Quotes   bool // those of quotes, otherwise of accounts
	Last     uuid.UUID
}

// DepositAddress is an address for payments with a reference.
type DepositAddress struct {
	PlatformReference
	Address eth.Address
}

// Chain is how far a chain was read by a connection.
type Chain struct {
	Connection string
	ChainID    uint64
	// Wallet is the address that pays; it tells another seed.
	Wallet eth.Address
	// Position is the last block that was read, and PositionHash its hash.
	Position     uint64
	PositionHash eth.Hash
}

// Block is the end of a range of blocks that was read.
type Block struct {
	Number uint64
	Hash   eth.Hash
}

// Deposit is a transfer to a deposit address.
type Deposit struct {
	DepositAddress
	// PartnerID is the hash of the transaction and the index of the event, and a number if the same event was
	// reversed before.
	PartnerID   string
	Transaction eth.Hash
	LogIndex    uint64
	Block       Block
	At          time.Time
	Currency    money.Currency
	Amount      *big.Int
	Payer       eth.Address
	Reversed    bool
	// Oversized: the amount is larger than one of money can be, so it is kept aside and not reported.
	Oversized bool
}

// Range is a range of blocks, with its ends.
type Range struct{ From, To uint64 }

// Advance is what a range of blocks has brought: from the present position to another. A position before the
// present one takes back what blocks after it have brought.
type Advance struct {
	Connection string
	From, To   Block
	Deposits   []Deposit
	// Reversed are deposits of blocks that vanished.
	Reversed []Deposit
	Events   []Event
	At       time.Time
}

// EventKind is a kind of event.
type EventKind string

// The kinds.
const (
	Received EventKind = "RECEIVED"
	Reversed EventKind = "REVERSED"
	Fee      EventKind = "FEE"
	Changed  EventKind = "CHANGED"
	Differs  EventKind = "DIFFERS" // a transfer of ours has brought another amount than was sent
	Unknown  EventKind = "UNKNOWN" // money has left the wallet by no transaction of ours
	Moved    EventKind = "MOVED"   // money has left the address of an embedded wallet by no transaction of ours
	Issued   EventKind = "ISSUED"  // an embedded wallet has an address, which is the payer
	Revoked  EventKind = "REVOKED" // the owner of an embedded wallet has used the nonce of a payment, which was not made
	Undone   EventKind = "UNDONE"  // a payment from or to an embedded wallet was done before its block vanished, and is no more
)

// Event is something to report.
type Event struct {
	Number   int64
	Kind     EventKind
	Platform ident.Platform
	// PartnerID is that of the receipt or of the fee, Receipt the one that a reversal takes back, and Subject that of
	// Changed.
	PartnerID, Receipt string
	Subject            uuid.UUID
	Reference          string
	Amount             money.Amount
	Payer              eth.Address // of Unknown, who got it
	At                 time.Time
	// Memo is a text or, of Differs, the purpose of the transaction.
	Memo string
	// Transfer is that of Differs in the currency of Amount; its PartnerID is the hash of its transaction.
	Transfer Transfer
}

// Transfer is what a contract has made of a transfer by its events, in the smallest unit: of Sent, which was to be
// transferred, Arrived came to the recipient, and Taken has left the sender.
type Transfer struct{ Sent, Arrived, Taken *big.Int }

// Holding is what a deposit address holds: what it received, less what it sent.
type Holding struct {
	Address  eth.Address
	Currency money.Currency
	Received *big.Int
	Sent     *big.Int
	// Wallet: the address is that of an embedded wallet.
	Wallet bool
}

// Wallet is a sender.
type Wallet struct {
	Connection string
	Rail       corridor.Rail
	ChainID    uint64
	Address    eth.Address
	// Embedded: it is the address of an embedded wallet, which goes on to the next connection of the chain.
	Embedded bool
}

// Purpose is what a transaction is for.
type Purpose string

// The purposes.
const (
	Payout Purpose = "PAYOUT"
	Refund Purpose = "REFUND"
	TopUp  Purpose = "TOP_UP" // native currency for the fee of a sweep
	Sweep  Purpose = "SWEEP"  // of a deposit address
	Fill   Purpose = "FILL"   // a nonce that another program had used

	WalletDebit  Purpose = "WALLET_DEBIT"  // from an embedded wallet
	WalletCredit Purpose = "WALLET_CREDIT" // to an embedded wallet
	WalletRefund Purpose = "WALLET_REFUND" // of a payment from an embedded wallet, to it
	WalletPermit Purpose = "WALLET_PERMIT" // of a payment from an embedded wallet, before it
	WalletTopUp  Purpose = "WALLET_TOP_UP" // native currency for the fee of a payment from an embedded wallet
)

// State is the state of a transaction.
type State string

// The states.
const (
	Pending   State = "PENDING"   // signed; perhaps in a block
	Confirmed State = "CONFIRMED" // in a block with enough confirmations
	Reverted  State = "REVERTED"  // the same, but the contract refused
	Lost      State = "LOST"      // another transaction has its nonce, so it can never be in a block
)

// Transaction is a transaction. Every attempt has the same nonce and the same call, so only one of them can ever be
// in a block.
type Transaction struct {
	Connection string
	Sender     eth.Address
	Nonce      uint64
	// Path is that of the key of the sender.
	Path     []uint32
	Purpose  Purpose
	Subject  uuid.UUID
	Platform ident.Platform
	// To, Value, Data and GasLimit are the call.
	To       eth.Address
	Value    *big.Int
	Data     []byte
	GasLimit uint64
	// Recipient gets Amount of Currency, in its smallest unit.
	Recipient eth.Address
	Currency  money.Currency
	Amount    *big.Int

	State State
	// Settled: it was confirmed before its block vanished.
	Settled bool
	// Hash, Block and Fee (in wei) are set if it is confirmed or reverted.
	Hash  eth.Hash
	Block Block
	Fee   *big.Int

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
	Attempts  []Attempt
}

// WantedTransfer is a transaction that may be forgotten, and when its payment was made.
type WantedTransfer struct {
	Transaction
	Made time.Time
}

// Attempt is a signed version of a transaction.
type Attempt struct {
	Hash           eth.Hash
	Raw            []byte
	MaxFee         *big.Int // wei per gas
	MaxPriorityFee *big.Int // wei per gas
	At             time.Time
}

// SpendingLimit is what may be spent: Available of the transaction's currency at a block in which the sender's next
// nonce was FromNonce. What later nonces spend is part of it.
type SpendingLimit struct {
	Available *big.Int
	FromNonce uint64
}

// Addition is what became of a transaction that was to be added.
type Addition string

// What became of it.
const (
	Added      Addition = "ADDED"
	Exists     Addition = "EXISTS"
	NonceTaken Addition = "NONCE_TAKEN"
	TooLittle  Addition = "TOO_LITTLE"
	Held       Addition = "HELD"      // the payment may not leave now
	NoTurn     Addition = "NO_TURN"   // another payment of the wallet has the turn, or its time is over
	Withdrawn  Addition = "WITHDRAWN" // it is no longer a payment of the connection
)

// Conclusion is how a transaction has ended.
type Conclusion struct {
	State    State
	Hash     eth.Hash
	Block    Block
	Fee      *big.Int // in wei; nil if none was paid
	Native   money.Currency
	Holdings []Holding // changes of what deposit addresses received and sent
	// Changed: the subject is reported.
	Changed bool
	// Differs is reported: another amount than was sent has arrived, or has left. Nil if not.
	Differs *Transfer
	At      time.Time
}
