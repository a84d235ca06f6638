package cli

import (
	"context"

	"causeway/adapters/cli/table"

	"causeway/app/monthend"
	"causeway/core/ident"
	"causeway/core/money"
	runs "causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
)

// monthEndFlags are common to the commands that show month-end postings.
type monthEndFlags struct {
	tableFlags
	monthArg
}

// monthArg names a month.
type monthArg struct {
	Month string `arg:"" help:"Month, such as 2026-10."`
}

func (a monthArg) month() (period.Month, error) {
	month, err := period.ParseMonth(a.Month)
	return month, flagError(a.Month, err)
}

func (f monthEndFlags) run(ctx context.Context, env *Env, run func(*monthend.Service, ident.Platform, period.Month) error) error {
	month, err := f.month()
	if err != nil {
		return err
	}
	return f.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error { return run(services.MonthEnd(), p, month) })
}

// printRun prints the result of a run and, below a table, who made and approved a run that needed four eyes.
func (f outputFlag) printRun(ctx context.Context, env *Env, run runs.Run, t monthend.Table, amounts ...int) error {
	if err := f.printReport(ctx, env, t, amounts...); err != nil || f.Output != table.Text || run.Approval.IsZero() {
		return err
	}
	return env.say(nil, "\nRun %d, posted at %s by %s.\n", run.Number, run.At.Format("2006-01-02 15:04:05 MST"),
		changeText(run.By, run.Approval))
}

// monthEndPostCommand holds the arguments of a command that posts.
type monthEndPostCommand struct {
	changeFlags
	outputFlag
	monthArg
}

func (c monthEndPostCommand) post(ctx context.Context, env *Env,
	post func(*monthend.Service, ident.Platform, platform.Author, period.Month) (monthend.Table, runs.Run, error), amounts ...int) error {
	month, err := c.month()
	if err != nil {
		return err
	}
	return c.change(ctx, env, OnBooks, "nothing was posted", func(services Services, p ident.Platform, by platform.Author) error {
		posted, run, err := post(services.MonthEnd(), p, by, month)
		if err != nil {
			return err
		}
		return c.printRun(ctx, env, run, posted, amounts...)
	})
}

type ledgerRevalueCommand struct{ monthEndPostCommand }

func (l ledgerRevalueCommand) Run(ctx context.Context, env *Env) error {
	return l.post(ctx, env, func(s *monthend.Service, p ident.Platform, by platform.Author, m period.Month) (monthend.Table, runs.Run, error) {
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

func (l ledgerExchangeResultCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(s *monthend.Service, p ident.Platform, m period.Month) error {
		result, err := s.Result(ctx, p, m)
		if err != nil {
			return err
		}
		if l.Detail == "conversions" {
			return l.printReport(ctx, env, s.MeasuredTable(result), measuredAmounts...)
		}
		return l.printRun(ctx, env, result.Run, result.Table(), resultAmounts...)
	})
}

type ledgerExchangeChangesCommand struct {
	tableFlags
	From              string `required:"" help:"Time of the opening value." placeholder:"TIME"`
	To                string `required:"" help:"Time of the closing value." placeholder:"TIME"`
	ReportingCurrency string `default:"USD" help:"Currency of the values." placeholder:"CODE"`
}

func (l ledgerExchangeChangesCommand) Run(ctx context.Context, env *Env) error {
	times, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		changes, err := services.MonthEnd().Changes(ctx, p, times.From, times.To, money.Currency(l.ReportingCurrency))
		if err != nil {
			return flagErrors(err)
		}
		return l.printReport(ctx, env, changes.Table(), 2)
	})
}

type ledgerDeferFeesCommand struct{ monthEndPostCommand }

func (l ledgerDeferFeesCommand) Run(ctx context.Context, env *Env) error {
	return l.post(ctx, env, func(s *monthend.Service, p ident.Platform, by platform.Author, m period.Month) (monthend.Table, runs.Run, error) {
		posted, err := s.DeferFeesAlone(ctx, p, by, m)
		return posted.Table(), posted.Run, err
	}, 1)
}

type ledgerDeferredFeesCommand struct {
	monthEndFlags
	Detail string `default:"month" enum:"month,payments" help:"month: the deferred fees of the month; payments: every payment in transit at its end."`
}

func (l ledgerDeferredFeesCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(s *monthend.Service, p ident.Platform, m period.Month) error {
		deferral, err := s.Deferral(ctx, p, m)
		if err != nil {
			return err
		}
		if l.Detail == "payments" {
			return l.printReport(ctx, env, s.InTransitTable(deferral), 2, 3)
		}
		return l.printRun(ctx, env, deferral.Run, deferral.Table(), 1)
	})
}
