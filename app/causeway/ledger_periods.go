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
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
)

type ledgerPeriodsCommand struct {
	databaseFlags
	Platform string `required:"" help:"The platform." placeholder:"ID"`
}

func (l ledgerPeriodsCommand) Run(ctx context.Context, out io.Writer) error {
	platform, err := ident.ParsePlatform(l.Platform)
	if err != nil {
		return fmt.Errorf("--platform: %w", err)
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		months, err := newPeriods(db).ListForPlatform(ctx, platform)
		if err != nil {
			return fieldErrors("nothing is shown", err)
		}
		return writeMonths(out, months)
	})
}

// monthCommand is the arguments of a command that changes a month.
type monthCommand struct {
	databaseFlags
	Month    string `arg:"" help:"The month, as in 2026-10."`
	Platform string `required:"" help:"The platform." placeholder:"ID"`
	Note     string `help:"Why; it is kept with the change."`
}

func (m monthCommand) change(ctx context.Context, out io.Writer, action period.Action) error {
	platform, err := ident.ParsePlatform(m.Platform)
	if err != nil {
		return fmt.Errorf("--platform: %w", err)
	}
	month, err := period.ParseMonth(m.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Month, err)
	}
	return m.withDatabase(ctx, func(db *postgres.DB) error {
		done, err := newPeriods(db).ChangeStateForPlatform(ctx, platform, action, month, m.Note)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		return writeMonths(out, []accounting.Month{done})
	})
}

type ledgerSoftCloseCommand struct{ monthCommand }

func (l ledgerSoftCloseCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, period.SoftClose)
}

type ledgerReopenCommand struct{ monthCommand }

func (l ledgerReopenCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, period.Reopen)
}

type ledgerCloseCommand struct{ monthCommand }

func (l ledgerCloseCommand) Run(ctx context.Context, out io.Writer) error {
	return l.change(ctx, out, period.Close)
}

// archiveMonthCommand is the arguments of a command about a month of all platforms.
type archiveMonthCommand struct {
	databaseFlags
	Month string `arg:"" help:"The month, as in 2025-09."`
}

func (b archiveMonthCommand) withMonth(ctx context.Context, done func(*accounting.Periods, period.Month) error) error {
	month, err := period.ParseMonth(b.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Month, err)
	}
	return b.withDatabase(ctx, func(db *postgres.DB) error {
		return blockerErrors(done(newPeriods(db), month))
	})
}

// blockerErrors lists what stands in the way of a month, platform by platform.
func blockerErrors(err error) error {
	wrong, ok := fault.As(err)
	if !ok || len(wrong.Fields) == 0 {
		return err
	}
	lines := []string{wrong.Message + " Nothing was changed:"}
	for _, f := range wrong.Fields {
		lines = append(lines, "  "+f.Field+": "+f.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

type ledgerArchiveCommand struct{ archiveMonthCommand }

func (l ledgerArchiveCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withMonth(ctx, func(p *accounting.Periods, m period.Month) error {
		if err := p.Archive(ctx, m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%[1]s is detached. Its tables are ledger_postings_%[2]s and ledger_entries_%[2]s; nothing reads them any more.\n", m, m.Start().Format("200601"))
		return err
	})
}

type ledgerRestoreCommand struct{ archiveMonthCommand }

func (l ledgerRestoreCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withMonth(ctx, func(p *accounting.Periods, m period.Month) error {
		if err := p.Restore(ctx, m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s is in the books again.\n", m)
		return err
	})
}

func newPeriods(db *postgres.DB) *accounting.Periods {
	return accounting.NewPeriods(accounting.PeriodsConfig{Store: db, Archiver: db, Ledger: db.LedgerReader(), Clock: systemClock{}, IDs: ids.New()})
}

// writeMonths prints a line for each month, with the last thing that was done to it.
func writeMonths(out io.Writer, months []accounting.Month) error {
	rows := table{rightAligned: []int{3}}
	for _, m := range months {
		done, by, last, note := "", "", "", ""
		if n := len(m.Changes); n > 0 {
			c := m.Changes[n-1]
			done, by, note = c.At.Format("2006-01-02 15:04:05"), "the operator", c.Note
			if !c.By.IsZero() {
				by = c.By.String()
			}
		}
		if m.Closing != nil {
			last = fmt.Sprint(m.Closing.Seq)
		}
		rows.add(m.Month.String(), string(m.State), done, last, by, note)
	}
	return rows.write(out, "month", "state", "since (UTC)", "last posting", "by", "note")
}
