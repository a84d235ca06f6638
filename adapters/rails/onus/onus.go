// Package neighbours is the rail between customers of one platform, laid in front of
// that to the world: a payment to a UMA address that is a customer's does not leave
// the house.
//
// It moves nothing itself; what becomes of such a payment is the use case's to know.
package onus

import (
	"context"

	"github.com/sirupsen/logrus"

	"causeway/ports"
)

// DeliverFunc hands a payout to a customer of the same platform; false when nobody there
// has the address. Asked again it says how the same payout is doing.
type DeliverFunc func(ctx context.Context, p ports.Payout) (outcome ports.Outcome, ours bool, err error)

// Rail asks Deliver about payouts to people, and the rail it stands before about all
// that is not for neighbours.
type Rail struct {
	ports.Rail
	Deliver DeliverFunc
	Log     *logrus.Entry
}

// Send hands payouts over.
func (r Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	var outside []ports.Payout
	var places []int
	for i, p := range payouts {
		if p.Transaction.Destination.UMA != "" {
			outcome, ours, err := r.Deliver(ctx, p)
			if err != nil {
				r.Log.WithError(err).WithField("transaction", p.Transaction.ID.String()).Warn("a payment between customers has to wait")
				outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
				continue
			}
			if ours {
				outcomes[i] = outcome
				continue
			}
		}
		outside, places = append(outside, p), append(places, i)
	}
	if len(outside) > 0 {
		for n, outcome := range r.Rail.Send(ctx, outside) {
			outcomes[places[n]] = outcome
		}
	}
	return outcomes
}
