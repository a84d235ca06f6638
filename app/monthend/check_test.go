package monthend_test

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/audit"
	"causeway/app/monthend"
)

// revalueTwoMonths revalues March and April, and deletes the market rates that the retention deletes once those of
// April are older than it.
func revalueTwoMonths(e *env) {
	e.t.Helper()
	fillMarch(e)
	e.revalue(march)
	e.convert(10, 100, "EUR", 2_300, "MXN")
	e.KeepRates(april.End().Add(-time.Minute), "1.15")
	e.softClose(april)
	e.revalue(april)
	e.KeepRates(april.End().AddDate(10, 0, 0), "2.5")
	pgtest.ExecAsSuperuser(e.t, e.URL, "DELETE FROM market_rates WHERE kept_at < (SELECT max(kept_at) FROM market_rates)")
}

func TestCheck_MonthsWhoseRatesWereDeleted(t *testing.T) {
	t.Parallel()
	// Market rates are deleted after ten years. The results of older months are then checked by what is stored with
	// them, not by other rates, and the report says so. The detail of such a month is refused.
	e := newEnv(t, "unrealisedResult=KEEP")
	revalueTwoMonths(e)

	report := e.checkLedger()

	if !report.Clean() || report.MonthsWithoutRates != 2 {
		t.Errorf("%d months without rates, %v", report.MonthsWithoutRates, report.Findings)
	}
	result, err := e.service.Result(t.Context(), e.Platform.ID, april)
	if err != nil {
		t.Fatal(err)
	}
	wantConflict(t, e.service.EachMeasured(t.Context(), result, func(monthend.MeasuredPosting) error { return nil }), "No market rate")
}

func TestCheck_FindsChangesOfMonthsWhoseRatesWereDeleted(t *testing.T) {
	t.Parallel()
	// Without rates, a changed quantity, value, cost, result or posting is still found.
	for name, c := range map[string]struct{ damage, want string }{
		"a quantity":  {"UPDATE ledger_exchange_positions SET quantity = quantity + 1", "by the entries it is"},
		"a lost line": {"DELETE FROM ledger_exchange_positions WHERE currency = 'MXN'", "no position in MXN is stored"},
		"the cash":    {"UPDATE ledger_exchange_results SET cash = cash + 1", "by the entries it is"},
		"a rate":      {"UPDATE ledger_exchange_positions SET rate = '1.3' WHERE currency = 'EUR'", "does not follow from its quantity"},
		"a value":     {"UPDATE ledger_exchange_positions SET value = value + 1", "does not follow from its quantity"},
		"a cost": {"UPDATE ledger_exchange_positions SET cost = cost + 1, unrealised = unrealised - 1 WHERE month = '2026-04-01'",
			"the cost of the position has changed"},
		"a result": {"UPDATE ledger_exchange_origins SET amount = amount + 1 WHERE currency <> ''", "the realised result is stored as"},
		"a change": {"UPDATE ledger_exchange_origins SET amount = amount + 1 WHERE currency = ''", "the changes of the position"},
		"an entry": {"UPDATE ledger_entries SET amount = amount + 1 WHERE credit_account_id = (SELECT id FROM ledger_accounts WHERE path = " +
			"'fx/position' AND currency = 'EUR')", "by the entries it is"},
		"a posting": {"UPDATE ledger_month_end_runs SET posting_ids = posting_ids[2:]", "its postings are not those"},
		"a valuation": {"UPDATE ledger_entries SET amount = amount + 1 WHERE debit_account_id = (SELECT id FROM ledger_accounts WHERE path = " +
			"'fx/valuation') AND amount = 20", "its postings are not those"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, "unrealisedResult=KEEP")
			revalueTwoMonths(e)
			pgtest.ExecAsSuperuser(t, e.URL, c.damage)

			report := e.checkLedger()

			for _, f := range report.Findings {
				if f.Rule == audit.RuleExchangeResults && strings.Contains(f.Message, c.want) {
					return
				}
			}
			t.Errorf("not found: %v", report.Findings)
		})
	}
}
