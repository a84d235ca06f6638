package cli

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/ports"
)

// CustomersCommand shows customers without their names and other personal data.
type CustomersCommand struct {
	List    customersListCommand    `cmd:"" help:"Print customers without personal data, newest first."`
	Show    customersShowCommand    `cmd:"" help:"Print a customer without personal data: its status, its money, and when it may be erased."`
	Terms   customersTermsCommand   `cmd:"" help:"The terms that customers of platforms that are not regulated have to accept before they pay."`
	SCA     customersSCACommand     `cmd:"" name:"sca" help:"Strong customer authentication: lift locks, and decide the resets of lost factors."`
	VASPs   customersVASPsCommand   `cmd:"" name:"vasps" help:"The directory of custodians that hold the wallets of customers."`
	Hold    customersHoldCommand    `cmd:"" help:"Put an approved customer on hold: it moves no money until a person releases it, and its platform sees the status HOLD."`
	Release customersReleaseCommand `cmd:"" help:"Release a customer whom a person has put on hold. One with hits of the screening stays held until they are decided."`
	Erase   customersEraseCommand   `cmd:"" help:"Erase the personal data of a deleted customer: its names, addresses and identifiers, external accounts, beneficial owners, verifications and documents, and the names and texts of its payments. The ledger remains, with amounts, times and references. Data of the last five years is kept by law."`
}

type customersListCommand struct {
	platformFlags
	listFlags
	Deleted bool `help:"Only deleted customers."`
}

func (c customersListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		rows, service := table.New("customer", "type", "status", "created", "deleted", "erased"), services.Customers()
		read := func(paging ports.Paging) (ports.Page[customer.Customer], error) {
			return service.List(ctx, p, ports.CustomerFilter{Paging: paging, IncludeDeleted: true, OnlyDeleted: c.Deleted})
		}
		for found, err := range ports.All(ports.Paging{Limit: 100}, read, func(c customer.Customer) uuid.UUID { return c.ID.UUID() }) {
			if err != nil {
				return err
			}
			rows.Add(found.ID, found.Type, found.ShownStatus(), found.CreatedAt, found.DeletedAt, found.ErasedAt)
			if rows.Len() == c.Limit {
				break
			}
		}
		return c.printTable(env, rows, "There are no such customers.")
	})
}

// customerArg names a customer.
type customerArg struct {
	Customer string `arg:"" help:"Id of the customer." placeholder:"CUSTOMER"`
}

type customersShowCommand struct {
	tableFlags
	customerArg
}

func (c customersShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseCustomer(c.Customer)
	return c.show(ctx, env, AsRequest, err, func(services Services, p ident.Platform) (*table.Page, error) {
		found, err := services.Customers().Get(ctx, p, id)
		if err != nil {
			return nil, err
		}
		left, err := services.Customers().Funds(ctx, p, id)
		return table.PageOf(customerRecord(found, left)), err
	})
}

func customerRecord(c customer.Customer, left customer.Funds) *table.Record {
	balances := make([]string, len(left.Balances))
	for i, b := range left.Balances {
		balances[i] = b.String()
	}
	unsettled := table.OrDash("")
	if !left.Unsettled.IsZero() {
		unsettled = table.CellOf(left.Unsettled)
	}
	r := table.NewRecord("customer", c.ID)
	r.Add("type", c.Type)
	r.Add("status", c.ShownStatus())
	r.Add("on hold by a person since", c.OnHoldSince)
	r.Add("region", table.OrDash(c.Region))
	r.Add("currencies", table.OrDash(joinTexts(c.Currencies, ", ")))
	r.Add("created", c.CreatedAt)
	r.Add("changed", c.UpdatedAt)
	r.Add("deleted", c.DeletedAt)
	r.Add("kept until", c.KeptUntil())
	r.Add("erased", c.ErasedAt)
	r.Add("balances", table.OrDash(strings.Join(balances, ", ")))
	r.Add("unsettled payment", unsettled)
	return r
}

// holdFlags are those of the commands that hold and release a customer.
type holdFlags struct {
	changeFlags
	customerArg
	Reason string `required:"" help:"Why. It is kept as a note about the customer, and not shown to the platform." placeholder:"TEXT"`
}

func (f holdFlags) apply(ctx context.Context, env *Env, do func(*customers.Verifications, context.Context, ident.Platform, platform.Author,
	ident.Customer, string) (customer.Customer, error)) error {
	id, err := ident.ParseCustomer(f.Customer)
	if err != nil {
		return argumentError("CUSTOMER", err)
	}
	return f.change(ctx, env, AsRequest, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		after, err := do(services.Verifications(screening.DefaultThreshold), ctx, p, by, id, f.Reason)
		return env.say(err, "%s is %s.\n", id, after.ShownStatus())
	})
}

type customersHoldCommand struct{ holdFlags }

func (c customersHoldCommand) Run(ctx context.Context, env *Env) error {
	return c.apply(ctx, env, (*customers.Verifications).Hold)
}

type customersReleaseCommand struct{ holdFlags }

func (c customersReleaseCommand) Run(ctx context.Context, env *Env) error {
	return c.apply(ctx, env, (*customers.Verifications).Release)
}

type customersEraseCommand struct {
	platformFlags
	outputFlag
	customerArg
	Now bool `help:"Erase before the five years have passed, because no law asks you to keep the data."`
	actorFlag
}

func (c customersEraseCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseCustomer(c.Customer)
	if err != nil {
		return err
	}
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		by, err := c.author(ctx, env, services)
		if err != nil {
			return fieldErrors("nothing was erased", err)
		}
		erased, err := services.Customers().Erase(ctx, p, id, by, c.Now)
		if err != nil {
			return fieldErrors("nothing was erased", err)
		}
		rows := table.New("erased", ">count")
		rows.Add("payments: names, texts and UMA addresses", erased.Transactions)
		rows.Add("external accounts", erased.ExternalAccounts)
		rows.Add("beneficial owners", erased.BeneficialOwners)
		rows.Add("verifications", erased.Verifications)
		rows.Add("documents", erased.Documents)
		rows.Add("webhooks: the resource, and what was responded", erased.Webhooks)
		rows.Add("customer", 1)
		var page table.Page
		page.Table("", rows, "")
		page.Line("Kept: the ledger, and the amounts, times and references of payments.\n" +
			"Files of documents are deleted within minutes by a running service. Stored responses and lookups from before\n" +
			"the deletion are deleted when their retention ends.")
		return c.print(env, &page)
	})
}
