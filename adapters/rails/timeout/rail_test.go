package timeout_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/rails/timeout"
	"causeway/ports"
)

// fakeRail answers with fn.
type fakeRail struct {
	ports.Rail
	fn func(ctx context.Context, n int) []ports.Outcome
}

func (r fakeRail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.fn(ctx, len(payouts))
}
func (r fakeRail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.fn(ctx, len(payouts))
}
func (r fakeRail) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return r.fn(ctx, len(collections))
}
func (r fakeRail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return r.fn(ctx, len(refunds))
}

func (r fakeRail) Debit(ctx context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	return r.fn(ctx, len(transfers))
}
func (r fakeRail) Credit(ctx context.Context, credits []ports.WalletCredit) []ports.Outcome {
	return r.fn(ctx, len(credits))
}

func newRail(t *testing.T, fn func(ctx context.Context, n int) []ports.Outcome) *timeout.Rail {
	t.Helper()
	log := logrus.New()
	log.SetOutput(t.Output())
	return timeout.New(fakeRail{fn: fn}, 20*time.Second, log)
}

// calls calls each method with two items.
func calls(ctx context.Context, rail *timeout.Rail) map[string][]ports.Outcome {
	return map[string][]ports.Outcome{
		"send": rail.Send(ctx, make([]ports.Payout, 2)), "status": rail.Status(ctx, make([]ports.Payout, 2)),
		"collect": rail.Collect(ctx, make([]ports.Collection, 2)), "refund": rail.Refund(ctx, make([]ports.Refund, 2)),
	}
}

func wantVerdict(t *testing.T, replies map[string][]ports.Outcome, want ports.Verdict) {
	t.Helper()
	for name, outcomes := range replies {
		if len(outcomes) != 2 || outcomes[0].Verdict != want || outcomes[1].Verdict != want {
			t.Errorf("%s: %+v, want %s", name, outcomes, want)
		}
	}
}

func TestRail_ReturnsOutcomesOfTheOther(t *testing.T) {
	t.Parallel()
	// A call that returns in time is passed on.
	rail := newRail(t, func(ctx context.Context, n int) []ports.Outcome {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 20*time.Second {
			t.Errorf("deadline %v", deadline)
		}
		return []ports.Outcome{{Verdict: ports.Done}, {Verdict: ports.Done}}[:n]
	})

	wantVerdict(t, calls(t.Context(), rail), ports.Done)
}

func TestRail_SilentRailIsUnknown(t *testing.T) {
	t.Parallel()
	// A rail that ignores its context is given up at the timeout. When too many of its calls have not
	// returned, it is not called, and once they have, it is called again.
	synctest.Test(t, func(t *testing.T) {
		silent := true
		rail := newRail(t, func(_ context.Context, n int) []ports.Outcome {
			if silent {
				time.Sleep(24 * time.Hour)
			}
			return []ports.Outcome{{Verdict: ports.Done}, {Verdict: ports.Done}}[:n]
		})
		began := time.Now()
		wantVerdict(t, calls(t.Context(), rail), ports.Unknown)
		if took := time.Since(began); took != 80*time.Second {
			t.Errorf("four calls took %s", took)
		}
		for range 252 {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			rail.Send(ctx, make([]ports.Payout, 2))
		}
		synctest.Wait()
		began = time.Now()
		wantVerdict(t, calls(t.Context(), rail), ports.Unknown)
		if took := time.Since(began); took != 0 {
			t.Errorf("with too many calls, four more took %s", took)
		}

		silent = false
		time.Sleep(25 * time.Hour)
		wantVerdict(t, calls(t.Context(), rail), ports.Done)
	})
}

func TestRail_PanicIsUnknown(t *testing.T) {
	t.Parallel()
	// A rail that panics does not stop the process.
	rail := newRail(t, func(context.Context, int) []ports.Outcome { panic("index out of range") })

	wantVerdict(t, calls(t.Context(), rail), ports.Unknown)
}
