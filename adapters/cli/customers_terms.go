package cli

import (
	"context"
	"slices"

	"causeway/adapters/cli/table"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
)

type customersTermsCommand struct {
	List termsListCommand `cmd:"" help:"List the versions of the terms, the present one first."`
	Set  termsSetCommand  `cmd:"" help:"Make a new version of the terms the present one. With the first, customers of platforms that are not regulated who have accepted none can make no quotes: have the platforms ask them before. Consents to earlier versions remain valid."`
}

type termsListCommand struct {
	DatabaseFlags
	outputFlag
}

func (c termsListCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, AsRequest, func(services Services) error {
		versions, err := services.Customers().AllEndUserTerms(ctx)
		if err != nil {
			return err
		}
		return c.printTable(env, endUserTermsTable(versions), "There are no terms, so customers have none to accept.")
	})
}

func endUserTermsTable(versions []customer.EndUserTerms) *table.Table {
	rows := table.New("version", "url", "set", "by")
	for _, t := range slices.Backward(versions) {
		rows.Add(t.Version, t.URL, t.SetAt, t.Actor)
	}
	return rows
}

type termsSetCommand struct {
	DatabaseFlags
	outputFlag
	Version string `arg:"" help:"Name of the version, such as 2026-03."`
	URL     string `arg:"" name:"url" help:"Address of the text, with https."`
	actorFlag
}

func (c termsSetCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, OnBooks, func(services Services) error {
		action, err := c.action(ctx, env, services, platform.OperatorSetTerms, ident.Platform{}, c.Version)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		set, err := services.Recording(action).Customers().SetEndUserTerms(ctx, c.Version, c.URL,
			platform.Author{Actor: action.Actor, Person: action.Person})
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		return c.printTable(env, endUserTermsTable([]customer.EndUserTerms{set}), "")
	})
}
