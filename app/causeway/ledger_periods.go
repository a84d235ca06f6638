package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/core/csvcell"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

type ledgerPeriodsCommand struct {
	databaseFlags
	Month    string `arg:"" optional:"" help:"Closed month, such as 2026-10: print its trial balance."`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	Format   string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets."`
}

func (l ledgerPeriodsCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, l.Platform)
		if err != nil {
			return err
		}
		if l.Month != "" {
			return l.printTrialBalance(ctx, out, newPeriods(db), platform)
		}
		months, err := newPeriods(db).List(ctx, platform)
		if err != nil {
			return fieldErrors("cannot list the periods", err)
		}
		if l.Format == "csv" {
			return monthsTable(months).CSV(ctx, out)
		}
		return writeMonths(out, months)
	})
}

func (l ledgerPeriodsCommand) printTrialBalance(ctx context.Context, out io.Writer, periods *accounting.Periods, p ident.Platform) error {
	month, err := period.ParseMonth(l.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Month, err)
	}
	t, err := periods.ClosingTable(ctx, p, month)
	if err != nil {
		return err
	}
	return tableFlags{Format: l.Format}.write(ctx, out, t, 3, 4, 5, 6)
}

// monthCommand holds the arguments of a command that changes a period.
type monthCommand struct {
	databaseFlags
	Month    string `arg:"" help:"Month, such as 2026-10."`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	Note     string `help:"Reason, stored with the change."`
	actorFlag
}

func (m monthCommand) change(ctx context.Context, out io.Writer, change accounting.MonthChange) error {
	month, err := period.ParseMonth(m.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Month, err)
	}
	change.Month, change.Note = month, m.Note
	return m.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, m.Platform)
		if err != nil {
			return err
		}
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		changed, err := newPeriods(db).ChangeStateAs(ctx, platform, m.Actor, change)
		if err != nil {
			return errors.Join(writeOpeningBalances(out, err), fieldErrors("nothing was changed", flagNames(err)))
		}
		return writeMonths(out, []accounting.Month{changed})
	})
}

// flagNames returns a fault whose message names the flag where it names the field of the API.
func flagNames(err error) error {
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	named := *f
	named.Message = strings.NewReplacer("confirmOpeningBalances", "--confirm-opening-balances", "withoutRevaluation", "--without-revaluation",
		"withoutFeeDeferral", "--without-fee-deferral", "withoutYearEnd", "--without-year-end").Replace(f.Message)
	return &named
}

// writeOpeningBalances prints the opening balances that a fault asks to confirm, if it does.
func writeOpeningBalances(out io.Writer, err error) error {
	f, ok := fault.As(err)
	if !ok {
		return nil
	}
	balances, ok := f.Details["openingBalances"].([]accounting.OpeningBalance)
	if !ok || len(balances) == 0 {
		return nil
	}
	rows := table{rightAligned: []int{2}}
	for _, b := range balances {
		rows.add(b.Account, string(b.Currency), b.Balance.String())
	}
	return rows.write(out, "opening balances of", "currency", "debits minus credits, smallest unit")
}

type ledgerSoftCloseCommand struct {
	monthCommand
	ConfirmOpeningBalances bool `help:"Confirm that this month becomes the first accounting period, with earlier postings as its opening balances."`
}

func (l ledgerSoftCloseCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, accounting.MonthChange{Action: period.SoftClose, ConfirmOpeningBalances: l.ConfirmOpeningBalances})
}

type ledgerReopenCommand struct{ monthCommand }

func (l ledgerReopenCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, accounting.MonthChange{Action: period.Reopen})
}

type ledgerCloseCommand struct {
	monthCommand
	WithoutRevaluation bool `help:"Close the month although its exchange result is missing or out of date."`
	WithoutFeeDeferral bool `help:"Close the month although its deferral of fees is missing or out of date."`
	WithoutYearEnd     bool `help:"Close the last month of a financial year although its income and expense are not closed into retained earnings."`
}

func (l ledgerCloseCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, accounting.MonthChange{Action: period.Close, WithoutRevaluation: l.WithoutRevaluation, WithoutFeeDeferral: l.WithoutFeeDeferral, WithoutYearEnd: l.WithoutYearEnd})
}

// archiveMonthCommand holds the arguments of a command on a month of all platforms.
type archiveMonthCommand struct {
	databaseFlags
	Month string `arg:"" help:"Month, such as 2025-09."`
	actorFlag
}

func (c archiveMonthCommand) withMonth(ctx context.Context, kind platform.OperatorActionKind, apply func(*accounting.Periods, period.Month) error) error {
	month, err := period.ParseMonth(c.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Month, err)
	}
	action, err := c.action(kind, ident.Platform{}, month.String())
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		return blockerErrors(apply(newPeriods(db.Recording(action)), month))
	})
}

// blockerErrors lists what prevents the archiving of a month, by platform.
func blockerErrors(err error) error {
	invalid, ok := fault.As(err)
	if !ok || len(invalid.Fields) == 0 {
		return err
	}
	lines := []string{invalid.Message + " Nothing was changed:"}
	for _, f := range invalid.Fields {
		lines = append(lines, "  "+f.Field+": "+f.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

type ledgerArchiveCommand struct{ archiveMonthCommand }

func (l ledgerArchiveCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withMonth(ctx, platform.OperatorArchivedMonth, func(p *accounting.Periods, m period.Month) error {
		if err := p.Archive(ctx, m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%[1]s is archived in the tables ledger_postings_%[2]s and ledger_entries_%[2]s, which the service no longer reads.\n", m, m.Start().Format("200601"))
		return err
	})
}

type ledgerRestoreCommand struct{ archiveMonthCommand }

func (l ledgerRestoreCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withMonth(ctx, platform.OperatorRestoredMonth, func(p *accounting.Periods, m period.Month) error {
		if err := p.Restore(ctx, m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s is restored.\n", m)
		return err
	})
}

func newPeriods(db *postgres.DB) *accounting.Periods {
	return accounting.NewPeriods(accounting.PeriodsConfig{Store: db, Archiver: db, Ledger: db.LedgerReader(), Finance: db.Finance(), Clock: systemClock{}, IDs: ids.New()})
}

// changeText says who made a change and, if it needed four eyes, who approved it.
func changeText(by platform.Author, a platform.Approval) string {
	if a.IsZero() {
		return by.String()
	}
	return by.String() + ", approved by " + a.By.String()
}

// writeMonths prints a line for each month with its latest change.
func writeMonths(out io.Writer, months []accounting.Month) error {
	return table{rows: monthsTable(months).Rows, rightAligned: []int{3}}.write(out, "month", "state", "since (UTC)", "last posting", "by", "note")
}

func monthsTable(months []accounting.Month) accounting.Table {
	rows := accounting.Table{Header: []string{"month", "state", "since", "last_posting", "by", "note"}}
	for _, m := range months {
		changed, by, last, note := "", "", "", ""
		if n := len(m.Changes); n > 0 {
			c := m.Changes[n-1]
			changed, by, note = c.At.Format("2006-01-02 15:04:05"), csvcell.Escape(changeText(c.By, c.Approval)), c.Note
		}
		if m.Closing != nil {
			last = fmt.Sprint(m.Closing.Seq)
		}
		rows.Rows = append(rows.Rows, []string{m.Month.String(), string(m.State), changed, last, by, csvcell.Escape(note)})
	}
	return rows
}
