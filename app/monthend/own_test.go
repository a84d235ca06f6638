package monthend_test

import (
	"slices"
	"testing"
	"time"

	"causeway/app/accounting"
	"causeway/app/monthend"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/money"
	coremonthend "causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
)

// entry posts one entry now.
func (e *env) entry(debit, credit string, currency money.Currency, minor int64) {
	e.t.Helper()
	e.PostAuthorised(e.by, ledger.Adjustment(ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Effective: e.Clock.Now(),
		Memo: "Test"},
		[]ledger.Entry{{Debit: debit, Credit: credit, Currency: currency, Amount: minor}}))
}

// fillOwn posts in March, in euros at 1.1: capital of 10,000, a fee of 100, costs of 40 of which 10 are owed, and money
// of a customer, of which 500 become the platform's; then soft-closes March at a rate of 1.2.
func fillOwn(e *env) {
	e.moveTo(march.Start().AddDate(0, 0, 13))
	customer, own := e.NewInternalAccount(e.Customer.ID, "EUR", 0), e.NewInternalAccount(ident.Customer{}, "EUR", 0)
	e.entry(ledger.Own("OPERATING"), ledger.EquityCapital, "EUR", 10_000)
	e.entry(ledger.Rail("SEPA"), ledger.IncomeFees, "EUR", 100)
	e.entry(ledger.ExpenseRails, ledger.Own("OPERATING"), "EUR", 30)
	e.entry(ledger.ExpenseRails, ledger.PartnerPayable("SEPA"), "EUR", 10)
	e.entry(ledger.Rail("SEPA"), ledger.CustomerAccount(customer.ID), "EUR", 7_000)
	e.entry(ledger.CustomerAccount(customer.ID), ledger.PlatformAccount(own.ID), "EUR", 500)
	e.entry(ledger.Rail("WIRE"), ledger.IncomeFees, "USD", 9) // no foreign currency
	e.KeepRates(march.End().Add(-time.Hour), "1.2")
	e.softClose(march)
}

func TestRevalue_OwnFundsIncomeAndExpense(t *testing.T) {
	t.Parallel()
	// All that the platform has in euros on its own account is worth the closing rate: what is held less what is owed,
	// also to customers and partners. Income, expense and own funds are translated at the rate of their time; what the
	// market has added since is unrealised income.
	e := newEnv(t)
	fillOwn(e)

	done := e.revalue(march)

	// 10,000 + 100 - 40 + 500 = 10,560 euros that cost 11,616 are worth 12,672.
	wantLine := exchange.Line{Currency: "EUR", Holding: exchange.Holding{Quantity: 10_560, Cost: 11_616}, Value: 12_672, Unrealised: 1_056}
	if l := done.Result.Lines; len(l) != 1 || l[0].Holding != wantLine.Holding || l[0].Value != wantLine.Value ||
		l[0].Unrealised != wantLine.Unrealised {
		t.Errorf("%+v, want %+v", l, wantLine)
	}
	want := []exchange.Translation{
		{Account: ledger.EquityCapital, Currency: "EUR", Quantity: 10_000, Value: 11_000, Postings: 1},
		{Account: ledger.ExpenseRails, Currency: "EUR", Quantity: -40, Value: -44, Postings: 2},
		{Account: ledger.IncomeFees, Currency: "EUR", Quantity: 100, Value: 110, Postings: 1},
		{Account: "platform/<InternalAccount>", Currency: "EUR", Quantity: 500, Value: 550, Postings: 1},
	}
	if !slices.EqualFunc(done.Result.Translations, want, exchange.Translation.Equal) || done.Result.Translated != 11_616 ||
		done.Result.Opening != 0 {
		t.Errorf("%+v, %d", done.Result.Translations, done.Result.Translated)
	}
	if c := done.Result.Changes; c.ByOrigin[exchange.IncomeAndExpense] != 66 || c.ByOrigin[exchange.OwnFunds] != 11_550 ||
		c.RateChanges != 1_056 || c.Closing != 12_672 {
		t.Errorf("%+v", c)
	}
	end := coremonthend.Last(march)
	for path, want := range map[string]int64{ledger.IncomeUnrealisedExchangeGains: 1_056, ledger.IncomeExchangeGains: 0,
		ledger.FXValuation: -1_056} {
		if got := e.balance(path, end); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	stored, err := e.service.Result(t.Context(), e.Platform.ID, march)
	if err != nil || !slices.EqualFunc(stored.Result.Translations, want, exchange.Translation.Equal) || stored.Result.Translated != 11_616 {
		t.Errorf("stored %+v, %v", stored.Result, err)
	}
	var values int64
	err = e.service.EachMeasured(t.Context(), done, func(m monthend.MeasuredPosting) error {
		for _, own := range m.Measured.Own {
			values += own.Value
		}
		return nil
	})
	if err != nil || values != 11_616 {
		t.Errorf("the postings are worth %d, %v", values, err)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestRevalue_NextMonthOfOwnFunds(t *testing.T) {
	t.Parallel()
	// Costs that are paid with euros that were earned at another rate realise the difference; the books of the next
	// month begin with those of the month, and remain balanced.
	e := newEnv(t)
	fillOwn(e)
	e.revalue(march)
	e.KeepRates(april.Start().Add(time.Minute), "1.2")
	e.moveTo(april.Start().AddDate(0, 0, 9))
	e.entry(ledger.ExpenseRails, ledger.Own("OPERATING"), "EUR", 1_000) // cost 1,100, worth 1,200
	e.KeepRates(april.End().Add(-time.Hour), "1.15")
	e.softClose(april)

	done := e.revalue(april)

	want := []exchange.Realised{{Origin: exchange.IncomeAndExpense, Currency: "EUR", Amount: 100, Trades: 1}}
	if !slices.Equal(done.Result.Realised, want) || done.Result.Translated != 11_616-1_200 || done.Result.Changes.Opening != 12_672 ||
		done.Result.Lines[0].Holding != (exchange.Holding{Quantity: 9_560, Cost: 10_516}) {
		t.Errorf("%+v", done.Result)
	}
	if got, want := e.balance(ledger.FXValuation, coremonthend.Last(april)), -(9_560*115/100)+11_616-1_200; got != int64(want) {
		t.Errorf("fx/valuation %d, want %d", got, want)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestRevalue_EntriesBetweenOwnAccountsChangeNothing(t *testing.T) {
	t.Parallel()
	// The closing of a year and the deferral of fees move what was translated: the result of the month is not out of
	// date because of them, and a repetition posts nothing. Income in a foreign currency makes it out of date.
	e := newEnv(t, "feeRecognition=DELIVERY")
	e.convert(13, 1_000, "EUR", 1_080, "USD") // with a fee of 2 euros, in transit
	fillOwn(e)
	first := e.revalue(march)
	if _, err := e.service.DeferFees(t.Context(), e.Platform.ID, e.by, nil, march); err != nil {
		t.Fatal(err)
	}
	header := ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Effective: coremonthend.Last(march), Memo: "Closing"}
	e.PostAuthorised(e.by, ledger.YearEnd(header, []ledger.NetBalance{{Path: ledger.IncomeFees, Currency: "EUR", Net: money.TotalOf(-100)},
		{Path: ledger.ExpenseRails, Currency: "EUR", Net: money.TotalOf(40)}}))

	again := e.revalue(march)

	if again.Run.Number != 1 || !slices.Equal(again.Result.Lines, first.Result.Lines) || !slices.EqualFunc(again.Result.Translations,
		first.Result.Translations, exchange.Translation.Equal) {
		t.Errorf("%+v, want %+v", again, first)
	}
	_, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.by, nil,
		period.Adjustment{Note: "A fee", Effective: march.End().AddDate(0, 0, -1),
			Entries: []ledger.Entry{{Debit: ledger.Rail("SEPA"), Credit: ledger.IncomeFees, Currency: "EUR", Amount: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.change(accounting.MonthChange{Action: period.Close, Month: march})
	wantConflict(t, err, "Month-end run out of date")
	if third := e.revalue(march); third.Run.Number != 2 || third.Result.Lines[0].Quantity != first.Result.Lines[0].Quantity+5 {
		t.Errorf("%+v", third)
	}
	if _, err := e.change(accounting.MonthChange{Action: period.Close, Month: march, WithoutYearEnd: true}); err != nil {
		t.Error(err)
	}
}

func TestRevalue_FirstMonthWithOwnFundsOfBefore(t *testing.T) {
	t.Parallel()
	// Own funds of the time before the first month begin at the rates of its beginning: they have earned nothing yet.
	e := newEnv(t)
	e.Clock.Advance(march.Start().AddDate(0, 0, -10).Sub(e.Clock.Now()))
	e.entry(ledger.Own("OPERATING"), ledger.EquityCapital, "EUR", 1_001)
	e.convert(20, 1_000, "EUR", 1_080, "USD") // 20 earned, and a fee of 2 euros
	e.KeepRates(march.End().Add(-time.Hour), "1.2")
	e.softClose(march)

	done := e.revalue(march)

	// 2,003 euros are worth 2,203 when March begins, of which 1,100 were bought for 1,080; and 2,403 at its end.
	if done.Result.Opening != 20 || done.Result.Translated != 1_103 || done.Result.Changes.Opening != 2_203-1_080 ||
		done.Result.Lines[0].Unrealised != 200 {
		t.Errorf("%+v", done.Result)
	}
	if got := e.balance(ledger.FXValuation, coremonthend.Last(march)); got != -220 {
		t.Errorf("fx/valuation %d, want -220", got)
	}
	if report := e.checkLedger(); !report.Clean() {
		t.Errorf("%v", report.Findings)
	}
}

func TestChanges_OfOwnFunds(t *testing.T) {
	t.Parallel()
	// Between any two times, in any currency, own funds and income in all others are a part of the change.
	e := newEnv(t)
	e.KeepRates(march.Start().AddDate(0, 0, 12), "1.1")
	from := march.Start().AddDate(0, 0, 12).Add(time.Hour)
	fillOwn(e)

	got, err := e.service.Changes(t.Context(), e.Platform.ID, from, march.End(), "USD")

	if err != nil || got.Opening != 0 || got.ByOrigin[exchange.OwnFunds] != 11_550 || got.ByOrigin[exchange.IncomeAndExpense] != 66 ||
		got.Trades[exchange.IncomeAndExpense] != 3 || got.RateChanges != 1_056 || got.Closing != 12_672 {
		t.Errorf("%+v, %v", got, err)
	}
	// In euros, only the fee of 9 dollars is foreign: worth 8.18, and 7.5 at the end.
	if got, err = e.service.Changes(t.Context(), e.Platform.ID, from, march.End(), "EUR"); err != nil ||
		got.ByOrigin[exchange.IncomeAndExpense] != 8 || got.RateChanges != -1 || got.Closing != 7 || got.ByOrigin[exchange.OwnFunds] != 0 {
		t.Errorf("in euros: %+v, %v", got, err)
	}
}
