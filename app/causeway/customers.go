package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/ports"
)

// customersCommand shows customers without their names and other personal data.
type customersCommand struct {
	List  customersListCommand  `cmd:"" help:"Print customers without personal data, newest first."`
	Show  customersShowCommand  `cmd:"" help:"Print a customer without personal data: its status, its money, and when it may be erased."`
	Erase customersEraseCommand `cmd:"" help:"Erase the personal data of a deleted customer: its names, addresses and identifiers, external accounts, beneficial owners, verifications and documents, and the names and texts of its payments. The ledger remains, with amounts, times and references. Data of the last five years is kept by law."`
}

type customersListCommand struct {
	databaseFlags
	platformFlag
	Deleted bool `help:"Only deleted customers."`
	Limit   int  `default:"100" help:"Maximum number of customers, from 1 to 10000."`
}

// maxListedCustomers is the maximum number of customers that a command prints.
const maxListedCustomers = 10_000

func (c customersListCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Limit < 1 || c.Limit > maxListedCustomers {
		return fmt.Errorf("--limit must be from 1 to %d, not %d", maxListedCustomers, c.Limit)
	}
	return c.withCustomers(ctx, c.Platform, func(p ident.Platform, service *customers.Service) error {
		rows := table{}
		for paging := (ports.Paging{Limit: 100}); len(rows.rows) < c.Limit; {
			page, err := service.List(ctx, p, ports.CustomerFilter{Paging: paging, IncludeDeleted: true})
			if err != nil {
				return err
			}
			for _, found := range page.Items {
				paging.After = found.ID.UUID()
				if c.Deleted && !found.Deleted() || len(rows.rows) == c.Limit {
					continue
				}
				rows.add(found.ID.String(), string(found.Type), string(found.Status), found.CreatedAt.Format(time.RFC3339), timeCell(found.DeletedAt), timeCell(found.ErasedAt))
			}
			if !page.More {
				break
			}
		}
		if len(rows.rows) == 0 {
			_, err := fmt.Fprintln(out, "There are no such customers.")
			return err
		}
		return rows.write(out, "customer", "type", "status", "created", "deleted", "erased")
	})
}

// timeCell returns a time for a table; a dash for none.
func timeCell(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}

type customersShowCommand struct {
	databaseFlags
	platformFlag
	Customer string `arg:"" help:"Id of the customer." placeholder:"CUSTOMER"`
}

func (c customersShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseCustomer(c.Customer)
	if err != nil {
		return err
	}
	return c.withCustomers(ctx, c.Platform, func(p ident.Platform, service *customers.Service) error {
		found, err := service.Get(ctx, p, id)
		if err != nil {
			return err
		}
		left, err := service.Funds(ctx, p, id)
		if err != nil {
			return err
		}
		return writeCustomer(out, found, left)
	})
}

func writeCustomer(out io.Writer, c customer.Customer, left customer.Funds) error {
	balances := make([]string, len(left.Balances))
	for i, b := range left.Balances {
		balances[i] = b.String()
	}
	unsettled := "-"
	if !left.Unsettled.IsZero() {
		unsettled = left.Unsettled.String()
	}
	text := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	currencies := make([]string, len(c.Currencies))
	for i, currency := range c.Currencies {
		currencies[i] = string(currency)
	}
	rows := table{}
	for _, row := range [][2]string{
		{"type", string(c.Type)}, {"status", string(c.Status)}, {"region", text(c.Region)}, {"currencies", text(strings.Join(currencies, ", "))},
		{"created", timeCell(c.CreatedAt)}, {"changed", timeCell(c.UpdatedAt)}, {"deleted", timeCell(c.DeletedAt)},
		{"kept until", timeCell(c.KeptUntil())}, {"erased", timeCell(c.ErasedAt)},
		{"balances", text(strings.Join(balances, ", "))}, {"unsettled payment", unsettled},
	} {
		rows.add(row[0], row[1])
	}
	return rows.write(out, "customer", c.ID.String())
}

type customersEraseCommand struct {
	databaseFlags
	platformFlag
	Customer string `arg:"" help:"Id of the customer." placeholder:"CUSTOMER"`
	Now      bool   `help:"Erase before the five years have passed, because no law asks you to keep the data."`
	actorFlag
}

func (c customersEraseCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseCustomer(c.Customer)
	if err != nil {
		return err
	}
	return c.withCustomers(ctx, c.Platform, func(p ident.Platform, service *customers.Service) error {
		erased, err := service.Erase(ctx, p, id, c.Actor, c.Now)
		if err != nil {
			return fieldErrors("nothing was erased", err)
		}
		rows := table{rightAligned: []int{1}}
		for _, row := range []struct {
			what  string
			count int
		}{
			{"payments: names, texts and UMA addresses", erased.Transactions}, {"external accounts", erased.ExternalAccounts},
			{"beneficial owners", erased.BeneficialOwners}, {"verifications", erased.Verifications}, {"documents", erased.Documents},
			{"webhooks: the resource, and what was responded", erased.Webhooks}, {"customer", 1},
		} {
			rows.add(row.what, fmt.Sprint(row.count))
		}
		if err := rows.write(out, "erased", "count"); err != nil {
			return err
		}
		_, err = fmt.Fprint(out, "Kept: the ledger, and the amounts, times and references of payments.\n"+
			"Files of documents are deleted within minutes by a running service. Stored responses and lookups from before\n"+
			"the deletion are deleted when their retention ends.\n")
		return err
	})
}

// withCustomers calls do with the use cases of customers, and the platform.
func (f databaseFlags) withCustomers(ctx context.Context, platformID string, do func(ident.Platform, *customers.Service) error) error {
	return f.withWritableDatabase(ctx, func(db *postgres.DB, ids ports.IDs) error {
		owner, err := resolvePlatform(ctx, db, platformID)
		if err != nil {
			return err
		}
		return do(owner, customers.New(customers.Config{Store: db, Clock: systemClock{}, IDs: ids}))
	})
}
