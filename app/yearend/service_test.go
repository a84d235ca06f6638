package yearend_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/journals"
	app "causeway/app/yearend"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/journal"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

var endOf2025 = time.Date(2025, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

func TestClose_ClosesIncomeAndExpense(t *testing.T) {
	t.Parallel()
	// After the closing, income and expense are at zero at the end of the year and retained earnings have the result;
	// the income report still shows what was earned, and the new year has its own.
	e := newEnv(t)
	e.readyToClose()

	year := e.closeYear()

	closing, closed := year.Current()
	if !closed || len(closing.Results) != 1 || closing.Results[0].Income.String() != "12000" ||
		closing.Results[0].Expense.String() != "2000" || closing.By != e.by {
		t.Errorf("%+v", year)
	}
	e.wantBalances(endOf2025, 0, 0, 10000)
	e.wantBalances(endOf2025.Add(-time.Microsecond), 12000, 2000, 0)
	e.wantBalances(january, 1000, 0, 10000)
	if got := e.income(); got != [3]string{"7000", "5000", "1000"} {
		t.Errorf("income %q", got)
	}
	e.wantClean(1)

	// It is stored: the same is read again, and closing twice is refused.
	stored, err := e.years.Get(t.Context(), e.Platform.ID, 2025)
	if again, _ := stored.Current(); err != nil || again.Posting != closing.Posting || !again.At.Equal(closing.At) ||
		again.Note != "Audited" || len(again.Results) != 1 {
		t.Errorf("%+v, %v", stored, err)
	}
	_, err = e.years.Close(t.Context(), e.Platform.ID, nil, app.Change{Year: 2025, By: e.by, Note: "Again"})
	wantConflict(t, err, "Year is closed")
}

func TestClose_Refused(t *testing.T) {
	t.Parallel()
	// A year whose months are not ready is not closed, nor without a note. Before any month is soft-closed, the fault
	// names the one to begin with, and a year before it has nothing to close.
	e := newEnv(t)
	_, err := e.years.Close(t.Context(), e.Platform.ID, nil, app.Change{Year: 2025, By: e.by, Note: "Audited"})
	wantConflict(t, err, "Wrong state")
	if !strings.Contains(err.Error(), "Begin with 2025-11, the month of the first posting") {
		t.Errorf("%v", err)
	}
	_, err = e.years.Close(t.Context(), e.Platform.ID, nil, app.Change{Year: 2024, By: e.by, Note: "Audited"})
	wantConflict(t, err, "Nothing to close")
	_, err = e.years.Close(t.Context(), e.Platform.ID, nil, app.Change{Year: 99, By: e.by, Note: " "})
	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) != 2 {
		t.Errorf("%v", err)
	}
	if _, err := e.years.Get(t.Context(), e.Platform.ID, 2031); err == nil || !strings.Contains(err.Error(), "2025 to 2026") {
		t.Errorf("%v", err)
	}
}

func TestReverse_WhileSoftClosed(t *testing.T) {
	t.Parallel()
	// A reversal while December is soft-closed leaves the year as if it had not been closed, and it is closed again
	// with a late invoice.
	e := newEnv(t)
	e.readyToClose()
	e.closeYear()

	reversed, err := e.reverse(2025, "An invoice is missing")

	if _, closed := reversed.Current(); err != nil || closed || !reversed.Closings[0].Reversal.Effective.Equal(endOf2025) {
		t.Fatalf("%+v, %v", reversed, err)
	}
	e.wantBalances(endOf2025, 12000, 2000, 0)
	e.PostAuthorised(e.by, e.fee(time.Date(2025, 12, 30, 8, 0, 0, 0, time.UTC), 500))
	e.closeYear()
	e.wantBalances(endOf2025, 0, 0, 10500)
	if got := e.income(); got != [3]string{"7000", "5500", "1000"} {
		t.Errorf("income %q", got)
	}
	e.wantClean(2)
	_, err = e.reverse(2024, "Wrong year")
	wantConflict(t, err, "Year is not closed")
}

func TestReverse_NeitherIsInJournals(t *testing.T) {
	t.Parallel()
	// The journals of the month in which a year was closed, and of the one in which that was reversed, have only what was earned and spent.
	e := newEnv(t)
	e.readyToClose()
	e.closeYear()
	e.must(e.changeMonth(period.Close, "2025-12"))
	if _, err := e.reverse(2025, "The auditor objects"); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(20 * 24 * time.Hour)
	service := journals.New(journals.Config{Store: e.Store, Ledger: e.Store.Finance(), Clock: e.Clock})

	for month, want := range map[string]string{"2025-12": "7000", "2026-01": "1000"} {
		span, err := journal.ParseSpan(month)
		e.must(err)
		all, err := service.Make(t.Context(), e.Platform.ID, e.by, nil, span)
		if err != nil || len(all) != 1 || all[0].Control().Debits.String() != want {
			t.Errorf("%s: %+v, %v; want debits of %s", month, all, err, want)
		}
	}
}

func TestReverse_AfterTheMonthIsClosed(t *testing.T) {
	t.Parallel()
	// A reversal after December is closed counts in January, whose books then have the result of both years; the
	// income report does not change.
	e := newEnv(t)
	e.readyToClose()
	e.closeYear()
	e.must(e.changeMonth(period.Close, "2025-12"))

	reversed, err := e.reverse(2025, "The auditor objects")

	start := endOf2025.Add(time.Microsecond)
	if err != nil || !reversed.Closings[0].Reversal.Effective.Equal(start) {
		t.Fatalf("%+v, %v", reversed, err)
	}
	e.wantBalances(endOf2025, 0, 0, 10000)
	e.wantBalances(start, 12000, 2000, 0)
	e.wantBalances(january, 13000, 2000, 0)
	if got := e.income(); got != [3]string{"7000", "5000", "1000"} {
		t.Errorf("income %q", got)
	}
	e.wantClean(1)
	_, err = e.years.Close(t.Context(), e.Platform.ID, nil, app.Change{Year: 2025, By: e.by, Note: "Again"})
	wantConflict(t, err, "Wrong state")
}

func TestChangeState_LastMonthOfAYear(t *testing.T) {
	t.Parallel()
	// A platform with a functional currency closes its year before December; one without is not asked to. What is
	// posted after the year was closed must be closed too.
	e := newEnv(t)
	e.set("functionalCurrency=USD")
	e.readyToClose()

	wantConflict(t, e.changeMonth(period.Close, "2025-12"), "Year is not closed")
	e.closeYear()
	e.PostAuthorised(e.by, e.fee(time.Date(2025, 12, 30, 8, 0, 0, 0, time.UTC), 500))
	wantConflict(t, e.changeMonth(period.Close, "2025-12"), "Year end out of date")
	_, err := e.reverse(2025, "A fee is missing")
	e.must(err)
	e.closeYear()
	e.must(e.changeMonth(period.Close, "2025-12"))
	e.wantClean(2)

	other := newEnv(t)
	other.readyToClose()
	other.must(other.changeMonth(period.Close, "2025-12"))
}

func TestSettings_YearEndMonthStays(t *testing.T) {
	t.Parallel()
	// Once a year is closed its end does not change.
	e := newEnv(t)
	e.readyToClose()
	e.closeYear()
	var fixed books.Fixed
	e.Do(func(ctx context.Context, tx *postgres.Unit) (err error) {
		fixed, err = tx.BooksFixed(ctx, e.Platform.ID)
		return err
	})
	june, err := books.DefaultSettings().With("yearEndMonth=6")
	e.must(err)
	wantConflict(t, books.DefaultSettings().CheckChange(june, fixed), "Setting in use")
}

func TestClose_FourEyes(t *testing.T) {
	t.Parallel()
	// While the policies let year ends need four eyes, a token alone closes none and reverses none; an operator does.
	e := newEnv(t)
	e.set("fourEyes=YEAR_END")
	e.readyToClose()
	change := app.Change{Year: 2025, By: e.by, Note: "Audited"}
	_, err := e.years.Close(t.Context(), e.Platform.ID, nil, change)
	wantConflict(t, err, "No second person")
	operator := app.Change{Year: 2025, By: platform.Author{Actor: "ana"}, Note: "Audited"}
	_, err = e.years.CloseAlone(t.Context(), e.Platform.ID, operator)
	e.must(err)
	_, err = e.years.Reverse(t.Context(), e.Platform.ID, nil, change)
	wantConflict(t, err, "No second person")
	_, err = e.years.ReverseAlone(t.Context(), e.Platform.ID, operator)
	e.must(err)
	e.wantClean(1)
}

func TestClose_YearEndsInNovember(t *testing.T) {
	t.Parallel()
	// With another end of the year, a month belongs to the year that ends after it.
	e := newEnv(t)
	e.set("yearEndMonth=11")
	years, err := e.years.List(t.Context(), e.Platform.ID)
	if err != nil || len(years) != 2 || years[0].Year.String() != "2026" || years[0].Year.First().String() != "2025-12" ||
		years[1].Year.Last().String() != "2025-11" {
		t.Fatalf("%+v, %v", years, err)
	}
	e.must(e.changeMonth(period.SoftClose, "2025-11"))
	year := e.closeYear()
	if closing, _ := year.Current(); closing.Results[0].Net().String() != "7000" {
		t.Errorf("%+v", closing)
	}
	e.wantClean(1)
}

func TestClose_TwoAtTheSameTime(t *testing.T) {
	t.Parallel()
	// Of two requests at the same time one closes the year.
	e := newEnv(t)
	e.readyToClose()
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = e.years.Close(context.Background(), e.Platform.ID, nil, app.Change{Year: 2025, By: e.by, Note: "Audited"})
		})
	}
	all.Wait()

	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
			continue
		}
		wantConflict(t, err, "Year is closed")
	}
	if succeeded != 1 {
		t.Errorf("%d closed the year: %v", succeeded, errs)
	}
	e.wantBalances(endOf2025, 0, 0, 10000)
	e.wantClean(1)
}

func TestCheck_FindsYearEndWithoutRecord(t *testing.T) {
	t.Parallel()
	// A posting that closes a year without a record of it is found.
	e := newEnv(t)
	e.PostAuthorised(e.by, ledger.YearEnd(ledger.Header{ID: uuid.UUID{1}, Platform: e.Platform.ID, Effective: endOf2025},
		[]ledger.NetBalance{{Path: ledger.IncomeFees, Currency: "USD", Net: money.TotalOf(-12000)}}))
	for _, r := range e.check().Rules {
		if want := strings.HasPrefix(string(r.Rule), "closed years"); want != (r.Violations > 0) && r.Rule != "adjustments are authorised" {
			t.Errorf("%+v", r)
		}
	}
}
