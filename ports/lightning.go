package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/uma"
)

// Lightning issues invoices of a platform's node on the Lightning network. What pays them is reported by the connection's feed
// as received under the reference; payouts to an invoice are a Rail's.
type Lightning interface {
	// Invoice returns the invoice with the request's id, and makes it if there is none yet, also from another process and
	// after a crash.
	Invoice(ctx context.Context, request InvoiceRequest) (Invoice, error)
	// CancelInvoice makes an unpaid invoice unpayable; a held payment goes back to its payer. An invoice that is settled
	// stays so, and the error is a CONFLICT. If there is none with this id, none is made any more: Invoice returns a CONFLICT.
	CancelInvoice(ctx context.Context, id uuid.UUID) error
}

// LightningChannels is implemented by the Lightning of nodes that say which channels a payment has used.
type LightningChannels interface {
	// PaidOver returns the channels over which the node has paid, by the payment hash; none if it does not know the payment.
	PaidOver(ctx context.Context, hash [32]byte) ([]uma.ChannelUse, error)
	// ReceivedOver returns the channels over which the invoice with an id was paid; none if it was not.
	ReceivedOver(ctx context.Context, id uuid.UUID) ([]uma.ChannelUse, error)
}

// LightningNodes selects the node of a platform.
type LightningNodes interface {
	// LightningFor returns NOT_IMPLEMENTED if the platform has no connection to a node.
	LightningFor(ctx context.Context, p ident.Platform) (Lightning, error)
}

// LightningNode is implemented by connections to a node.
type LightningNode interface {
	// Invoices returns the invoices of a platform that the node makes.
	Invoices(p ident.Platform) Lightning
}

// InvoiceRequest describes an invoice (BOLT 11).
type InvoiceRequest struct {
	ID uuid.UUID
	// Reference is what the receipt of its payment carries.
	Reference string
	Amount    money.Amount
	// Fraction is what the invoice is for beyond the whole satoshi of Amount, in millisatoshi: below one satoshi. It is not received
	// under the reference, but counted with the fees of the node. Nodes may refuse one.
	Fraction int64
	// DescriptionHash is the SHA-256 of the description (field h); for LNURL (LUD-06) that of the metadata. If it is zero, the description
	// is the reference (field d).
	DescriptionHash [32]byte
	ExpiresAt       time.Time
}

// Invoice is an invoice as its payer gets it.
type Invoice struct {
	// Request is the BOLT 11 text.
	Request string
	// PaymentHash is the key of the payment, with which a payer pays once.
	PaymentHash [32]byte
	ExpiresAt   time.Time
}
