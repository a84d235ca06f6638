package monthend_test

import (
	"context"
	"math"
	"testing"

	"causeway/app/accounting"
	runs "causeway/app/internal/monthend"
	"causeway/core/books"
	"causeway/core/exchange"
	coremonthend "causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// fillSmallFees posts 30 fees of 0.01 euros, each worth 0.011 dollars, in the month of the clock.
func fillSmallFees(e *env) {
	e.moveTo(march.Start().AddDate(0, 0, 13))
	for range 30 {
		e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 1)
	}
}

// revalueByPosting posts the exchange result of a month as an earlier release did.
func (e *env) revalueByPosting(m period.Month) {
	e.t.Helper()
	reader := &runs.Reader{Results: e.Store, Views: e.Store.MonthEndViews(), KeptRates: e.Store}
	run := coremonthend.Run{Platform: e.Platform.ID, Month: m, Kind: ledger.KindRevaluation, Number: 1, At: e.Clock.Now(), By: e.by, LastSeq: math.MaxInt64, Rule: exchange.RoundedByPosting}
	result, err := reader.ExchangeResult(e.t.Context(), run, coremonthend.Run{}, "USD", books.Reverse)
	if err != nil {
		e.t.Fatal(err)
	}
	run.LastSeq = result.LastSeq
	postings, authorisations := run.Post(nil, must(result.Postings(run))(e.t))
	e.do(func(ctx context.Context, tx ports.Tx) error {
		if err := tx.Authorise(ctx, authorisations); err != nil {
			return err
		}
		if err := tx.SaveMonthEndRun(ctx, run); err != nil {
			return err
		}
		if err := tx.SaveExchangeResult(ctx, run, result); err != nil {
			return err
		}
		return tx.Post(ctx, postings)
	})
}

func TestRevalue_SmallFeesAreIncome(t *testing.T) {
	t.Parallel()
	// Fees of less than a unit each are translated by their sum, and no exchange gain. What their month does not round to a
	// unit is carried through a month without fees, and counts in the one after.
	e := newEnv(t)
	fillSmallFees(e)
	for range 4 {
		e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 1) // 34 × 1.1 = 37.4
	}
	e.softClose(march)
	first := e.revalue(march)
	e.softClose(april)
	second := e.revalue(april)
	e.moveTo(april.End().AddDate(0, 0, 3))
	e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 1)
	e.softClose(april.Next())
	third := e.revalue(april.Next())

	for i, c := range []struct {
		got       coremonthend.ExchangeResult
		value     int64
		remainder string
	}{{first.Result, 37, "0.4"}, {second.Result, 0, "0.4"}, {third.Result, 2, "-0.5"}} {
		if tr := c.got.Translations; len(tr) != 1 || tr[0].Value != c.value || tr[0].Remainder.String() != c.remainder {
			t.Errorf("month %d: %+v, want %d and %s", i+1, tr, c.value, c.remainder)
		}
	}
	if gains := e.balance(ledger.IncomeExchangeGains, april.End().AddDate(0, 1, -1)); gains != 0 || third.Result.Translated != 39 {
		t.Errorf("exchange gains %d, translated %d", gains, third.Result.Translated)
	}
	if report := e.checkLedger(); !report.Clean() || len(report.RoundedMonths) != 0 {
		t.Errorf("%v, %v", report.Findings, report.RoundedMonths)
	}
}

func TestRevalue_CorrectsMonthThatWasRoundedByPosting(t *testing.T) {
	t.Parallel()
	// A month that an earlier release has revalued is verified by its rule, and the check says what it lacks. While it is
	// not closed, closing it asks for another run, which corrects it.
	e := newEnv(t)
	fillSmallFees(e)
	e.softClose(march)
	e.revalueByPosting(march)
	end := coremonthend.Last(march)
	if before := e.checkLedger(); !before.Clean() || len(before.RoundedMonths) != 1 || before.RoundedMonths[0].Missing.Minor != 3 || e.balance(ledger.IncomeUnrealisedExchangeGains, end) != 3 {
		t.Fatalf("%v, %v", before.Findings, before.RoundedMonths)
	}
	_, err := e.change(accounting.MonthChange{Action: period.Close, Month: march})
	wantConflict(t, err, "Month-end run out of date")

	again := e.revalue(march)

	if again.Run.Number != 2 || again.Result.Translated != 33 || e.balance(ledger.IncomeUnrealisedExchangeGains, end) != 0 {
		t.Errorf("%+v", again)
	}
	if repeated := e.revalue(march); repeated.Run.Number != 2 {
		t.Errorf("the repetition is run %d", repeated.Run.Number)
	}
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march}); err != nil {
		t.Error(err)
	}
	if report := e.checkLedger(); !report.Clean() || len(report.RoundedMonths) != 0 {
		t.Errorf("%v, %v", report.Findings, report.RoundedMonths)
	}
}

func TestRevalue_ClosedMonthThatWasRoundedByPosting(t *testing.T) {
	t.Parallel()
	// A closed month is never changed: it is verified by the rule of its time, and the check says what it lacks. The next
	// month begins with its books, and is exact.
	e := newEnv(t)
	fillSmallFees(e)
	e.softClose(march)
	e.revalueByPosting(march)
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true}); err != nil {
		t.Fatal(err)
	}
	e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 3)
	e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 3)
	e.softClose(april)

	done := e.revalue(april)

	if tr := done.Result.Translations; len(tr) != 1 || tr[0].Value != 7 || done.Result.Translated != 30+7 {
		t.Errorf("%+v, %d", tr, done.Result.Translated)
	}
	if report := e.checkLedger(); !report.Clean() || len(report.RoundedMonths) != 1 || report.RoundedMonths[0].Month != march || report.RoundedMonths[0].Missing.Minor != 3 {
		t.Errorf("%v, %v", report.Findings, report.RoundedMonths)
	}
}
