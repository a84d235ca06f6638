package monthend_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	coremonthend "causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
)

func TestDeferFees_PaymentsInTransitOverTheMonthsEnd(t *testing.T) {
	t.Parallel()
	// Fees are income of the month of the delivery: those of payments that are in transit at its end are deferred
	// to the next one. What is delivered or undone within the month is not, and a payment that stays in transit is
	// deferred again.
	e := newEnv(t, "feeRecognition=DELIVERY")
	late := e.convert(14, 1_000, "EUR", 1_080, "USD")
	delivered := e.convert(15, 500, "EUR", 540, "USD")
	e.deliver(delivered, money.Amount{Minor: 540, Currency: "USD"})
	stuck := e.convert(16, 300, "USD", 270, "EUR")
	undone := e.convert(17, 400, "EUR", 430, "USD")
	e.Post(ledger.Reverse(undone, e.IDs.New(e.Clock.Now()), e.Clock.Now(), "failed"))
	e.softClose(march)
	_, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true})
	wantConflict(t, err, "Month-end run missing")

	done, err := e.deferFees(march)

	want := []money.Amount{{Minor: 2, Currency: "EUR"}, {Minor: 2, Currency: "USD"}}
	if err != nil || done.Payments != 2 || !slices.Equal(done.Fees, want) {
		t.Fatalf("%+v, %v; want %v of 2 payments", done, err, want)
	}
	end := coremonthend.Last(march)
	for _, c := range []struct {
		currency money.Currency
		income   int64
	}{{"EUR", 2}, {"USD", 0}} {
		if got := e.balance(ledger.IncomeFees, end, c.currency); got != c.income {
			t.Errorf("income in March: %d %s, want %d", got, c.currency, c.income)
		}
		if got := e.balance(ledger.LiabilityDeferredFees, april.Start(), c.currency); got != 0 {
			t.Errorf("still deferred in April: %d %s", got, c.currency)
		}
	}
	e.deliver(late, money.Amount{Minor: 1_080, Currency: "USD"})
	if again, err := e.deferFees(march); err != nil || again.Run.Number != 1 {
		t.Errorf("the repetition is run %d, %v", again.Run.Number, err)
	}
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true}); err != nil {
		t.Error(err)
	}
	e.softClose(april)
	next, err := e.deferFees(april)
	if err != nil || next.Payments != 1 || !slices.Equal(next.Fees, want[1:]) || next.Run.Previous != done.Run.Ref() {
		t.Errorf("April: %+v, %v; want only the payment %s", next, err, stuck.Transaction)
	}
	stored, err := e.service.Deferral(t.Context(), e.Platform.ID, april)
	if err != nil || stored.Payments != 1 || !slices.Equal(stored.Fees, next.Fees) || !slices.Equal(stored.Run.Postings, next.Run.Postings) {
		t.Errorf("stored %+v, %v; want %+v", stored, err, next)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestDeferFees_ClosedOutOfDate(t *testing.T) {
	t.Parallel()
	// A month may be closed with a deferral that is out of date. What was posted into it after that counts in the next
	// run: a payment that was delivered is not in transit for ever, and one that was converted is.
	e := newEnv(t, "feeRecognition=DELIVERY")
	delivered := e.convert(14, 1_000, "EUR", 1_080, "USD")
	e.softClose(march)
	if _, err := e.deferFees(march); err != nil {
		t.Fatal(err)
	}
	if _, err := e.change(accounting.MonthChange{Action: period.Reopen, Month: march}); err != nil {
		t.Fatal(err)
	}
	late := func(transaction ident.Transaction) ledger.Header {
		return ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Transaction: transaction,
			Effective: march.End().Add(-time.Hour)}
	}
	e.Post(ledger.Delivered(late(delivered.Transaction), ledger.Rail("SEPA"), money.Amount{Minor: 1_080, Currency: "USD"}))
	converted := late(ident.NewTransaction(e.IDs.New, e.Clock.Now()))
	e.Post(ledger.Converted(converted, ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
		Sent: money.Amount{Minor: 303, Currency: "USD"}, Fees: 3, Received: money.Amount{Minor: 270, Currency: "EUR"}}))
	e.softCloseNow(march)
	_, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true})
	wantConflict(t, err, "Month-end run out of date")
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutRevaluation: true,
		WithoutFeeDeferral: true}); err != nil {
		t.Fatal(err)
	}
	e.softClose(april)

	next, err := e.deferFees(april)

	if want := []money.Amount{{Minor: 3, Currency: "USD"}}; err != nil || next.Payments != 1 || !slices.Equal(next.Fees, want) {
		t.Errorf("%d payments with fees of %v, %v; want %v of the payment that was not delivered", next.Payments, next.Fees, err, want)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestDeferFees_AtConversion(t *testing.T) {
	t.Parallel()
	// A platform that recognises fees at conversion defers none; one that changes back takes back what it
	// deferred.
	e := newEnv(t, "feeRecognition=DELIVERY")
	e.convert(14, 1_000, "EUR", 1_080, "USD")
	e.softClose(march)
	if _, err := e.deferFees(march); err != nil {
		t.Fatal(err)
	}
	e.set("feeRecognition=CONVERSION")

	done, err := e.deferFees(march)

	if err != nil || done.Run.Number != 2 || len(done.Run.Postings) != 0 || len(done.Fees) != 0 ||
		e.balance(ledger.IncomeFees, coremonthend.Last(march), "EUR") != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
	e.softClose(april)
	_, err = e.deferFees(april)
	wantConflict(t, err, "Fees are recognised at conversion")
	if _, err := e.service.Deferral(t.Context(), e.Platform.ID, april); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

func TestCheck_FindsChangedMonthEndResults(t *testing.T) {
	t.Parallel()
	// The check computes the results again: a changed result, a changed rate, or a posting that is no longer the
	// one that follows from the result is found.
	for name, c := range map[string]struct {
		damage string
		rule   audit.Rule
		want   string
	}{
		"a rate": {"UPDATE market_rates SET usd_rate = '1.3' WHERE usd_rate = '1.2'", audit.RuleExchangeResults,
			"by the entries and kept rates"},
		"a quantity": {"UPDATE ledger_exchange_positions SET quantity = quantity + 1", audit.RuleExchangeResults,
			"by the entries and kept rates"},
		"an origin": {"UPDATE ledger_exchange_origins SET amount = amount + 1 WHERE currency = ''", audit.RuleExchangeResults,
			"the changes of the position"},
		"the postings": {"UPDATE ledger_month_end_runs SET posting_ids = posting_ids[2:] WHERE kind = 'revaluation'", audit.RuleExchangeResults,
			"its postings are not those"},
		"a valuation": {"UPDATE ledger_entries SET amount = amount + 1 WHERE debit_account_id = (SELECT id FROM ledger_accounts WHERE path " +
			"= 'fx/valuation') AND amount = 20", audit.RuleExchangeResults, "its postings are not those"},
		"a lost result": {"SET session_replication_role = replica; DELETE FROM ledger_exchange_results", audit.RuleExchangeResults,
			"cannot be computed again: the exchange result of run 1 of 2026-03 is not stored"},
		"the currency": {"UPDATE ledger_exchange_results SET functional_currency = 'JPY'", audit.RuleExchangeResults,
			"cannot be computed again: CONFLICT: No market rate"},
		"no rate at all": {"UPDATE market_rates SET usd_rate = 'NaN' WHERE usd_rate = '1.2'", audit.RuleExchangeResults,
			"cannot be computed again: market rate of EUR"},
		"a fee":          {"UPDATE ledger_payments_in_transit SET fee = fee + 1", audit.RuleDeferredFees, "by the entries there are others"},
		"a lost line":    {"DELETE FROM ledger_payments_in_transit", audit.RuleDeferredFees, "by the entries there are others"},
		"no fees at all": {"UPDATE ledger_payments_in_transit SET fee = 0", audit.RuleDeferredFees, "its postings are not those"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, "feeRecognition=DELIVERY")
			fillMarch(e)
			e.revalue(march)
			if _, err := e.deferFees(march); err != nil {
				t.Fatal(err)
			}
			pgtest.ExecAsSuperuser(t, e.URL, c.damage)

			report := e.checkLedger()

			for _, f := range report.Findings {
				if f.Rule == c.rule && strings.Contains(f.Message, c.want) {
					return
				}
			}
			t.Errorf("not found: %v", report.Findings)
		})
	}
}
