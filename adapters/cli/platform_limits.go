package cli

import (
	"context"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/platform"
)

type platformLimitsCommand struct {
	Set   limitsSetCommand   `cmd:"" help:"Limit what a platform or its customers may send, of one currency, with one payment or on one day (UTC). Of several limits the strictest decides. Servers apply the change within 10 seconds."`
	Clear limitsClearCommand `cmd:"" help:"End a limit."`
	List  limitsListCommand  `cmd:"" help:"Print the limits, with what was sent today and what is left."`
}

// limitArgs name a limit.
type limitArgs struct {
	platformFlags
	outputFlag
	Currency string `arg:"" help:"Currency that the payments send."`
	Customer string `help:"Limit the payments of this customer, or of each customer alone: each. Default: all payments of the platform together." placeholder:"ID|each"`
	Region   string `help:"Limit the payments of customers of this region. Default: of all." placeholder:"CODE"`
	actorFlag
}

// change calls do with the action of the operator, which is recorded with the change, and prints the limits of the platform afterwards.
func (c limitArgs) change(ctx context.Context, env *Env, kind platform.OperatorActionKind, amounts string,
	do func(Services, platform.OperatorAction) error) error {
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		if err := services.CheckClock(ctx); err != nil {
			return err
		}
		name := strings.Join(strings.Fields(c.Currency+" "+c.Customer+" "+c.Region+" "+amounts), " ")
		action, err := c.action(ctx, env, services, kind, p, name)
		if err == nil {
			err = do(services, action)
		}
		if err != nil {
			return fieldErrors("nothing was changed", err, argument{limit.FieldCurrency, c.Currency})
		}
		return c.printHeadroom(ctx, env, services, p, ident.Customer{})
	})
}

func (c limitArgs) input() limit.Input {
	return limit.Input{Currency: c.Currency, Customer: c.Customer, Region: c.Region}
}

type limitsSetCommand struct {
	limitArgs
	PerPayment *int64 `help:"Maximum amount of one payment, with fees, in minor units. 0 ends it." placeholder:"N"`
	Daily      *int64 `help:"Maximum of all payments of one day (UTC), with fees, in minor units. 0 ends it." placeholder:"N"`
}

func (c limitsSetCommand) Run(ctx context.Context, env *Env) error {
	in := c.input()
	in.PerPayment, in.Daily = c.PerPayment, c.Daily
	return c.change(ctx, env, platform.OperatorSetLimit, in.Amounts(), func(services Services, action platform.OperatorAction) error {
		_, err := services.Limits().Set(ctx, action, in)
		return err
	})
}

type limitsClearCommand struct{ limitArgs }

func (c limitsClearCommand) Run(ctx context.Context, env *Env) error {
	return c.change(ctx, env, platform.OperatorClearedLimit, "", func(services Services, action platform.OperatorAction) error {
		_, err := services.Limits().Clear(ctx, action, c.input())
		return err
	})
}

type limitsListCommand struct {
	platformFlags
	outputFlag
	Customer string `help:"Only limits of this customer, with what it has sent. Default: all limits; for one of each customer, who has sent most." placeholder:"ID"`
}

func (c limitsListCommand) Run(ctx context.Context, env *Env) error {
	var of ident.Customer
	if c.Customer != "" {
		var err error
		if of, err = ident.ParseCustomer(c.Customer); err != nil {
			return flagError("--customer", err)
		}
	}
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		return c.printHeadroom(ctx, env, services, p, of)
	})
}

func (f outputFlag) printHeadroom(ctx context.Context, env *Env, services Services, p ident.Platform, of ident.Customer) error {
	found, err := services.Limits().Headroom(ctx, p, of)
	if err != nil {
		return err
	}
	rows := table.New("currency", "customer", "region", ">per payment", ">daily", ">sent today", ">left today", "changed")
	for _, h := range found {
		amount := func(minor int64) table.Cell {
			if minor == 0 {
				return table.OrDash("")
			}
			return table.CellOf(table.Major(minor, h.Currency))
		}
		left := table.OrDash("")
		if h.Daily > 0 {
			left = table.CellOf(table.Major(h.Left, h.Currency))
		}
		rows.Add(h.Currency, table.Or(h.Customer, "all together"), table.Or(h.Region, "any"), amount(h.PerPayment), amount(h.Daily),
			table.Major(h.Sent.Sent, h.Currency), left, h.ChangedAt)
	}
	return f.printTable(env, rows, "There are no limits.")
}
