package monthend_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// steps returns the steps of a month as text: "+" for a step that is done, and otherwise the reason of what blocks it.
func (e *env) steps(m period.Month) string {
	e.t.Helper()
	steps, err := e.periods.CloseSteps(e.t.Context(), e.Platform.ID, m)
	if err != nil {
		e.t.Fatal(err)
	}
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = string(s.Name) + " "
		if s.FirstStep != "" || !s.FirstMonth.IsZero() {
			texts[i] += "after " + strings.TrimSpace(string(s.FirstStep)+" "+s.FirstMonth.String()) + ": "
		}
		if f, blocked := fault.As(s.Blocker); blocked {
			texts[i] += f.Reason
		} else if s.IsDone() {
			texts[i] += "+"
			if s.By != e.by {
				e.t.Errorf("%s was done by %s", s.Name, s.By)
			}
		} else {
			texts[i] += "-"
		}
	}
	return strings.Join(texts, ", ")
}

func (e *env) wantSteps(name, want string) {
	e.t.Helper()
	if got := e.steps(march); got != want {
		e.t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

func TestCloseSteps_FollowTheMonth(t *testing.T) {
	t.Parallel()
	// The steps of a month are those that closing it checks. A run that is out of date blocks the close until it is made again, and a
	// closed month has no step left.
	e := newEnv(t, "feeRecognition=DELIVERY")
	fillMarchOpen(e)
	e.wantSteps("a month that is not over", "SOFT_CLOSE Month is not over, EXCHANGE_RESULT after SOFT_CLOSE: Month-end run missing, "+
		"FEE_DEFERRAL after SOFT_CLOSE: Month-end run missing, CLOSE after SOFT_CLOSE: Wrong state")
	e.softClose(march)
	e.revalue(march)
	if _, err := e.deferFees(march); err != nil {
		t.Fatal(err)
	}
	e.wantSteps("everything done", "SOFT_CLOSE +, EXCHANGE_RESULT +, FEE_DEFERRAL +, CLOSE -")

	late := e.convertAuthorised(20)
	e.wantSteps("a posting after the runs", "SOFT_CLOSE +, EXCHANGE_RESULT Month-end run out of date, "+
		"FEE_DEFERRAL Month-end run out of date, CLOSE after EXCHANGE_RESULT: Month-end run out of date")
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march}); err == nil {
		t.Errorf("closed although %s came after the runs", late.ID)
	}
	e.revalue(march)
	if _, err := e.deferFees(march); err != nil {
		t.Fatal(err)
	}
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march}); err != nil {
		t.Fatal(err)
	}
	e.wantSteps("closed", "SOFT_CLOSE +, EXCHANGE_RESULT +, FEE_DEFERRAL +, CLOSE +")
}

func TestCloseSteps_LastMonthOfAYear(t *testing.T) {
	t.Parallel()
	// The last month of a year has the step of closing the year, after the months before it. A platform without a functional currency
	// that has closed no year has only the two steps of the month.
	e := newEnv(t, "yearEndMonth=3")
	fillMarchOpen(e)
	e.moveTo(march.End().Add(time.Hour))
	e.wantSteps("no month closed", "SOFT_CLOSE -, EXCHANGE_RESULT after SOFT_CLOSE: Month-end run missing, YEAR_END after SOFT_CLOSE: , "+
		"CLOSE after SOFT_CLOSE: Wrong state")
	e.softCloseNow(march)
	e.revalue(march)
	e.wantSteps("soft-closed", "SOFT_CLOSE +, EXCHANGE_RESULT +, YEAR_END Year is not closed, CLOSE after YEAR_END: Year is not closed")
	e.moveTo(april.Next().End().Add(time.Hour))
	for m, want := range map[period.Month]string{april: "SOFT_CLOSE -, EXCHANGE_RESULT after SOFT_CLOSE: Month-end run missing, " +
		"CLOSE after SOFT_CLOSE: Wrong state", april.Next(): "SOFT_CLOSE after 2026-04: Out of order, EXCHANGE_RESULT after SOFT_CLOSE: " +
		"Month-end run missing, CLOSE after SOFT_CLOSE: Wrong state"} {
		if got := e.steps(m); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", m, got, want)
		}
	}
	e.softCloseNow(april)
	if got := e.steps(april); !strings.Contains(got, "CLOSE after 2026-03: Out of order") {
		t.Errorf("before March is closed: %s", got)
	}

	plain := newEnv(t)
	plain.set("functionalCurrency=")
	plain.wantSteps("without a functional currency", "SOFT_CLOSE Month is not over, CLOSE after SOFT_CLOSE: Wrong state")
	if _, err := plain.periods.CloseSteps(t.Context(), plain.Platform.ID, april); err == nil {
		t.Error("steps of a month that has not begun")
	}
}

// fillMarchOpen makes conversions in March, which stays open.
func fillMarchOpen(e *env) {
	e.KeepRates(march.End().Add(-time.Hour), "1.2")
	e.convert(14, 600, "USD", 500, "EUR")
}

// convertAuthorised posts a conversion that is effective on a day of March into the soft-closed month.
func (e *env) convertAuthorised(day int) ledger.Posting {
	e.t.Helper()
	header := ledger.Header{ID: uuid.Must(uuid.NewV7()), Platform: e.Platform.ID,
		Effective: march.Start().AddDate(0, 0, day-1)}
	header.Transaction.SetUUID(uuid.Must(uuid.NewV7()))
	posting := ledger.Converted(header, ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
		Sent: money.Amount{Minor: 102, Currency: "USD"}, Fees: 2, Received: money.Amount{Minor: 80, Currency: "EUR"}})
	e.PostAuthorised(e.by, posting)
	return posting
}
