package uow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// LockBalances locks internal accounts and returns their balances. Name in one call all internal
// accounts that the unit of work posts to: the balance events are computed from these balances.
func (w *Work) LockBalances(ctx context.Context, tx Tx, accounts []ledger.Account) (ledger.Balances, error) {
	if len(accounts) == 0 {
		return ledger.Balances{}, nil
	}
	locked, err := tx.LockBalances(ctx, accounts)
	if err != nil {
		return nil, err
	}
	w.lockedBalances = locked
	balances := make(ledger.Balances, len(locked))
	for a, internal := range locked {
		balances[a] = internal.Balance
	}
	return balances, nil
}

// OwnerDeletedAt returns when the customer who owns an account was deleted, for an account that
// LockBalances locked; zero for an active customer or the platform. The customer may have been read as
// active before the lock.
func (w *Work) OwnerDeletedAt(a ledger.Account) time.Time { return w.lockedBalances[a].OwnerDeletedAt }

// CheckBalances locks the accounts of a manual posting that may not be overdrawn, and returns
// INSUFFICIENT_BALANCE if the posting would overdraw one, or INVALID_AMOUNT if a balance would be too large.
func (w *Work) CheckBalances(ctx context.Context, tx Tx, posting ledger.Posting) error {
	deltas, err := ledger.BalanceDeltas([]ledger.Posting{posting})
	if err != nil {
		return postingFault(err)
	}
	var accounts []ledger.Account
	for _, delta := range deltas {
		accounts = append(accounts, delta.Account)
	}
	balances, err := w.LockBalances(ctx, tx, accounts)
	if err != nil {
		return err
	}
	return postingFault(balances.Apply(posting))
}

// postingFault turns an error of the ledger into a fault.
func postingFault(err error) error {
	var insufficient *ledger.InsufficientBalanceError
	switch {
	case errors.As(err, &insufficient):
		short := insufficient.Shortfalls[0]
		return &fault.Error{Code: fault.InsufficientBalance, Message: "The balance of " + short.Account.Path +
			" would be negative. Adjust by less, or fund the account first.",
			Details: map[string]any{"account": short.Account.Path, "currency": string(short.Account.Currency), "balance": short.Balance}}
	case errors.Is(err, ledger.ErrOverflow):
		return fault.New(fault.InvalidAmount, "The entries add up to more than the maximum balance of an account. Post them one by one.")
	}
	return err
}

// CheckCapacity returns an AMOUNT_OUT_OF_RANGE fault if an internal account that the postings
// credit cannot hold the amount, and nil otherwise.
func CheckCapacity(balances ledger.Balances, postings []ledger.Posting) error {
	changes, err := ledger.NetChanges(postings...)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if !c.NoOverdraft || c.Amount <= 0 {
			continue
		}
		if err := account.CheckCapacity(balances[c.Account], money.Amount{Minor: c.Amount, Currency: c.Account.Currency}); err != nil {
			return err
		}
	}
	return nil
}

// WithUnmatchedNote adds to a fault, for which received money could not be credited, that the
// money is held as unmatched funds. Other errors are returned as they are.
func WithUnmatchedNote(err error) error {
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	noted := *f
	noted.Message += " The money received is held as unmatched funds."
	return &noted
}

// EnsureAccount returns the internal account with the owner, currency and type of a new one, which it
// opens if there is none. It reads the account again after opening it, because another process may
// have opened it at the same time.
func EnsureAccount(ctx context.Context, tx Tx, opened account.Internal) (account.Internal, error) {
	key := ports.InternalAccountKey{Platform: opened.Platform, Owner: opened.Customer, Currency: opened.Currency, Type: opened.Type}
	found, exists, err := tx.InternalAccount(ctx, key)
	if err != nil || exists {
		return found, err
	}
	if err := tx.OpenInternalAccounts(ctx, []account.Internal{opened}); err != nil {
		return opened, err
	}
	if found, exists, err = tx.InternalAccount(ctx, key); err == nil && !exists {
		err = fmt.Errorf("the account of %s in %s was opened but is not found", key.Owner, key.Currency)
	}
	return found, err
}

// balanceEvents returns the events for the internal accounts whose balance the postings change.
func (w *Work) balanceEvents(ctx context.Context, tx Tx) ([]event.Event, error) {
	changes, err := w.internalChanges()
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c ledger.Change) bool { return c.Amount == 0 })
	if err := w.lockChanges(ctx, tx, changes); err != nil {
		return nil, err
	}
	events := make([]event.Event, 0, len(changes))
	for _, c := range changes {
		internal := w.lockedBalances[c.Account]
		if internal.ID.IsZero() {
			continue // the account is posted to before it is opened, so it has no owner yet
		}
		if internal.Balance, err = money.AddMinor(internal.Balance, c.Amount); err != nil {
			return nil, err
		}
		events = append(events, internal.BalanceUpdatedEvent(ident.NewWebhook(w.ids.New, w.Now), w.Now))
	}
	return events, nil
}

// internalChanges returns the changes of the internal accounts that the postings name, also of those that end as
// they began.
func (w *Work) internalChanges() ([]ledger.Change, error) {
	changes, err := ledger.NetChanges(w.postings...)
	return slices.DeleteFunc(changes, func(c ledger.Change) bool { return !c.NoOverdraft }), err
}

// lockChanges locks the balances of accounts that the postings change, unless LockBalances was called.
func (w *Work) lockChanges(ctx context.Context, tx Tx, changes []ledger.Change) (err error) {
	if len(changes) == 0 || w.lockedBalances != nil {
		return nil
	}
	accounts := make([]ledger.Account, len(changes))
	for i, c := range changes {
		accounts[i] = c.Account
	}
	w.lockedBalances, err = tx.LockBalances(ctx, accounts)
	return err
}
