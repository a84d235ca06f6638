package monthend_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/app/accounting"
	"causeway/app/monthend"
	"causeway/core/exchange"
	"causeway/core/fault"
	coremonthend "causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/price"
	"causeway/ledger"
	"causeway/ports"
)

// fillMarch posts, before March, a purchase of 1,000 euros for 1,080 dollars (worth 1,100 when March begins), with a fee
// of 2 euros; in March, the sale of 500 of them for 600 dollars; and soft-closes March at a rate of 1.2.
func fillMarch(e *env) {
	e.Clock.Advance(march.Start().AddDate(0, 0, -10).Sub(e.Clock.Now()))
	e.convert(20, 1_000, "EUR", 1_080, "USD")
	e.moveTo(march.Start().Add(time.Hour))
	e.convert(14, 600, "USD", 500, "EUR")
	e.KeepRates(march.End().Add(-time.Hour), "1.2")
	e.softClose(march)
}

func TestRevalue_FirstMonth(t *testing.T) {
	t.Parallel()
	// The first month opens the books at the rates of its beginning: what was earned before is no income. Its own
	// result is realised and unrealised, and afterwards the position is worth what fx/valuation says. The
	// unrealised result is reversed when the next month begins.
	e := newEnv(t)
	fillMarch(e)

	done := e.revalue(march)

	// 1,002 euros at 1.1 cost 1,102; 500 of them, for 600 dollars, realise 50; the rest is worth 602 at 1.2 and
	// cost 552. Before, the position had earned 1,100 - 1,080, and 2 euros of fees, which are translated to 2 dollars.
	end, begin := coremonthend.Last(march), march.Start()
	for _, c := range []struct {
		path string
		at   time.Time
		want int64
	}{
		{ledger.EquityRetainedEarnings, begin, 20}, {ledger.FXValuation, begin, -20},
		{ledger.IncomeExchangeGains, end, 50}, {ledger.IncomeUnrealisedExchangeGains, end, 50}, {ledger.FXValuation, end, -120},
		{ledger.IncomeExchangeGains, april.Start(), 50}, {ledger.IncomeUnrealisedExchangeGains, april.Start(), 0},
		{ledger.FXValuation, april.Start(), -70},
	} {
		if got := e.balance(c.path, c.at); got != c.want {
			t.Errorf("%s at %s: %d, want %d", c.path, c.at, got, c.want)
		}
	}
	if value := must(done.Result.Value())(t); value != 122 || done.Result.Translated != 2 || done.Result.Opening != 20 ||
		done.Run.Number != 1 || len(done.Run.Postings) != 4 || done.Run.By != e.by {
		t.Errorf("%+v", done)
	}
	want := coremonthend.Changes{Opening: 22, Closing: 122, ByOrigin: map[exchange.Origin]int64{exchange.Conversion: 50},
		Trades: map[exchange.Origin]int64{exchange.Conversion: 1}, RateChanges: 50}
	if c := done.Result.Changes; c.Opening != want.Opening || c.Closing != want.Closing || c.ByOrigin[exchange.Conversion] != 50 ||
		c.RateChanges != 50 {
		t.Errorf("%+v, want %+v", c, want)
	}
	stored, err := e.service.Result(t.Context(), e.Platform.ID, march)
	if err != nil || stored.Result.Changes.ByOrigin[exchange.Conversion] != 50 || !slices.Equal(stored.Result.Lines, done.Result.Lines) ||
		!slices.Equal(stored.Result.Realised, done.Result.Realised) ||
		!slices.Equal(stored.Run.Postings, done.Run.Postings) || stored.Result.Month.Cash != done.Result.Cash {
		t.Errorf("stored %+v, %v; want %+v", stored, err, done)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestRevalue_RepetitionPostsOnlyChanges(t *testing.T) {
	t.Parallel()
	// A repetition posts nothing. After an authorised posting into the month it reverses what it posted, at the
	// same effective times, and posts the new result.
	e := newEnv(t)
	fillMarch(e)
	first := e.revalue(march)
	before := e.postings()

	if again := e.revalue(march); again.Run.Number != 1 || e.postings() != before {
		t.Errorf("the repetition is run %d, with %d postings", again.Run.Number, e.postings()-before)
	}
	_, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.by, nil, period.Adjustment{Note: "Settled 100 euros at 1.2.",
		Effective: march.End().AddDate(0, 0, -2), Entries: []ledger.Entry{
			{Debit: ledger.FXPosition, Credit: ledger.Rail("SEPA"), Currency: "EUR", Amount: 100},
			{Debit: ledger.Rail("WIRE"), Credit: ledger.FXPosition, Currency: "USD", Amount: 120}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.change(accounting.MonthChange{Action: period.Close, Month: march})
	wantConflict(t, err, "Month-end run out of date")

	second := e.revalue(march)

	// The sale realises another 10 of the 50 that were unrealised.
	if second.Run.Number != 2 || slices.Equal(first.Run.Postings, second.Run.Postings) {
		t.Errorf("%+v", second.Run)
	}
	end := coremonthend.Last(march)
	for path, want := range map[string]int64{ledger.IncomeExchangeGains: 60, ledger.IncomeUnrealisedExchangeGains: 40,
		ledger.FXValuation: -120} {
		if got := e.balance(path, end); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got := e.balance(ledger.EquityRetainedEarnings, end); got != 20 {
		t.Errorf("retained earnings: %d", got)
	}
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march}); err != nil {
		t.Error(err)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

// postingRates posts once, while a run reads.
type postingRates struct {
	ports.KeptRates
	post func()
	once sync.Once
}

func (r *postingRates) RatesAt(ctx context.Context, at time.Time) (price.KeptRates, error) {
	r.once.Do(r.post)
	return r.KeptRates.RatesAt(ctx, at)
}

func TestRevalue_PostingsWhileItReads(t *testing.T) {
	t.Parallel()
	// A posting into the month that is added while a run reads it is part of the result, also one that was
	// effective just before the end of the month and is recorded seconds after it.
	e := newEnv(t)
	e.convert(14, 600, "USD", 500, "EUR")
	e.moveTo(march.End().Add(time.Second))
	e.softCloseNow(march)
	adjust := func(euros int64, before time.Duration) {
		_, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.by, nil, period.Adjustment{Note: "Late", Effective: march.End().Add(-before),
			Entries: []ledger.Entry{
				{Debit: ledger.Rail("SEPA"), Credit: ledger.FXPosition, Currency: "EUR", Amount: euros}}})
		if err != nil {
			t.Error(err)
		}
	}
	e.service.KeptRates = &postingRates{KeptRates: e.Store, post: func() { adjust(100, 2*time.Second) }}

	done := e.revalue(march)

	if len(done.Result.Lines) != 1 || done.Result.Lines[0].Quantity != -400 || done.Run.Number != 1 {
		t.Errorf("%+v", done)
	}
	adjust(50, time.Second)
	_, err := e.change(accounting.MonthChange{Action: period.Close, Month: march})
	wantConflict(t, err, "Month-end run out of date")
	if again := e.revalue(march); again.Result.Lines[0].Quantity != -350 || again.Run.Number != 2 {
		t.Errorf("%+v", again)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestRevalue_NextMonths(t *testing.T) {
	t.Parallel()
	// With KEEP a month posts the change of the unrealised result; with REVERSE it posts all of it. Either way
	// income over the months is the change of the value of the position.
	for settings, want := range map[string]struct{ unrealisedIncome, inApril int64 }{
		"unrealisedResult=KEEP":    {25, -25}, // 50 in March, -25 in April
		"unrealisedResult=REVERSE": {25, -25}, // 50 in March, -50 and 25 in April
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, settings)
			fillMarch(e)
			e.revalue(march)
			e.convert(10, 100, "EUR", 2_300, "MXN") // at 1.15 by the value of the euros, which are bought
			e.KeepRates(april.Start().AddDate(0, 0, 3), "1.15")
			e.KeepRates(april.End().Add(-time.Minute), "1.15")
			e.softClose(april)

			done := e.revalue(april)

			end := coremonthend.Last(april)
			gains := e.balance(ledger.IncomeUnrealisedExchangeGains, end) - e.balance(ledger.ExpenseUnrealisedExchangeLosses, end)
			if gains != want.unrealisedIncome {
				t.Errorf("unrealised income of both months: %d, want %d", gains, want.unrealisedIncome)
			}
			if change := gains - e.balance(ledger.IncomeUnrealisedExchangeGains, coremonthend.Last(march)); change != want.inApril {
				t.Errorf("unrealised income in April: %d, want %d", change, want.inApril)
			}
			value := must(done.Result.Value())(t)
			if got := e.balance(ledger.FXValuation, end); got != done.Result.Translated-value || done.Result.Translated != 4 {
				t.Errorf("fx/valuation: %d, the position is worth %d, and %d were translated", got, value, done.Result.Translated)
			}
			if done.Result.Changes.Opening != 122 || done.Result.Changes.Closing != value {
				t.Errorf("%+v, want 122 to %d", done.Result.Changes, value)
			}
			if report := e.checkLedger(); !report.Clean() {
				t.Errorf("%v", report.Findings)
			}
		})
	}
}

func TestRevalue_ReversalAtAnotherRateIsALoss(t *testing.T) {
	t.Parallel()
	// A conversion that is undone after the rate has moved costs the difference, which is shown as a loss on a
	// reversal; the detail of each conversion adds up to the realised result.
	e := newEnv(t)
	e.KeepRates(march.Start().Add(time.Hour), "1.1")
	converted := e.convert(15, 1_100, "USD", 1_000, "EUR") // sold short at 1.1
	e.KeepRates(e.Clock.Now().Add(time.Hour), "1.05")
	e.Clock.Advance(2 * time.Hour)
	e.Post(ledger.Reverse(converted, e.IDs.New(e.Clock.Now()), e.Clock.Now(), "returned"))
	e.KeepRates(march.End().Add(-time.Hour), "1.05")
	e.softClose(march)

	done := e.revalue(march)

	// The euros come back at 1,050 and 1,100 dollars are given back; before, they were sold for 1,100: a gain of
	// 50 on the short position, and a loss of 50 on the reversal.
	want := []exchange.Realised{{Origin: exchange.Conversion, Currency: "EUR", Trades: 1}, {Origin: exchange.Reversal, Currency: "EUR",
		Amount: 0, Trades: 1}}
	if !slices.Equal(done.Result.Realised, want) {
		t.Errorf("%+v, want %+v", done.Result.Realised, want)
	}
	if c := done.Result.Changes; c.ByOrigin[exchange.Reversal] != -50 || c.RateChanges != 50 || c.Closing != 0 {
		t.Errorf("%+v", c)
	}
	var total, differences int64
	err := e.service.EachMeasured(t.Context(), done, func(m monthend.MeasuredPosting) error {
		total, differences = total+m.Realised, differences+m.Difference
		return nil
	})
	if err != nil || total != 0 || differences != -50 {
		t.Errorf("%d, %d, %v", total, differences, err)
	}
}

func TestChanges_BetweenAnyTwoTimes(t *testing.T) {
	t.Parallel()
	// Between any two times with rates the value changes by conversions and rates, in any currency; a time without
	// rates is refused.
	e := newEnv(t)
	e.KeepRates(march.Start().AddDate(0, 0, 13), "1.1")
	e.convert(14, 1_000, "EUR", 1_080, "USD") // worth 1,100: 20 earned, and a fee of 2 euros
	from, to := e.Clock.Now().Add(-time.Minute), e.Clock.Now().Add(5*time.Hour)
	e.KeepRates(e.Clock.Now().Add(time.Hour), "1.2")
	e.moveTo(to)

	got, err := e.service.Changes(t.Context(), e.Platform.ID, from, to, "USD")

	if err != nil || got.Opening != 0 || got.Closing != 122 || got.ByOrigin[exchange.Conversion] != 20 ||
		got.ByOrigin[exchange.IncomeAndExpense] != 2 || got.RateChanges != 100 {
		t.Errorf("%+v, %v", got, err)
	}
	// 1,080 dollars are 899.99 euros at the kept rates
	if got, err = e.service.Changes(t.Context(), e.Platform.ID, from, to, "EUR"); err != nil || got.Closing != got.Opening+
		got.ByOrigin[exchange.Conversion]+got.RateChanges || got.Closing != 101 {
		t.Errorf("in euros: %+v, %v", got, err)
	}
	for name, times := range map[string][2]time.Time{"no rates": {march.Start().AddDate(0, 0, -9), to},
		"in the future": {from, to.Add(time.Hour)}, "order": {to, from}} {
		if _, err := e.service.Changes(t.Context(), e.Platform.ID, times[0], times[1], "USD"); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRevalue_Refused(t *testing.T) {
	t.Parallel()
	// A month is revalued when it is soft-closed, in order, by a platform with a functional currency; a platform
	// with one cannot close a month without a result, unless that is confirmed.
	e := newEnv(t)
	revalue := func(m period.Month) error {
		_, err := e.service.Revalue(t.Context(), e.Platform.ID, e.by, nil, m)
		return err
	}
	wantConflict(t, revalue(march), "Wrong state")
	e.softClose(march)
	e.softClose(april)
	wantConflict(t, revalue(april), "Out of order")
	e.set("functionalCurrency=")
	wantConflict(t, revalue(march), "No functional currency")
	e.set("functionalCurrency=USD")

	_, err := e.change(accounting.MonthChange{Action: period.Close, Month: march})
	wantConflict(t, err, "Month-end run missing")
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true}); err != nil {
		t.Error(err)
	}
	wantConflict(t, revalue(march), "Wrong state")
	if err := revalue(april); err != nil {
		t.Error(err)
	}
	if _, err := e.service.Result(t.Context(), e.Platform.ID, march); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

// must returns a function that returns a result, and ends the test if there is an error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
