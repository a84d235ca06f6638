package booking

import (
	"context"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// balances are the events for accounts whose balance the postings change. Reading
// them takes the last locks of the unit of work.
func (w *Work) balances(ctx context.Context, tx ports.Tx) ([]event.Event, error) {
	moved, err := ledger.Moved(w.postings)
	if err != nil || len(moved) == 0 {
		return nil, err
	}
	accounts, keys := make([]ledger.Account, len(moved)), make([]ports.InternalKey, len(moved))
	for i, m := range moved {
		accounts[i], keys[i] = m.Account, key(m.Account)
	}
	owners, err := tx.InternalAccountsByID(ctx, keys)
	if err != nil {
		return nil, err
	}
	held := w.Held
	if held == nil {
		if held, err = tx.Locked(ctx, accounts); err != nil {
			return nil, err
		}
	}
	told := make([]event.Event, 0, len(moved))
	for i, m := range moved {
		owner, known := owners[keys[i]]
		if !known {
			continue // posted before the account is opened: there is nobody to tell
		}
		balance, err := money.AddMinor(held[m.Account], m.Amount)
		if err != nil {
			return nil, err
		}
		told = append(told, account.Holding{Internal: owner, Balance: balance}.BalanceUpdated(ident.NewWebhook(w.ids.New, w.Now), w.Now))
	}
	return told, nil
}

func key(a ledger.Account) ports.InternalKey {
	owner, _ := a.Owner()
	return ports.InternalKey{Platform: a.Platform, ID: owner}
}
