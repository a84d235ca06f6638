// Package timeout bounds the duration of the calls of another rail, or of a chain, also of one that ignores
// its context.
package timeout

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/wallet"
	"causeway/ports"
)

// maxCalls is the maximum number of concurrent calls, with those that run on after their timeout.
const maxCalls = 256

// Rail calls another rail. The outcome of a call that does not return in time is Unknown; it is
// repeated later.
type Rail struct {
	ports.Rail
	calls calls
}

// calls are the calls of one rail or chain.
type calls struct {
	timeout time.Duration
	log     logrus.FieldLogger
	running chan struct{} // holds one element for each call that has not returned
}

var (
	_ ports.RefundStatusRail = (*Rail)(nil)
	_ ports.WalletChain      = (*Chain)(nil)
)

// New returns a rail whose calls of another one take at most timeout.
func New(rail ports.Rail, timeout time.Duration, log logrus.FieldLogger) *Rail {
	return &Rail{rail, newCalls(timeout, log)}
}

func newCalls(timeout time.Duration, log logrus.FieldLogger) calls {
	return calls{timeout: timeout, log: log, running: make(chan struct{}, maxCalls)}
}

// Chain calls another chain, as Rail calls another rail.
type Chain struct {
	chain ports.WalletChain
	calls calls
}

// NewChain returns a chain whose calls of another one take at most timeout.
func NewChain(chain ports.WalletChain, timeout time.Duration, log logrus.FieldLogger) *Chain {
	return &Chain{chain, newCalls(timeout, log)}
}

// Settlement calls the chain.
func (c *Chain) Settlement(ctx context.Context) (*wallet.Settlement, error) {
	ctx, cancel := context.WithTimeout(ctx, c.calls.timeout)
	defer cancel()
	return c.chain.Settlement(ctx)
}

// Debit calls the chain.
func (c *Chain) Debit(ctx context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	return call(ctx, c.calls, "debit", c.chain.Debit, transfers)
}

// Credit calls the chain.
func (c *Chain) Credit(ctx context.Context, credits []ports.WalletCredit) []ports.Outcome {
	return call(ctx, c.calls, "credit", c.chain.Credit, credits)
}

// Send calls the rail.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return call(ctx, r.calls, "send", r.Rail.Send, payouts)
}

// Status calls the rail.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return call(ctx, r.calls, "status", r.Rail.Status, payouts)
}

// Collect calls the rail.
func (r *Rail) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return call(ctx, r.calls, "collect", r.Rail.Collect, collections)
}

// CollectionStatus calls the rail.
func (r *Rail) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return call(ctx, r.calls, "status of collections", r.Rail.CollectionStatus, collections)
}

// Refund calls the rail.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return call(ctx, r.calls, "refund", r.Rail.Refund, refunds)
}

// RefundStatus calls the rail.
func (r *Rail) RefundStatus(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return call(ctx, r.calls, "status of refunds", func(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
		return ports.RefundStatus(ctx, r.Rail, refunds)
	}, refunds)
}

// call calls the rail or chain and returns one outcome for each item.
func call[T any](ctx context.Context, r calls, name string, do func(context.Context, []T) []ports.Outcome, items []T) []ports.Outcome {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	log := r.log.WithField("call", name).WithField("items", len(items))
	select {
	case r.running <- struct{}{}:
	default:
		log.Error("rail not called: too many calls have not returned; will retry")
		return unknown(len(items))
	}
	returned := make(chan []ports.Outcome, 1)
	go func() {
		defer func() {
			<-r.running
			if p := recover(); p != nil {
				log.WithField("stack", string(debug.Stack())).Errorf("rail call panicked: %v; will retry", p)
				returned <- unknown(len(items))
			}
		}()
		returned <- do(ctx, items)
	}()
	select {
	case outcomes := <-returned:
		return outcomes
	case <-ctx.Done():
		log.WithError(ctx.Err()).Warn("rail call did not return in time; will retry")
		return unknown(len(items))
	}
}

// unknown returns the outcomes of n items after a failed call.
func unknown(n int) []ports.Outcome {
	outcomes := make([]ports.Outcome, n)
	for i := range outcomes {
		outcomes[i].Verdict = ports.Unknown
	}
	return outcomes
}
