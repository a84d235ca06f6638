package monthend_test

import (
	"testing"
	"time"

	"causeway/core/exchange"
	"causeway/core/money"
	coremonthend "causeway/core/monthend"
	"causeway/ledger"
)

// importOpening posts opening balances of the position of a currency at a time: above zero for a credit.
func (e *env) importOpening(at time.Time, currency money.Currency, position int64) ledger.Posting {
	e.t.Helper()
	header := ledger.Header{ID: ledger.OpeningBalancesID(e.Platform.ID, currency, 0), Platform: e.Platform.ID, Effective: at}
	posting := ledger.OpeningBalances(header, currency, []ledger.OpeningBalance{{Path: ledger.FXPosition, Minor: -position},
		{Path: ledger.Rail("SEPA"), Minor: position}})
	e.PostAuthorised(e.by, posting)
	return posting
}

func TestRevalue_OpeningBalancesWithinTheFirstMonth(t *testing.T) {
	t.Parallel()
	// Positions that come from earlier books within the first month were earned there: 1,000 euros worth 1,100 dollars,
	// that cost 1,080, are no income but retained earnings. What is earned with them afterwards is.
	e := newEnv(t)
	opened := march.Start().AddDate(0, 0, 4)
	e.moveTo(opened.Add(time.Hour))
	e.importOpening(opened, "EUR", 1_000)
	e.importOpening(opened, "USD", -1_080)
	e.convert(14, 600, "USD", 500, "EUR")
	e.KeepRates(march.End().Add(-time.Hour), "1.2")
	e.softClose(march)

	done := e.revalue(march)

	end := coremonthend.Last(march)
	for path, want := range map[string]int64{ledger.EquityRetainedEarnings: 20, ledger.IncomeExchangeGains: 50,
		ledger.ExpenseExchangeLosses: 0, ledger.IncomeUnrealisedExchangeGains: 50, ledger.FXValuation: -120} {
		if got := e.balance(path, end); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if done.Result.Opening != 20 || len(done.Result.Realised) != 1 || done.Result.Realised[0].Amount != 50 ||
		done.Result.Changes.ByOrigin[exchange.Opening] != 20 {
		t.Errorf("%+v", done.Result)
	}
	stored, err := e.service.Result(t.Context(), e.Platform.ID, march)
	if err != nil || stored.Result.Opening != 20 || !stored.Result.Changes.Equal(done.Result.Changes) {
		t.Errorf("stored %+v, %v", stored.Result, err)
	}
	if again := e.revalue(march); again.Run.Number != 1 {
		t.Errorf("%+v", again.Run)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestRevalue_OpeningBalancesOfALaterMonthAndTheirReversal(t *testing.T) {
	t.Parallel()
	// Opening balances of a later month are retained earnings too, and their reversal takes them back.
	e := newEnv(t)
	fillMarch(e)
	e.revalue(march)
	e.KeepRates(april.Start().Add(time.Hour), "1.2")
	at := april.Start().AddDate(0, 0, 9)
	e.moveTo(at.Add(time.Hour))
	opening := e.importOpening(at, "MXN", 2_000) // worth 100 dollars
	e.softClose(april)
	e.wantValued(april, 50, 0)
	if got := e.balance(ledger.EquityRetainedEarnings, coremonthend.Last(april)); got != 120 {
		t.Errorf("retained earnings %d, want 120", got)
	}
	e.PostAuthorised(e.by, ledger.Reverse(opening, e.IDs.New(e.Clock.Now()), opening.Effective, "reversed"))

	done := e.revalue(april)

	if got := e.balance(ledger.EquityRetainedEarnings, coremonthend.Last(april)); got != 20 || done.Result.Opening != 0 ||
		len(done.Result.Realised) != 0 || done.Result.Changes.ByOrigin[exchange.Opening] != 0 {
		t.Errorf("retained earnings %d; %+v", got, done.Result)
	}
}
