package account

import (
	"fmt"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Internal is an account with a balance in one currency. The balance itself is in the
// ledger.
type Internal struct {
	ID       ident.InternalAccount
	Platform ident.Platform
	// Customer owns the account; zero if the platform does.
	Customer ident.Customer
	Currency money.Currency
	Type     InternalType
	Status   InternalStatus
	// Reference is the code that payers put into the memo of payments into the account; it
	// is derived from the id (FundingReference).
	Reference string
	// Instructions are the ways to pay in; nil if no rail has provided them yet.
	Instructions []Instruction
	// PrivateEnabled hides an embedded wallet from other readers of the chain.
	PrivateEnabled bool
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// InternalType is the type of an internal account.
type InternalType string

// The types of internal account.
const (
	InternalFiat   InternalType = "INTERNAL_FIAT"
	InternalCrypto InternalType = "INTERNAL_CRYPTO"
	// EmbeddedWallet is a wallet under the customer's own keys.
	EmbeddedWallet InternalType = "EMBEDDED_WALLET"
)

// InternalStatus is the status of an internal account.
type InternalStatus string

// The statuses of an internal account. Only an active one sends or receives.
const (
	InternalPending InternalStatus = "PENDING"
	InternalActive  InternalStatus = "ACTIVE"
	InternalClosed  InternalStatus = "CLOSED"
	InternalFrozen  InternalStatus = "FROZEN"
)

// NewInternal returns a new account of a customer or, if the customer is zero, of the
// platform. A customer's USDB account is an embedded wallet; others are fiat or crypto
// accounts. It returns an error for a zero id or platform and an unknown currency.
func NewInternal(id ident.InternalAccount, platform ident.Platform, customer ident.Customer, currency money.Currency,
	now time.Time) (Internal, error) {
	if id.IsZero() || platform.IsZero() {
		return Internal{}, fmt.Errorf("an internal account needs an id and a platform")
	}
	if !currency.Payable() {
		return Internal{}, fmt.Errorf("internal account: %w: %.8q", money.ErrUnknownCurrency, string(currency))
	}
	return Internal{
		ID: id, Platform: platform, Customer: customer, Currency: currency,
		Type: internalType(customer, currency), Status: InternalActive, Reference: FundingReference(id), CreatedAt: now, UpdatedAt: now,
	}, nil
}

// NewRefundAccount returns the account to which what a customer (zero: the platform) paid in a currency
// is refunded. It is as NewInternal returns, except that the stablecoin of embedded wallets has a
// crypto account: a wallet cannot pay without its owner's signature.
func NewRefundAccount(id ident.InternalAccount, platform ident.Platform, customer ident.Customer, currency money.Currency,
	now time.Time) (Internal, error) {
	a, err := NewInternal(id, platform, customer, currency, now)
	if a.Type == EmbeddedWallet {
		a.Type = InternalCrypto
	}
	return a, err
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

// InternalOf returns the account if it belongs to the customer, or nil.
func InternalOf(c ident.Customer, a *Internal) *Internal {
	if a == nil || c.IsZero() || a.Customer != c {
		return nil
	}
	return a
}

// Usable reports whether the account may send and receive.
func (a Internal) Usable() bool { return a.Status == InternalActive }

// MaxBalance is the highest balance that a new payment may lead to, in minor units. The
// ledger itself can hold a thousand times as much, so that payments accepted before (a
// transfer in transit, a refund) can still be credited.
const MaxBalance = money.MaxMinor

// WithBalance is an internal account with its present balance.
type WithBalance struct {
	Internal
	// Balance is the available balance in minor units.
	Balance int64
	// OwnerDeletedAt is when the customer who owns a locked account was deleted; zero for an active
	// customer or the platform. Nobody is deleted while the account is locked.
	OwnerDeletedAt time.Time
}

// CheckCapacity returns AMOUNT_OUT_OF_RANGE if an account with a balance, in minor units,
// cannot receive the amount.
func CheckCapacity(balance int64, amount money.Amount) error {
	if balance <= MaxBalance-amount.Minor {
		return nil
	}
	return &fault.Error{Code: fault.AmountOutOfRange, Reason: "More than an account can hold",
		Message: "The receiving account has a balance of " + money.Amount{Minor: balance, Currency: amount.Currency}.String() +
			" and cannot receive another " +
			amount.String() + ". Pay a smaller amount, or to another account.",
		Details: map[string]any{"currency": string(amount.Currency), "amount": amount.Minor, "maxAmount": max(0, MaxBalance-balance)}}
}

// BalanceUpdatedEvent returns the event that the balance of the account changed.
func (a WithBalance) BalanceUpdatedEvent(id ident.Webhook, at time.Time) event.Event {
	return a.newEvent(event.InternalAccountBalanceUpdated, id, at)
}

// StatusUpdatedEvent returns the event that the status of the account changed.
func (a WithBalance) StatusUpdatedEvent(id ident.Webhook, at time.Time) event.Event {
	return a.newEvent(event.InternalAccountStatusUpdated, id, at)
}

// FundingInstructionsUpdatedEvent returns the event that the funding instructions of the account changed.
func (a WithBalance) FundingInstructionsUpdatedEvent(id ident.Webhook, at time.Time) event.Event {
	return a.newEvent(event.InternalAccountFundingInstructionsUpdated, id, at)
}

func (a WithBalance) newEvent(name string, id ident.Webhook, at time.Time) event.Event {
	return event.Event{ID: id, Platform: a.Platform, Type: event.InternalAccountStatus, Name: name, Subject: a.ID.UUID(),
		OccurredAt: at, Resource: a}
}

// InternalChange is a partial update; nil does not change a setting.
type InternalChange struct {
	// PrivateEnabled hides an embedded wallet from other readers of the chain.
	PrivateEnabled *bool
}

// CheckChange returns INVALID_INPUT for settings that the account does not have.
func (a Internal) CheckChange(c InternalChange) error {
	if c.PrivateEnabled != nil && a.Type != EmbeddedWallet {
		return fault.Invalid(fault.Field{Field: "privateEnabled",
			Message: "is only for accounts of the type EMBEDDED_WALLET; this one is " + string(a.Type) + ", so leave it out"})
	}
	return nil
}

// LedgerPath returns the path of the account's balance in the ledger.
func (a Internal) LedgerPath() string {
	return ledger.InternalAccount(a.ID, a.Customer, a.Type == EmbeddedWallet)
}

// LedgerAccount returns the ledger account that holds the balance.
func (a Internal) LedgerAccount() ledger.Account {
	return ledger.Account{Platform: a.Platform, Path: a.LedgerPath(), Currency: a.Currency}
}
