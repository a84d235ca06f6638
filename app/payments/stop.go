package payments

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/connections"
	"causeway/app/internal/returns"
	"causeway/app/internal/uow"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// stoppableRail is a rail whose payments can be stopped until they leave: a connections.Rail.
type stoppableRail interface {
	ports.Rail
	StopPayments(ctx context.Context, tx connections.Tx, payments []rail.Payment, reason string) ([]bool, error)
}

func (s *Service) recorder() returns.Recorder { return returns.Recorder{Accounts: s.Store, IDs: s.IDs} }

// stopUse ends the payout or the refund of a locked transaction whose money was taken back, unless that has left. The refund of
// a payout that ends, and one that was stopped, pay what is owed for the money.
func (s *Service) stopUse(ctx context.Context, tx Tx, w *uow.Work, t transaction.Transaction, reason string) error {
	switch {
	case t.State.InTransit() && t.DeliveryStep() == transaction.StepDeliver && (t.Destination.UMA == "" || t.UMA != nil):
		stopped, err := s.stop(ctx, tx, rail.Payout, t.Platform, t.ID.UUID(), t.DestinationRail, t.Pricing.Received, reason)
		if err != nil || !stopped {
			return err
		}
		ended, err := t.Refuse(transaction.QuoteExecutionFailed, w.Now)
		if err == nil {
			w.Update(ended)
		}
		return err
	case isRefunding(t):
		stopped, err := s.stop(ctx, tx, rail.Refund, t.Platform, t.ID.UUID(), t.SourceRail, t.Refundable(), reason)
		if err == nil && stopped {
			w.Enqueue(t.Platform, transaction.StepCallAgain, t.ID.UUID()) // its job may wait for long
		}
		return err
	}
	return nil
}

// canStop reports whether payments of a platform can be stopped until they leave.
func (s *Service) canStop(p ident.Platform) bool {
	connected, err := s.Rails.RailFor(p)
	_, can := connected.(stoppableRail)
	return err == nil && can
}

// stop ends a payment that has not left, and reports whether it will never leave. What a rail that cannot stop payments has
// been called about may have left.
func (s *Service) stop(ctx context.Context, tx Tx, kind rail.Kind, p ident.Platform, id uuid.UUID, on corridor.Rail,
	amount money.Amount, reason string) (bool, error) {
	connected, err := s.Rails.RailFor(p)
	if err != nil {
		return false, err
	}
	stoppable, can := connected.(stoppableRail)
	if !can {
		return false, nil
	}
	payment := rail.Payment{ID: id, Kind: kind, Amount: amount, Route: rail.Route{Platform: p, Rail: on, Currency: amount.Currency,
		Back: kind.IsReturn()}}
	stopped, err := stoppable.StopPayments(ctx, tx, []rail.Payment{payment}, reason)
	return err == nil && stopped[0], err
}
