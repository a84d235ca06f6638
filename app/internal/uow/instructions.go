package uow

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ledger"
)

// InstructionsTx is what StoreInstructions writes with.
type InstructionsTx interface {
	LockBalances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error)
	Emit(ctx context.Context, events []event.Event) error
}

// StoreInstructions stores with a method of the unit of work the funding instructions of accounts, and emits that they changed, for those
// that the method has changed. It leaves out accounts that have the same already.
func StoreInstructions(ctx context.Context, tx InstructionsTx, newID ident.Source, accounts []account.Internal,
	store func(context.Context, []account.Internal) ([]ident.InternalAccount, error)) error {
	if len(accounts) == 0 {
		return nil
	}
	paths := make([]ledger.Account, len(accounts))
	for i, a := range accounts {
		paths[i] = a.LedgerAccount()
	}
	locked, err := tx.LockBalances(ctx, paths)
	if err != nil {
		return err
	}
	var other []account.Internal
	for _, a := range accounts {
		current := locked[a.LedgerAccount()]
		same, err := equalInstructions(current.Instructions, a.Instructions)
		if err != nil {
			return err
		}
		if same || current.ID.IsZero() {
			continue
		}
		other = append(other, a)
	}
	changed, err := store(ctx, other)
	if err != nil {
		return err
	}
	var events []event.Event
	for _, a := range other {
		if slices.Contains(changed, a.ID) {
			current := locked[a.LedgerAccount()]
			current.Instructions, current.UpdatedAt = a.Instructions, a.UpdatedAt
			events = append(events, current.FundingInstructionsUpdatedEvent(ident.NewWebhook(newID, a.UpdatedAt), a.UpdatedAt))
		}
	}
	return tx.Emit(ctx, events)
}

// equalInstructions reports whether the same is stored for both.
func equalInstructions(a, b []account.Instruction) (bool, error) {
	if (a == nil) != (b == nil) {
		return false, nil
	}
	before, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	after, err := json.Marshal(b)
	return bytes.Equal(before, after), err
}
