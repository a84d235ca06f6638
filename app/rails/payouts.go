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

// Decided is a payment with the decisions of operators about it.
type Decided struct {
	rail.Payment
	Decisions []ports.RailDecision
}

// Payments returns the payments with an id: a transaction can have a payout and a refund. INVALID_INPUT: there is none.
func (s *Service) Payments(ctx context.Context, id uuid.UUID) ([]Decided, error) {
	found, err := s.Store.RailPaymentsByID(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noPayment(id)
	}
	payments := make([]Decided, len(found))
	for i, p := range found {
		payments[i].Payment = p
		decisions, err := s.Store.RailDecisions(ctx, p.Platform, p.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
			if d.Payment.Kind == p.Kind {
				payments[i].Decisions = append(payments[i].Decisions, d)
			}
		}
	}
	return payments, nil
}

func noPayment(id uuid.UUID) error {
	return fault.New(fault.InvalidInput, "No connection has a payment %s. List those that wait with: causeway payouts list", id)
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
		return rail.Payment{}, noPayment(id)
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
			if err := connections.AddCalls(ctx, tx, []rail.Payment{after}, now, s.IDs); err != nil {
				return err
			}
		}
		return tx.RecordRailDecision(ctx, ports.RailDecision{ID: s.IDs.New(now), Payment: before, Decision: kind, Actor: by.Actor, Note: by.Note, At: now})
	})
	return target, err
}
