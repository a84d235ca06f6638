package ledgerdb_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// conversion posts a conversion of a payment, recorded and effective at these times, and returns its payment.
func (h *env) conversion(recorded, effective time.Time, minor int64) ident.Transaction {
	header := h.newHeader()
	header.Transaction, header.Effective = newTransaction(), effective
	h.postAt(recorded, ledger.Converted(header, ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(minor + 5),
		Fees: 5, Received: btc(minor), RoundingReceived: 1}))
	return header.Transaction
}

func (h *env) monthEndView(upto int64, fn func(context.Context, ports.MonthEndView) error) {
	h.t.Helper()
	if err := ledgerdb.NewViews(h.store, h.pool).MonthEndView(h.t.Context(), h.platform, upto, fn); err != nil {
		h.t.Fatal(err)
	}
}

func (h *env) positionPostings(upto int64, i period.Interval) (found []string) {
	h.t.Helper()
	h.monthEndView(upto, func(ctx context.Context, view ports.MonthEndView) error {
		return view.PositionPostings(ctx, "USD", i, func(p ports.PositionPosting) error {
			var usd, btc int64
			for _, leg := range p.Legs {
				if leg.Currency == "USD" {
					usd += leg.Quantity
				} else {
					btc += leg.Quantity
				}
			}
			found = append(found, fmt.Sprintf("%d %d %d", p.Seq, usd, btc))
			return nil
		})
	})
	return found
}

func TestMonthEndView_PositionPostingsByEffectiveTime(t *testing.T) {
	t.Parallel()
	// Postings on the position come by effective time, whenever they were recorded: on time, days later, or before
	// they were effective; only those of the interval, and up to a number; others on other accounts do not.
	h := newEnv(t)
	day := 24 * time.Hour
	h.conversion(noon, noon, 100)
	h.conversion(noon.Add(time.Second), noon.Add(2*day), 200) // recorded early
	h.postAt(noon.Add(2*time.Second), h.deposit(newInternal(), 7))
	h.conversion(noon.Add(day), noon.Add(day).Add(-3*time.Second), 300)
	h.conversion(noon.Add(3*day), noon.Add(time.Hour), 400) // recorded late
	h.conversion(noon.Add(3*day+time.Second), noon.Add(3*day), 500)
	interval := period.Interval{From: noon, To: noon.Add(3 * day)}

	want := []string{"1 100 -101", "5 400 -401", "4 300 -301", "2 200 -201"}
	if got := h.positionPostings(math.MaxInt64, interval); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := h.positionPostings(4, interval); !slices.Equal(got, slices.Delete(slices.Clone(want), 1, 2)) {
		t.Errorf("up to number 4: %q", got)
	}
	if got := h.positionPostings(math.MaxInt64, period.Interval{From: noon.Add(day), To: noon.Add(2 * day)}); got != nil {
		t.Errorf("a day with a posting just before it: %q", got)
	}
}

func TestMonthEndView_PositionPostingsAnyTimes(t *testing.T) {
	t.Parallel()
	// Whatever the times of recording and effect, each posting of an interval comes exactly once, in order.
	h := newEnv(t)
	recorded := noon
	type posted struct {
		seq       int64
		effective time.Time
	}
	var all []posted
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 4).Draw(t, "postings") {
			recorded = recorded.Add(time.Duration(rapid.Int64Range(1, int64(20*time.Hour)).Draw(t, "pause"))).Truncate(time.Microsecond)
			gap := rapid.OneOf(rapid.Int64Range(-int64(11*time.Second), int64(11*time.Second)),
				rapid.Int64Range(-int64(80*time.Hour), int64(80*time.Hour))).Draw(t, "gap")
			effective := recorded.Add(time.Duration(gap)).Truncate(time.Microsecond)
			h.conversion(recorded, effective, 10)
			all = append(all, posted{int64(len(all) + 1), effective})
		}
		from := noon.Add(time.Duration(rapid.Int64Range(-int64(50*time.Hour), int64(recorded.Sub(noon))).Draw(t, "from"))).Truncate(
			time.Microsecond)
		interval := period.Interval{From: from, To: from.Add(time.Duration(rapid.Int64Range(1, int64(200*time.Hour)).Draw(t, "length"))).Truncate(
			time.Microsecond)}

		got := h.positionPostings(math.MaxInt64, interval)

		expected := slices.DeleteFunc(slices.Clone(all), func(p posted) bool {
			return p.effective.Before(interval.From) ||
				!p.effective.Before(interval.To)
		})
		slices.SortStableFunc(expected, func(a, b posted) int { return a.effective.Compare(b.effective) })
		var want []string
		for _, p := range expected {
			want = append(want, fmt.Sprintf("%d 10 -11", p.seq))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %q, want %q", interval, got, want)
		}
	})
}

func TestMonthEndView_OwnAccounts(t *testing.T) {
	t.Parallel()
	// A posting on income, expense or own funds in a foreign currency changes the position, whenever it was recorded;
	// one in the functional currency, between two such accounts, or on other accounts does not. The position at a time
	// is the sum of all postings until then.
	h := newEnv(t)
	adjust := func(recorded, effective time.Time, entries ...ledger.Entry) {
		header := h.newHeader()
		header.Effective = effective
		h.postAt(recorded, ledger.Adjustment(header, entries))
	}
	btc := func(debit, credit string, minor int64) ledger.Entry {
		return ledger.Entry{Debit: debit, Credit: credit, Currency: "BTC", Amount: minor}
	}
	own, bank := ledger.PlatformAccount(newInternal()), ledger.Own("OPERATING")
	adjust(noon, noon, btc(bank, ledger.EquityCapital, 1_000), btc(bank, own, 300))
	adjust(noon.Add(time.Second), noon.Add(time.Second), btc(ledger.ExpenseRails, bank, 40), btc(ledger.ExpenseTaxes, ledger.IncomeFees, 5))
	adjust(noon.Add(2*time.Second), noon.Add(2*time.Second), btc(ledger.IncomeFees, ledger.EquityRetainedEarnings, 5),
		btc(ledger.IncomeFees, ledger.LiabilityDeferredFees, 3))
	adjust(noon.Add(3*time.Second), noon.Add(3*time.Second), ledger.Entry{Debit: bank, Credit: ledger.IncomeFees, Currency: "USD", Amount: 9},
		btc(ledger.Own("SAVINGS"), bank, 1), btc(bank, ledger.LiabilityTaxes, 2))
	adjust(noon.Add(40*time.Hour), noon.Add(time.Hour), btc(ledger.FXPosition, ledger.IncomeRounding, 7), btc(own, bank, 100)) // recorded late
	day := period.Interval{From: noon, To: noon.Add(24 * time.Hour)}
	want := []string{"1 [equity/capital 1000, platform 300]", "2 [expense/rails -40]", "5 -7 [income/rounding 7, platform -100]"}

	var got, late []string
	describe := func(p ports.PositionPosting) string {
		text := fmt.Sprint(p.Seq)
		for _, leg := range p.Legs {
			text += fmt.Sprintf(" %d", leg.Quantity)
		}
		var legs []string
		for _, leg := range p.Own {
			legs = append(legs, fmt.Sprintf("%s %d", strings.Replace(leg.Account, own, "platform", 1), leg.Quantity))
		}
		slices.Sort(legs)
		return text + " [" + strings.Join(legs, ", ") + "]"
	}
	var positions exchange.Positions
	h.monthEndView(math.MaxInt64, func(ctx context.Context, view ports.MonthEndView) (err error) {
		if err := view.PositionPostings(ctx, "USD", day,
			func(p ports.PositionPosting) error { got = append(got, describe(p)); return nil }); err != nil {
			return err
		}
		if err := view.LatePositionPostings(ctx, "USD", 2, day.To,
			func(p ports.PositionPosting) error { late = append(late, describe(p)); return nil }); err != nil {
			return err
		}
		positions, err = view.Positions(ctx, "USD", day.To)
		return err
	})

	if !slices.Equal(got, want) || !slices.Equal(late, want[2:]) {
		t.Errorf("%q and late %q, want %q", got, late, want)
	}
	if positions.Traded["BTC"] != -7 || positions.Own["BTC"] != 1_000+300-40+7-100 || positions.Own["USD"] != 0 {
		t.Errorf("%+v", positions)
	}
}

func TestMonthEndView_TransitAndFees(t *testing.T) {
	t.Parallel()
	// A payment is in transit from its conversion to its delivery; its fees are those posted before a time.
	h := newEnv(t)
	delivered, open := h.conversion(noon, noon, 100), h.conversion(noon, noon.Add(time.Hour), 200)
	header := h.newHeader()
	header.Transaction, header.Effective = delivered, noon.Add(30*time.Hour)
	h.postAt(noon.Add(30*time.Hour), ledger.Delivered(header, ledger.Chain("LAYER2"), btc(100)))

	transit := func(to time.Time) monthend.Transit {
		found := monthend.Transit{}
		h.monthEndView(math.MaxInt64, func(ctx context.Context, view ports.MonthEndView) error {
			return view.TransitChanges(ctx, period.Interval{To: to}, found.Add)
		})
		return found
	}
	if got := transit(noon.Add(24 * time.Hour)); len(got) != 2 || got[monthend.TransitKey{Transaction: delivered, Currency: "BTC"}] != 100 {
		t.Errorf("after a day: %v", got)
	}
	if got := transit(noon.Add(48 * time.Hour)); len(got) != 1 || got[monthend.TransitKey{Transaction: open, Currency: "BTC"}] != 200 {
		t.Errorf("after two days: %v", got)
	}
	h.monthEndView(math.MaxInt64, func(ctx context.Context, view ports.MonthEndView) error {
		fees, err := view.Fees(ctx, []ident.Transaction{delivered, open}, noon.Add(time.Minute))
		if err != nil || len(fees) != 1 || fees[monthend.TransitKey{Transaction: delivered, Currency: "USD"}] != 5 {
			t.Errorf("%v, %v", fees, err)
		}
		return nil
	})
}

func TestMonthEndView_LateTransitChanges(t *testing.T) {
	t.Parallel()
	// What late postings moved into transit and out of it is that of the postings that are effective before a time and
	// have numbers above another one, whether they were recorded seconds or days after that time.
	h := newEnv(t)
	end := noon.Add(24 * time.Hour)
	before := h.conversion(noon, noon, 100)
	after := h.conversion(end.Add(time.Second), end, 200) // not before the time
	seconds := h.conversion(end.Add(2*time.Second), end.Add(-time.Second), 300)
	days := h.conversion(end.Add(48*time.Hour), noon, 400)
	header := h.newHeader()
	header.Transaction, header.Effective = before, noon.Add(time.Hour)
	h.postAt(end.Add(49*time.Hour), ledger.Delivered(header, ledger.Chain("LAYER2"), btc(100)))
	late := func(upto, after int64) monthend.Transit {
		found := monthend.Transit{}
		h.monthEndView(upto, func(ctx context.Context, view ports.MonthEndView) error {
			return view.LateTransitChanges(ctx, after, end, found.Add)
		})
		return found
	}

	key := func(payment ident.Transaction) monthend.TransitKey {
		return monthend.TransitKey{Transaction: payment, Currency: "BTC"}
	}
	if got, want := late(math.MaxInt64, 1), (monthend.Transit{key(before): -100, key(seconds): 300, key(days): 400}); !maps.Equal(got, want) {
		t.Errorf("after number 1: %v, want %v, and nothing of %s", got, want, after)
	}
	if got, want := late(4, 3), (monthend.Transit{key(days): 400}); !maps.Equal(got, want) {
		t.Errorf("after number 3 up to 4: %v, want %v", got, want)
	}
}
