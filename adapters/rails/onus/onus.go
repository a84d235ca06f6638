// Package onus implements on-us payments: a payment to the UMA address of a customer of the
// same platform is delivered internally instead of over the external rail. It wraps the external
// rail. The use case behind Deliver moves the money.
//
// The package is not called internal because Go reserves that folder name.
package onus

import (
	"context"

	"github.com/sirupsen/logrus"

	"causeway/ports"
)

// DeliverFunc delivers a payout to a customer of the same platform. It reports false if no
// customer has the address. Calling it again returns the state of the same payout.
type DeliverFunc func(ctx context.Context, p ports.Payout) (outcome ports.Outcome, internal bool, err error)

// Rail calls Deliver for payouts to UMA addresses, and the wrapped rail for all others.
type Rail struct {
	ports.Rail
	Deliver DeliverFunc
	Log     *logrus.Entry
}

// Send delivers internal payouts and sends the others over the wrapped rail.
func (r Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	var external []ports.Payout
	var indexes []int
	for i, p := range payouts {
		if p.Transaction.Destination.UMA != "" {
			outcome, internal, err := r.Deliver(ctx, p)
			if err != nil {
				r.Log.WithError(err).WithField("transaction", p.Transaction.ID.String()).Warn("internal payment failed; will retry")
				outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
				continue
			}
			if internal {
				outcomes[i] = outcome
				continue
			}
		}
		external, indexes = append(external, p), append(indexes, i)
	}
	if len(external) > 0 {
		for n, outcome := range r.Rail.Send(ctx, external) {
			outcomes[indexes[n]] = outcome
		}
	}
	return outcomes
}
