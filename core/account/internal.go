package account

import (
	"fmt"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// Internal is an account that holds a balance of one currency in the service. The
// balance itself stands in the ledger.
type Internal struct {
	ID       ident.InternalAccount
	Platform ident.Platform
	// Customer owns the account; zero when it is the platform's own.
	Customer ident.Customer
	Currency money.Currency
	Type     InternalType
	Status   InternalStatus
	// Reference is the code that a payer puts into the memo to pay in, at any time;
	// it follows from the id (FundingReference).
	Reference string
	// Instructions are the ways to pay in. Nil: no rail was asked for them yet.
	Instructions []Instruction
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// InternalType says how the balance is kept.
type InternalType string

// The types of internal account.
const (
	InternalFiat   InternalType = "INTERNAL_FIAT"
	InternalCrypto InternalType = "INTERNAL_CRYPTO"
	// EmbeddedWallet is held under the customer's own keys.
	EmbeddedWallet InternalType = "EMBEDDED_WALLET"
)

// InternalStatus is what can be done with an internal account.
type InternalStatus string

// The statuses of an internal account. Only an active one sends or receives.
const (
	InternalPending InternalStatus = "PENDING"
	InternalActive  InternalStatus = "ACTIVE"
	InternalClosed  InternalStatus = "CLOSED"
	InternalFrozen  InternalStatus = "FROZEN"
)

// NewInternal opens an account of a customer or, with a zero customer, of the
// platform itself. A customer's USDB is an embedded wallet; other currencies are
// fiat or crypto balances. It is an error to name no platform, no id or a currency
// that does not exist.
func NewInternal(id ident.InternalAccount, platform ident.Platform, customer ident.Customer, currency money.Currency, now time.Time) (Internal, error) {
	if id.IsZero() || platform.IsZero() {
		return Internal{}, fmt.Errorf("an internal account needs an id and a platform")
	}
	if !currency.Known() {
		return Internal{}, fmt.Errorf("internal account: %w: %.8q", money.ErrUnknownCurrency, string(currency))
	}
	return Internal{
		ID: id, Platform: platform, Customer: customer, Currency: currency,
		Type: internalType(customer, currency), Status: InternalActive, Reference: FundingReference(id), CreatedAt: now, UpdatedAt: now,
	}, nil
}

func internalType(customer ident.Customer, currency money.Currency) InternalType {
	switch {
	case currency == money.USDB && !customer.IsZero():
		return EmbeddedWallet
	case currency.IsCrypto():
		return InternalCrypto
	default:
		return InternalFiat
	}
}

// Usable reports whether the account may send and receive.
func (a Internal) Usable() bool { return a.Status == InternalActive }
