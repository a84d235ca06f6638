package financials_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/core/exchange"
	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/price"
	"causeway/ledger"
)

func TestLines_EveryAccountOfTheChart(t *testing.T) {
	t.Parallel()
	// Every line of the chart has a line of the balance sheet or of the income statement with its class, and is cash or has a line of
	// the cash flow statement. No code is used twice in a section.
	sections := map[ledger.Class]financials.Section{ledger.Asset: financials.Assets, ledger.Liability: financials.Liabilities,
		ledger.Equity: financials.Equity, ledger.Income: financials.Income, ledger.Expense: financials.Expense, ledger.Trading: financials.Equity}
	for _, c := range ledger.Chart() {
		path := strings.NewReplacer("<InternalAccount>", "InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12", "<RAIL>", "RTP", "<network>",
			"LAYER2", "<NAME>", "OPERATING", "<name>", "added").Replace(c.Path)
		line, ok := financials.LineOf(path)
		want := sections[c.Class]
		if strings.HasPrefix(path, "platform/") {
			want = financials.Equity // the company owes it to itself
		}
		if !ok || line.Section != want {
			t.Errorf("%s has the line %+v, want one of %s", path, line, want)
		}
		if flow, ok := financials.FlowOf(path); ok == financials.IsCash(path) {
			t.Errorf("%s is cash: %t, and has the line %+v", path, financials.IsCash(path), flow)
		}
	}
	if line, ok := financials.LineOf("nowhere/else"); ok {
		t.Errorf("an account outside of the chart has the line %+v", line)
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	// Quarters and years are those of the financial year.
	month := func(text string) period.Month {
		m, err := period.ParseMonth(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		span             financials.Span
		month            string
		yearEnd          time.Month
		now, before, ago string
	}{
		{financials.OneMonth, "2026-01", 12, "2026-01", "2025-12", "2025-01"},
		{financials.QuarterToDate, "2026-01", 12, "2026-01", "2025-10", "2025-01"},
		{financials.QuarterToDate, "2026-06", 12, "2026-04..2026-06", "2026-01..2026-03", "2025-04..2025-06"},
		{financials.QuarterToDate, "2026-06", 7, "2026-05..2026-06", "2026-02..2026-03", "2025-05..2025-06"},
		{financials.YearToDate, "2026-03", 12, "2026-01..2026-03", "", "2025-01..2025-03"},
		{financials.YearToDate, "2026-03", 6, "2025-07..2026-03", "", "2024-07..2025-03"},
		{financials.YearToDate, "2026-06", 6, "2025-07..2026-06", "", "2024-07..2025-06"},
	} {
		now, before, ago := financials.Periods(c.span, month(c.month), c.yearEnd)
		if now.String() != c.now || before.String() != c.before || ago.String() != c.ago {
			t.Errorf("%s %s: %s, %s and %s; want %s, %s and %s", c.span, c.month, now, before, ago, c.now, c.before, c.ago)
		}
	}
}

func TestReport_Example(t *testing.T) {
	t.Parallel()
	// 1,000.00 USD of capital, and 100.00 EUR of a customer at the bank. A fee of 10.00 EUR was earned at 1.10, and the rate at the end is
	// 1.20: the exchange result has 1.00 for it. 30.00 USD were paid for rent.
	rates := func(rate string) *exchange.Rates {
		return exchange.NewRates(price.KeptRates{InUSD: map[money.Currency]price.KeptRate{"EUR": {Rate: money.MustRate(rate)}}}, "USD")
	}
	k := func(path string, c money.Currency) financials.Key { return financials.Key{Path: path, Currency: c} }
	opening := map[financials.Key]money.Total{k("own/OPERATING", "USD"): money.TotalOf(100_000), k("equity/capital",
		"USD"): money.TotalOf(-100_000)}
	closing := map[financials.Key]money.Total{k("own/OPERATING", "USD"): money.TotalOf(97_000), k("equity/capital",
		"USD"): money.TotalOf(-100_000),
		k("rails/SEPA", "EUR"): money.TotalOf(10_000), k(customer, "EUR"): money.TotalOf(-9_000), k("income/fees", "EUR"): money.TotalOf(-1_000),
		k("expense/rent", "USD"): money.TotalOf(3_000), k("income/unrealised-exchange-gains", "USD"): money.TotalOf(-100),
		k("fx/valuation", "USD"): money.TotalOf(100)}
	start, err := financials.Open(map[financials.Key]int64{k("equity/capital", "USD"): 100_000}, rates("1.00"), "USD", 0)
	if err != nil {
		t.Fatal(err)
	}
	state, err := start.Next(financials.Month{Rates: rates("1.20"), Balances: map[financials.Key]int64{k("equity/capital", "USD"): 100_000,
		k("income/fees", "EUR"): 1_000, k("expense/rent", "USD"): -3_000, k("income/unrealised-exchange-gains", "USD"): 100},
		Translations: []exchange.Translation{{Account: "income/fees", Currency: "EUR", Quantity: 1_000, Value: 1_100}}})
	if err != nil {
		t.Fatal(err)
	}
	column := financials.Column{Period: financials.Period{From: first, To: first}, IsKnown: true}
	if column.Opening, err = financials.NewPosition(start, opening, rates("1.00")); err != nil {
		t.Fatal(err)
	}
	if column.Closing, err = financials.NewPosition(state, closing, rates("1.20")); err != nil {
		t.Fatal(err)
	}
	if column.Earnings, err = financials.Earnings([]*financials.State{state}); err != nil {
		t.Fatal(err)
	}
	if column.Cash, err = financials.NewCashFlows("USD", opening, closing, rates("1.00"), rates("1.20"), []financials.Movement{
		{Key: k("customers/", "EUR"), Received: 12_000, Paid: 2_000}, {Key: k("expense/rent", "USD"), Paid: 3_000}}); err != nil {
		t.Fatal(err)
	}

	report := financials.NewReport("USD", []financials.Column{column, {Period: financials.Period{From: first.Previous(),
		To: first.Previous()}}})

	var got strings.Builder
	for _, row := range report.Rows {
		fmt.Fprintf(&got, "%s %s: %d\n", row.Statement, row.Name, row.Values[0])
		if len(row.Values) != 2 || row.Values[1] != 0 {
			t.Errorf("%+v has values of a column that is not known", row)
		}
		var sum int64
		for _, a := range row.Accounts {
			sum += a.Value
		}
		if row.HasEntries(0) && sum != row.Values[0] || row.HasEntries(1) {
			t.Errorf("%s %s is %d, and its accounts come to %d", row.Statement, row.Name, row.Values[0], sum)
		}
		if row.Statement == financials.IncomeStatement && row.Code == "fees" && row.Accounts[0].Quantity.String() != "1000" {
			t.Errorf("fees in euros are %s", row.Accounts[0].Quantity)
		}
	}
	const want = `BALANCE_SHEET Cash at partners and on chains, with customers' money: 12000
BALANCE_SHEET Own cash: 97000
BALANCE_SHEET Total assets: 109000
BALANCE_SHEET Owed to customers: 10800
BALANCE_SHEET Total liabilities: 10800
BALANCE_SHEET Capital: 100000
BALANCE_SHEET Result not closed yet: -1800
BALANCE_SHEET Total equity: 98200
BALANCE_SHEET Total liabilities and equity: 109000
INCOME_STATEMENT Fees: 1100
INCOME_STATEMENT Unrealised exchange gains: 100
INCOME_STATEMENT Total income: 1200
INCOME_STATEMENT Other expense: 3000
INCOME_STATEMENT Total expense: 3000
INCOME_STATEMENT Result: -1800
CASH_FLOW Received from customers and payees: 14400
CASH_FLOW Paid to customers and payees: -2400
CASH_FLOW Paid for other expense: -3000
CASH_FLOW Cash from operating activities: 9000
CASH_FLOW Cash from investing activities: 0
CASH_FLOW Cash from financing activities: 0
CASH_FLOW Cash at the beginning: 100000
CASH_FLOW Cash at the end: 109000
CHANGES_IN_EQUITY Capital: at the beginning: 100000
CHANGES_IN_EQUITY Capital: at the end: 100000
CHANGES_IN_EQUITY Retained earnings and result: result of the period: -1800
CHANGES_IN_EQUITY Retained earnings and result: at the end: -1800
CHANGES_IN_EQUITY Total equity at the end: 98200
`
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
}
