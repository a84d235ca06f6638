// Package timeout bounds the duration of the calls of another rail, also of one that ignores its
// context.
package timeout

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/ports"
)

// maxCalls is the maximum number of concurrent calls, with those that run on after their timeout.
const maxCalls = 256

// Rail calls another rail. The outcome of a call that does not return in time is Unknown; it is
// repeated later.
type Rail struct {
	ports.Rail
	timeout time.Duration
	log     logrus.FieldLogger
	running chan struct{} // holds one element for each call that has not returned
}

var _ ports.Rail = (*Rail)(nil)

// New returns a rail whose calls of another one take at most timeout.
func New(rail ports.Rail, timeout time.Duration, log logrus.FieldLogger) *Rail {
	return &Rail{Rail: rail, timeout: timeout, log: log, running: make(chan struct{}, maxCalls)}
}

// Send calls the rail.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return call(ctx, r, "send", r.Rail.Send, payouts)
}

// Status calls the rail.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return call(ctx, r, "status", r.Rail.Status, payouts)
}

// Collect calls the rail.
func (r *Rail) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return call(ctx, r, "collect", r.Rail.Collect, collections)
}

// Refund calls the rail.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return call(ctx, r, "refund", r.Rail.Refund, refunds)
}

// call calls the rail and returns one outcome for each item.
func call[T any](ctx context.Context, r *Rail, name string, do func(context.Context, []T) []ports.Outcome, items []T) []ports.Outcome {
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
