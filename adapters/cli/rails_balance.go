package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/money"
	"causeway/core/rail"
)

type railsBalanceCommand struct {
	DatabaseFlags
	outputFlag
	Name     string `arg:"" help:"Name of the connection."`
	Set      *int64 `help:"Set the balance to this amount, in minor units, such as 1000050 for 10000.50 EUR. Needs --currency and --note." placeholder:"AMOUNT"`
	Currency string `help:"Currency of the balance that is set." placeholder:"CODE"`
	Note     string `help:"Why it is set. It is recorded." placeholder:"TEXT"`
	actorFlag
}

func (c railsBalanceCommand) Run(ctx context.Context, env *Env) error {
	if (c.Set == nil) != (c.Currency == "" && c.Note == "") {
		return errors.New("to set the balance give --set, --currency and --note")
	}
	return c.with(ctx, env, AsRequest, func(services Services) error {
		service := services.Rails()
		if c.Set != nil {
			by, err := c.author(ctx, env, services)
			if err != nil {
				return fieldErrors("nothing was changed", err)
			}
			proposed, err := service.SetBalance(ctx, c.Name, money.Amount{Minor: *c.Set, Currency: money.Currency(c.Currency)},
				rails.Author{Actor: by.Actor, Person: by.Person, Note: c.Note})
			if err != nil {
				return settingErrors("nothing was changed", err)
			}
			if proposed != nil {
				return sayProposed(env, c.Name, proposed)
			}
		}
		shown, err := service.Show(ctx, c.Name)
		if err != nil {
			return err
		}
		var page table.Page
		addRailAccounts(&page, shown)
		return c.print(env, &page)
	})
}

type railsProveCommand struct {
	DatabaseFlags
	outputFlag
	At time.Time `help:"Compare the last balances up to this time. Default: now." placeholder:"TIME"`
}

func (c railsProveCommand) Run(ctx context.Context, env *Env) error {
	if c.At.IsZero() {
		c.At = env.Clock.Now()
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		proofs, err := service.Prove(ctx, c.At)
		if err != nil {
			return err
		}
		page := proofsPage(proofs)
		if err := c.print(env, &page); err != nil {
			return err
		}
		if slices.ContainsFunc(proofs, func(p rail.Proof) bool { return p.State != rail.Proved }) {
			return rails.ErrNotProved
		}
		return nil
	})
}

func proofsPage(proofs []rail.Proof) (page table.Page) {
	t := table.New("connections", "currency", "at", ">partners", ">ledger", ">going out", ">coming in", ">difference", "result")
	notes := table.New("connections", "currency", "problem", "suspect")
	for _, p := range proofs {
		major := func(total money.Total) string { return total.Major(p.Currency) }
		t.Add(strings.Join(p.Connections, ","), p.Currency, table.Minute(p.To), major(p.Partners), major(p.LedgerTo), major(p.Out), major(p.In),
			major(p.Difference), p.State)
	}
	page.Table("proofs", t, "There are no connections, so there is nothing to prove.")
	for _, p := range proofs {
		connections := strings.Join(p.Connections, ",")
		if p.Problem != "" {
			page.Line("%s %s: %s", p.Currency, connections, p.Problem)
			notes.Add(connections, p.Currency, p.Problem, "")
		}
		for _, suspect := range p.Suspects {
			page.Line("%s %s: the difference is the amount of %s", p.Currency, connections, suspect)
			notes.Add(connections, p.Currency, "", suspect)
		}
	}
	page.Data("notes", notes)
	return page
}
