package connections_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

func TestRail_ReportsCalls(t *testing.T) {
	t.Parallel()
	// Each call of an adapter is reported with its outcomes, also one that panics. A payment that waits is not called about.
	e := newRailEnv(t)
	e.set("bank")
	r := e.process(e.Store)
	var called []string
	r.Called = func(p ident.Platform, connection string, outcomes []ports.Outcome, took time.Duration) {
		if p != e.Platform.ID || took != 0 { // by the clock of the test
			t.Errorf("of %s, took %s", p, took)
		}
		for _, o := range outcomes {
			called = append(called, fmt.Sprint(connection, " ", o.Verdict))
		}
	}
	one, other := e.payout(1), e.payout(2)

	r.Send(t.Context(), []ports.Payout{one, other})
	e.banks["bank"].settle(ports.Done, one)
	r.Status(t.Context(), []ports.Payout{one, other})
	e.pause("bank", true)
	e.verdict(r, e.payout(3))
	e.banks["bank"].outcomes = nil
	r.Status(t.Context(), []ports.Payout{other})

	if want := []string{"bank WAITING", "bank WAITING", "bank DONE", "bank WAITING", "bank UNKNOWN"}; !slices.Equal(called, want) {
		t.Errorf("called %q, want %q", called, want)
	}
}
