package main

import (
	"context"
	"fmt"
	"io"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/monthend"
	"causeway/core/ident"
	"causeway/core/money"
	runs "causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

func newMonthEnd(db *postgres.DB, idGenerator ports.IDs) *monthend.Service {
	return monthend.New(monthend.Config{Store: db, Results: db, Postings: db.LedgerReader(), Views: db.MonthEndViews(), KeptRates: db, Clock: systemClock{}, IDs: idGenerator})
}

// monthEndFlags are common to the commands on month-end postings.
type monthEndFlags struct {
	tableFlags
	Month string `arg:"" help:"Month, such as 2026-10."`
}

func (f monthEndFlags) run(ctx context.Context, run func(*monthend.Service, ident.Platform, period.Month) error) error {
	month, err := period.ParseMonth(f.Month)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Month, err)
	}
	return f.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, f.Platform)
		if err != nil {
			return err
		}
		return run(newMonthEnd(db, ids.New()), platform, month)
	})
}

// writeRun writes the result of a run and, below a table, who made and approved a run that needed four eyes.
func (f monthEndFlags) writeRun(ctx context.Context, out io.Writer, run runs.Run, t monthend.Table, amounts ...int) error {
	if err := f.write(ctx, out, t, amounts...); err != nil || f.Format == "csv" || run.Approval.IsZero() {
		return err
	}
	_, err := fmt.Fprintf(out, "\nRun %d, posted at %s by %s.\n", run.Number, run.At.Format("2006-01-02 15:04:05 MST"), changeText(run.By, run.Approval))
	return err
}

// monthEndPostCommand holds the arguments of a command that posts.
type monthEndPostCommand struct {
	monthEndFlags
	actorFlag
}

func (c monthEndPostCommand) post(ctx context.Context, out io.Writer, post func(*monthend.Service, ident.Platform, platform.Author, period.Month) (monthend.Table, runs.Run, error), amounts ...int) error {
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was posted", err)
	}
	return c.run(ctx, func(s *monthend.Service, p ident.Platform, m period.Month) error {
		posted, run, err := post(s, p, platform.Author{Actor: actor}, m)
		if err != nil {
			return fieldErrors("nothing was posted", err)
		}
		return c.writeRun(ctx, out, run, posted, amounts...)
	})
}

type ledgerRevalueCommand struct{ monthEndPostCommand }

func (l ledgerRevalueCommand) Run(ctx context.Context, out io.Writer) error {
	return l.post(ctx, out, func(s *monthend.Service, p ident.Platform, by platform.Author, m period.Month) (monthend.Table, runs.Run, error) {
		posted, err := s.RevalueAlone(ctx, p, by, m)
		return posted.Table(), posted.Run, err
	}, resultAmounts...)
}

// resultAmounts and measuredAmounts are the columns with amounts of an exchange result and of its conversions.
var resultAmounts, measuredAmounts = []int{2, 3, 4, 6, 7}, []int{2, 7, 9, 10}

type ledgerExchangeResultCommand struct {
	monthEndFlags
	Detail string `default:"month" enum:"month,conversions" help:"month: the result of the month; conversions: every posting on the position with its result."`
}

func (l ledgerExchangeResultCommand) Run(ctx context.Context, out io.Writer) error {
	return l.run(ctx, func(s *monthend.Service, p ident.Platform, m period.Month) error {
		result, err := s.Result(ctx, p, m)
		if err != nil {
			return err
		}
		if l.Detail == "conversions" {
			return l.write(ctx, out, s.MeasuredTable(result), measuredAmounts...)
		}
		return l.writeRun(ctx, out, result.Run, result.Table(), resultAmounts...)
	})
}

type ledgerExchangeChangesCommand struct {
	tableFlags
	From              string `required:"" help:"Time of the opening value." placeholder:"TIME"`
	To                string `required:"" help:"Time of the closing value." placeholder:"TIME"`
	ReportingCurrency string `default:"USD" help:"Currency of the values." placeholder:"CODE"`
}

func (l ledgerExchangeChangesCommand) Run(ctx context.Context, out io.Writer) error {
	times, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		platform, err := resolvePlatform(ctx, db, l.Platform)
		if err != nil {
			return err
		}
		changes, err := newMonthEnd(db, ids.New()).Changes(ctx, platform, times.From, times.To, money.Currency(l.ReportingCurrency))
		if err != nil {
			return flagErrors(err)
		}
		return l.write(ctx, out, changes.Table(), 2)
	})
}

type ledgerDeferFeesCommand struct{ monthEndPostCommand }

func (l ledgerDeferFeesCommand) Run(ctx context.Context, out io.Writer) error {
	return l.post(ctx, out, func(s *monthend.Service, p ident.Platform, by platform.Author, m period.Month) (monthend.Table, runs.Run, error) {
		posted, err := s.DeferFeesAlone(ctx, p, by, m)
		return posted.Table(), posted.Run, err
	}, 1)
}

type ledgerDeferredFeesCommand struct {
	monthEndFlags
	Detail string `default:"month" enum:"month,payments" help:"month: the deferred fees of the month; payments: every payment in transit at its end."`
}

func (l ledgerDeferredFeesCommand) Run(ctx context.Context, out io.Writer) error {
	return l.run(ctx, func(s *monthend.Service, p ident.Platform, m period.Month) error {
		deferral, err := s.Deferral(ctx, p, m)
		if err != nil {
			return err
		}
		if l.Detail == "payments" {
			return l.write(ctx, out, s.InTransitTable(deferral), 2, 3)
		}
		return l.writeRun(ctx, out, deferral.Run, deferral.Table(), 1)
	})
}
