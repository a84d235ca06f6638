package connections_test

import (
	"context"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
	"causeway/ports/portstest"
)

// berlin returns a time of day in March 2026 in Berlin.
func berlin(t *testing.T, day, hour, minute int) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, time.March, day, hour, minute, 0, 0, zone)
}

func TestRail_ExpectsSettlementByTheSchedule(t *testing.T) {
	t.Parallel()
	// A payout is expected to settle by the schedule of its connection: its cut-off and its holidays. What the partner says
	// comes first, and a day that was said is not replaced by an earlier one.
	e := newRailEnv(t)
	e.set("bank", func(c *rail.Connection) {
		c.Schedules = []rail.Schedule{{Rail: corridor.SEPA, CutOff: "13:30", SettlesAt: "12:00", Holidays: []string{"2026-03-19"}}}
	})
	r := e.process(e.Store)
	e.Clock.Advance(berlin(t, 17, 13, 0).Sub(e.Clock.Now())) // a Tuesday
	early, late := e.payout(1), e.payout(2)
	first := e.verdict(r, early)
	e.Clock.Advance(berlin(t, 17, 13, 30).Sub(e.Clock.Now()))
	afterCutOff, again := e.verdict(r, late), e.verdict(r, early)

	if want := berlin(t, 18, 12, 0); !first.ExpectedAt.Equal(want) || !again.ExpectedAt.Equal(want) {
		t.Errorf("expected at %s, and then %s, want %s", first.ExpectedAt, again.ExpectedAt, want)
	}
	if want := berlin(t, 20, 12, 0); !afterCutOff.ExpectedAt.Equal(want) {
		t.Errorf("after the cut-off expected at %s, want %s", afterCutOff.ExpectedAt, want)
	}
	late.Transaction.ExpectedSettlementAt = berlin(t, 25, 12, 0)
	if said := e.verdict(r, late); !said.ExpectedAt.IsZero() {
		t.Errorf("%s replaces a later day", said.ExpectedAt)
	}
	byPartner := ports.Outcome{Verdict: ports.Waiting, RetryAt: e.Clock.Now(), ExpectedAt: berlin(t, 18, 9, 0)}
	e.banks["bank"].outcomes[late.Transaction.ID.UUID()] = byPartner
	if said := e.verdict(r, late); !said.ExpectedAt.Equal(byPartner.ExpectedAt) {
		t.Errorf("expected at %s, want %s as the partner says", said.ExpectedAt, byPartner.ExpectedAt)
	}
}

func TestRail_ExpectedDayMovesWhileAPayoutWaits(t *testing.T) {
	t.Parallel()
	// A payout that waits for money is expected as if it were sent now.
	e := newRailEnv(t)
	e.set("bank")
	r := e.process(e.Store)
	e.balance("bank", 0)
	e.Clock.Advance(berlin(t, 17, 9, 0).Sub(e.Clock.Now()))
	p := e.payout(100)
	for day := range 3 {
		e.Clock.Advance(berlin(t, 17+day, 9, 0).Sub(e.Clock.Now()))
		if got, want := e.verdict(r, p).ExpectedAt, berlin(t, 18+day, 18, 0); !got.Equal(want) {
			t.Errorf("day %d: expected at %s, want %s", day, got, want)
		}
	}
}

func TestRail_UnknownZoneOpensNothing(t *testing.T) {
	t.Parallel()
	// A process that does not know a zone of a connection does not use the connection, and hands over nothing.
	e := newRailEnv(t)
	e.set("bank", func(c *rail.Connection) {
		c.Schedules = []rail.Schedule{{Rail: corridor.SEPA, Zone: "Europe/Atlantis"}}
	})
	r := e.process(e.Store)
	p := e.payout(100)

	outcome := e.verdict(r, p)

	if outcome.Verdict != ports.Waiting || !outcome.ExpectedAt.IsZero() || len(e.banks["bank"].sent) != 0 {
		t.Errorf("outcome %+v, sent %v", outcome, e.banks["bank"].sent)
	}
}

// heldBack is the schedule of a bank that takes SEPA payments on business days from 8 to 16.
func heldBack(c *rail.Connection) {
	c.Schedules = []rail.Schedule{{Rail: corridor.SEPA, Opens: "08:00", CutOff: "16:00", Hold: true}}
}

func TestRail_HoldsBackUntilTheRailOpens(t *testing.T) {
	t.Parallel()
	// Outside of the hours of a rail its payouts wait, with the reason, and their jobs rest; those on other rails are sent. When
	// it opens they are sent, the oldest first, as far as the money goes.
	e := newRailEnv(t)
	e.set("bank", heldBack)
	r := e.process(e.Store)
	e.balance("bank", 250)
	e.Clock.Advance(berlin(t, 20, 16, 0).Sub(e.Clock.Now())) // a Friday
	var held []ports.Payout
	for range 3 {
		held = append(held, e.payout(100))
		e.Clock.Advance(time.Second)
		outcome := e.verdict(r, held[len(held)-1])
		if outcome.Verdict != ports.Waiting || outcome.Text != "bank is closed for SEPA until 2026-03-23 08:00 (Europe/Berlin)" ||
			!outcome.ExpectedAt.Equal(berlin(t, 24, 18, 0)) ||
			outcome.RetryAt.Before(berlin(t, 23, 8, 0)) {
			t.Errorf("outcome %+v", outcome)
		}
	}
	instant := e.payout(10)
	instant.Transaction.DestinationRail = corridor.SEPAInstant
	e.verdict(r, instant)
	e.Clock.Advance(berlin(t, 23, 7, 59).Sub(e.Clock.Now()))
	e.sendQueued(r)
	e.wantStates("bank HANDED_OVER ", instant)
	e.wantStates("bank QUEUED OPENING", held...)

	e.Clock.Advance(time.Minute)
	e.sendQueued(r)

	e.wantStates("bank HANDED_OVER ", held[0], held[1])
	e.wantStates("bank QUEUED FUNDS", held[2])
	if n := e.callsDue(); n != 2 {
		t.Errorf("%d calls are due, want 2", n)
	}
}

func TestRail_ReleasedBeforeTheRailOpens(t *testing.T) {
	t.Parallel()
	// An operator sends one payout although its rail is closed. A pause is not overridden by that.
	e := newRailEnv(t)
	e.set("bank", heldBack)
	r := e.process(e.Store)
	first, urgent := e.payout(1), e.payout(2) // on a Saturday
	e.verdict(r, first)
	e.verdict(r, urgent)
	e.release(urgent)
	e.pause("SEPA", true)
	e.sendQueued(r)
	e.wantStates("bank QUEUED OPENING", first, urgent)

	e.pause("SEPA", false)
	e.sendQueued(r)

	e.wantStates("bank QUEUED OPENING", first)
	e.wantStates("bank HANDED_OVER ", urgent)
}

func TestRail_ManyPayoutsHeldBackDelayNoOther(t *testing.T) {
	t.Parallel()
	// However many payouts wait for their rail to open, those on other rails behind them are sent.
	e := newRailEnv(t)
	e.set("bank", heldBack)
	r := e.process(e.Store)
	e.balance("bank", 0)
	held := make([]ports.Payout, 501)
	for i := range held {
		held[i] = e.payout(1)
	}
	r.Send(t.Context(), held)
	e.Clock.Advance(time.Second)
	instant := e.payout(10)
	instant.Transaction.DestinationRail = corridor.SEPAInstant
	e.verdict(r, instant)
	e.wantStates("bank QUEUED FUNDS", instant)

	e.Clock.Advance(time.Second)
	e.balance("bank", 10)
	e.sendQueued(r)

	e.wantStates("bank HANDED_OVER ", instant)
	e.wantStates("bank QUEUED OPENING", held[0], held[500])
}

// release releases a payout as an operator does.
func (e *railEnv) release(p ports.Payout) {
	e.t.Helper()
	key := ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Payout}
	portstest.MustDo(e.t, e.Store, func(ctx context.Context, tx *postgres.Unit) error {
		locked, err := tx.LockRailPayments(ctx, []ports.RailPaymentKey{key})
		if err != nil {
			return err
		}
		released, err := locked[key].Release()
		if err != nil {
			return err
		}
		return tx.UpdateRailPayments(ctx, []rail.Payment{released})
	})
}
