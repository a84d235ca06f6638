package ports

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// ErrBitcoinHeld says that a payment of a new batch may not leave.
var ErrBitcoinHeld = errors.New("a payment of the transaction may not leave now")

// BitcoinStore keeps what the service knows of Bitcoin wallets. Each method is one atomic step.
type BitcoinStore interface {
	// LeaseBitcoinWallet gives one process the right to change a wallet, or returns false if another has it. The first call
	// creates the wallet.
	LeaseBitcoinWallet(ctx context.Context, connection string, length time.Duration) (Lease, bool, error)
	EndBitcoinLease(ctx context.Context, lease Lease) error
	// SaveBitcoin writes all of the changes or none. It returns ErrLeaseLost if the lease is no longer the present
	// one, and another error if a payment is in a batch already, or a coin in another batch. The payments of a new batch have left
	// then; it returns ErrBitcoinHeld if one may not. Those of a batch that is released have not left.
	SaveBitcoin(ctx context.Context, lease Lease, changes BitcoinChanges) error
	// BitcoinWallet returns the state of a wallet; zero before the first lease.
	BitcoinWallet(ctx context.Context, connection string) (BitcoinWallet, error)

	// BitcoinAddresses returns the known ones of some addresses.
	BitcoinAddresses(ctx context.Context, connection string, addresses []string) ([]BitcoinAddress, error)
	// BitcoinAddressesToImport returns addresses that the wallet does not watch.
	BitcoinAddressesToImport(ctx context.Context, connection string, limit int) ([]BitcoinAddress, error)
	// BitcoinAddressesToCheck returns imported addresses, those first that were not checked for the longest time.
	BitcoinAddressesToCheck(ctx context.Context, connection string, limit int) ([]BitcoinAddress, error)

	// AddBitcoinPayments keeps payments and returns them as they were kept at first, in the same order.
	AddBitcoinPayments(ctx context.Context, connection string, payments []BitcoinPayment) ([]BitcoinPayment, error)
	// BitcoinPayments returns the known ones of some payments.
	BitcoinPayments(ctx context.Context, connection string, keys []RailPaymentKey) ([]BitcoinPayment, error)
	// UnsignedBitcoinPayments returns payments without a batch that may leave now, oldest first: not those that are held by a pause,
	// or are no longer payments of the connection.
	UnsignedBitcoinPayments(ctx context.Context, connection string, limit int) ([]BitcoinPayment, error)
	// OpenBitcoinBatches returns batches that are sent or confirmed, oldest first, with their payments.
	OpenBitcoinBatches(ctx context.Context, connection string, limit int) ([]BitcoinBatch, error)

	// BitcoinDeposits returns the known ones of some outputs.
	BitcoinDeposits(ctx context.Context, connection string, outputs []BitcoinOutput) ([]BitcoinDeposit, error)
	// RecentBitcoinDeposits returns deposits that are not reversed, in blocks from a height on.
	RecentBitcoinDeposits(ctx context.Context, connection string, height int64, limit int) ([]BitcoinDeposit, error)
	// BitcoinEvents returns events after a number, and keeps that its reader has stored those before.
	BitcoinEvents(ctx context.Context, connection string, after int64, limit int) ([]BitcoinEvent, error)
}

// BitcoinWallet is the state of a wallet.
type BitcoinWallet struct {
	CreatedAt time.Time
	BitcoinPosition
}

// BitcoinPosition is how far a wallet was read.
type BitcoinPosition struct {
	// ScannedBlock is the last block whose deposits are known; empty at first. Best was the best block then.
	ScannedBlock  string
	ScannedHeight int64
	Best          string
	// RescanHeight is where the wallet has to look for payments to addresses that were imported; negative for nowhere.
	RescanHeight int64
	// ReferencesUntil is until when deposit references have an address.
	ReferencesUntil time.Time
}

// BitcoinChanges are changes of a wallet.
type BitcoinChanges struct {
	At       time.Time
	Position *BitcoinPosition // nil: the same
	// Addresses are added, or replace those that are known.
	Addresses []BitcoinAddress
	// Deposits are added, or replace those that are known.
	Deposits []BitcoinDeposit
	// NewBatch is a batch whose payments have none, with its first version.
	NewBatch *BitcoinBatch
	// Replacement is a further version of a batch.
	Replacement *BitcoinBatchVersion
	// Batch changes the status of a batch. The payments and coins of one that is released have no batch again.
	Batch *BitcoinBatchStatus
	// Events are added, unless there is one of the same kind and partner's id.
	Events []BitcoinEvent
}

// BitcoinAddress is an address under which a reference can be paid.
type BitcoinAddress struct {
	Platform  ident.Platform
	Address   string
	Reference string
	// KnownAt is a time before which it was not shown to a payer.
	KnownAt               time.Time
	ImportedAt, CheckedAt time.Time // zero: not
}

// BitcoinPayment is a payment to an address.
type BitcoinPayment struct {
	RailPaymentKey // a payout, or a refund of a payment or of a receipt
	Address        string
	Satoshis       int64
	CreatedAt      time.Time
	// Batch is zero for a payment that is not signed. Status and TxID are those of its batch: TxID is empty until it
	// is confirmed.
	Batch  int64
	Status BitcoinStatus
	TxID   string
}

// BitcoinStatus is the status of a batch.
type BitcoinStatus string

// The statuses of batches.
const (
	BitcoinSent      BitcoinStatus = "SENT"
	BitcoinConfirmed BitcoinStatus = "CONFIRMED"
	BitcoinFinal     BitcoinStatus = "FINAL"    // so deep in the chain that it is not looked at any more
	BitcoinReleased  BitcoinStatus = "RELEASED" // it can never be in the chain
)

// BitcoinBatch is some payments in one transaction, with its versions, the first one first: at most one of them can
// be in the chain, because they spend the same coins.
type BitcoinBatch struct {
	Number    int64 // set by the store
	Status    BitcoinStatus
	CreatedAt time.Time
	// Since is the block after which it can be in the chain.
	Since    string
	TxID     string
	Payments []BitcoinPayment
	Versions []BitcoinVersion
}

// BitcoinVersion is a signed transaction.
type BitcoinVersion struct {
	TxID      string
	Raw       []byte
	Fee       int64
	CreatedAt time.Time
	// Inputs are its coins; read ones have none.
	Inputs []BitcoinOutput
}

// BitcoinBatchVersion is a further version of a batch.
type BitcoinBatchVersion struct {
	Batch  int64
	Number int // the first replacement is 1
	BitcoinVersion
}

// BitcoinBatchStatus changes the status of a batch.
type BitcoinBatchStatus struct {
	Batch  int64
	Status BitcoinStatus
	TxID   string
}

// BitcoinOutput names an output of a transaction.
type BitcoinOutput struct {
	TxID string
	Vout int64
}

// BitcoinDeposit is an output that was received.
type BitcoinDeposit struct {
	BitcoinOutput
	Address    string
	Satoshis   int64
	Block      string
	Height     int64
	Status     BitcoinDepositStatus
	Occurrence int
}

// BitcoinDepositStatus is the status of a deposit.
type BitcoinDepositStatus string

// The statuses of deposits.
const (
	BitcoinImmature BitcoinDepositStatus = "IMMATURE" // mined, and not spendable yet
	BitcoinCredited BitcoinDepositStatus = "CREDITED"
	BitcoinReversed BitcoinDepositStatus = "REVERSED"
)

// BitcoinEvent is what the feed of a wallet reports.
type BitcoinEvent struct {
	Number int64 // set by the store
	Kind   BitcoinEventKind
	// PartnerID is unique for the kind.
	PartnerID string
	Platform  ident.Platform // zero: unknown
	// Receipt is the partner's id of the receipt that is reversed.
	Receipt   string
	Reference string
	Satoshis  int64
	Subject   uuid.UUID
	Text      string
	At        time.Time
}

// BitcoinEventKind is the kind of an event.
type BitcoinEventKind string

// The kinds of events.
const (
	BitcoinReceipt  BitcoinEventKind = "RECEIPT"
	BitcoinReversal BitcoinEventKind = "REVERSAL"
	BitcoinFee      BitcoinEventKind = "FEE"
	BitcoinChanged  BitcoinEventKind = "CHANGED"
)
