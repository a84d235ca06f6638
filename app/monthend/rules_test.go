package monthend_test

import (
	"testing"

	coremonthend "causeway/core/monthend"
	"causeway/ledger"
)

// fillSmallFees posts 30 fees of 0.01 euros, each worth 0.011 dollars, in the month of the clock.
func fillSmallFees(e *env) {
	e.moveTo(march.Start().AddDate(0, 0, 13))
	for range 30 {
		e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 1)
	}
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
	if report := e.checkLedger(); !report.Clean() {
		t.Error(report.Findings)
	}
}
