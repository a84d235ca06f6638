package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// tableFlags are common to the reports on a platform's ledger.
type tableFlags struct {
	databaseFlags
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	Format   string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets."`
}

// print prints a report on the ledger of the platform. amounts are the columns with amounts.
func (f tableFlags) print(ctx context.Context, out io.Writer, report func(*accounting.Service, ident.Platform) (accounting.Table, error), amounts ...int) error {
	return f.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, f.Platform)
		if err != nil {
			return err
		}
		result, err := report(accounting.New(accounting.Config{Store: db, Ledger: db.Finance(), KeptRates: db, Clock: systemClock{}}), platform)
		if err != nil {
			return flagErrors(err)
		}
		return f.write(ctx, out, result, amounts...)
	})
}

// write writes a report. A long one has a header on each of its pages.
func (f tableFlags) write(ctx context.Context, out io.Writer, t accounting.Table, amounts ...int) error {
	if f.Format == "csv" {
		return flagErrors(t.CSV(ctx, out))
	}
	return flagErrors(t.Each(ctx, func(rows [][]string) error {
		return table{rows: rows, rightAligned: amounts}.write(out, slices.Clone(t.Header)...)
	}))
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

// parseTime parses a flag with a time, which may be empty.
func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s must be an RFC 3339 timestamp, such as 2026-03-01T00:00:00Z, not %q", flag, text)
	}
	return t.UTC(), nil
}

// parseInterval parses the flags --from and --to, which may be empty.
func parseInterval(from, to string) (i period.Interval, err error) {
	var errFrom, errTo error
	i.From, errFrom = parseTime("--from", from)
	i.To, errTo = parseTime("--to", to)
	return i, errors.Join(errFrom, errTo)
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
