package account

import (
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// MaxBalance is the most that an internal account takes money in up to, in minor units.
// The ledger itself can hold a thousand times as much, so that what was promised before
// the account was full (a transfer on its way, a refund) still arrives.
const MaxBalance = money.MaxMinor

// WithBalance is an internal account with what it holds now.
type WithBalance struct {
	Internal
	// Balance is what can be spent, in minor units.
	Balance int64
}

// CheckCapacity returns nil if an account with a balance, in minor units, can take the amount in,
// and AMOUNT_OUT_OF_RANGE when it cannot.
func CheckCapacity(balance int64, in money.Amount) error {
	if balance <= MaxBalance-in.Minor {
		return nil
	}
	return &fault.Error{Code: fault.AmountOutOfRange, Reason: "More than an account can hold",
		Message: "The account that receives holds " + money.Amount{Minor: balance, Currency: in.Currency}.String() + ", and cannot take in " + in.String() +
			" more. Pay a smaller amount, or to another account.",
		Details: map[string]any{"currency": string(in.Currency), "amount": in.Minor, "maxAmount": max(0, MaxBalance-balance)}}
}

// BalanceUpdatedEvent returns the platform that the balance of the account is another.
func (h WithBalance) BalanceUpdatedEvent(id ident.Webhook, at time.Time) event.Event {
	return h.newEvent(event.InternalAccountBalanceUpdated, id, at)
}

// StatusUpdatedEvent returns the platform that something else can be done with the account.
func (h WithBalance) StatusUpdatedEvent(id ident.Webhook, at time.Time) event.Event {
	return h.newEvent(event.InternalAccountStatusUpdated, id, at)
}

func (h WithBalance) newEvent(name string, id ident.Webhook, at time.Time) event.Event {
	return event.Event{ID: id, Platform: h.Platform, Type: event.InternalAccountStatus, Name: name, Subject: h.ID.UUID(), OccurredAt: at, Resource: h}
}

// InternalChange is a partial update; nil leaves a setting as it is.
type InternalChange struct {
	// PrivateEnabled hides an embedded wallet from who reads the chain.
	PrivateEnabled *bool
}

// CheckChange answers INVALID_INPUT for what the account does not have.
func (a Internal) CheckChange(c InternalChange) error {
	if c.PrivateEnabled != nil && a.Type != EmbeddedWallet {
		return fault.Invalid(fault.Field{Field: "privateEnabled",
			Message: "is only for accounts of the type EMBEDDED_WALLET; this one is " + string(a.Type) + ", so leave it out"})
	}
	return nil
}
