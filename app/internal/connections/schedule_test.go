package connections_test

import (
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
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
