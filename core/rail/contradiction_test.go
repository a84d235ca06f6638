package rail_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/rail"
)

func TestCompareEnds_EveryReportInEveryState(t *testing.T) {
	t.Parallel()
	// C changes what is recorded, r repeats it or says nothing of the end, x contradicts it. The columns are the reports: handed over,
	// done, refused, returned. A refund that is done is not undone by its return.
	for state, want := range map[rail.State]string{
		rail.Queued: "rCCC", rail.Sent: "rCCC", rail.Done: "rrxC", rail.Refused: "rxrr", rail.Returned: "rxrr", rail.Cancelled: "rxrr",
	} {
		for _, kind := range []rail.Kind{rail.Payout, rail.Collection, rail.Refund, rail.SendBack} {
			want := want
			if kind.IsReturn() && state == rail.Done {
				want = "rrxx"
			}
			var got strings.Builder
			for _, reported := range []rail.State{rail.Sent, rail.Done, rail.Refused, rail.Returned} {
				got.WriteByte("rCx"[kind.CompareEnds(state, reported)])
			}
			if got.String() != want {
				t.Errorf("%s of a %s: %s, want %s", state, kind, got.String(), want)
			}
		}
	}
}

func TestCompareEnds_EveryStatementIsExplained(t *testing.T) {
	t.Parallel()
	// However often and in whichever order a partner reports how a payment ended, each report is posted, says that the money is
	// where the books have it, or is one item. What is recorded moves only by what is posted.
	rapid.Check(t, func(t *rapid.T) {
		recorded, items := rail.Sent, map[string]bool{}
		paid := false // according to the books
		for _, reported := range rapid.SliceOf(rapid.SampledFrom([]rail.State{rail.Done, rail.Refused, rail.Returned})).Draw(t, "reports") {
			switch rail.Payout.CompareEnds(recorded, reported) {
			case rail.Changes:
				p, err := rail.Payment{State: recorded}.To(reported, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				recorded, paid = p.State, p.State == rail.Done
			case rail.Repeats:
				if paid != (reported == rail.Done) {
					t.Fatalf("%s was dropped while %s is recorded", reported, recorded)
				}
			case rail.Contradicts:
				c := rail.Contradiction{Name: "P", Recorded: rail.Said{State: string(recorded)}, Reported: rail.Said{State: string(reported)}}
				if items[c.Key()] = true; paid == (reported == rail.Done) {
					t.Fatalf("%s is kept while %s is recorded", reported, recorded)
				}
			}
		}
		if len(items) > 2 {
			t.Fatalf("%d items of one payment", len(items))
		}
	})
}

func TestContradiction_KeyIsOfTheReport(t *testing.T) {
	t.Parallel()
	// The same report at another time is the same item; one with another id or amount is another. However long its parts are,
	// the key can be stored.
	c := rail.Contradiction{Name: strings.Repeat("x", 400), Recorded: rail.Said{State: "DONE"},
		Reported: rail.Said{State: "REFUSED", PartnerID: "P1"}}
	later, other := c, c
	later.Reported.At, other.Reported.Amount = time.Now(), money.Amount{Minor: 1, Currency: money.EUR}
	if c.Key() != later.Key() || c.Key() == other.Key() || len(c.Key()) > 500 {
		t.Errorf("%s, %s, %s", c.Key(), later.Key(), other.Key())
	}
}
