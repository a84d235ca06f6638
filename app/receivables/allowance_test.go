package receivables_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/monthend"
	"causeway/app/receivables"
	corebooks "causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ledger"
)

// allowanceEnv is an environment whose books make an allowance of 1, 10, 50 and 100 percent.
type allowanceEnv struct {
	*env
	monthEnd *monthend.Service
	periods  *accounting.Periods
}

func newAllowanceEnv(t *testing.T, rates string) *allowanceEnv {
	t.Helper()
	e := &allowanceEnv{env: newEnv(t)}
	e.monthEnd = monthend.New(monthend.Config{Store: e.Store, Results: e.Store, Postings: e.Store.LedgerReader(),
		Views:     e.Store.MonthEndViews(),
		KeptRates: e.Store, Receivables: e.Store, Balances: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	e.periods = accounting.NewPeriods(accounting.PeriodsConfig{Store: e.Store, Ledger: e.Store.LedgerReader(), Finance: e.Store.Finance(),
		Clock: e.Clock, IDs: e.IDs})
	e.setRates(1, rates)
	return e
}

func (e *allowanceEnv) setRates(version int, rates string) {
	e.t.Helper()
	settings, err := corebooks.DefaultSettings().With("receivablesAllowance=" + rates)
	if err != nil {
		e.t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockPeriods(ctx, e.Platform.ID); err != nil {
			return err
		}
		return tx.SaveBooksSettings(ctx, e.Platform.ID, corebooks.SettingsVersion{Settings: settings, Version: version, At: e.Clock.Now(),
			By: e.by()})
	})
}

// owe makes a customer owe an amount, returned now.
func (e *allowanceEnv) owe(minor int64) ident.Receivable {
	e.t.Helper()
	collected := e.collect(minor)
	e.spend(minor)
	d, err := e.Record(e.t.Context(), e.Platform.ID, collected.ID, e.returned(), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return d.ID
}

func (e *allowanceEnv) change(c accounting.MonthChange) error {
	e.t.Helper()
	if d := c.Month.End().Add(time.Hour).Sub(e.Clock.Now()); d > 0 {
		e.Clock.Advance(d)
	}
	c.ConfirmOpeningBalances = true
	_, err := e.periods.ChangeState(e.t.Context(), e.Platform.ID, e.by(), nil, c)
	return err
}

func (e *allowanceEnv) post(m period.Month) monthend.Allowance {
	e.t.Helper()
	posted, err := e.monthEnd.PostAllowance(e.t.Context(), e.Platform.ID, e.by(), nil, m)
	if err != nil {
		e.t.Fatal(err)
	}
	return posted.Done
}

func (e *allowanceEnv) mustChange(c accounting.MonthChange) {
	e.t.Helper()
	if err := e.change(c); err != nil {
		e.t.Fatal(err)
	}
}

func (e *allowanceEnv) mustExec(statements ...string) {
	e.t.Helper()
	if err := e.Exec(statements...); err != nil {
		e.t.Fatal(err)
	}
}

func (e *allowanceEnv) wantClean() {
	e.t.Helper()
	check, err := e.check(e.t)
	if err != nil || len(check.Findings) != 0 {
		e.t.Errorf("check: %v, %v", check.Findings, err)
	}
}

func TestAllowance_PostedByAgeAndUsedByWriteOffs(t *testing.T) {
	t.Parallel()
	// 100.00 are returned in March: 1 percent is provided for at its end, and without it the month is not closed. In April the receivable is
	// older, and another 200.00 are owed: the difference is posted, again nothing. The first is written off in May: its allowance is released
	// on the account of the loss, so that together they cost 100.00. A payment between the run and the closing makes the run out of date.
	e := newAllowanceEnv(t, "1,10,50,100")
	march := period.MonthOf(e.Clock.Now())
	april, may := march.Next(), march.Next().Next()
	first := e.owe(100_00)
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: march})
	if err := e.change(accounting.MonthChange{Action: period.Close, Month: march}); err == nil || !strings.Contains(err.Error(),
		"withoutAllowance") {
		t.Errorf("closed without an allowance: %v", err)
	}

	posted := e.post(march)

	if len(posted.Allowances) != 1 || posted.Allowances[0].Owed != [4]int64{100_00} || posted.Allowances[0].Required != 1_00 {
		t.Fatalf("%+v", posted)
	}
	e.wantBalance(ledger.AllowanceReceivables, -1_00)
	e.mustChange(accounting.MonthChange{Action: period.Close, Month: march})

	e.owe(200_00)
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: april})
	posted = e.post(april) // 46 days are in the second band
	if a := posted.Allowances[0]; a.Owed != [4]int64{200_00, 100_00} || a.Before != 1_00 || a.Required != 12_00 {
		t.Errorf("%+v", a)
	}
	if again := e.post(april); again.Run.Number != posted.Run.Number {
		t.Errorf("a repetition is run %d", again.Run.Number)
	}
	steps, err := e.periods.CloseSteps(t.Context(), e.Platform.ID, april)
	if err != nil || len(steps) != 3 || steps[1].Name != accounting.StepAllowance || !steps[1].IsDone() {
		t.Errorf("%+v, %v", steps, err)
	}
	e.mustChange(accounting.MonthChange{Action: period.Close, Month: april})

	if _, err := e.WriteOffAlone(t.Context(), e.Platform.ID, e.by(), receivables.WriteOffCommand{Receivable: first,
		Note: "Bankrupt"}); err != nil {
		t.Fatal(err)
	}
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: may})
	posted = e.post(may)
	if a := posted.Allowances[0]; a.Owed != [4]int64{0, 200_00} || a.Required != 20_00 {
		t.Errorf("%+v", a)
	}
	e.wantBalance(ledger.ExpenseWriteOffs, 100_00+20_00)
	e.wantClean()

	// Without rates, the next run takes back what there is.
	e.mustChange(accounting.MonthChange{Action: period.Close, Month: may})
	e.setRates(2, "")
	june := may.Next()
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: june})
	e.post(june)
	e.wantBalance(ledger.AllowanceReceivables, 0)
	e.wantClean()
}

func TestAllowance_OutOfDate(t *testing.T) {
	t.Parallel()
	// What is owed at the end of the month changes after the run, by a return that is effective in it: the month is not closed until the
	// allowance is posted again, which replaces it.
	e := newAllowanceEnv(t, "10,10,50,100")
	march := period.MonthOf(e.Clock.Now())
	collected := e.collect(100_00)
	e.spend(100_00)
	at := e.returned()
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: march})
	e.post(march)
	e.mustChange(accounting.MonthChange{Action: period.Reopen, Month: march})
	if _, err := e.Record(t.Context(), e.Platform.ID, collected.ID, at, nil); err != nil {
		t.Fatal(err)
	}
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: march})
	if err := e.change(accounting.MonthChange{Action: period.Close, Month: march}); err == nil || !strings.Contains(err.Error(),
		"out of date") {
		t.Errorf("closed: %v", err)
	}

	if again := e.post(march); again.Run.Number != 2 || again.Allowances[0].Required != 10_00 {
		t.Errorf("%+v", again)
	}
	e.wantBalance(ledger.AllowanceReceivables, -10_00)
	e.mustChange(accounting.MonthChange{Action: period.Close, Month: march})
	e.wantClean()
}

func TestAllowance_Refused(t *testing.T) {
	t.Parallel()
	// Without rates there is no allowance, and no adjustment names its account.
	e := newAllowanceEnv(t, "")
	march := period.MonthOf(e.Clock.Now())
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: march})
	_, err := e.monthEnd.PostAllowance(t.Context(), e.Platform.ID, e.by(), nil, march)
	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || !strings.Contains(f.Message, "receivablesAllowance") {
		t.Errorf("%v", err)
	}
	_, err = e.periods.Adjust(t.Context(), e.Platform.ID, e.by(), nil, period.Adjustment{Platform: e.Platform.ID, Note: "By hand",
		Entries: []ledger.Entry{{Debit: ledger.ExpenseWriteOffs, Credit: ledger.AllowanceReceivables, Currency: "USD", Amount: 1}}})
	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput {
		t.Errorf("%v", err)
	}
}

func TestAllowance_CheckFindsChanges(t *testing.T) {
	t.Parallel()
	// The check computes what was owed and what follows from it again.
	e := newAllowanceEnv(t, "10,10,50,100")
	march := period.MonthOf(e.Clock.Now())
	e.owe(100_00)
	e.mustChange(accounting.MonthChange{Action: period.SoftClose, Month: march})
	e.post(march)
	for change, text := range map[string]string{"owed_30 = 9000, required = 900": "by the receivables it is 10000",
		"required = 1100":        "does not follow",
		"rates = '20,10,50,100'": "does not follow", "currency = 'EUR'": "by the receivables it is 0"} {
		e.mustExec("ALTER TABLE ledger_receivables_allowances DISABLE TRIGGER USER", "CREATE TABLE kept AS TABLE ledger_receivables_allowances",
			"UPDATE ledger_receivables_allowances SET "+change)
		check, err := e.check(t)
		found := false
		for _, f := range check.Findings {
			found = found || f.Rule == audit.RuleAllowances && strings.Contains(f.Message, text)
		}
		if err != nil || !found {
			t.Errorf("%s: %v, %v", change, check.Findings, err)
		}
		e.mustExec("DELETE FROM ledger_receivables_allowances", "INSERT INTO ledger_receivables_allowances SELECT * FROM kept", "DROP TABLE kept")
	}
	e.wantClean()
}
