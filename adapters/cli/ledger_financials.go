package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"causeway/adapters/cli/table"
	"causeway/app/exports/statement"
	"causeway/app/financials"
	core "causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/period"
)

type ledgerFinancialsCommand struct {
	monthEndFlags
	Span      string `default:"month" enum:"month,quarter-to-date,year-to-date" help:"How far the statements reach back from the month: month, quarter-to-date or year-to-date, of the financial year."`
	Statement string `default:"all" enum:"all,balance-sheet,income,cash-flow,equity" help:"Print one statement: balance-sheet, income, cash-flow or equity. Default: all."`
	Detail    string `default:"lines" enum:"lines,accounts" help:"lines: the statements with those of the period before and the year before; accounts: what each account adds to each line."`
	PDF       string `name:"pdf" help:"Write the statements as a PDF to this file." placeholder:"FILE"`
	CompanyFlags
}

var spansOfCommand = map[string]core.Span{"month": core.OneMonth, "quarter-to-date": core.QuarterToDate, "year-to-date": core.YearToDate}

var statementsOfCommand = map[string]core.Statement{"balance-sheet": core.BalanceSheet, "income": core.IncomeStatement,
	"cash-flow": core.CashFlow, "equity": core.EquityChanges}

func (l ledgerFinancialsCommand) Run(ctx context.Context, env *Env) error {
	if l.PDF != "" && (l.Statement != "all" || l.Detail != "lines" || l.Output != table.Text) {
		return errors.New("--pdf writes all statements; it cannot be combined with --statement, --detail or --output")
	}
	month, err := l.month()
	if err != nil {
		return err
	}
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		report, err := services.Financials().Report(ctx, p, financials.Query{Month: month, Span: spansOfCommand[l.Span]})
		switch {
		case err != nil:
			return flagErrors(err)
		case l.PDF != "":
			return l.writePDF(ctx, env, services, p, report)
		case l.Detail == "accounts":
			return l.printReport(ctx, env, l.only(report.AccountsTable()), 5, 7)
		case l.Output != table.Text:
			return l.printReport(ctx, env, l.only(report.Table()))
		}
		return l.printStatements(ctx, env, report)
	})
}

// only leaves out the rows of other statements.
func (l ledgerFinancialsCommand) only(t financials.Table) financials.Table {
	if l.Statement == "all" {
		return t
	}
	rows := t.Rows
	t.Rows = nil
	for _, row := range rows {
		if row[0] == string(statementsOfCommand[l.Statement]) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func (l ledgerFinancialsCommand) printStatements(ctx context.Context, env *Env, report financials.Report) error {
	for _, s := range core.Statements() {
		if l.Statement != "all" && statementsOfCommand[l.Statement] != s {
			continue
		}
		if err := env.say(nil, "%s, in %s\n", statement.TitleOf(s), report.Functional); err != nil {
			return err
		}
		if err := l.printReport(ctx, env, report.TextTable(s), []int{1, 2, 3}[:len(report.Columns)]...); err != nil {
			return err
		}
		if err := env.say(nil, "\n"); err != nil {
			return err
		}
	}
	if report.State != period.Closed {
		return env.say(nil, "%s is %s: the statements are provisional until it is closed.\n", report.Month, report.State)
	}
	return nil
}

func (l ledgerFinancialsCommand) writePDF(ctx context.Context, env *Env, services Services, p ident.Platform, report financials.Report) (
	err error) {
	document, err := services.Exports(l.Company(), nil).FinancialStatements(ctx, p, report.Report, report.State == period.Closed)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(l.PDF, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(document.Write(ctx, io.Writer(file)), file.Close()); err != nil {
		return err
	}
	return env.say(nil, "Wrote %s.\n", l.PDF)
}
