package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// reportFlags are common to the reports of a platform's ledger.
type reportFlags struct {
	databaseFlags
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	By       string `default:"recorded" enum:"recorded,effective" help:"Time to use: recorded, when a posting was written, or effective, when it counts for the parties; use effective for months."`
	Format   string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets."`
}

func (f reportFlags) timeKind() ports.TimeKind {
	if f.By == "effective" {
		return ports.ByEffective
	}
	return ports.ByRecorded
}

// print prints a report of the ledger of the platform.
func (f reportFlags) print(ctx context.Context, out io.Writer, report func(*accounting.Service, ident.Platform) (accounting.Table, error), amounts ...int) error {
	return f.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, f.Platform)
		if err != nil {
			return err
		}
		result, err := report(accounting.New(accounting.Config{Store: db, Ledger: db.Finance(), Clock: systemClock{}}), platform)
		if err != nil {
			return flagErrors(err)
		}
		if f.Format == "csv" {
			return result.CSV(out)
		}
		return table{rows: result.Rows, rightAligned: amounts}.write(out, result.Header...)
	})
}

// parseInterval parses the flags --from and --to, which may be empty.
func parseInterval(from, to string) (i period.Interval, err error) {
	var errs []error
	parse := func(name, text string) time.Time {
		t, err := time.Parse(time.RFC3339, text)
		if text != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s must be an RFC 3339 timestamp, such as 2026-03-01T00:00:00Z, not %q", name, text))
		}
		return t.UTC()
	}
	if from != "" {
		i.From = parse("--from", from)
	}
	if to != "" {
		i.To = parse("--to", to)
	}
	return i, errors.Join(errs...)
}

type ledgerTrialBalanceCommand struct {
	reportFlags
	From   string `help:"Start of the period, inclusive. Default: the first posting." placeholder:"TIME"`
	To     string `help:"End of the period, exclusive. Default: now." placeholder:"TIME"`
	Detail string `default:"account" enum:"account,group" help:"account: a line for each account; group: a line for each line of the chart of accounts."`
}

func (l ledgerTrialBalanceCommand) Run(ctx context.Context, out io.Writer) error {
	interval, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	query := accounting.TrialBalanceQuery{By: l.timeKind(), Interval: interval, Grouped: l.Detail == "group"}
	return l.print(ctx, out, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
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

func (l ledgerIncomeCommand) Run(ctx context.Context, out io.Writer) error {
	interval, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	query := accounting.IncomeQuery{By: l.timeKind(), Interval: interval, Granularity: accounting.Granularity(l.Period)}
	return l.print(ctx, out, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		income, err := s.Income(ctx, p, query)
		return income.Table(), err
	}, 4)
}
