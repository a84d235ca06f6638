package financials

import (
	"math"

	"causeway/app/internal/report"
	"causeway/core/financials"
	"causeway/core/money"
)

const maxSeq = math.MaxInt64

// Table is a report as rows of text.
type Table = report.Table

// Table returns the lines of the statements. Amounts of a column that is not known, or that the span does not have, are empty.
func (r Report) Table() Table {
	t := Table{Header: []string{"statement", "section", "code", "line", "currency", "period", "amount", "period_before", "amount_before",
		"period_year_before", "amount_year_before"}}
	for _, row := range r.Rows {
		cells := []string{string(row.Statement), string(row.Section), row.Code, row.Name, string(r.Functional)}
		for _, i := range r.order() {
			if i < 0 {
				cells = append(cells, "", "")
				continue
			}
			cells = append(cells, r.Columns[i].Period.String(), r.Amount(row, i))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// order returns the numbers of the columns of the period, the period before and the year before; −1 for none.
func (r Report) order() []int {
	if len(r.Columns) == 2 {
		return []int{0, -1, 1}
	}
	return []int{0, 1, 2}
}

// Amount returns a value of a row in major units; empty if its column is not known.
func (r Report) Amount(row financials.Row, column int) string {
	if !r.Columns[column].IsKnown {
		return ""
	}
	return money.TotalOf(row.Values[column]).Major(r.Functional)
}

// TextTable returns one statement for people: its lines with an amount for each column.
func (r Report) TextTable(s financials.Statement) Table {
	t := Table{Header: []string{"line"}}
	for _, c := range r.Columns {
		t.Header = append(t.Header, c.Period.String())
	}
	for _, row := range r.Of(s) {
		cells := []string{row.Name}
		for i := range r.Columns {
			cells = append(cells, r.Amount(row, i))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// AccountsTable returns what each account adds to each line in the period: its balance, or what moved, and the value.
func (r Report) AccountsTable() Table {
	t := Table{Header: []string{"statement", "code", "line", "path", "account_currency", "balance", "currency", "amount"}}
	add := func(s financials.Statement, line financials.Line, code string, key financials.Key, quantity string, value int64) {
		t.Rows = append(t.Rows, []string{string(s), code, line.Name, key.Path, string(key.Currency), quantity, string(r.Functional),
			money.TotalOf(value).Major(r.Functional)})
	}
	now := r.Columns[0]
	for _, f := range now.Closing {
		add(financials.BalanceSheet, f.Line, f.Line.Code, f.Key, f.Quantity.Major(f.Currency), f.Value)
	}
	for _, f := range now.Earnings {
		add(financials.IncomeStatement, f.Line, f.Line.Code, f.Key, "", f.Value)
	}
	for _, f := range now.Cash.Flows {
		code := f.Line.Code + "-paid"
		if f.IsReceived {
			code = f.Line.Code + "-received"
		}
		add(financials.CashFlow, f.Line, code, f.Key, money.TotalOf(f.Quantity).Major(f.Currency), f.Value)
	}
	return t
}
