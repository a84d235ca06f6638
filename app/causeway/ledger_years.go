package main

import (
	"context"
	"io"
	"strconv"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/yearend"
	"causeway/core/csvcell"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type ledgerYearsCommand struct {
	databaseFlags
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	Format   string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets."`
}

func (l ledgerYearsCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, l.Platform)
		if err != nil {
			return err
		}
		years, err := newYears(db, ids.New()).List(ctx, platform)
		if err != nil {
			return err
		}
		return tableFlags{Format: l.Format}.write(ctx, out, yearsTable(years), yearsAmounts...)
	})
}

// yearsAmounts are the columns of yearsTable that are right-aligned.
var yearsAmounts = []int{5, 6, 7}

// yearsTable returns a line for each currency of the last closing of each year.
func yearsTable(years []yearend.Year) accounting.Table {
	t := accounting.Table{Header: []string{"year", "first_month", "last_month", "state", "currency", "income", "expense", "result", "changed", "by", "note"}}
	for _, y := range years {
		row := []string{y.Year.String(), y.Year.First().String(), y.Year.Last().String(), "OPEN", "", "", "", "", "", "", ""}
		if len(y.Closings) == 0 {
			t.Rows = append(t.Rows, row)
			continue
		}
		last := y.Closings[len(y.Closings)-1]
		row[3], row[8], row[9], row[10] = "CLOSED", last.At.Format("2006-01-02 15:04:05"), csvcell.Escape(changeText(last.By, last.Approval)), csvcell.Escape(last.Note)
		if r := last.Reversal; r != nil {
			row[3], row[8], row[9], row[10] = "OPEN", r.At.Format("2006-01-02 15:04:05"), csvcell.Escape(changeText(r.By, r.Approval)), csvcell.Escape(r.Note)
		}
		if len(last.Results) == 0 || last.Reversal != nil {
			t.Rows = append(t.Rows, row)
			continue
		}
		for _, r := range last.Results {
			line := append([]string(nil), row...)
			line[4], line[5], line[6], line[7] = string(r.Currency), r.Income.Major(r.Currency), r.Expense.Major(r.Currency), r.Net().Major(r.Currency)
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// yearCommand holds the arguments of a command that changes a year.
type yearCommand struct {
	databaseFlags
	Year     int    `arg:"" help:"Calendar year in which the financial year ends, such as 2026."`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	Note     string `required:"" help:"Reason, stored with the change."`
	actorFlag
}

func (c yearCommand) change(ctx context.Context, out io.Writer, change func(*yearend.Service, ident.Platform, yearend.Change) (yearend.Year, error)) error {
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		year, err := change(newYears(db, ids.New()), p, yearend.Change{Year: c.Year, By: platform.Author{Actor: actor}, Note: c.Note})
		if err != nil {
			return fieldErrors("nothing was changed", err, argument{"year", strconv.Itoa(c.Year)})
		}
		return tableFlags{Format: "table"}.write(ctx, out, yearsTable([]yearend.Year{year}), yearsAmounts...)
	})
}

type ledgerCloseYearCommand struct{ yearCommand }

func (l ledgerCloseYearCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, func(s *yearend.Service, p ident.Platform, c yearend.Change) (yearend.Year, error) {
		return s.CloseAlone(ctx, p, c)
	})
}

type ledgerReverseYearCommand struct{ yearCommand }

func (l ledgerReverseYearCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, func(s *yearend.Service, p ident.Platform, c yearend.Change) (yearend.Year, error) {
		return s.ReverseAlone(ctx, p, c)
	})
}

func newYears(db *postgres.DB, idGenerator ports.IDs) *yearend.Service {
	return yearend.New(yearend.Config{Store: db, Ledger: db.LedgerReader(), Clock: systemClock{}, IDs: idGenerator})
}
