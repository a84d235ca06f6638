package financials_test

import (
	"fmt"
	"testing"

	"causeway/app/accounting"
	app "causeway/app/financials"
	"causeway/app/internal/audittest"
	"causeway/app/yearend"
	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

func TestReport_FiguresAreTheSumsOfTheirEntries(t *testing.T) {
	t.Parallel()
	// Fifteen months with income, expense and owners in two currencies, customers and cash; income in a third is worth nothing in some of
	// them. The year that ends in March 2027 is closed.
	// Each figure of a month, a quarter and a year, and of those beside it, is the sum of the entries, or of the accounts, that it leads to.
	e := newEnv(t)
	e.SetBooks(e.by, "yearEndMonth=3")
	reports := accounting.New(accounting.Config{Store: e.Store, Ledger: e.Store.Finance(), KeptRates: e.Store, Clock: e.Clock, IDs: e.IDs})
	customer := e.NewInternalAccount(e.Customer.ID, "USD", 0).LedgerPath()
	years := yearend.New(yearend.Config{Store: e.Store, Ledger: e.Store.LedgerReader(), Clock: e.Clock, IDs: e.IDs})
	closed, last := period.MonthOf(march.Start().AddDate(0, 12, 0)), march
	for n := range 15 {
		m := period.MonthOf(march.Start().AddDate(0, n, 0))
		day, amount := m.Start().AddDate(0, 0, 9), int64(1_000+n)
		e.post(day, entry("own/OPERATING", ledger.EquityCapital, "USD", 100*amount), entry("rails/ACH", customer, "USD", 7*amount))
		e.post(day, entry("rails/SEPA", ledger.FundingUnmatched, "EUR", 10*amount), entry(ledger.FundingUnmatched, ledger.IncomeFees,
			"EUR", amount))
		e.post(day, entry(customer, ledger.IncomeFees, "USD", 3*amount), entry(ledger.ExpenseTaxes, "own/OPERATING", "USD", amount),
			entry(ledger.ExpenseRails, "rails/SEPA", "EUR", 2*amount), entry(customer, "rails/ACH", "USD", amount))
		pesos := int64(100)
		if n%3 == 1 { // of the first month of a quarter, worth nothing
			pesos = 1
		}
		e.post(day, entry("own/OPERATING", ledger.IncomeFees, "MXN", pesos))
		if m == closed { // a dividend, beside what the closing moves
			e.post(day, entry(ledger.EquityRetainedEarnings, "own/OPERATING", "USD", 500))
		}
		e.endMonth(m, fmt.Sprintf("1.%02d", 10+n))
		if last = m; m == closed {
			if _, err := years.CloseAlone(t.Context(), e.Platform.ID, yearend.Change{Year: 2027, By: e.by, Note: "Complete"}); err != nil {
				t.Fatal(err)
			}
		}
		if !closed.Before(m) {
			e.change(period.Close, m)
		}
	}
	figures, parts := 0, map[financials.Part]bool{}
	for _, q := range []app.Query{{Month: closed, Span: financials.OneMonth}, {Month: last, Span: financials.OneMonth},
		{Month: last, Span: financials.QuarterToDate}, {Month: closed, Span: financials.YearToDate}, {Month: last, Span: financials.YearToDate}} {
		shown := e.report(q.Month, q.Span)
		for i, column := range shown.Columns {
			if !column.IsKnown {
				continue
			}
			opened := e.report(column.To, q.Span)
			rows := map[string]financials.Row{}
			for _, row := range opened.Rows {
				rows[string(row.Statement)+row.Code] = row
			}
			for _, row := range shown.Rows {
				if !row.HasEntries(i) {
					continue
				}
				name := fmt.Sprintf("%s %s in %s", row.Statement, row.Code, column.Period)
				var sum int64
				for _, a := range rows[string(row.Statement)+row.Code].Accounts {
					sum += a.Value
					if a.Entries == nil {
						continue
					}
					figures++
					parts[a.Entries.Part] = true
					if got := e.sumOf(reports, a); !got.Equal(a.Quantity) {
						t.Errorf("%s: %s has %s %s, and its entries come to %s", name, a.Path, a.Quantity, a.Currency, got)
					}
				}
				if sum != row.Values[i] {
					t.Errorf("%s: the accounts come to %d, and the figure is %d", name, sum, row.Values[i])
				}
			}
		}
	}
	if figures < 200 || len(parts) != len(financials.Parts())-2 { // all but those of trial balances
		t.Errorf("only %d figures of the parts %v were compared", figures, parts)
	}
	audittest.Check(t, e.Env, "transactions")
}

// sumOf returns the sum of what a figure leads to.
func (e *env) sumOf(reports *accounting.Service, a financials.AccountFigure) (sum money.Total) {
	e.t.Helper()
	filter := ports.AccountEntryFilter{Account: ledger.Account{Platform: e.Platform.ID, Path: a.Path, Currency: a.Currency},
		By: ports.ByEffective, Interval: period.Interval{From: a.Entries.From.Start(), To: a.Entries.To.End()}, Part: a.Entries.Part, Limit: 9}
	if a.Path != financials.Group(a.Path) || a.Path[len(a.Path)-1] != '/' {
		return e.sumOfEntries(reports, filter)
	}
	if a.Entries.Part.IsCash() {
		accounts, err := e.service.CashOfGroup(e.t.Context(), e.Platform.ID, a.Key, *a.Entries)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, of := range accounts {
			if got := e.sumOf(reports, of); !got.Equal(of.Quantity) {
				e.t.Errorf("%s has %s, and its entries come to %s", of.Path, of.Quantity, got)
			}
			sum = sum.Add(of.Quantity)
		}
		return sum
	}
	balance, err := reports.TrialBalance(e.t.Context(), e.Platform.ID, accounting.TrialBalanceQuery{By: filter.By, Interval: filter.Interval,
		Group: a.Path, Currency: a.Currency})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, l := range balance.Lines {
		filter.Account.Path = l.Path
		sum = sum.Add(e.sumOfEntries(reports, filter))
	}
	if len(balance.Totals) > 0 && !balance.Totals[0].Credits.Sub(balance.Totals[0].Debits).Equal(sum) {
		e.t.Errorf("%s has %+v, and its accounts come to %s", a.Path, balance.Totals, sum)
	}
	return sum
}

// sumOfEntries adds up entries page by page, which come to what EntriesSum says.
func (e *env) sumOfEntries(reports *accounting.Service, f ports.AccountEntryFilter) (sum money.Total) {
	e.t.Helper()
	want, err := reports.EntriesSum(e.t.Context(), f)
	if err != nil {
		e.t.Fatal(err)
	}
	for more := true; more; {
		page, err := reports.Entries(e.t.Context(), f)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, entry := range page.Entries {
			amount := money.TotalOf(entry.Amount)
			if isDebit := entry.Debit == f.Account.Path; isDebit != page.Class.IsDebitNormal() && !f.Part.IsCash() ||
				f.Part == financials.CashPaid {
				amount = amount.Neg()
			}
			sum, f.After = sum.Add(amount), entry.Position
		}
		more = page.More
	}
	if !sum.Equal(want) {
		e.t.Errorf("the entries of %s, %s, come to %s, and %s is shown", f.Account, f.Part, sum, want)
	}
	return sum
}
