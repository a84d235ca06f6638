package quote

import (
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
)

// LookupValidity is how long a payment may rely on what was told.
const LookupValidity = 10 * time.Minute

// Lookup is one question and what has to be kept of its answer. Exactly one of
// ReceiverUMA and External is set.
type Lookup struct {
	ID       ident.Lookup
	Platform ident.Platform
	// Customer is who wants to pay, where the platform said so; else SenderUMA is.
	Customer  ident.Customer
	SenderUMA string
	// ReceiverUMA is the person asked about, External the account.
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

// Expired tells whether the answer is too old to rely on.
func (l Lookup) Expired(now time.Time) bool { return !now.Before(l.ExpiresAt) }
