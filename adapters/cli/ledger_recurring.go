package cli

import (
	"context"
	"errors"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/recurring"
)

type ledgerRecurringCommand struct {
	List recurringListCommand `cmd:"" help:"List adjustments that are posted every month, and the months that were."`
	Set  recurringSetCommand  `cmd:"" help:"Add an adjustment that is posted every month, or change it from a month on."`
	End  recurringEndCommand  `cmd:"" help:"End a recurring adjustment after a month."`
}

type recurringListCommand struct {
	platformFlags
	outputFlag
}

func (c recurringListCommand) Run(ctx context.Context, env *Env) error {
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		list, err := services.Periods().Recurring(ctx, p)
		if err != nil {
			return err
		}
		rows := table.New("name", "first", "last", "reverses", "entries", ">months posted|months_posted", "last posted|last_posted", "by", "note")
		for _, a := range list {
			var posted string
			if len(a.Runs) > 0 {
				posted = a.Runs[0].Month.String()
			}
			rows.Add(a.Name, a.First, a.Last, a.Reverses, strings.ReplaceAll(recurring.FormatEntries(a.Entries), "\n", "; "), len(a.Runs), posted,
				changeText(a.By, a.Approval), a.Note)
		}
		return c.printTable(env, rows, "There are no recurring adjustments.")
	})
}

type recurringChangeCommand struct {
	changeFlags
	Name string `arg:"" help:"Name of the adjustment, such as office-rent."`
}

func (c recurringChangeCommand) change(ctx context.Context, env *Env,
	change func(*accounting.Periods, ident.Platform, platform.Author) (proposal.Outcome[recurring.Version], error)) error {
	const outcome = "nothing was changed"
	return c.changeFlags.change(ctx, env, AsRequest, outcome, func(services Services, p ident.Platform, by platform.Author) error {
		done, err := change(services.Periods(), p, by)
		switch v := done.Done; {
		case err != nil:
			return settingErrors(outcome, err)
		case done.Proposal != nil:
			return env.say(nil, "It needs a second person, who approves it with: causeway ledger proposals approve %s\n", done.Proposal.ID)
		case v.Ends():
			return env.say(nil, "%s is not posted for months after %s.\n", v.Name, v.Last)
		case !v.Last.IsZero():
			return env.say(nil, "%s is posted for each month from %s to %s, after it is over.\n", v.Name, v.First, v.Last)
		default:
			return env.say(nil, "%s is posted for each month from %s on, after it is over.\n", v.Name, v.First)
		}
	})
}

type recurringSetCommand struct {
	recurringChangeCommand
	Entry    []string `required:"" sep:"none" help:"Debit account, credit account, amount and currency, such as 'expense/office-rent liability/accrued 1200.00 USD'. May be repeated." placeholder:"ENTRY"`
	Note     string   `required:"" help:"Why. It is the memo of each posting."`
	First    string   `required:"" help:"First month." placeholder:"YYYY-MM"`
	Last     string   `help:"Last month. Default: until it is ended." placeholder:"YYYY-MM"`
	Reverses bool     `help:"Reverse each posting when the next month begins, as accruals are."`
}

func (c recurringSetCommand) Run(ctx context.Context, env *Env) error {
	v := recurring.Version{Name: c.Name, Note: c.Note, Reverses: c.Reverses}
	var err error
	if v.Entries, err = recurring.ParseEntries(strings.Join(c.Entry, "\n")); err != nil {
		return settingErrors("nothing was changed", err)
	}
	if err := errors.Join(parseMonthFlag("--first", c.First, &v.First), parseMonthFlag("--last", c.Last, &v.Last)); err != nil {
		return err
	}
	return c.change(ctx, env, func(s *accounting.Periods, p ident.Platform,
		by platform.Author) (proposal.Outcome[recurring.Version], error) {
		return s.SetRecurring(ctx, p, by, v)
	})
}

type recurringEndCommand struct {
	recurringChangeCommand
	Last string `required:"" help:"Last month that is posted." placeholder:"YYYY-MM"`
}

func (c recurringEndCommand) Run(ctx context.Context, env *Env) error {
	var last period.Month
	if err := parseMonthFlag("--last", c.Last, &last); err != nil {
		return err
	}
	return c.change(ctx, env, func(s *accounting.Periods, p ident.Platform,
		by platform.Author) (proposal.Outcome[recurring.Version], error) {
		return s.EndRecurring(ctx, p, by, c.Name, last)
	})
}

// parseMonthFlag parses a month, if there is one.
func parseMonthFlag(flag, text string, to *period.Month) (err error) {
	if text == "" {
		return nil
	}
	if *to, err = period.ParseMonth(text); err != nil {
		return flagError(flag, err)
	}
	return nil
}
