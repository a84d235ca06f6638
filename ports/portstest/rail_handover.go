package portstest

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// RailRecords keeps the payments of connections.
type RailRecords interface {
	// ChangeRailPayment stores a payment as fn returns it. It is zero if it was not recorded.
	ChangeRailPayment(ctx context.Context, key ports.RailPaymentKey, fn func(rail.Payment) (rail.Payment, error)) error
	SaveRailPause(ctx context.Context, p ports.RailPause, record ...platform.OperatorAction) error
}

// RailHandover records payments as handed over, as the service does before it calls the adapter of a connection. An adapter
// takes a payment that is not recorded for one that was withdrawn.
type RailHandover struct {
	Records    RailRecords
	Connection string
	Clock      ports.Clock
}

// NewRailHandover records payments of a connection in a store.
func NewRailHandover(store PausableStore, connection string, clock ports.Clock) *RailHandover {
	return &RailHandover{Records: storedRecords{store}, Connection: connection, Clock: clock}
}

// PausableStore is a store that keeps pauses, with units of work of RailPaymentsTx.
type PausableStore interface {
	ports.UnitsOfWork
	SaveRailPause(ctx context.Context, p ports.RailPause, record ...platform.OperatorAction) error
}

// RailPaymentsTx is a unit of work that changes payments of rails.
type RailPaymentsTx interface {
	LockRailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error)
	CreateRailPayments(ctx context.Context, payments []rail.Payment) error
	UpdateRailPayments(ctx context.Context, payments []rail.Payment) error
}

type storedRecords struct{ PausableStore }

// ChangeRailPayment implements RailRecords.
func (s storedRecords) ChangeRailPayment(ctx context.Context, key ports.RailPaymentKey, fn func(rail.Payment) (rail.Payment,
	error)) error {
	return ports.Do(ports.ForAllPlatforms(ctx), s, func(ctx context.Context, tx RailPaymentsTx) error {
		locked, err := tx.LockRailPayments(ctx, []ports.RailPaymentKey{key})
		if err != nil {
			return err
		}
		before, recorded := locked[key]
		after, err := fn(before)
		switch {
		case err != nil || after == before:
			return err
		case recorded:
			return tx.UpdateRailPayments(ctx, []rail.Payment{after})
		default:
			return tx.CreateRailPayments(ctx, []rail.Payment{after})
		}
	})
}

// HandOver records a payment, unless it is recorded. One whose amount is not above zero is none.
func (h *RailHandover) HandOver(ctx context.Context, p ident.Platform, id uuid.UUID, kind rail.Kind, route rail.Route,
	amount money.Amount) error {
	if amount.Minor <= 0 {
		return nil
	}
	key := ports.RailPaymentKey{Platform: p, ID: id, Kind: kind}
	return h.Records.ChangeRailPayment(ctx, key, func(before rail.Payment) (rail.Payment, error) {
		if before.State != "" {
			return before, nil
		}
		route.Platform, route.Currency, route.Back = p, amount.Currency, kind.IsReturn()
		now := h.Clock.Now()
		return rail.Payment{ID: id, Route: route, Kind: kind, Connection: h.Connection, Amount: amount, State: rail.HandedOver, RecordedAt: now,
			HandedOverAt: now}, nil
	})
}

// Pause implements railtest.Fixture.
func (h *RailHandover) Pause(ctx context.Context, paused bool) error {
	return h.Records.SaveRailPause(ctx, ports.RailPause{Name: h.Connection, Paused: paused, By: "test", Note: "test", At: h.Clock.Now()})
}

// Withdraw implements railtest.Fixture.
func (h *RailHandover) Withdraw(ctx context.Context, key ports.RailPaymentKey) (withdrawn bool, err error) {
	err = h.Records.ChangeRailPayment(ctx, key, func(p rail.Payment) (rail.Payment, error) {
		if withdrawn = p.State.CanBeStopped(); !withdrawn {
			return p, nil
		}
		return p.Withdraw(h.Clock.Now())
	})
	return withdrawn, err
}

// HandOverAgain implements railtest.Fixture.
func (h *RailHandover) HandOverAgain(ctx context.Context, key ports.RailPaymentKey) error {
	return h.Records.ChangeRailPayment(ctx, key, func(p rail.Payment) (rail.Payment, error) {
		queued, err := p.To(rail.Queued, h.Clock.Now())
		if err != nil {
			return p, err
		}
		return queued.To(rail.HandedOver, h.Clock.Now())
	})
}

// Rail returns a rail that is called after its payments were recorded.
func (h *RailHandover) Rail(r ports.Rail) ports.Rail {
	return struct {
		below
		HandingOver
	}{below{r}, HandingOver{r, h}}
}

// below embeds a rail, so that methods beside it count for more than its own.
type below struct{ ports.Rail }

// HandingOver calls a rail after the payments were recorded.
type HandingOver struct {
	To       ports.Rail
	Handover *RailHandover
}

// Send implements ports.Rail.
func (r HandingOver) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return handOver(ctx, payouts, r.Handover.Payout, r.To.Send)
}

// Collect implements ports.Rail.
func (r HandingOver) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return handOver(ctx, collections, r.Handover.Collection, r.To.Collect)
}

// Refund implements ports.Rail.
func (r HandingOver) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return handOver(ctx, refunds, r.Handover.Refund, r.To.Refund)
}

func handOver[T any](ctx context.Context, items []T, record func(context.Context, T) error,
	call func(context.Context, []T) []ports.Outcome) []ports.Outcome {
	for _, item := range items {
		err := record(context.WithoutCancel(ctx), item) // the process of the adapter crashes later
		if err != nil {
			err = record(context.WithoutCancel(ctx), item) // another process has recorded it at the same time
		}
		if err != nil {
			panic(err)
		}
	}
	return call(ctx, items)
}

// Payout records a payout.
func (h *RailHandover) Payout(ctx context.Context, p ports.Payout) error {
	t := p.Transaction
	return h.HandOver(ctx, t.Platform, t.ID.UUID(), rail.Payout, rail.Route{Rail: t.DestinationRail}, t.Pricing.Received)
}

// Collection records a collection.
func (h *RailHandover) Collection(ctx context.Context, c ports.Collection) error {
	t := c.Transaction
	return h.HandOver(ctx, t.Platform, t.ID.UUID(), rail.Collection, rail.Route{Rail: t.SourceRail}, t.Pricing.Sent)
}

// Refund records a refund, or a receipt that is sent back. One to an internal account is no payment of a connection.
func (h *RailHandover) Refund(ctx context.Context, r ports.Refund) error {
	if r.Internal {
		return nil
	}
	return h.HandOver(ctx, r.Platform, r.ID, r.Kind(), rail.Route{Rail: r.Rail}, r.Amount)
}
