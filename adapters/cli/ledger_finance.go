package cli

import (
	"context"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/ports"
)

// tableFlags are common to the reports on a platform's ledger.
type tableFlags struct {
	platformFlags
	outputFlag
}

// report prints a report on the ledger of the platform. amounts are the columns with amounts.
func (f tableFlags) report(ctx context.Context, env *Env, report func(*accounting.Service, ident.Platform) (accounting.Table, error),
	amounts ...int) error {
	return f.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		result, err := report(services.Accounting(), p)
		if err != nil {
			return flagErrors(err)
		}
		return f.printReport(ctx, env, result, amounts...)
	})
}

// printReport prints a report. A long one has a header on each of its pages.
func (f outputFlag) printReport(ctx context.Context, env *Env, t accounting.Table, amounts ...int) error {
	switch f.Output {
	case table.CSV:
		return flagErrors(t.CSV(ctx, env.Out))
	case table.JSON:
		return flagErrors(table.WriteReport(env.Out, t.Header, func(write func([][]string) error) error { return t.Each(ctx, write) }))
	default:
		return flagErrors(t.Each(ctx, func(rows [][]string) error {
			return table.FromReport(t.Header, rows, amounts...).Write(env.Out, table.Text)
		}))
	}
}

// reportFlags are common to the reports by one of the two times.
type reportFlags struct {
	tableFlags
	By string `default:"recorded" enum:"recorded,effective" help:"Time to use: recorded, when a posting was written, or effective, when it counts for the parties; use effective for months."`
}

func (f reportFlags) timeKind() ports.TimeKind {
	if f.By == "effective" {
		return ports.ByEffective
	}
	return ports.ByRecorded
}

type ledgerTrialBalanceCommand struct {
	reportFlags
	From   string `help:"Start of the period, inclusive. Default: the first posting." placeholder:"TIME"`
	To     string `help:"End of the period, exclusive. Default: now." placeholder:"TIME"`
	Detail string `default:"account" enum:"account,group" help:"account: a line for each account; group: a line for each line of the chart of accounts."`
}

func (l ledgerTrialBalanceCommand) Run(ctx context.Context, env *Env) error {
	interval, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	query := accounting.TrialBalanceQuery{By: l.timeKind(), Interval: interval, Grouped: l.Detail == "group"}
	return l.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		balance, err := s.TrialBalance(ctx, p, query)
		return balance.Table(), err
	}, 3, 4, 5, 6)
}

type ledgerIncomeCommand struct {
	reportFlags
	From   string `required:"" help:"Start of the report, inclusive." placeholder:"TIME"`
	To     string `help:"End of the report, exclusive. Default: now." placeholder:"TIME"`
	Period string `default:"month" enum:"day,month" help:"Length of the periods: UTC days or months, at most 100."`
}

func (l ledgerIncomeCommand) Run(ctx context.Context, env *Env) error {
	interval, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	query := accounting.IncomeQuery{By: l.timeKind(), Interval: interval, Granularity: accounting.Granularity(l.Period)}
	return l.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		income, err := s.Income(ctx, p, query)
		return income.Table(), err
	}, 4)
}
