package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	booksapp "causeway/app/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// openingCommand holds the arguments of a command that posts to customers' accounts, which sends events.
type openingCommand struct {
	databaseFlags
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	Note     string `help:"Reason, stored with the authorisation."`
	actorFlag
}

func (c openingCommand) post(ctx context.Context, post func(*booksapp.Service, ident.Platform, booksapp.Change) error) error {
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return listFields(err)
	}
	idGenerator := ids.New()
	// A posting with thousands of entries may take longer than a statement of the service.
	options := postgres.Options{AllPlatforms: true, NewCipher: c.cipher(), MaxConnections: 4, StatementTimeout: auditTimeout, Clock: systemClock{}, IDs: idGenerator, Render: api.RenderEvent}
	return c.withOptions(ctx, options, func(db *postgres.DB) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		owner, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		service := booksapp.New(booksapp.Config{Store: db, Finance: db.Finance(), Clock: systemClock{}, IDs: idGenerator})
		return listFields(post(service, owner, booksapp.Change{By: platform.Author{Actor: actor}, Note: c.Note}))
	})
}

type ledgerOpeningBalancesCommand struct {
	openingCommand
	File           string `arg:"" help:"CSV file with the columns account, currency, debit, credit and, optionally, gl_code. Amounts are in major units."`
	AsOf           string `required:"" help:"Day at whose end (UTC) the balances were those of the file, such as 2025-12-31." placeholder:"DATE"`
	BalanceAgainst string `enum:"equity/brought-forward," default:"" help:"equity/brought-forward: leave the difference of debits and credits there. Without it, a file with a difference is refused." placeholder:"ACCOUNT"`
}

func (l ledgerOpeningBalancesCommand) Run(ctx context.Context, out io.Writer) error {
	day, err := time.Parse(time.DateOnly, l.AsOf)
	if err != nil {
		return fmt.Errorf("--as-of must be a date of the form YYYY-MM-DD, not %q", l.AsOf)
	}
	file, err := os.Open(l.File)
	if err != nil {
		return err
	}
	defer file.Close()
	return l.post(ctx, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		posted, err := service.ImportOpeningBalances(ctx, p, change, nil, booksapp.OpeningImport{File: file, AsOf: day, AgainstBroughtForward: l.BalanceAgainst != ""})
		if err != nil {
			return err
		}
		rows := table{rightAligned: []int{1, 2, 3, 4}}
		for _, o := range posted.Done {
			c := o.Currency
			rows.add(string(c), fmt.Sprint(len(o.Lines)), o.Debits.Major(c), o.Credits.Major(c), o.Difference.Major(c), postingOf(o.Posting.ID).String())
		}
		return rows.write(out, "currency", "accounts", "debits", "credits", "difference", "posting")
	})
}

func postingOf(id uuid.UUID) (posting ident.Posting) {
	posting.SetUUID(id)
	return posting
}

type ledgerReverseOpeningCommand struct {
	openingCommand
	Currency string `arg:"" help:"Currency of the opening balances."`
}

func (l ledgerReverseOpeningCommand) Run(ctx context.Context, out io.Writer) error {
	return l.post(ctx, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		reversal, err := service.ReverseOpeningBalances(ctx, p, change, nil, money.Currency(l.Currency))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "The opening balances in %s are reversed by %s, effective %s.\n", l.Currency, postingOf(reversal.Done.ID), reversal.Done.Effective.Format(time.RFC3339))
		return err
	})
}
