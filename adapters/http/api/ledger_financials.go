package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/financials"
	"causeway/core/fault"
	core "causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// Financials holds the use cases on financial statements.
type Financials interface {
	Report(ctx context.Context, p ident.Platform, q financials.Query) (financials.Report, error)
}

type financialPeriodBody struct {
	From  monthText `json:"from" doc:"First month." example:"2026-10"`
	To    monthText `json:"to" doc:"Last month." example:"2026-10"`
	Known bool      `json:"known" doc:"Whether its months have exchange results; otherwise its amounts are omitted."`
}

func renderFinancialPeriod(c core.Column) *financialPeriodBody {
	return &financialPeriodBody{monthText(c.From.String()), monthText(c.To.String()), c.IsKnown}
}

type financialAccountBody struct {
	Path     string           `json:"path" doc:"Path of the account; a group, such as all customers, ends in a slash." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"Currency of the account." example:"EUR"`
	Balance  httpapi.BigMinor `json:"balance" doc:"Its balance, or what moved between it and cash, in the smallest unit of its currency; 0 in the income statement."`
	Amount   httpapi.BigMinor `json:"amount" doc:"What it adds to the line, in the smallest unit of the functional currency."`
}

type financialLineBody struct {
	Statement string `json:"statement" enum:"BALANCE_SHEET,INCOME_STATEMENT,CASH_FLOW,CHANGES_IN_EQUITY" doc:"Statement."`
	Section   string `json:"section,omitempty" doc:"Section of the statement. Omitted for sums over sections." example:"ASSETS"`
	Code      string `json:"code,omitempty" doc:"Name of the line in its statement, which does not change. Omitted for the total of a section." example:"own-cash"`
	Name      string `json:"name" doc:"Line as it is shown." example:"Own cash"`
	Total     bool   `json:"total" doc:"Whether the line is a sum."`

	Amount           httpapi.BigMinor       `json:"amount" doc:"Amount of the period, in the smallest unit of the functional currency."`
	AmountBefore     *httpapi.BigMinor      `json:"amountBefore,omitempty" doc:"Amount of the period before."`
	AmountYearBefore *httpapi.BigMinor      `json:"amountYearBefore,omitempty" doc:"Amount of the same period of the year before."`
	Accounts         []financialAccountBody `json:"accounts" doc:"What the amount of the period consists of, by account; empty for sums and for the changes in equity."`
}

type financialStatementsBody struct {
	FunctionalCurrency httpapi.Currency     `json:"functionalCurrency" doc:"Currency of all amounts." example:"USD"`
	Span               string               `json:"span" enum:"MONTH,QUARTER_TO_DATE,YEAR_TO_DATE" doc:"Span."`
	State              string               `json:"state" enum:"SOFT_CLOSED,CLOSED,OPEN" doc:"State of the last month. The statements of a closed month are final."`
	Period             *financialPeriodBody `json:"period" doc:"Period of the statements."`
	PeriodBefore       *financialPeriodBody `json:"periodBefore,omitempty" doc:"Period before it. Omitted for the year to date."`
	PeriodYearBefore   *financialPeriodBody `json:"periodYearBefore" doc:"Same period of the year before."`
	Lines              []financialLineBody  `json:"lines" doc:"Lines by statement, without those that are zero in every period."`
}

func renderFinancialStatements(r financials.Report) financialStatementsBody {
	last := len(r.Columns) - 1
	body := financialStatementsBody{FunctionalCurrency: httpapi.Currency(r.Functional), Span: string(r.Span), State: string(r.State),
		Period: renderFinancialPeriod(r.Columns[0]), PeriodYearBefore: renderFinancialPeriod(r.Columns[last]), Lines: []financialLineBody{}}
	if last == 2 {
		body.PeriodBefore = renderFinancialPeriod(r.Columns[1])
	}
	minor := func(value int64) httpapi.BigMinor { return httpapi.NewBigMinor(money.TotalOf(value)) }
	amount := func(row core.Row, column int) *httpapi.BigMinor {
		if !r.Columns[column].IsKnown {
			return nil
		}
		value := minor(row.Values[column])
		return &value
	}
	for _, row := range r.Rows {
		line := financialLineBody{Statement: string(row.Statement), Section: string(row.Section), Code: row.Code, Name: row.Name,
			Total: row.IsTotal, Amount: minor(row.Values[0]), AmountYearBefore: amount(row, last), Accounts: renderFinancialAccounts(row)}
		if last == 2 {
			line.AmountBefore = amount(row, 1)
		}
		body.Lines = append(body.Lines, line)
	}
	return body
}

// renderFinancialAccounts returns the accounts of a row as the interface has them: a balance has the sign of its line, the income statement
// has none, and changes in equity have no accounts.
func renderFinancialAccounts(row core.Row) []financialAccountBody {
	accounts := []financialAccountBody{}
	if row.Statement == core.EquityChanges {
		return accounts
	}
	for _, a := range row.Accounts {
		own, _ := core.LineOf(a.Path)
		switch {
		case row.Statement == core.IncomeStatement:
			a.Quantity = money.Total{}
		case row.Section == core.Equity && own.Section == core.Expense:
			a.Quantity = a.Quantity.Neg()
		}
		accounts = append(accounts, financialAccountBody{a.Path, httpapi.Currency(a.Currency), httpapi.NewBigMinor(a.Quantity),
			httpapi.NewBigMinor(money.TotalOf(a.Value))})
	}
	return accounts
}

func registerFinancials(a *httpapi.API, service Financials) {
	type params struct {
		httpapi.ReportFormat
		Month monthText `path:"month" doc:"Last month of the statements." example:"2026-10"`
		Span  string    `query:"span" enum:"MONTH,QUARTER_TO_DATE,YEAR_TO_DATE" default:"MONTH" doc:"How far the statements reach back from the month. Quarters and years are those of the financial year."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getFinancialStatements", Path: "/ledger/financial-statements/{month}", Tag: tagLedger,
		Summary:    "Get the financial statements of a month",
		Permission: platform.View,
		Description: "Returns balance sheet, income statement, cash flow statement (IAS 7, direct method) and changes in equity in the " +
			"functional currency, " +
			"with those of the period before and of the year before. Money, and what is owed in money, is worth the closing rate of the " +
			"month; income, expense and equity keep the value of their times, as the exchange results have it (IAS 21). Cash flows in foreign " +
			"currencies have the closing rate of their month. Every month of the period needs its exchange result. With format=csv, one line per " +
			"line of the statements, without accounts.",
		Errors: []fault.Code{fault.Conflict, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *params) (financials.Report, error) {
		month, err := in.Month.parse()
		if err != nil {
			return financials.Report{}, err
		}
		return service.Report(ctx, call.Principal.Platform, financials.Query{Month: month, Span: core.Span(in.Span)})
	}, renderFinancialStatements, financials.Report.Table)
}
