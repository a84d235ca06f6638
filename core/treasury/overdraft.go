package treasury

import (
	"time"

	"causeway/core/money"
	"causeway/ledger"
)

// Overdraft is what is known of an asset that is or was below zero.
type Overdraft struct {
	Account ledger.Account
	// Overdrawn says what was announced last, NotifiedAt when; Since is when the asset was first seen below zero.
	Overdrawn  bool
	Since      time.Time
	Balance    money.Total // when it was announced
	NotifiedAt time.Time
}

// NotificationInterval is the least time between two announcements about one account, so that an account
// which goes up and down does not flood its platform.
const NotificationInterval = time.Hour

// Next returns what is known after the balance of an account was read, and whether that is to be announced: the
// balance has gone below zero or is back, and the last announcement is an hour old.
func (o Overdraft) Next(balance money.Total, now time.Time) (Overdraft, bool) {
	overdrawn := balance.Sign() < 0
	if overdrawn == o.Overdrawn || !o.NotifiedAt.IsZero() && now.Sub(o.NotifiedAt) < NotificationInterval {
		return o, false
	}
	o.Overdrawn, o.Balance, o.NotifiedAt = overdrawn, balance, now
	if overdrawn {
		o.Since = now
	}
	return o, true
}
