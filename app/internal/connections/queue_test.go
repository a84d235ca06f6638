package connections_test

import (
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

func TestRail_RailTakenFromAConnection(t *testing.T) {
	t.Parallel()
	// Payouts that wait for money on a connection that no longer carries their rail wait for it, hold up no other however
	// many they are, and go on when it carries the rail again.
	e := newRailEnv(t)
	e.set("bank")
	r := e.process(e.Store)
	e.balance("bank", 0)
	waiting := make([]ports.Payout, 501)
	for i := range waiting {
		waiting[i] = e.payout(1)
	}
	r.Send(t.Context(), waiting)
	e.Clock.Advance(time.Second)
	instant := e.payout(10)
	instant.Transaction.DestinationRail = corridor.SEPAInstant
	e.verdict(r, instant)
	e.wantStates("bank QUEUED FUNDS", waiting[0], waiting[500], instant)
	e.Clock.Advance(time.Second)
	e.balance("bank", 10_000)
	e.set("bank", func(c *rail.Connection) { c.Rails = []corridor.Rail{corridor.SEPAInstant} })

	r = e.process(e.Store)
	e.sendQueued(r)

	e.wantStates("bank QUEUED CONNECTION", waiting[0], waiting[500])
	e.wantStates("bank HANDED_OVER ", instant)
	if outcome := e.verdict(r, waiting[0]); outcome.Text != "bank no longer carries EUR over SEPA" {
		t.Errorf("outcome %+v", outcome)
	}
	e.set("bank")
	e.sendQueued(e.process(e.Store))
	e.wantStates("bank HANDED_OVER ", waiting[0], waiting[500])
}

func TestRail_ManyPayoutsWithoutConnectionDelayNoOther(t *testing.T) {
	t.Parallel()
	// However many payouts no connection serves, those behind them that one serves get it.
	e := newRailEnv(t)
	r := e.process(e.Store)
	waiting := make([]ports.Payout, 501)
	for i := range waiting {
		waiting[i] = e.payout(1)
	}
	r.Send(t.Context(), waiting)
	e.Clock.Advance(time.Second)
	instant := e.payout(10)
	instant.Transaction.DestinationRail = corridor.SEPAInstant
	e.verdict(r, instant)
	e.set("bank", func(c *rail.Connection) { c.Rails = []corridor.Rail{corridor.SEPAInstant} })

	r = e.process(e.Store)
	e.sendQueued(r) // chooses the connection
	e.sendQueued(r)

	e.wantStates("bank HANDED_OVER ", instant)
	e.wantStates(" QUEUED CONNECTION", waiting[0], waiting[500])
}

func TestRail_LargePayoutIsNotOvertaken(t *testing.T) {
	t.Parallel()
	// Behind a payout that the account cannot cover, smaller ones of the same account wait: more of them than are looked at
	// at once, and those of another process. It is sent first, and they follow.
	e := newRailEnv(t)
	e.set("bank")
	r := e.process(e.Store)
	e.balance("bank", 100)
	large := e.payout(1000)
	e.verdict(r, large)
	small := make([]ports.Payout, 501)
	e.Clock.Advance(time.Second)
	for i := range small {
		small[i] = e.payout(1)
	}
	e.process(e.Store).Send(t.Context(), small)
	e.sendQueued(r)
	e.wantStates("bank QUEUED FUNDS", large, small[0], small[500])

	e.Clock.Advance(time.Second)
	e.balance("bank", 1100)
	e.sendQueued(r)

	e.wantStates("bank HANDED_OVER ", large, small[0])
	e.wantStates("bank QUEUED FUNDS", small[500])
}
