package account

import (
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
)

// Holding is an internal account with what it holds now.
type Holding struct {
	Internal
	// Balance is what can be spent, in minor units.
	Balance int64
}

// BalanceUpdated tells the platform that the balance of the account is another.
func (h Holding) BalanceUpdated(id ident.Webhook, at time.Time) event.Event {
	return h.told(event.InternalAccountBalanceUpdated, id, at)
}

// StatusUpdated tells the platform that something else can be done with the account.
func (h Holding) StatusUpdated(id ident.Webhook, at time.Time) event.Event {
	return h.told(event.InternalAccountStatusUpdated, id, at)
}

func (h Holding) told(name string, id ident.Webhook, at time.Time) event.Event {
	return event.Event{ID: id, Platform: h.Platform, Type: event.InternalAccountStatus, Name: name, Subject: h.ID.UUID(), At: at, Resource: h}
}

// InternalChange is a partial update; nil leaves a setting as it is.
type InternalChange struct {
	// PrivateEnabled hides an embedded wallet from who reads the chain.
	PrivateEnabled *bool
}

// Check answers INVALID_INPUT for what the account does not have.
func (a Internal) Check(c InternalChange) error {
	if c.PrivateEnabled != nil && a.Type != EmbeddedWallet {
		return fault.Invalid(fault.Field{Field: "privateEnabled",
			Message: "is only for accounts of the type EMBEDDED_WALLET; this one is " + string(a.Type) + ", so leave it out"})
	}
	return nil
}
