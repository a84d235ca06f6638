package ledgerdb_test

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

func (h *env) cashMovements(i period.Interval) map[financials.Key]financials.Movement {
	h.t.Helper()
	found := map[financials.Key]financials.Movement{}
	h.monthEndView(math.MaxInt64, func(ctx context.Context, view ports.MonthEndView) error {
		return view.CashMovements(ctx, i, "", func(m financials.Movement) error {
			sum := found[m.Key]
			found[m.Key] = financials.Movement{Key: m.Key, Received: sum.Received + m.Received, Paid: sum.Paid + m.Paid}
			return nil
		})
	})
	return found
}

func TestMonthEndView_CashMovements(t *testing.T) {
	t.Parallel()
	// What entries move between cash and other accounts is added up by the other one, received and paid apart; customers are one group. What
	// moves between two accounts of cash, or between two others, is left out.
	h := newEnv(t)
	ana, ben := newInternal(), newInternal()
	at := noon
	post := func(entries ...ledger.Entry) {
		header := h.newHeader()
		at = at.Add(time.Second)
		header.Effective = at
		h.postAt(at, ledger.Adjustment(header, entries))
	}
	usd := func(debit, credit string, minor int64) ledger.Entry {
		return ledger.Entry{Debit: debit, Credit: credit, Currency: "USD", Amount: minor}
	}
	post(usd("rails/RTP", ledger.CustomerAccount(ana), 100), usd("rails/RTP", ledger.CustomerAccount(ben), 50))
	post(usd(ledger.CustomerAccount(ana), "chains/LAYER2", 30), usd(ledger.CustomerAccount(ana), ledger.IncomeFees, 1))
	post(usd("own/OPERATING", "rails/RTP", 7), usd(ledger.TransitTreasury, "own/OPERATING", 2))
	post(usd(ledger.ExpenseRails, "own/OPERATING", 4), usd("own/OPERATING", ledger.EquityCapital, 500))

	got := h.cashMovements(period.Interval{From: noon, To: noon.Add(time.Hour)})

	key := func(path string) financials.Key { return financials.Key{Path: path, Currency: "USD"} }
	want := map[financials.Key]financials.Movement{
		key("customers/"):         {Key: key("customers/"), Received: 150, Paid: 30},
		key(ledger.ExpenseRails):  {Key: key(ledger.ExpenseRails), Paid: 4},
		key(ledger.EquityCapital): {Key: key(ledger.EquityCapital), Received: 500},
	}
	if len(got) != len(want) {
		t.Errorf("%+v", got)
	}
	for k, m := range want {
		if got[k] != m {
			t.Errorf("%v: %+v, want %+v", k, got[k], m)
		}
	}
}

func TestMonthEndView_CashMovementsAnyTimes(t *testing.T) {
	t.Parallel()
	// Whatever the times of recording and effect, each entry of an interval is in its sums exactly once.
	h := newEnv(t)
	recorded := noon
	amounts := map[time.Time]int64{}
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 4).Draw(t, "postings") {
			recorded = recorded.Add(time.Duration(rapid.Int64Range(1, int64(20*time.Hour)).Draw(t, "pause"))).Truncate(time.Microsecond)
			gap := rapid.Int64Range(-int64(80*time.Hour), int64(80*time.Hour)).Draw(t, "gap")
			header := h.newHeader()
			header.Effective = recorded.Add(time.Duration(gap)).Truncate(time.Microsecond)
			amount := rapid.Int64Range(1, 1000).Draw(t, "amount")
			h.postAt(recorded, ledger.Adjustment(header, []ledger.Entry{{Debit: "rails/RTP", Credit: ledger.FundingJIT, Currency: money.USD,
				Amount: amount}}))
			amounts[header.Effective] += amount
		}
		from := noon.Add(time.Duration(rapid.Int64Range(-int64(50*time.Hour), int64(recorded.Sub(noon))).Draw(t, "from"))).Truncate(
			time.Microsecond)
		interval := period.Interval{From: from, To: from.Add(time.Duration(rapid.Int64Range(1, int64(200*time.Hour)).Draw(t,
			"length"))).Truncate(time.Microsecond)}

		got := h.cashMovements(interval)[financials.Key{Path: ledger.FundingJIT, Currency: money.USD}]

		var want int64
		for effective, amount := range amounts {
			if interval.Contains(effective) {
				want += amount
			}
		}
		if got.Received != want || got.Paid != 0 {
			t.Fatalf("%v: %+v, want %d", interval, got, want)
		}
	})
}
