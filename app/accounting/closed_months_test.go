package accounting_test

import (
	"strings"
	"testing"
	"time"

	"causeway/app/audit"
	"causeway/core/period"
)

// newEnvWithClosedMonths has two closed months, the second with two postings.
func newEnvWithClosedMonths(t *testing.T) *periodEnv {
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.January, 5), 9), env.newFeePosting(day(time.February, 6), 2),
		env.newFeePosting(day(time.February, 7), 3))
	for _, m := range []string{"2026-01", "2026-02"} {
		env.changeState(period.SoftClose, m)
		env.changeState(period.Close, m)
	}
	env.Post(env.newFeePosting(day(time.March, 1), 4))
	return env
}

func TestCheck_DamagedClosedMonth(t *testing.T) {
	t.Parallel()
	// Each change of a stored trial balance, of a closed month's state or of the postings in it,
	// made with the triggers disabled, is found.
	const off = "ALTER TABLE ledger_closing_lines DISABLE TRIGGER append_only; ALTER TABLE ledger_closings DISABLE TRIGGER append_only; " +
		"ALTER TABLE ledger_clocks DISABLE TRIGGER ledger_clock_check_period_change; ALTER TABLE ledger_postings DISABLE TRIGGER append_only"
	for name, c := range map[string]struct{ damage, want string }{
		"a forged opening": {"UPDATE ledger_closing_lines SET opening = opening + 1, closing = closing + 1 WHERE month = '2026-02-01' AND " +
			"opening > 0",
			"expense/rails USD of PLATFORM, opens 2026-02 with 10; its entries add up to 9"},
		"a forged turnover": {"UPDATE ledger_closing_lines SET debits = 6, closing = closing + 1 WHERE month = '2026-02-01' AND debits = 5",
			"has debits of 6 and credits of 0 in 2026-02; its entries add up to 5 and 0"},
		"a forged closing": {"UPDATE ledger_closing_lines SET closing = 15 WHERE month = '2026-02-01' AND closing = 14",
			"closes 2026-02 with 15; the other columns of the line come to 14"},
		"a lost line": {"DELETE FROM ledger_closing_lines WHERE month = '2026-02-01' AND debits = 5", "has no line for 2026-02"},
		"a lost month": {"DELETE FROM ledger_closing_lines WHERE month = '2026-02-01'; DELETE FROM ledger_closings WHERE month = '2026-02-01'",
			"2026-02 is closed on PLATFORM and has no trial balance"},
		"a lost first month": {"DELETE FROM ledger_closings WHERE month = '2026-01-01'", "has a line for 2026-01, which is not closed"},
		"a month opened again": {"UPDATE ledger_clocks SET closed_before = '2026-02-01', soft_closed_before = '2026-02-01'",
			"2026-02 was closed on PLATFORM at 2026-03-14 12:00:00 and accepts postings again"},
		"another last posting": {"UPDATE ledger_closings SET seq = 2 WHERE month = '2026-02-01'",
			"2026-02 was closed on PLATFORM at posting number 2, which has been changed or is missing"},
		"a posting moved into it": {"UPDATE ledger_postings SET effective_at = '2026-01-09' WHERE seq = 4", "1 postings on PLATFORM are " +
			"effective in 2026-02 or before and were posted after it was closed at number 3; the first is number 4"},
		"one moved between months": {"UPDATE ledger_postings SET effective_at = '2026-01-09' WHERE seq = 2",
			"has debits of 9 and credits of 0 in 2026-01; its entries add up to 11 and 0"},
		"deleted closings": {"DELETE FROM ledger_closings", "which is not closed"},
	} {
		env := newEnvWithClosedMonths(t)
		if err := env.Exec(off, c.damage); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		env.wantFinding(name, audit.RuleClosedMonths, c.want)
	}
}

func TestCheck_UnauthorisedPostingInSoftClosedMonth(t *testing.T) {
	t.Parallel()
	// A soft-closed month has only authorised postings: a posting moved into it, a lost
	// authorisation and a changed record of the soft close, made with the triggers disabled,
	// are found.
	const off = "ALTER TABLE ledger_postings DISABLE TRIGGER append_only; ALTER TABLE ledger_period_changes DISABLE TRIGGER append_only; " +
		"ALTER TABLE ledger_authorisations DISABLE TRIGGER append_only; ALTER TABLE ledger_clocks DISABLE TRIGGER " +
		"ledger_clock_check_period_change"
	const before = "postings on PLATFORM are effective before 2026-03, the first open month from 2026-03-14 12:00:00 on, and are not " +
		"authorised; the first is number "
	for name, c := range map[string]struct{ damage, want string }{
		"no damage":                  {"SELECT", ""},
		"a lost authorisation":       {"DELETE FROM ledger_authorisations", "1 " + before + "3"},
		"postings moved into it":     {"UPDATE ledger_postings SET effective_at = '2026-02-09' WHERE seq IN (4, 5)", "2 " + before + "4"},
		"one before the first month": {"UPDATE ledger_postings SET effective_at = '2026-01-31' WHERE seq = 3", "1 " + before + "3"},
		"an earlier soft close": {"UPDATE ledger_period_changes SET changed_at = '2026-03-13'",
			"2 postings on PLATFORM are effective before 2026-03, the first open month from 2026-03-13"},
		"a lost soft close": {"DELETE FROM ledger_period_changes", "the months of PLATFORM are all open; the clock has them closed before " +
			"2026-02 and soft-closed before 2026-03"},
		"another action": {"UPDATE ledger_period_changes SET action = 'close'", "2026-02 has the action close"},
		"a reopened month": {"UPDATE ledger_clocks SET soft_closed_before = '2026-02-01'",
			"the clock has them closed before 2026-02 and soft-closed before 2026-02"},
	} {
		env := newPeriodEnv(t)
		env.Post(env.newFeePosting(day(time.January, 5), 9), env.newFeePosting(day(time.February, 6), 2))
		env.changeState(period.SoftClose, "2026-02")
		if _, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil,
			newAdjustment(day(time.February, 7))); err != nil {
			t.Fatal(err)
		}
		env.Post(env.newFeePosting(day(time.February, 8), 3), env.newFeePosting(day(time.March, 9), 3))

		if err := env.Exec(off, c.damage); err != nil {
			t.Fatalf("%s: %v", name, err)
		}

		env.wantFinding(name, audit.RuleSoftClosedMonths, c.want)
	}
}

func TestCheck_PostingSecondsAfterMonthEnd(t *testing.T) {
	t.Parallel()
	// A posting recorded within seconds of the end of a soft-closed month is found too.
	env := newPeriodEnvAt(t, time.Date(2026, time.March, 1, 0, 0, 3, 0, time.UTC))
	env.Post(env.newFeePosting(day(time.February, 6), 2))
	env.changeState(period.SoftClose, "2026-02")
	env.Post(env.newFeePosting(time.Date(2026, time.March, 1, 0, 0, 2, 0, time.UTC), 1))
	env.wantFinding("no damage", audit.RuleSoftClosedMonths, "")

	if err := env.Exec("ALTER TABLE ledger_postings DISABLE TRIGGER append_only", "UPDATE ledger_postings SET effective_at = '2026-02-28 "+
		"23:59:58Z' WHERE seq = 2"); err != nil {
		t.Fatal(err)
	}

	env.wantFinding("moved into the month", audit.RuleSoftClosedMonths, "1 postings on PLATFORM are effective before 2026-03")
}

// wantFinding checks the ledger and expects a finding of a rule; none if want is empty.
func (e *periodEnv) wantFinding(name string, rule audit.Rule, want string) {
	e.t.Helper()
	want, found := strings.ReplaceAll(want, "PLATFORM", e.Admin.Platform.String()), want == ""
	report := e.checkLedger()
	for _, f := range report.Findings {
		if f.Rule == rule {
			found = want != "" && (found || strings.Contains(f.Message, want))
		}
	}
	if !found {
		e.t.Errorf("%s: want %q among %v", name, want, report.Findings)
	}
}

func TestClosedMonths_AppendOnly(t *testing.T) {
	t.Parallel()
	// Not even the owner of the tables can change the record of a closed month, reopen it, or
	// close a month without its trial balance; the service has no permission to.
	env := newEnvWithClosedMonths(t)
	for statement, want := range map[string]string{
		"UPDATE ledger_closing_lines SET closing = 0":                                              "append-only",
		"DELETE FROM ledger_closings":                                                              "append-only",
		"TRUNCATE ledger_period_changes":                                                           "append-only",
		"UPDATE ledger_authorisations SET note = 'y'":                                              "append-only",
		"UPDATE ledger_clocks SET closed_before = '2026-02-01'":                                    "cannot be reopened",
		"UPDATE ledger_clocks SET closed_before = '-infinity', soft_closed_before = '-infinity'":   "cannot be reopened",
		"UPDATE ledger_clocks SET soft_closed_before = '2026-02-01'":                               "cannot be reopened",
		"UPDATE ledger_clocks SET closed_before = '2026-04-01', soft_closed_before = '2026-04-01'": "without its trial balance",
	} {
		if err := env.Exec(statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("owner: %s: %v", statement, err)
		}
	}
	for _, statement := range []string{"UPDATE ledger_closing_lines SET closing = 0", "DELETE FROM ledger_closings",
		"DELETE FROM ledger_authorisations", "UPDATE ledger_period_changes SET note = 'x'"} {
		if err := env.Exec("SET ROLE causeway_service", statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("service: %s: %v", statement, err)
		}
	}
	if !env.checkLedger().Clean() {
		t.Error("not clean")
	}
}
