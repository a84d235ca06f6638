package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/postgres"
	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/fault"
)

// corridorsCommand is where an operator sees and changes fees, limits and lock times:
// beside servers that run, or when none does.
type corridorsCommand struct {
	List    corridorsListCommand    `cmd:"" help:"Print the terms in force for every pair of currencies."`
	Set     corridorsSetCommand     `cmd:"" help:"Change terms of a pair, for all platforms or one. Every server follows within 10 seconds; quotes made before keep their price."`
	Reset   corridorsResetCommand   `cmd:"" help:"Take back what was changed of a pair, for all platforms or one."`
	History corridorsHistoryCommand `cmd:"" help:"Print every change that was ever made."`
}

type corridorsListCommand struct {
	databaseFlags
	Platform string `help:"As this platform pays. Without it, as all pay." placeholder:"ID"`
	JSON     bool   `name:"json" help:"As JSON."`
}

func (c corridorsListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		shown, err := pricing.New(db).List(ctx, c.Platform)
		if err != nil {
			return fieldErrors("nothing is shown", err)
		}
		if c.JSON {
			return writeTermsJSON(out, shown)
		}
		return writeTerms(out, shown)
	})
}

// corridorArgs is the arguments of a command that changes one line.
type corridorArgs struct {
	databaseFlags
	From     string `arg:"" help:"Currency that is sent."`
	To       string `arg:"" help:"Currency that arrives."`
	Platform string `help:"For this platform alone. Without it, for all." placeholder:"ID"`
	Note     string `help:"Why; it stands in the history."`
}

func (c corridorArgs) corridorInput() pricing.CorridorInput {
	return pricing.CorridorInput{From: c.From, To: c.To, Platform: c.Platform}
}

type corridorsSetCommand struct {
	corridorArgs
	FeeFixed   string `help:"Fixed fee, in the smallest unit of what is sent." placeholder:"N"`
	FeePercent string `help:"Variable fee, such as 0.3%." placeholder:"P%"`
	Min        string `help:"Least that can be sent at once, in its smallest unit." placeholder:"N"`
	Max        string `help:"Most that can be sent at once, in its smallest unit." placeholder:"N"`
	Lock       string `help:"How long a quoted rate is held, from 1m to 15m." placeholder:"TIME"`
}

func (c corridorsSetCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		values := corridor.OverrideInput{Fixed: c.FeeFixed, Percent: c.FeePercent, Min: c.Min, Max: c.Max, Lock: c.Lock}
		changed, err := pricing.New(db).Set(ctx, c.corridorInput(), values, c.Note)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		return writeChange(out, changed)
	})
}

type corridorsResetCommand struct{ corridorArgs }

func (c corridorsResetCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		changed, err := pricing.New(db).Reset(ctx, c.corridorInput(), c.Note)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		return writeChange(out, changed)
	})
}

type corridorsHistoryCommand struct {
	databaseFlags
	From     string `arg:"" optional:"" help:"Currency that is sent. Without it, any."`
	To       string `arg:"" optional:"" help:"Currency that arrives. Without it, any."`
	Platform string `help:"Of what this platform pays: its own terms, and those for all." placeholder:"ID"`
}

func (c corridorsHistoryCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		changes, err := pricing.New(db).History(ctx, pricing.HistoryFilter{From: c.From, To: c.To, Platform: c.Platform})
		if err != nil {
			return fieldErrors("nothing is shown", err)
		}
		return writeHistory(out, changes)
	})
}

// fieldErrors lists all that was wrong, by the names of the flags.
func fieldErrors(outcome string, err error) error {
	wrong, ok := fault.As(err)
	if !ok || len(wrong.Fields) == 0 {
		return err
	}
	lines := []string{outcome + ":"}
	for _, f := range wrong.Fields {
		lines = append(lines, "  "+flagPrefix(f.Field)+f.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// flagPrefix is how a mistake begins; those that are no flag's speak for themselves.
func flagPrefix(field string) string {
	switch field {
	case pricing.FieldPair, pricing.FieldChange:
		return ""
	default:
		return fmt.Sprintf("--%s ", field)
	}
}
