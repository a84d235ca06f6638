package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

type ledgerPeriodsCommand struct {
	tableFlags
	Month string `arg:"" optional:"" help:"Closed month, such as 2026-10: print its trial balance."`
}

func (l ledgerPeriodsCommand) Run(ctx context.Context, env *Env) error {
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		if l.Month != "" {
			return l.printTrialBalance(ctx, env, services.Periods(), p)
		}
		months, err := services.Periods().List(ctx, p)
		if err != nil {
			return fieldErrors("cannot list the periods", err)
		}
		return l.printMonths(env, months)
	})
}

func (l ledgerPeriodsCommand) printTrialBalance(ctx context.Context, env *Env, periods *accounting.Periods, p ident.Platform) error {
	month, err := monthArg{l.Month}.month()
	if err != nil {
		return err
	}
	t, err := periods.ClosingTable(ctx, p, month)
	if err != nil {
		return err
	}
	return l.printReport(ctx, env, t, 3, 4, 5, 6)
}

// monthCommand holds the arguments of a command that changes a period.
type monthCommand struct {
	changeFlags
	outputFlag
	monthArg
	Note string `help:"Why. It is recorded."`
}

func (m monthCommand) changeState(ctx context.Context, env *Env, change accounting.MonthChange) error {
	month, err := m.month()
	if err != nil {
		return err
	}
	change.Month, change.Note = month, m.Note
	return m.change(ctx, env, OnBooks, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		changed, err := services.Periods().ChangeStateAs(ctx, p, by, change)
		if err != nil {
			return errors.Join(m.printOpeningBalances(env, err), fieldErrors("nothing was changed", flagNames(err)))
		}
		return m.printMonths(env, []accounting.Month{changed})
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
		"withoutFeeDeferral", "--without-fee-deferral", "withoutAllowance", "--without-allowance", "withoutYearEnd",
		"--without-year-end").Replace(f.Message)
	return &named
}

// printOpeningBalances prints the opening balances that a fault asks to confirm, if it does.
func (f outputFlag) printOpeningBalances(env *Env, err error) error {
	refused, ok := fault.As(err)
	if !ok {
		return nil
	}
	balances, ok := refused.Details["openingBalances"].([]accounting.OpeningBalance)
	if !ok || len(balances) == 0 {
		return nil
	}
	rows := table.New("opening balances of|account", "currency", ">debits minus credits, smallest unit|balance")
	for _, b := range balances {
		rows.Add(b.Account, b.Currency, b.Balance)
	}
	return f.printTable(env, rows, "")
}

type ledgerSoftCloseCommand struct {
	monthCommand
	ConfirmOpeningBalances bool `help:"Confirm that this month becomes the first accounting period, with earlier postings as its opening balances."`
}

func (l ledgerSoftCloseCommand) Run(ctx context.Context, env *Env) error {
	return l.changeState(ctx, env, accounting.MonthChange{Action: period.SoftClose, ConfirmOpeningBalances: l.ConfirmOpeningBalances})
}

type ledgerReopenCommand struct{ monthCommand }

func (l ledgerReopenCommand) Run(ctx context.Context, env *Env) error {
	return l.changeState(ctx, env, accounting.MonthChange{Action: period.Reopen})
}

type ledgerCloseCommand struct {
	monthCommand
	WithoutRevaluation bool `help:"Close the month although its exchange result is missing or out of date."`
	WithoutFeeDeferral bool `help:"Close the month although its deferral of fees is missing or out of date."`
	WithoutAllowance   bool `help:"Close the month although its allowance for receivables is missing or out of date."`
	WithoutYearEnd     bool `help:"Close the last month of a financial year although its income and expense are not closed into retained earnings."`
}

func (l ledgerCloseCommand) Run(ctx context.Context, env *Env) error {
	return l.changeState(ctx, env, accounting.MonthChange{Action: period.Close, WithoutRevaluation: l.WithoutRevaluation,
		WithoutFeeDeferral: l.WithoutFeeDeferral, WithoutAllowance: l.WithoutAllowance, WithoutYearEnd: l.WithoutYearEnd})
}

// archiveMonthCommand holds the arguments of a command on a month of all platforms.
type archiveMonthCommand struct {
	DatabaseFlags
	Month string `arg:"" help:"Month, such as 2025-09."`
	actorFlag
}

func (c archiveMonthCommand) withMonth(ctx context.Context, env *Env, kind platform.OperatorActionKind,
	apply func(*accounting.Periods, period.Month) error) error {
	month, err := monthArg{c.Month}.month()
	if err != nil {
		return err
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		if err := services.CheckClock(ctx); err != nil {
			return err
		}
		action, err := c.action(ctx, env, services, kind, ident.Platform{}, month.String())
		if err != nil {
			return err
		}
		return blockerErrors(apply(services.Recording(action).Periods(), month))
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

func (l ledgerArchiveCommand) Run(ctx context.Context, env *Env) error {
	return l.withMonth(ctx, env, platform.OperatorArchivedMonth, func(p *accounting.Periods, m period.Month) error {
		err := p.Archive(ctx, m)
		return env.say(err,
			"%[1]s is archived in the tables ledger_postings_%[2]s and ledger_entries_%[2]s, which the service no longer reads.\n", m,
			m.Start().Format("200601"))
	})
}

type ledgerRestoreCommand struct{ archiveMonthCommand }

func (l ledgerRestoreCommand) Run(ctx context.Context, env *Env) error {
	return l.withMonth(ctx, env, platform.OperatorRestoredMonth, func(p *accounting.Periods, m period.Month) error {
		err := p.Restore(ctx, m)
		return env.say(err, "%s is restored.\n", m)
	})
}

// changeText says who made a change and, if it needed four eyes, who approved it.
func changeText(by platform.Author, a platform.Approval) table.Actor {
	if a.IsZero() {
		return table.Actor(by.String())
	}
	return table.Actor(by.String() + ", approved by " + a.By.String())
}

// printMonths prints a line for each month with its latest change.
func (f outputFlag) printMonths(env *Env, months []accounting.Month) error {
	rows := table.New("month", "state", "since (UTC)", ">last posting", "by", "note")
	for _, m := range months {
		var changed time.Time
		var last, note string
		var by table.Actor
		if n := len(m.Changes); n > 0 {
			c := m.Changes[n-1]
			changed, by, note = c.At, changeText(c.By, c.Approval), c.Note
		}
		if m.Closing != nil {
			last = strconv.FormatInt(m.Closing.Seq, 10)
		}
		rows.Add(m.Month, m.State, table.Second(changed), last, by, note)
	}
	return f.printTable(env, rows, "")
}
