package bitcoin

import (
	"errors"
	"time"

	"causeway/adapters/rails/feed"
	"causeway/core/ident"
	"causeway/ports"
)

// ErrHeld says that a payment of a new batch may not leave.
var ErrHeld = errors.New("a payment of the transaction may not leave now")

// Wallet is the state of a wallet.
type Wallet struct {
	CreatedAt time.Time
	Position
}

// Position is how far a wallet was read.
type Position struct {
	// ScannedBlock is the last block whose deposits are known; empty at first. Best was the best block then.
	ScannedBlock  string
	ScannedHeight int64
	Best          string
	// RescanHeight is where the wallet has to look for payments to addresses that were imported; negative for nowhere.
	RescanHeight int64
	// ReferencesUntil is until when deposit references have an address.
	ReferencesUntil time.Time
}

// Changes are changes of a wallet.
type Changes struct {
	At       time.Time
	Position *Position // nil: the same
	// Addresses are added, or replace those that are known.
	Addresses []Address
	// Deposits are added, or replace those that are known.
	Deposits []Deposit
	// NewBatch is a batch whose payments have none, with its first version.
	NewBatch *Batch
	// Replacement is a further version of a batch.
	Replacement *BatchVersion
	// Batch changes the status of a batch. The payments and coins of one that is released have no batch again.
	Batch *BatchStatus
	// Events are added, unless there is one of the same kind and partner's id.
	Events []feed.Event
}

// Address is an address under which a reference can be paid.
type Address struct {
	Platform  ident.Platform
	Address   string
	Reference string
	// KnownAt is a time before which it was not shown to a payer.
	KnownAt               time.Time
	ImportedAt, CheckedAt time.Time // zero: not
}

// Payment is a payment to an address.
type Payment struct {
	ports.RailPaymentKey // a payout, or a refund of a payment or of a receipt
	Address              string
	Satoshis             int64
	CreatedAt            time.Time
	// Batch is zero for a payment that is not signed. Status and TxID are those of its batch: TxID is empty until it
	// is confirmed.
	Batch  int64
	Status Status
	TxID   string
}

// Status is the status of a batch.
type Status string

// The statuses of batches.
const (
	Sent      Status = "SENT"
	Confirmed Status = "CONFIRMED"
	Final     Status = "FINAL"    // so deep in the chain that it is not looked at any more
	Released  Status = "RELEASED" // it can never be in the chain
)

// Batch is some payments in one transaction, with its versions, the first one first: at most one of them can
// be in the chain, because they spend the same coins.
type Batch struct {
	Number    int64 // set by the store
	Status    Status
	CreatedAt time.Time
	// Since is the block after which it can be in the chain.
	Since    string
	TxID     string
	Payments []Payment
	Versions []Version
}

// Version is a signed transaction.
type Version struct {
	TxID      string
	Raw       []byte
	Fee       int64
	CreatedAt time.Time
	// Inputs are its coins; read ones have none.
	Inputs []Output
}

// BatchVersion is a further version of a batch.
type BatchVersion struct {
	Batch  int64
	Number int // the first replacement is 1
	Version
}

// BatchStatus changes the status of a batch.
type BatchStatus struct {
	Batch  int64
	Status Status
	TxID   string
}

// Output names an output of a transaction.
type Output struct {
	TxID string
	Vout int64
}

// Deposit is an output that was received.
type Deposit struct {
	Output
	Address    string
	Satoshis   int64
	Block      string
	Height     int64
	Status     DepositStatus
	Occurrence int
}

// DepositStatus is the status of a deposit.
type DepositStatus string

// The statuses of deposits.
const (
	Immature DepositStatus = "IMMATURE" // mined, and not spendable yet
	Credited DepositStatus = "CREDITED"
	Reversed DepositStatus = "REVERSED"
)
