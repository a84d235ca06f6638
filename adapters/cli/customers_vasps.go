package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/vasp"
)

type customersVASPsCommand struct {
	List   vaspsListCommand   `cmd:"" help:"List the directory of custodians."`
	Import vaspsImportCommand `cmd:"" help:"Put a file in place of the directory, and print what that changes. Accounts with a name that is no longer in it stay as they are, and new ones cannot be registered with it."`
}

type vaspsListCommand struct {
	DatabaseFlags
	outputFlag
}

func (c vaspsListCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, AsRequest, func(services Services) error {
		directory, err := services.Accounts().VASPs(ctx)
		if err != nil {
			return err
		}
		rows := table.New("name", "url")
		for _, p := range directory {
			rows.Add(p.Name, p.URL)
		}
		return c.printTable(env, rows, "")
	})
}

type vaspsImportCommand struct {
	DatabaseFlags
	outputFlag
	File   string `arg:"" type:"path" help:"CSV with the row name,url first, and one custodian in each other row. The url may be empty."`
	DryRun bool   `help:"Only print what would change."`
	actorFlag
}

func (c vaspsImportCommand) Run(ctx context.Context, env *Env) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		return fmt.Errorf("nothing was changed: %s is no CSV: %w", c.File, err)
	}
	directory, err := vasp.New(rows)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		action, err := c.action(ctx, env, services, platform.OperatorImportedVASPs, ident.Platform{}, "")
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		by := platform.Author{Actor: action.Actor, Person: action.Person}
		if !c.DryRun {
			services = services.Recording(action)
		}
		imported, err := services.Accounts().ImportVASPs(ctx, directory, by, c.DryRun)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		rows := table.New("before", "after", "accounts")
		for _, change := range imported.Changes {
			rows.Add(change.Before, change.After, imported.Used[change.Before])
		}
		return c.printTable(env, rows, "The directory has the same names.")
	})
}
