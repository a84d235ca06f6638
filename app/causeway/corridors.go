package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// corridorsCommand shows and changes fees, limits and rate lock times, whether or not a server
// is running.
type corridorsCommand struct {
	List      corridorsListCommand      `cmd:"" help:"Print the current terms of every currency pair."`
	Set       corridorsSetCommand       `cmd:"" help:"Change the terms of a currency pair, for all platforms or one. Servers apply the change within 10 seconds; existing quotes keep their price. If fourEyes lists PRICE, the change is proposed."`
	Reset     corridorsResetCommand     `cmd:"" help:"Reset a currency pair to its defaults, for all platforms or one. If fourEyes lists PRICE, the change is proposed."`
	History   corridorsHistoryCommand   `cmd:"" help:"Print all changes."`
	Proposals corridorsProposalsCommand `cmd:"" help:"List and show proposed changes."`
	Approve   corridorsApproveCommand   `cmd:"" help:"Approve a proposed change of another operator, and make it."`
	Reject    corridorsRejectCommand    `cmd:"" help:"Reject a proposed change, for good."`
}

// newPricing returns the use cases.
func newPricing(db *postgres.DB) *pricing.Service {
	return pricing.New(pricing.Config{Store: db, Clock: systemClock{}, IDs: ids.New()})
}

type corridorsListCommand struct {
	databaseFlags
	Platform string `help:"Show the terms of this platform. Default: the terms of all platforms." placeholder:"ID"`
	JSON     bool   `name:"json" help:"Print JSON."`
}

func (c corridorsListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		terms, err := newPricing(db).List(ctx, c.Platform)
		if err != nil {
			return fieldErrors("cannot list the terms", err)
		}
		if c.JSON {
			return writeTermsJSON(out, terms)
		}
		return writeTerms(out, terms)
	})
}

// corridorArgs holds the arguments of a command that changes one currency pair.
type corridorArgs struct {
	databaseFlags
	From     string `arg:"" help:"Sent currency."`
	To       string `arg:"" help:"Received currency."`
	Platform string `help:"Change this platform only. Default: all platforms." placeholder:"ID"`
	Note     string `help:"Reason, stored in the history."`
	actorFlag
}

func (c corridorArgs) corridorInput() pricing.CorridorInput {
	return pricing.CorridorInput{From: c.From, To: c.To, Platform: c.Platform}
}

// change calls do with the use cases, which record the operator with the change.
func (c corridorArgs) change(ctx context.Context, out io.Writer, kind platform.OperatorActionKind, do func(*pricing.Service, pricing.Author) (pricing.ChangeResult, error)) error {
	var owner ident.Platform
	if c.Platform != "" {
		owner, _ = ident.ParsePlatform(c.Platform) // do reports an invalid id, with other errors
	}
	action, err := c.action(kind, owner, c.From+" to "+c.To)
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		changed, err := do(newPricing(db.Recording(action)), pricing.Author{Actor: action.Actor, Note: c.Note})
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		if changed.Proposal != nil {
			return writeProposedChange(out, changed)
		}
		return writeChange(out, changed)
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

func (c corridorsSetCommand) Run(ctx context.Context, out io.Writer) error {
	values := corridor.OverrideInput{Fixed: c.FeeFixed, Percent: c.FeePercent, Min: c.Min, Max: c.Max, Lock: c.Lock}
	return c.change(ctx, out, platform.OperatorSetCorridor, func(service *pricing.Service, by pricing.Author) (pricing.ChangeResult, error) {
		return service.Set(ctx, by, c.corridorInput(), values)
	})
}

type corridorsResetCommand struct{ corridorArgs }

func (c corridorsResetCommand) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, platform.OperatorResetCorridor, func(service *pricing.Service, by pricing.Author) (pricing.ChangeResult, error) {
		return service.Reset(ctx, by, c.corridorInput())
	})
}

type corridorsHistoryCommand struct {
	databaseFlags
	From     string `arg:"" optional:"" help:"Sent currency. Default: any."`
	To       string `arg:"" optional:"" help:"Received currency. Default: any."`
	Platform string `help:"Changes that affect this platform: its own and those for all platforms." placeholder:"ID"`
}

func (c corridorsHistoryCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		changes, err := newPricing(db).History(ctx, pricing.HistoryFilter{From: c.From, To: c.To, Platform: c.Platform})
		if err != nil {
			return fieldErrors("cannot list the changes", err)
		}
		return writeHistory(out, changes)
	})
}

// argument is what was typed for a field that has no flag.
type argument struct{ field, typed string }

// fieldErrors lists all field errors with the names of the flags, or with what was typed as an argument.
func fieldErrors(outcome string, err error, arguments ...argument) error {
	invalid, ok := fault.As(err)
	if !ok || len(invalid.Fields) == 0 {
		return err
	}
	lines := []string{outcome + ":"}
	for _, f := range invalid.Fields {
		name := flagPrefix(f.Field)
		if i := slices.IndexFunc(arguments, func(a argument) bool { return a.field == f.Field }); i >= 0 {
			name = arguments[i].typed + " "
		}
		lines = append(lines, "  "+name+f.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// flagPrefix returns the flag of a field; errors of no single flag have none.
func flagPrefix(field string) string {
	switch field {
	case pricing.FieldPair, pricing.FieldChange:
		return ""
	default:
		return fmt.Sprintf("--%s ", field)
	}
}
