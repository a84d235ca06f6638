package monthend_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

var (
	october  = period.MonthOf(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC))
	november = october.Next()
)

func newRun(number int) monthend.Run {
	run := monthend.Run{Month: october, Kind: ledger.KindFeeDeferral, Number: number, At: november.Start().Add(time.Hour),
		By: platform.Author{Actor: "ana"}}
	run.Platform.SetUUID(uuid.UUID{1, 2, 6: 0x70, 8: 0x80, 15: 3})
	run.Approval.By.Actor = "ben"
	run.Approval.Proposal.SetUUID(uuid.UUID{15: 7})
	return run
}

func TestRun_PostReversesTheFormerPostings(t *testing.T) {
	t.Parallel()
	// A run posts the reversals of the former postings at their effective times, and its own, all valid, authorised
	// and with ids of their own; a run of the same result would post the same entries.
	former := newRun(1)
	first, _ := former.Post(nil, monthend.FeePostings(former, []money.Amount{{Minor: 5, Currency: "USD"}}))
	run := newRun(2)
	postings := monthend.FeePostings(run, []money.Amount{{Minor: 7, Currency: "USD"}})

	all, authorisations := run.Post(first, postings)

	if len(all) != 4 || len(authorisations) != 4 || len(run.Postings) != 2 || run.Postings[0] != all[2].ID || run.Postings[1] != all[3].ID {
		t.Fatalf("%v, %v, %v", all, authorisations, run.Postings)
	}
	ids := map[uuid.UUID]bool{first[0].ID: true, first[1].ID: true}
	for i, p := range all {
		if err := p.Validate(); err != nil || ids[p.ID] || authorisations[i].Posting != p.ID || authorisations[i].By != run.By ||
			authorisations[i].Approval != run.Approval || authorisations[i].Note == "" {
			t.Errorf("%v, %v: %v", p, authorisations[i], err)
		}
		ids[p.ID] = true
		if i < 2 && (!p.IsReversalOf(first[i]) || !p.Effective.Equal(first[i].Effective)) {
			t.Errorf("%v is no reversal of %v", p, first[i])
		}
	}
	if !first[0].Effective.Equal(november.Start().Add(-time.Microsecond)) || !first[1].Effective.Equal(november.Start()) {
		t.Errorf("effective %s and %s", first[0].Effective, first[1].Effective)
	}
	if monthend.SameEntries(first, postings) || !monthend.SameEntries(all[2:], postings) ||
		!monthend.SameEntries(nil, monthend.FeePostings(run, nil)) {
		t.Error("the same entries are not recognised")
	}
}

func TestCheckMonth(t *testing.T) {
	t.Parallel()
	// A run is for a soft-closed month, after the run of a soft-closed month before it.
	soft := period.Calendar{First: october, FirstUnclosed: october, FirstOpen: november.Next()}
	closed := period.Calendar{First: october, FirstUnclosed: november, FirstOpen: november.Next()}
	for name, c := range map[string]struct {
		calendar period.Calendar
		month    period.Month
		previous monthend.Run
		reason   string
	}{
		"open":                        {period.Calendar{}, october, monthend.Run{}, "Wrong state"},
		"soft-closed":                 {soft, october, monthend.Run{}, ""},
		"before an earlier one":       {soft, november, monthend.Run{}, "Out of order"},
		"after an earlier one":        {soft, november, newRun(1), ""},
		"after a closed one":          {closed, november, monthend.Run{}, ""},
		"of a month that is closed":   {closed, october, monthend.Run{}, "Wrong state"},
		"of the month after the last": {closed, november.Next(), newRun(1), "Wrong state"},
	} {
		err := monthend.CheckMonth(c.calendar, c.month, ledger.KindRevaluation, c.previous)
		if f, _ := fault.As(err); (err == nil) != (c.reason == "") || f != nil && f.Reason != c.reason {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
}

func TestCheckClose(t *testing.T) {
	t.Parallel()
	// A month is closed with a run that has read every posting and continues the last run before it.
	previous := newRun(2)
	previous.Month = october.Previous()
	run := newRun(1)
	run.Previous = previous.Ref()
	older := run
	older.Previous.Number = 1
	for name, c := range map[string]struct {
		needed monthend.Needed
		reason string
	}{
		"no run":               {monthend.Needed{Previous: previous}, "Month-end run missing"},
		"a run":                {monthend.Needed{Run: run, Previous: previous}, ""},
		"changed":              {monthend.Needed{Run: run, Previous: previous, Changed: true}, "Month-end run out of date"},
		"on a former run":      {monthend.Needed{Run: older, Previous: previous}, "Month-end run out of date"},
		"a first run":          {monthend.Needed{Run: newRun(3)}, ""},
		"not on the first run": {monthend.Needed{Run: newRun(1), Previous: previous}, "Month-end run out of date"},
	} {
		c.needed.Kind = ledger.KindRevaluation
		err := monthend.CheckClose(october, c.needed)
		if f, _ := fault.As(err); (err == nil) != (c.reason == "") || f != nil && f.Reason != c.reason {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
}

func TestTransit_FeesOfWhatIsInTransit(t *testing.T) {
	t.Parallel()
	// What entered and left adds up by payment and currency; fees of a payment in another currency are a line of
	// their own; the deferred fees are the sum of all lines.
	rapid.Check(t, func(t *rapid.T) {
		transit, want := monthend.Transit{}, map[monthend.TransitKey]int64{}
		fees, total := map[monthend.TransitKey]int64{}, int64(0)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			key := monthend.TransitKey{Currency: rapid.SampledFrom([]money.Currency{"EUR", "USD"}).Draw(t, "currency")}
			key.Transaction.SetUUID(uuid.UUID{6: 0x70, 8: 0x80, 15: byte(rapid.IntRange(1, 4).Draw(t, "payment"))})
			amount := rapid.Int64Range(-3, 3).Draw(t, "amount")
			if err := transit.Add(key, amount); err != nil {
				t.Fatal(err)
			}
			want[key] += amount
		}
		for i, payment := range transit.Transactions() {
			key := monthend.TransitKey{Transaction: payment, Currency: "USD"}
			fees[key] = int64(i + 1)
			total += int64(i + 1)
		}

		lines := transit.WithFees(fees)

		deferred, err := monthend.DeferredFees(lines)
		if err != nil || total > 0 && (len(deferred) != 1 || deferred[0] != money.Amount{Minor: total, Currency: "USD"}) || total == 0 &&
			len(deferred) > 0 {
			t.Errorf("%v, %v; want %d", deferred, err, total)
		}
		for i, l := range lines {
			key := monthend.TransitKey{Transaction: l.Transaction, Currency: l.Currency}
			if l.Amount != want[key] || l.Fee != fees[key] || l.Amount == 0 && l.Fee == 0 {
				t.Errorf("%+v, want %d and %d", l, want[key], fees[key])
			}
			if i > 0 && lines[i-1].Transaction == l.Transaction && lines[i-1].Currency >= l.Currency {
				t.Errorf("%+v before %+v", lines[i-1], l)
			}
		}
	})
}
