package financials

import (
	"slices"

	"causeway/core/money"
)

// Statement names a financial statement.
type Statement string

// The statements, in the order in which they are shown.
const (
	BalanceSheet    Statement = "BALANCE_SHEET"
	IncomeStatement Statement = "INCOME_STATEMENT"
	CashFlow        Statement = "CASH_FLOW"
	EquityChanges   Statement = "CHANGES_IN_EQUITY"
)

// Statements returns every statement.
func Statements() []Statement {
	return []Statement{BalanceSheet, IncomeStatement, CashFlow, EquityChanges}
}

// Column are the figures of a period.
type Column struct {
	Period
	// IsKnown: the months of the period have exchange results.
	IsKnown          bool
	Opening, Closing Position
	Earnings         []Figure
	Cash             CashFlows
}

// Row is a row of a statement.
type Row struct {
	Statement Statement
	Section   Section
	// Code is empty for a total of a section; IsTotal also holds for other sums.
	Code, Name string
	IsTotal    bool
	// Values are those of the columns. A column that is not known has zero.
	Values []int64
	// Accounts are what the first column consists of; none for a sum.
	Accounts []AccountFigure
}

// Report are the statements of a period, with those to compare with.
type Report struct {
	Functional money.Currency
	Columns    []Column
	Rows       []Row
}

// NewReport returns the statements of columns, of which the first is known.
func NewReport(functional money.Currency, columns []Column) Report {
	r := Report{Functional: functional, Columns: columns}
	r.position()
	r.earnings()
	r.cash()
	r.equity()
	return r
}

// Of returns the rows of a statement.
func (r Report) Of(s Statement) (rows []Row) {
	for _, row := range r.Rows {
		if row.Statement == s {
			rows = append(rows, row)
		}
	}
	return rows
}

// add adds a row, unless it is a line whose values are all zero.
func (r *Report) add(row Row, value func(Column) int64) {
	zero := true
	for _, c := range r.Columns {
		v := int64(0)
		if c.IsKnown {
			v = value(c)
		}
		row.Values = append(row.Values, v)
		zero = zero && v == 0
	}
	moved := slices.ContainsFunc(row.Accounts, func(a AccountFigure) bool { return a.Value != 0 })
	if !zero || row.IsTotal || moved {
		r.Rows = append(r.Rows, row)
	}
}

func (r *Report) total(s Statement, section Section, code, name string, value func(Column) int64) {
	r.add(Row{Statement: s, Section: section, Code: code, Name: name, IsTotal: true}, value)
}

// lines adds the lines of a section and their total.
func (r *Report) lines(s Statement, section Section, total string, figures func(Column) []Figure) {
	all := slices.Clone(accountLines)
	if i := slices.IndexFunc(all, func(l Line) bool { return l.Code == "own-balances" }); s == BalanceSheet {
		all = slices.Insert(all, i, unclosedLine)
	}
	for _, line := range all {
		if line.Section == section {
			r.add(Row{Statement: s, Section: section, Code: line.Code, Name: line.Name, Accounts: r.accountsOf(s, figures(r.Columns[0]), line)},
				func(c Column) int64 { return sumOf(figures(c), section, line.Code) })
		}
	}
	r.total(s, section, "", total, func(c Column) int64 { return sumOf(figures(c), section, "") })
}

// sumOf returns the value of a line of a section; of all its lines if code is empty.
func sumOf(figures []Figure, section Section, code string) (sum int64) {
	for _, f := range figures {
		if f.Line.Section == section && (code == "" || f.Line.Code == code) {
			sum += f.Value
		}
	}
	return sum
}

func (r *Report) position() {
	closing := func(c Column) []Figure { return c.Closing }
	r.lines(BalanceSheet, Assets, "Total assets", closing)
	r.lines(BalanceSheet, Liabilities, "Total liabilities", closing)
	r.lines(BalanceSheet, Equity, "Total equity", closing)
	r.total(BalanceSheet, "", "total-liabilities-and-equity", "Total liabilities and equity", func(c Column) int64 {
		return c.Closing.Sum(Liabilities) + c.Closing.Sum(Equity)
	})
}

func (r *Report) earnings() {
	earnings := func(c Column) []Figure { return c.Earnings }
	r.lines(IncomeStatement, Income, "Total income", earnings)
	r.lines(IncomeStatement, Expense, "Total expense", earnings)
	r.total(IncomeStatement, "", "result", "Result", func(c Column) int64 { return Result(c.Earnings) })
}

func (r *Report) cash() {
	sum := func(flows []Flow, match func(Flow) bool) (sum int64) {
		for _, f := range flows {
			if match(f) {
				sum += f.Value
			}
		}
		return sum
	}
	for _, section := range []struct {
		Section
		total string
	}{{Operating, "Cash from operating activities"}, {Investing, "Cash from investing activities"},
		{Financing, "Cash from financing activities"}, {TakenOver, "Cash taken over from earlier books"}} {
		for _, line := range flowLines {
			for _, received := range []bool{true, false} {
				match := func(f Flow) bool { return f.Line.Code == line.Code && f.IsReceived == received }
				row := Row{Statement: CashFlow, Section: section.Section, Code: line.Code + "-paid", Name: "Paid for " + line.Name}
				if received {
					row.Code, row.Name = line.Code+"-received", "Received from "+line.Name
				}
				if line.Code == "customers" || line.Code == "owners" || line.Code == "partners" {
					row.Name = map[bool]string{true: "Received from ", false: "Paid to "}[received] + line.Name
				}
				for _, f := range r.Columns[0].Cash.Flows {
					if match(f) {
						row.Accounts = append(row.Accounts, AccountFigure{f.Key, money.TotalOf(f.Quantity), f.Value,
							&Entries{r.Columns[0].Period, map[bool]Part{true: CashReceived, false: CashPaid}[received]}})
					}
				}
				if line.Section == section.Section {
					r.add(row, func(c Column) int64 { return sum(c.Cash.Flows, match) })
				}
			}
		}
		if section.Section == TakenOver && !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Section == TakenOver }) {
			continue
		}
		r.total(CashFlow, section.Section, "", section.total, func(c Column) int64 {
			return sum(c.Cash.Flows, func(f Flow) bool { return f.Line.Section == section.Section })
		})
	}
	r.add(Row{Statement: CashFlow, Code: rateChanges, Name: "Changes of exchange rates"}, func(
		c Column) int64 {
		return c.Cash.RateChanges
	})
	r.add(Row{Statement: CashFlow, Code: postedMeanwhile, Name: "Posted while this was read"},
		func(c Column) int64 { return c.Cash.Unexplained })
	r.total(CashFlow, "", "opening-cash", "Cash at the beginning", func(c Column) int64 { return c.Cash.Opening })
	r.total(CashFlow, "", "closing-cash", "Cash at the end", func(c Column) int64 { return c.Cash.Closing })
}

// components are the parts of equity whose changes are shown.
var components = []struct {
	code, name string
	lines      []string
}{
	{"capital", "Capital", []string{"capital"}},
	{"brought-forward", "Balances of earlier books", []string{"brought-forward"}},
	{"earnings", "Retained earnings and result", []string{"retained-earnings", lineUnclosed}},
	{"own-balances", "Own balances of the platform", []string{"own-balances"}},
	{"other-equity", "Other equity", []string{"other-equity"}},
	{lineDifference, "Exchange result not posted yet", []string{lineDifference}},
}

func (r *Report) equity() {
	for _, part := range components {
		opening := func(c Column) int64 { return c.Opening.Sum(Equity, part.lines...) }
		closing := func(c Column) int64 { return c.Closing.Sum(Equity, part.lines...) }
		result := func(c Column) int64 {
			if part.code == "earnings" {
				return Result(c.Earnings)
			}
			return 0
		}
		accounts := r.equityAccounts(part.lines, part.code == "earnings")
		add := func(code, name string, value func(Column) int64) {
			n := len(r.Rows)
			r.add(Row{Statement: EquityChanges, Section: Equity, Code: part.code + "-" + code, Name: part.name + ": " + name}, value)
			if len(r.Rows) > n {
				r.Rows[n].Accounts = accounts[code]
			}
		}
		add("opening", "at the beginning", opening)
		add("result", "result of the period", result)
		add("changes", "paid in, taken out and other changes", func(c Column) int64 { return closing(c) - opening(c) - result(c) })
		add("closing", "at the end", closing)
	}
	r.total(EquityChanges, Equity, "", "Total equity at the end", func(c Column) int64 { return c.Closing.Sum(Equity) })
}
