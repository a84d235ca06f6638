package apptest

import (
	"context"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/ports"
)

// Rail is the sandbox's rail for every platform. A call that a test sets is made instead.
type Rail struct {
	ports.Rail
	OnSend             func(context.Context, []ports.Payout) []ports.Outcome
	OnStatus           func(context.Context, []ports.Payout) []ports.Outcome
	OnCollect          func(context.Context, []ports.Collection) []ports.Outcome
	OnCollectionStatus func(context.Context, []ports.Collection) []ports.Outcome
	OnRefund           func(context.Context, []ports.Refund) []ports.Outcome
}

var (
	_ ports.Rail  = (*Rail)(nil)
	_ ports.Rails = (*Rail)(nil)
)

// RailFor returns the rail itself.
func (r *Rail) RailFor(ident.Platform) (ports.Rail, error) { return r, nil }

// Carries accepts every route.
func (r *Rail) Carries(rail.Route) error { return nil }

// Send calls OnSend, or the sandbox.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return call(ctx, r.OnSend, r.Rail.Send, payouts)
}

// Status calls OnStatus, or the sandbox.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return call(ctx, r.OnStatus, r.Rail.Status, payouts)
}

// Collect calls OnCollect, or the sandbox.
func (r *Rail) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return call(ctx, r.OnCollect, r.Rail.Collect, collections)
}

// CollectionStatus calls OnCollectionStatus, or the sandbox.
func (r *Rail) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return call(ctx, r.OnCollectionStatus, r.Rail.CollectionStatus, collections)
}

// Refund calls OnRefund, or the sandbox.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return call(ctx, r.OnRefund, r.Rail.Refund, refunds)
}

func call[T any](ctx context.Context, override, sandbox func(context.Context, []T) []ports.Outcome, items []T) []ports.Outcome {
	if override != nil {
		return override(ctx, items)
	}
	return sandbox(ctx, items)
}

// AllOutcomes is a rail call that returns one outcome for every item.
func AllOutcomes[T any](outcome ports.Outcome) func(context.Context, []T) []ports.Outcome {
	return func(_ context.Context, items []T) []ports.Outcome {
		outcomes := make([]ports.Outcome, len(items))
		for i := range outcomes {
			outcomes[i] = outcome
		}
		return outcomes
	}
}
