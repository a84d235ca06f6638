// Package booking writes what a unit of work has decided about money: its postings,
// its events, and one more event for each account whose balance is another then.
//
// It is machinery of the use cases: it decides nothing, and knows none of them.
package booking

import (
	"context"
	"time"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Batch is what one unit of work writes.
type Batch struct {
	Postings []ledger.Posting
	// Events are told before those of balances.
	Events []event.Event
	// Held are the balances that the unit of work has locked, as they were before the
	// postings: all that they touch, or nil.
	Held map[ledger.Account]int64
	Now  time.Time
	IDs  ports.IDs
}

// Write posts and tells. It takes the last locks of its unit of work.
func Write(ctx context.Context, tx ports.Tx, b Batch) error {
	told, err := b.balances(ctx, tx)
	if err != nil {
		return err
	}
	if err := tx.Emit(ctx, append(b.Events, told...)); err != nil {
		return err
	}
	return tx.Post(ctx, b.Postings)
}

// balances are the events for accounts whose balance the postings change.
func (b Batch) balances(ctx context.Context, tx ports.Tx) ([]event.Event, error) {
	moved, err := ledger.Moved(b.Postings)
	if err != nil || len(moved) == 0 {
		return nil, err
	}
	owners, err := tx.InternalAccountsByID(ctx, keys(moved))
	if err != nil {
		return nil, err
	}
	held := b.Held
	if held == nil {
		if held, err = tx.Locked(ctx, accounts(moved)); err != nil {
			return nil, err
		}
	}
	told := make([]event.Event, 0, len(moved))
	for _, m := range moved {
		owner, known := owners[key(m.Account)]
		if !known {
			continue // posted before the account is opened: there is nobody to tell
		}
		balance, err := money.AddMinor(held[m.Account], m.Amount)
		if err != nil {
			return nil, err
		}
		told = append(told, account.Holding{Internal: owner, Balance: balance}.BalanceUpdated(ident.NewWebhook(b.IDs.New, b.Now), b.Now))
	}
	return told, nil
}

func accounts(moved []ledger.Change) []ledger.Account {
	accounts := make([]ledger.Account, len(moved))
	for i, m := range moved {
		accounts[i] = m.Account
	}
	return accounts
}

func keys(moved []ledger.Change) []ports.InternalKey {
	keys := make([]ports.InternalKey, len(moved))
	for i, m := range moved {
		keys[i] = key(m.Account)
	}
	return keys
}

func key(a ledger.Account) ports.InternalKey {
	owner, _ := a.Owner()
	return ports.InternalKey{Platform: a.Platform, ID: owner}
}
