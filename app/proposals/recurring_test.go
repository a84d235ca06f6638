package proposals_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/audit"
	booksapp "causeway/app/books"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/recurring"
	"causeway/ledger"
	"causeway/ports"
)

// present is the month of the tests.
var present = period.MonthOf(apptest.Noon)

func rent(first period.Month) recurring.Version {
	return recurring.Version{Name: "office-rent", Note: "Rent of the office", First: first, Reverses: true, Entries: []ledger.Entry{
		{Debit: "expense/office-rent", Credit: "liability/accrued", Currency: money.USD, Amount: 1200_00}}}
}

// newEnvWithRent has an approved accrual of the rent from a month on.
func newEnvWithRent(t *testing.T, first period.Month) *env {
	t.Helper()
	e := newEnv(t)
	e.inProduction()
	for _, path := range []string{"expense/office-rent", "liability/accrued"} {
		if _, err := e.books.AddAccount(t.Context(), e.Platform.ID, booksapp.Change{By: operator}, nil,
			books.AddedAccount{Path: path, Name: path}); err != nil {
			t.Fatal(err)
		}
	}
	e.approveRecurring(rent(first))
	return e
}

// approveRecurring proposes a recurring adjustment, which Ana cannot approve and Ben does.
func (e *env) approveRecurring(v recurring.Version) {
	e.t.Helper()
	made, err := e.periods.SetRecurring(e.t.Context(), e.Platform.ID, e.ana, v)
	p := proposed(e.t, made, err)
	if _, err := e.approve(e.ana, p.ID); !fault.Is(err, fault.Conflict) {
		e.t.Errorf("approved alone: %v", err)
	}
	if _, err := e.approve(e.ben, p.ID); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) postRecurring() {
	e.t.Helper()
	if err := e.periods.PostRecurring(ports.ForAllPlatforms(e.t.Context())); err != nil {
		e.t.Fatal(err)
	}
}

// moveInto moves the clock into a month.
func (e *env) moveInto(m period.Month) {
	e.t.Helper()
	if d := m.Start().Add(time.Hour).Sub(e.Clock.Now()); d > 0 {
		e.Clock.Advance(d)
	}
}

// rentAt returns what is accrued at a time.
func (e *env) rentAt(at time.Time) int64 {
	e.t.Helper()
	account := ledger.Account{Platform: e.Platform.ID, Path: "expense/office-rent", Currency: money.USD}
	balance, err := e.Store.LedgerReader().BalanceAt(e.t.Context(), account, ports.ByEffective, at)
	if err != nil {
		e.t.Fatal(err)
	}
	return balance
}

func (e *env) step(m period.Month) accounting.CloseStep {
	e.t.Helper()
	steps, err := e.periods.CloseSteps(e.t.Context(), e.Platform.ID, m)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, s := range steps {
		if s.Name == accounting.StepRecurring {
			return s
		}
	}
	return accounting.CloseStep{}
}

func (e *env) changeRecurringMonth(a period.Action, m period.Month) error {
	_, err := e.periods.ChangeStateAs(e.t.Context(), e.Platform.ID, operator, accounting.MonthChange{Action: a, Month: m,
		ConfirmOpeningBalances: true})
	return err
}

func TestRecurring_PostedOnceAMonthAndReversed(t *testing.T) {
	t.Parallel()
	// On a production platform two persons approve an accrual once. Each month that is over has it at its end, the next one without it
	// from its beginning, whatever many processes post at the same time and again; both postings name both persons.
	e := newEnvWithRent(t, present)
	e.postRecurring()
	if got := e.postings(ledger.KindAdjustment); len(got) > 0 {
		t.Fatalf("posted before the month was over: %v", got)
	}
	e.moveInto(present.Next().Next())
	var wait sync.WaitGroup
	failed := make(chan error, 4)
	for range 4 {
		wait.Go(func() { failed <- e.periods.PostRecurring(ports.ForAllPlatforms(t.Context())) })
	}
	wait.Wait()
	for range 4 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	e.postRecurring()
	if posted, reversed := e.postings(ledger.KindAdjustment), e.postings(ledger.KindReversal); len(posted) != 2 || len(reversed) != 2 {
		t.Errorf("%d postings and %d reversals of two months", len(posted), len(reversed))
	}
	for _, m := range []period.Month{present, present.Next()} {
		if last, next := e.rentAt(m.End().Add(-time.Microsecond)), e.rentAt(m.End()); last != 1200_00 || next != 0 {
			t.Errorf("%s: %d at its end, %d after", m, last, next)
		}
	}
	list, err := e.periods.Recurring(t.Context(), e.Platform.ID)
	if err != nil || len(list) != 1 || len(list[0].Runs) != 2 || list[0].Runs[0].Month != present.Next() || list[0].Approval.By != e.ben {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, run := range list[0].Runs {
		for _, id := range []ident.Posting{postingOf(run.Posting), postingOf(run.Reversal)} {
			posting, err := e.accounting.Posting(t.Context(), e.Platform.ID, id.UUID())
			if err != nil || posting.Authorisation == nil || posting.Authorisation.Approval.By != e.ben || posting.Authorisation.By != e.ana {
				t.Errorf("%+v, %v", posting.Authorisation, err)
			}
		}
	}
	for _, r := range e.checkedLedger().Rules {
		if r.Rule == audit.RuleRecurring && r.Checked != 2 {
			t.Errorf("%d months checked", r.Checked)
		}
	}
	e.checkLedger()
}

func postingOf(id [16]byte) (posting ident.Posting) {
	posting.SetUUID(id)
	return posting
}

func TestRecurring_MonthEndWaits(t *testing.T) {
	t.Parallel()
	// A month whose accrual is not posted cannot be closed; it says what to do. An account that was retired meanwhile keeps it waiting until
	// the account is back, also after the month is soft-closed; a month that is closed takes no other adjustment.
	e := newEnvWithRent(t, present)
	e.moveInto(present.Next())
	if err := e.changeRecurringMonth(period.SoftClose, present); err != nil {
		t.Fatal(err)
	}
	if step := e.step(present); step.Blocker == nil || !strings.Contains(step.Blocker.Error(), "office-rent is not posted") {
		t.Errorf("%+v", step)
	}
	retire := func(retired bool) {
		t.Helper()
		if _, err := e.books.ChangeAccount(t.Context(), e.Platform.ID, booksapp.Change{By: operator}, "expense/office-rent",
			booksapp.AccountChange{Retired: &retired}); err != nil {
			t.Fatal(err)
		}
	}
	retire(true)
	e.postRecurring()
	err := e.changeRecurringMonth(period.Close, present)
	if f, ok := fault.As(err); !ok || f.Reason != "Account not available" || !strings.Contains(f.Message, "was retired") {
		t.Errorf("closed: %v", err)
	}
	retire(false)
	e.postRecurring()
	if step := e.step(present); !step.IsDone() || e.rentAt(present.End().Add(-time.Microsecond)) != 1200_00 {
		t.Errorf("%+v", step)
	}
	if err := e.changeRecurringMonth(period.Close, present); err != nil {
		t.Fatal(err)
	}
	var refused *fault.Error
	if _, err := e.periods.SetRecurring(t.Context(), e.Platform.ID, e.ana, rent(present)); !errors.As(err, &refused) ||
		refused.Reason != "Month is closed" {
		t.Errorf("changed a closed month: %v", err)
	}
	e.checkLedger()
}

func TestRecurring_FirstSoftCloseWaits(t *testing.T) {
	t.Parallel()
	// The first soft close, which closes the months before it too, waits until each of them has its adjustment.
	e := newEnvWithRent(t, present)
	e.moveInto(present.Next().Next())
	err := e.changeRecurringMonth(period.SoftClose, present.Next())
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "office-rent is not posted") {
		t.Fatalf("soft-closed: %v", err)
	}
	e.postRecurring()
	if err := e.changeRecurringMonth(period.SoftClose, present.Next()); err != nil {
		t.Fatal(err)
	}
	e.checkLedger()
}

func TestRecurring_EndedByTwoPersons(t *testing.T) {
	t.Parallel()
	// Ending an adjustment, as changing it, is a proposal of its own. What was posted stays.
	e := newEnvWithRent(t, present)
	made, err := e.periods.EndRecurring(t.Context(), e.Platform.ID, e.ana, "office-rent", present)
	p := proposed(t, made, err)
	changed := rent(present.Next())
	changed.Entries[0].Amount = 1300_00
	e.moveInto(present.Next())
	e.approveRecurring(changed)
	e.moveInto(present.Next().Next())
	e.postRecurring()
	first, second := e.rentAt(present.End().Add(-time.Microsecond)), e.rentAt(present.Next().End().Add(-time.Microsecond))
	if first != 1200_00 || second != 1300_00 {
		t.Errorf("%d and %d", first, second)
	}
	if _, err := e.approve(e.ben, p.ID); !fault.Is(err, fault.Conflict) { // the month after the end is posted
		t.Errorf("ended: %v", err)
	}
	made, err = e.periods.EndRecurring(t.Context(), e.Platform.ID, e.ana, "office-rent", present.Next())
	if _, err := e.approve(e.ben, proposed(t, made, err).ID); err != nil {
		t.Fatal(err)
	}
	e.moveInto(present.Next().Next().Next().Next())
	e.postRecurring()
	if posted := e.postings(ledger.KindAdjustment); len(posted) != 2 {
		t.Errorf("%d postings", len(posted))
	}
	e.checkLedger()
}

func TestRecurring_AccrualsOfPastMonthsDoNotCount(t *testing.T) {
	t.Parallel()
	// A platform that has used up the number of adjustments with accruals of one month each has room for others once that month is posted.
	e := newEnvWithRent(t, present)
	for last := range 2 { // of the month before, and of the present one
		e.Do(func(ctx context.Context, tx *postgres.Unit) error {
			for i := range recurring.MaxAdjustments - 1 {
				v := rent(present)
				if last == 0 {
					v.First = present.Previous()
				}
				v.Platform, v.Name, v.Number, v.Last, v.At, v.By = e.Platform.ID, fmt.Sprintf("bill-%d-%d", last, i), 1, v.First, e.Clock.Now(), e.ana
				run := recurring.Run{Platform: v.Platform, Name: v.Name, Month: v.First, Version: 1, Posting: e.IDs.New(e.Clock.Now()), At: v.At}
				if err := errors.Join(tx.SaveRecurringAdjustment(ctx, v), tx.SaveRecurringRun(ctx, run)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	bill := rent(present)
	bill.Name, bill.Last = "another-bill", present

	if _, err := e.periods.SetRecurring(t.Context(), e.Platform.ID, e.ana, bill); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "can have 200") {
		t.Errorf("beside 200 of the present month: %v", err)
	}
	e.moveInto(present.Next())
	made, err := e.periods.SetRecurring(t.Context(), e.Platform.ID, e.ana, bill)
	if _, err := e.approve(e.ben, proposed(t, made, err).ID); err != nil {
		t.Errorf("after their month: %v", err)
	}
}

func TestRecurring_DamageIsFound(t *testing.T) {
	t.Parallel()
	// A month whose posting is not what was approved, which has no posting or no reversal, or which is not recorded, is found, and so is a
	// closed one without any.
	for name, c := range map[string]struct{ damage, want string }{
		"other lines": {`UPDATE ledger_recurring_adjustments SET entries = jsonb_set(entries, '{0,amount}', '5')`,
			"is not posted as was approved"},
		"another posting": {`UPDATE ledger_recurring_runs SET posting_id = gen_random_uuid()`, "names other postings"},
		"no reversal":     {`UPDATE ledger_recurring_runs SET reversal_id = NULL`, "names other postings"},
		"no version":      {`UPDATE ledger_recurring_runs SET version = 2`, "has no version"},
		"no record":       {`DELETE FROM ledger_recurring_runs`, "is not recorded"},
		"closed without it": {`WITH no_runs AS (DELETE FROM ledger_recurring_runs)
			UPDATE ledger_recurring_adjustments SET name = 'other-rent'`, "has no posting for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvWithRent(t, present)
			e.moveInto(present.Next())
			e.postRecurring()
			for _, action := range []period.Action{period.SoftClose, period.Close} {
				if err := e.changeRecurringMonth(action, present); err != nil {
					t.Fatal(err)
				}
			}
			pgtest.ExecAsSuperuser(t, e.URL, c.damage)
			for _, f := range e.checkedLedger().Findings {
				if f.Rule == audit.RuleRecurring && strings.Contains(f.Message, c.want) {
					return
				}
			}
			t.Errorf("not found: %v", e.checkedLedger().Findings)
		})
	}
}

// postedMeanwhile is a store in which no month is recorded when it is read for the first time.
type postedMeanwhile struct {
	*postgres.DB
	reads *int
}

func (s postedMeanwhile) RecurringRuns(ctx context.Context, p ident.Platform, from period.Month) ([]recurring.Run, error) {
	if *s.reads++; *s.reads == 1 {
		return nil, nil
	}
	return s.DB.RecurringRuns(ctx, p, from)
}

func TestRecurring_PostedDuringCheckIsNoFinding(t *testing.T) {
	t.Parallel()
	// A month that is posted after the check has read what is recorded is read again, and is no finding.
	e := newEnvWithRent(t, present)
	e.moveInto(present.Next())
	e.postRecurring()
	reads := 0
	checker := audit.NewChecker(postedMeanwhile{e.Store, &reads}, audittest.Signatures, audit.Since{})

	report, err := checker.Check(ports.ForAllPlatforms(t.Context()))

	if err != nil || reads != 2 {
		t.Errorf("%d reads, %v", reads, err)
	}
	for _, f := range report.Findings {
		if f.Rule == audit.RuleRecurring {
			t.Errorf("found: %s", f.Message)
		}
	}
}
