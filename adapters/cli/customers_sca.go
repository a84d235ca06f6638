package cli

import (
	"context"

	"causeway/adapters/cli/table"
	"causeway/core/ident"
	"causeway/core/platform"
)

type customersSCACommand struct {
	Unlock  scaUnlockCommand  `cmd:"" help:"Lift the lock or suspension of a customer after failed attempts, and clear its counter."`
	Resets  scaResetsCommand  `cmd:"" help:"List the resets of lost factors that wait for a decision, those that expire first before others."`
	Approve scaApproveCommand `cmd:"" help:"Decide that who resets a factor is the customer, after you have made sure of it."`
	Reject  scaRejectCommand  `cmd:"" help:"Decide that who resets a factor is not the customer, or cannot prove it."`
}

type scaUnlockCommand struct {
	changeFlags
	customerArg
}

func (c scaUnlockCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseCustomer(c.Customer)
	if err != nil {
		return argumentError("CUSTOMER", err)
	}
	return c.change(ctx, env, AsRequest, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		return env.say(services.Authentication().Unlock(ctx, p, id, by), "%s is unlocked, and its failed attempts count from 0.\n", id)
	})
}

type scaResetsCommand struct {
	platformFlags
	outputFlag
}

func (c scaResetsCommand) Run(ctx context.Context, env *Env) error {
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		waiting, err := services.Authentication().ResetsToDecide(ctx, p)
		if err != nil {
			return err
		}
		rows := table.New("reset", "customer", "factor", "started", "expires")
		for _, r := range waiting {
			rows.Add(r.ID, r.Customer, r.Factor, r.CreatedAt, r.ExpiresAt)
		}
		return c.printTable(env, rows, "No reset waits for a decision.")
	})
}

// scaDecision decides a reset.
type scaDecision struct {
	changeFlags
	Reset string `arg:"" help:"Id of the reset." placeholder:"RESET"`
}

func (c scaDecision) decide(ctx context.Context, env *Env, passed bool) error {
	id, err := ident.ParseSCAReset(c.Reset)
	if err != nil {
		return argumentError("RESET", err)
	}
	return c.change(ctx, env, AsRequest, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		decided, err := services.Authentication().DecideReset(ctx, p, id, passed, by)
		return env.say(err, "%s is %s.\n", id, decided.Status)
	})
}

type scaApproveCommand struct{ scaDecision }

func (c scaApproveCommand) Run(ctx context.Context, env *Env) error { return c.decide(ctx, env, true) }

type scaRejectCommand struct{ scaDecision }

func (c scaRejectCommand) Run(ctx context.Context, env *Env) error { return c.decide(ctx, env, false) }
