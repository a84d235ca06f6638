package uow

import (
	"context"
	"slices"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// LockBalances locks internal accounts, all that the work will touch, and gives their balances
// to decide on.
func (w *Work) LockBalances(ctx context.Context, tx ports.Tx, accounts []ledger.Account) (ledger.Balances, error) {
	if len(accounts) == 0 {
		return ledger.Balances{}, nil
	}
	held, err := tx.LockBalances(ctx, accounts)
	if err != nil {
		return nil, err
	}
	w.lockedBalances = held
	balances := make(ledger.Balances, len(held))
	for a, h := range held {
		balances[a] = h.Balance
	}
	return balances, nil
}

// CheckCapacity is nil when the internal accounts that postings put money into can take it, and
// AMOUNT_OUT_OF_RANGE when one cannot.
func CheckCapacity(balances ledger.Balances, postings []ledger.Posting) error {
	changes, err := ledger.NetChanges(postings...)
	if err != nil {
		return err
	}
	for _, m := range changes {
		if !m.NoOverdraft || m.Amount <= 0 {
			continue
		}
		if err := account.CheckCapacity(balances[m.Account], money.Amount{Minor: m.Amount, Currency: m.Account.Currency}); err != nil {
			return err
		}
	}
	return nil
}

// KeptUnmatched says of a fault, for which money cannot go where it was to, where it is.
func KeptUnmatched(err error) error {
	refused, is := fault.As(err)
	if !is {
		return err
	}
	kept := *refused
	kept.Message += " What came is kept as unmatched."
	return &kept
}

// balanceEvents are the events for accounts whose balance the postings change. Locking
// them, where that was not needed to decide, takes the last locks of the unit of work.
func (w *Work) balanceEvents(ctx context.Context, tx ports.Tx) ([]event.Event, error) {
	moved, err := ledger.NetChanges(w.postings...)
	if err != nil {
		return nil, err
	}
	moved = slices.DeleteFunc(moved, func(c ledger.Change) bool { return !c.NoOverdraft || c.Amount == 0 })
	if len(moved) == 0 {
		return nil, nil
	}
	held := w.lockedBalances
	if held == nil {
		accounts := make([]ledger.Account, len(moved))
		for i, m := range moved {
			accounts[i] = m.Account
		}
		if held, err = tx.LockBalances(ctx, accounts); err != nil {
			return nil, err
		}
	}
	told := make([]event.Event, 0, len(moved))
	for _, m := range moved {
		now := held[m.Account]
		if now.ID.IsZero() {
			continue // posted before the account is opened: there is nobody to tell
		}
		if now.Balance, err = money.AddMinor(now.Balance, m.Amount); err != nil {
			return nil, err
		}
		told = append(told, now.BalanceUpdatedEvent(ident.NewWebhook(w.ids.New, w.Now), w.Now))
	}
	return told, nil
}
