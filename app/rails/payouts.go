package rails

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/connections"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/ports"
)

// Waiting returns payments that wait, the oldest first: those in review or the queued ones, of one connection or of all.
func (s *Service) Waiting(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error) {
	return s.Store.WaitingRailPayments(ctx, state, connection, limit)
}

// Release lets a payment go on that waits for a review, or for money. It is sent when the queue is next looked at.
func (s *Service) Release(ctx context.Context, id uuid.UUID, by Author) (rail.Payment, error) {
	return s.decide(ctx, id, ports.ReleaseRailPayment, by, rail.Payment.Release)
}

// Cancel ends a payout that waits. The customer is refunded.
func (s *Service) Cancel(ctx context.Context, id uuid.UUID, by Author) (rail.Payment, error) {
	return s.decide(ctx, id, ports.CancelRailPayment, by, func(p rail.Payment) (rail.Payment, error) { return p.Cancel(s.Clock.Now()) })
}

// decide changes the payment with an id that waits, and records who did it and why.
func (s *Service) decide(ctx context.Context, id uuid.UUID, kind ports.RailDecisionKind, by Author, change func(rail.Payment) (rail.Payment, error)) (rail.Payment, error) {
	by, err := by.check()
	if err != nil {
		return rail.Payment{}, err
	}
	found, err := s.Store.RailPaymentsByID(ctx, id)
	if err != nil {
		return rail.Payment{}, err
	}
	if len(found) == 0 {
		return rail.Payment{}, fault.New(fault.InvalidInput, "No connection has a payment %s. List those that wait with: causeway payouts review, causeway payouts queue", id)
	}
	target := found[0]
	for _, p := range found { // a transaction can have a payout and a refund
		if p.State.IsWaiting() {
			target = p
		}
	}
	key := ports.RailPaymentKey{Platform: target.Platform, ID: target.ID, Kind: target.Kind}
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		locked, err := tx.LockRailPayments(ctx, []ports.RailPaymentKey{key})
		if err != nil {
			return err
		}
		now, before := s.Clock.Now(), locked[key]
		after, err := change(before)
		if err != nil {
			return fault.New(fault.InvalidInput, "Nothing was changed: %v.", err)
		}
		target = after
		if err := tx.UpdateRailPayments(ctx, []rail.Payment{after}); err != nil {
			return err
		}
		if after.State == rail.Cancelled {
			if err := tx.AddJobs(ctx, connections.CallsAbout([]rail.Payment{after}, now, s.IDs)); err != nil {
				return err
			}
		}
		return tx.RecordRailDecision(ctx, ports.RailDecision{ID: s.IDs.New(now), Payment: before, Decision: kind, Actor: by.Actor, Note: by.Note, At: now})
	})
	return target, err
}
