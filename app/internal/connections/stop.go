package connections

import (
	"context"
	"fmt"

	"causeway/app/internal/uow"
	"causeway/core/rail"
	"causeway/ports"
)

// StopPayments ends those of the payments that have not left, for a reason, and returns for each whether it will never
// leave. One that is not known yet is recorded, so that it does not leave later. Lock transactions before.
func (r *Rail) StopPayments(ctx context.Context, tx Tx, payments []rail.Payment, reason string) ([]bool, error) {
	keys := make([]ports.RailPaymentKey, len(payments))
	for i, p := range payments {
		keys[i] = keyOf(p)
	}
	recorded, err := r.payments.RailPayments(ctx, keys)
	if err != nil {
		return nil, err
	}
	var known []rail.Payment
	for _, p := range recorded {
		known = append(known, p)
	}
	state, err := r.lock(ctx, tx, known)
	if err != nil {
		return nil, err
	}
	locked, err := tx.LockRailPayments(ctx, keys)
	if err != nil {
		return nil, err
	}
	stopped := make([]bool, len(payments))
	var created, updated []rail.Payment
	for i, p := range payments {
		before, exists := locked[keys[i]]
		if !exists {
			before = p
			before.State, before.RecordedAt = rail.Queued, state.now
		}
		after, ended := before.TakeBack(reason, state.now)
		switch stopped[i] = ended; {
		case !exists:
			created = append(created, after)
		case after.State != before.State:
			if account := state.accounts[before.Account()]; account != nil {
				account.Settle(before, after)
			} else if before.Connection != "" {
				return nil, fmt.Errorf("payment %s was moved to another connection meanwhile: %w", rail.EndToEndID(before.ID), uow.ErrChanged)
			}
			updated = append(updated, after)
		}
	}
	if err := tx.CreateRailPayments(ctx, created); err != nil {
		return nil, err
	}
	if err := tx.UpdateRailPayments(ctx, updated); err != nil {
		return nil, err
	}
	return stopped, tx.SaveRailAccounts(ctx, state.accounts, nil, state.now)
}
