package quote

import (
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/uma"
)

// LookupValidity is how long a lookup can be used for quotes.
const LookupValidity = 10 * time.Minute

// Lookup is the result of looking up a receiver before a payment. Exactly one of ReceiverUMA and
// External is set.
type Lookup struct {
	ID       ident.Lookup
	Platform ident.Platform
	// Customer is the payer if the platform named a customer; otherwise SenderUMA is.
	Customer  ident.Customer
	SenderUMA string
	// ReceiverUMA or External is the receiver.
	ReceiverUMA string
	External    ident.ExternalAccount
	// Fields are the facts about the payer that the receiving side requires.
	Fields []transaction.InfoField
	// Currencies are those that the receiver accepts.
	Currencies []money.Currency
	// Facts are the facts about the receiver that the receiving side provided, by field name
	// (FULL_NAME …).
	Facts map[string]string
	// UMA is how a receiver at another provider is paid over Lightning; nil for others.
	UMA *uma.Receiver
	// Invoice is the UMA invoice that was looked up, and InvoiceAmount what it is for; zero if the receiver was looked up by address.
	Invoice       ident.UMAInvoice
	InvoiceAmount int64
	CreatedAt     time.Time
	ExpiresAt     time.Time
}

// Expired reports whether the lookup can no longer be used.
func (l Lookup) Expired(now time.Time) bool { return !now.Before(l.ExpiresAt) }
