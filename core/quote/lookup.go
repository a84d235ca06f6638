package quote

import (
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
)

// LookupValidity is how long a lookup can be used for quotes.
const LookupValidity = 10 * time.Minute

// Lookup is what was learned about a receiver before a payment. Exactly one of ReceiverUMA and
// External is set.
type Lookup struct {
	ID       ident.Lookup
	Platform ident.Platform
	// Customer is who wants to pay, where the platform said so; else SenderUMA is.
	Customer  ident.Customer
	SenderUMA string
	// ReceiverUMA or External is the receiver.
	ReceiverUMA string
	External    ident.ExternalAccount
	// Fields are the facts about the payer that the receiving side wants.
	Fields []transaction.InfoField
	// Currencies are those that reach the receiver.
	Currencies []money.Currency
	// Facts are what the receiving side tells about the receiver, by the names of the
	// fields that platforms ask for (FULL_NAME …).
	Facts     map[string]string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Expired reports whether the lookup can no longer be used.
func (l Lookup) Expired(now time.Time) bool { return !now.Before(l.ExpiresAt) }
