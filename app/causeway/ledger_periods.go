package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/periods"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
)

type ledgerPeriodsCommand struct {
	where
	Platform string `required:"" help:"The platform." placeholder:"ID"`
}

func (l ledgerPeriodsCommand) Run(ctx context.Context, out io.Writer) error {
	platform, err := ident.ParsePlatform(l.Platform)
	if err != nil {
		return fmt.Errorf("--platform: %w", err)
	}
	return l.in(ctx, func(db *postgres.DB) error {
		months, err := periodsOf(db).ListForPlatform(ctx, platform)
		if err != nil {
			return mistakes("nothing is shown", err)
		}
		return writeMonths(out, months)
	})
}

// monthCommand is the arguments of a command that changes a month.
type monthCommand struct {
	where
	Month    string `arg:"" help:"The month, as in 2026-10."`
	Platform string `required:"" help:"The platform." placeholder:"ID"`
	Note     string `help:"Why; it is kept with the change."`
}

func (m monthCommand) do(ctx context.Context, out io.Writer, action period.Action) error {
	platform, err := ident.ParsePlatform(m.Platform)
	if err != nil {
		return fmt.Errorf("--platform: %w", err)
	}
	month, err := period.ParseMonth(m.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Month, err)
	}
	return m.in(ctx, func(db *postgres.DB) error {
		done, err := periodsOf(db).ChangeStateForPlatform(ctx, platform, action, month, m.Note)
		if err != nil {
			return mistakes("nothing was changed", err)
		}
		return writeMonths(out, []periods.Month{done})
	})
}

type ledgerHoldCommand struct{ monthCommand }

func (l ledgerHoldCommand) Run(ctx context.Context, out io.Writer) error {
	return l.do(ctx, out, period.SoftClose)
}

type ledgerReopenCommand struct{ monthCommand }

func (l ledgerReopenCommand) Run(ctx context.Context, out io.Writer) error {
	return l.do(ctx, out, period.Reopen)
}

type ledgerCloseCommand struct{ monthCommand }

func (l ledgerCloseCommand) Run(ctx context.Context, out io.Writer) error {
	return l.do(ctx, out, period.Close)
}

// bookMonthCommand is the arguments of a command about a month of all platforms.
type bookMonthCommand struct {
	where
	Month string `arg:"" help:"The month, as in 2025-09."`
}

func (b bookMonthCommand) do(ctx context.Context, done func(*periods.PeriodService, period.Month) error) error {
	month, err := period.ParseMonth(b.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Month, err)
	}
	return b.in(ctx, func(db *postgres.DB) error {
		return hindered(done(periodsOf(db), month))
	})
}

// hindered lists what stands in the way of a month, platform by platform.
func hindered(err error) error {
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

type ledgerDetachCommand struct{ bookMonthCommand }

func (l ledgerDetachCommand) Run(ctx context.Context, out io.Writer) error {
	return l.do(ctx, func(p *periods.PeriodService, m period.Month) error {
		if err := p.Archive(ctx, m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%[1]s is detached. Its tables are ledger_postings_%[2]s and ledger_entries_%[2]s; nothing reads them any more.\n", m, m.Start().Format("200601"))
		return err
	})
}

type ledgerAttachCommand struct{ bookMonthCommand }

func (l ledgerAttachCommand) Run(ctx context.Context, out io.Writer) error {
	return l.do(ctx, func(p *periods.PeriodService, m period.Month) error {
		if err := p.Restore(ctx, m); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s is in the books again.\n", m)
		return err
	})
}

func periodsOf(db *postgres.DB) *periods.PeriodService {
	return periods.NewPeriodService(periods.PeriodConfig{Store: db, Archiver: db, Ledger: db.BookReader(), Clock: clock{}, IDs: ids.New()})
}

// writeMonths prints a line for each month, with the last thing that was done to it.
func writeMonths(out io.Writer, months []periods.Month) error {
	rows := table{right: []int{3}}
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
