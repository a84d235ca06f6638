package cli

import (
	"context"

	"causeway/adapters/cli/table"
	"causeway/app/pricing"
	"causeway/core/corridor"
)

// CorridorsCommand shows and changes fees, limits and rate lock times, whether or not a server
// is running.
type CorridorsCommand struct {
	List      corridorsListCommand      `cmd:"" help:"Print the current terms of every currency pair."`
	Set       corridorsSetCommand       `cmd:"" help:"Change the terms of a currency pair, for all platforms or one. Servers apply the change within 10 seconds; existing quotes keep their price. If fourEyes lists PRICE, the change is proposed."`
	Reset     corridorsResetCommand     `cmd:"" help:"Reset a currency pair to its defaults, for all platforms or one. If fourEyes lists PRICE, the change is proposed."`
	History   corridorsHistoryCommand   `cmd:"" help:"Print all changes."`
	Proposals corridorsProposalsCommand `cmd:"" help:"List and show proposed changes."`
	Approve   corridorsApproveCommand   `cmd:"" help:"Approve a proposed change of another operator, and make it."`
	Reject    corridorsRejectCommand    `cmd:"" help:"Reject a proposed change, for good."`
}

type corridorsListCommand struct {
	DatabaseFlags
	outputFlag
	Platform string `help:"Show the terms of this platform. Default: the terms of all platforms." placeholder:"ID"`
}

func (c corridorsListCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, OnBooks, func(services Services) error {
		terms, err := services.Pricing().List(ctx, c.Platform)
		if err != nil {
			return fieldErrors("cannot list the terms", err)
		}
		if c.Output == table.JSON {
			return writeTermsJSON(env.Out, terms)
		}
		return c.printTable(env, termsTable(terms), "")
	})
}

// corridorArgs holds the arguments of a command that changes one currency pair.
type corridorArgs struct {
	DatabaseFlags
	outputFlag
	From     string `arg:"" help:"Sent currency."`
	To       string `arg:"" help:"Received currency."`
	Platform string `help:"Change this platform only. Default: all platforms." placeholder:"ID"`
	Note     string `help:"Why. It is recorded."`
	actorFlag
}

func (c corridorArgs) corridorInput() pricing.CorridorInput {
	return pricing.CorridorInput{From: c.From, To: c.To, Platform: c.Platform}
}

// change calls do with the use cases, which record the operator with the change.
func (c corridorArgs) change(ctx context.Context, env *Env,
	do func(*pricing.Service, pricing.Author) (pricing.ChangeResult, error)) error {
	return c.with(ctx, env, OnBooks, func(services Services) error {
		by, err := c.author(ctx, env, services)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		changed, err := do(services.Pricing(), pricing.Author{Actor: by.Actor, Person: by.Person, Note: c.Note})
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		return c.printChange(env, changed)
	})
}

type corridorsSetCommand struct {
	corridorArgs
	FeeFixed   string `help:"Fixed fee, in minor units of the sent currency." placeholder:"N"`
	FeePercent string `help:"Variable fee, such as 0.3%." placeholder:"P%"`
	Min        string `help:"Minimum amount sent, in minor units." placeholder:"N"`
	Max        string `help:"Maximum amount sent, in minor units." placeholder:"N"`
	Lock       string `help:"How long a quoted rate is locked, from 1m to 15m." placeholder:"TIME"`
}

func (c corridorsSetCommand) Run(ctx context.Context, env *Env) error {
	values := corridor.OverrideInput{Fixed: c.FeeFixed, Percent: c.FeePercent, Min: c.Min, Max: c.Max, Lock: c.Lock}
	return c.change(ctx, env, func(service *pricing.Service, by pricing.Author) (pricing.ChangeResult, error) {
		return service.Set(ctx, by, c.corridorInput(), values)
	})
}

type corridorsResetCommand struct{ corridorArgs }

func (c corridorsResetCommand) Run(ctx context.Context, env *Env) error {
	return c.change(ctx, env, func(service *pricing.Service, by pricing.Author) (pricing.ChangeResult, error) {
		return service.Reset(ctx, by, c.corridorInput())
	})
}

type corridorsHistoryCommand struct {
	DatabaseFlags
	outputFlag
	From     string `arg:"" optional:"" help:"Sent currency. Default: any."`
	To       string `arg:"" optional:"" help:"Received currency. Default: any."`
	Platform string `help:"Changes that affect this platform: its own and those for all platforms." placeholder:"ID"`
}

func (c corridorsHistoryCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, OnBooks, func(services Services) error {
		changes, err := services.Pricing().History(ctx, pricing.HistoryFilter{From: c.From, To: c.To, Platform: c.Platform})
		if err != nil {
			return fieldErrors("cannot list the changes", err)
		}
		return c.printTable(env, historyTable(changes, c.Output), "No changes; the default terms apply.")
	})
}
