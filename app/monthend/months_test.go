package monthend_test

import (
	"context"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/monthend"
	"causeway/core/books"
	"causeway/core/exchange"
	coremonthend "causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
)

// wantValued revalues a month and checks that the position is then worth what was translated together with
// fx/valuation, and what of the unrealised result remains in income at the end of the month and after it.
func (e *env) wantValued(m period.Month, atEnd, after int64) {
	e.t.Helper()
	done := e.revalue(m)
	value := must(done.Result.Value())(e.t)
	if got := e.balance(ledger.FXValuation, coremonthend.Last(m)); got != done.Result.Translated-value {
		e.t.Errorf("%s: fx/valuation is %d, the position is worth %d, and %d were translated", m, got, value, done.Result.Translated)
	}
	for at, want := range map[time.Time]int64{coremonthend.Last(m): atEnd, m.End(): after} {
		if got := e.balance(ledger.IncomeUnrealisedExchangeGains, at) - e.balance(ledger.ExpenseUnrealisedExchangeLosses, at); got != want {
			e.t.Errorf("%s: unrealised income until %s is %d, want %d", m, at, got, want)
		}
	}
	if report := e.checkLedger(); !report.Clean() {
		e.t.Errorf("%s: %v", m, report.Findings)
	}
}

func TestRevalue_PolicyChangesBetweenMonths(t *testing.T) {
	t.Parallel()
	// A month that reverses the unrealised result also takes back what earlier months have kept, so that it is in
	// the books once, whichever way the policy is changed, also for a month that is run again.
	e := newEnv(t, "unrealisedResult=KEEP")
	fillMarch(e) // 500 euros that cost 550
	e.wantValued(march, 50, 50)
	may, june := april.Next(), april.Next().Next()
	e.KeepRates(april.End().Add(-time.Minute), "1.2")
	e.softClose(april)
	e.wantValued(april, 50, 50) // nothing to post

	e.set("unrealisedResult=REVERSE")
	e.wantValued(april, 50, 0)

	e.KeepRates(may.End().Add(-time.Minute), "1.15")
	e.softClose(may)
	e.wantValued(may, 25, 0)
	e.set("unrealisedResult=KEEP")
	e.KeepRates(june.End().Add(-time.Minute), "1.3")
	e.softClose(june)
	e.wantValued(june, 100, 100)
}

func TestRevalue_PostingAfterTheLastRunOfAClosedMonth(t *testing.T) {
	t.Parallel()
	// A month may be closed although its run is out of date. What the run has not read is part of the next month.
	e := newEnv(t)
	fillMarch(e)
	e.revalue(march)
	e.adjust(march.End().AddDate(0, 0, -2),
		ledger.Entry{Debit: ledger.FXPosition, Credit: ledger.Rail("SEPA"), Currency: "EUR", Amount: 100},
		ledger.Entry{Debit: ledger.Rail("WIRE"), Credit: ledger.FXPosition, Currency: "USD", Amount: 130})
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true}); err != nil {
		t.Fatal(err)
	}
	e.KeepRates(april.End().Add(-time.Minute), "1.2")
	e.softClose(april)

	done := e.revalue(april)

	// The 100 euros cost 110 and were sold for 130. Two more were earned as a fee before March.
	end := coremonthend.Last(april)
	if line := done.Result.Lines[0]; line.Quantity != e.balance(ledger.FXPosition, end, "EUR")+e.balance(ledger.IncomeFees, end, "EUR") ||
		done.Result.Cash != e.balance(ledger.FXPosition, end) {
		t.Errorf("%+v and %d in cash, and the position is %d euros and %d dollars", line, done.Result.Cash,
			e.balance(ledger.FXPosition, end, "EUR"), e.balance(ledger.FXPosition, end))
	}
	if got := done.Result.Realised; len(got) != 1 || got[0].Origin != exchange.Adjustment || got[0].Amount != 20 {
		t.Errorf("realised %+v", got)
	}
	if done.Result.Changes.Opening != 122 || done.Result.Changes.ByOrigin[exchange.Adjustment] != 10 {
		t.Errorf("%+v", done.Result.Changes)
	}
	e.wantValued(april, 40, 0) // the repetition posts nothing
	count := 0
	err := e.service.EachMeasured(t.Context(), done, func(monthend.MeasuredPosting) error { count++; return nil })
	if err != nil || count != 1 {
		t.Errorf("%d postings are measured, %v", count, err)
	}
	if again := e.revalue(april); again.Run.Number != 1 {
		t.Errorf("%+v", again.Run)
	}
}

func TestRevalue_FixesTheFunctionalCurrency(t *testing.T) {
	t.Parallel()
	// The book of a month is in the functional currency, also if there was nothing to post.
	e := newEnv(t)
	fixed := func() (fixed books.Fixed) {
		e.Do(func(ctx context.Context, tx *postgres.Unit) (err error) {
			fixed, err = tx.BooksFixed(ctx, e.Platform.ID)
			return err
		})
		return fixed
	}
	e.softClose(march)
	if fixed().Revalued {
		t.Error("fixed before the first run")
	}
	if done := e.revalue(march); len(done.Run.Postings) != 0 || !fixed().Revalued {
		t.Errorf("after %+v the functional currency may change", done.Run)
	}
}

func (e *env) adjust(at time.Time, entries ...ledger.Entry) {
	e.t.Helper()
	if _, err := e.periods.Adjust(e.t.Context(), e.Platform.ID, e.by, nil, period.Adjustment{Note: "Late", Effective: at,
		Entries: entries}); err != nil {
		e.t.Fatal(err)
	}
}
