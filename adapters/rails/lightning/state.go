package lightning

import (
	"encoding/hex"
	"errors"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

// What a store refuses.
var (
	// ErrChanged says that another process has changed a payment meanwhile.
	ErrChanged = errors.New("another process has changed the payment")
	// ErrHeld says that a payment may not leave.
	ErrHeld = errors.New("the payment may not leave now")
	// ErrPaidBefore says that the hash of an invoice is that of another payment.
	ErrPaidBefore = errors.New("the invoice is paid by another payment")
)

// Hash is a payment hash: the key of a payment on the network.
type Hash [32]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Payment is a payout.
type Payment struct {
	ports.RailPaymentKey
	// Destination is the SHA-256 of the invoice or address that it is made to.
	Destination [32]byte
	Satoshis    int64
	CreatedAt   time.Time
	Status      Status
	Attempt
	// SentAt is when the invoice was last sent, and Sendings how often.
	SentAt   time.Time
	Sendings int
	// Code and Problem say why it has failed, or why it is not sent.
	Code, Problem string
}

// Attempt is the invoice with which a payment is made.
type Attempt struct {
	// Invoice is the one that an address has given; empty if the payment is made to an invoice itself.
	Invoice   string
	Hash      Hash // zero as long as there is no invoice
	ExpiresAt time.Time
}

// Status is the status of a payment.
type Status string

// The statuses of payments.
const (
	Unsent Status = "NEW"  // nothing was sent, or what was sent has failed for a reason that passes
	Sent   Status = "SENT" // the node may have paid it
	Paid   Status = "PAID"
	Failed Status = "FAILED"
)

// Position is how far a node was read.
type Position struct {
	// Settled is the index of the invoice that was settled last, and Paid that of the last payment.
	Settled, Paid uint64
	// BeganSettled and BeganPaid are what they were when the node was first read: what was before is never reported.
	BeganSettled, BeganPaid uint64
}

// Departure is a payment of the node that no record has.
type Departure struct {
	Hash          Hash
	MilliSatoshis int64 // with the fee
	At            time.Time
}

// Settlement is an invoice that was paid.
type Settlement struct {
	// Index is above that of every invoice that was settled before, but for the lag of the node.
	Index         uint64
	Hash          Hash
	Memo          string
	MilliSatoshis int64
	// FeeSatoshis is what of it the node has kept for the channel that it came over.
	FeeSatoshis int64
	At          time.Time
}

// StoredInvoice is an invoice that was given to a payer.
type StoredInvoice struct {
	Platform   ident.Platform
	Connection string
	ports.InvoiceRequest
	ports.Invoice
	CreatedAt time.Time
}

// isCancelled reports whether it was cancelled before the node has made it.
func (i StoredInvoice) isCancelled() bool { return i.Request == "" }
