package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	booksapp "causeway/app/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// openingCommand holds the arguments of a command that posts to customers' accounts, which sends events.
type openingCommand struct {
	changeFlags
	Note string `help:"Why. It is recorded."`
}

// post calls post with the use cases. A posting with thousands of entries may take longer than a statement of the service.
func (c openingCommand) post(ctx context.Context, env *Env, post func(*booksapp.Service, ident.Platform, booksapp.Change) error) error {
	return c.change(ctx, env, OnImport, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		return settingErrors("nothing was changed", post(services.Books(), p, booksapp.Change{By: by, Note: c.Note}))
	})
}

type ledgerOpeningBalancesCommand struct {
	openingCommand
	outputFlag
	File           string `arg:"" help:"CSV file with the columns account, currency, debit, credit and, optionally, gl_code. Amounts are in major units."`
	AsOf           string `required:"" help:"Day at whose end (UTC) the balances were those of the file, such as 2025-12-31." placeholder:"DATE"`
	BalanceAgainst string `enum:"equity/brought-forward," default:"" help:"equity/brought-forward: leave the difference of debits and credits there. Without it, a file with a difference is refused." placeholder:"ACCOUNT"`
}

func (l ledgerOpeningBalancesCommand) Run(ctx context.Context, env *Env) error {
	day, err := time.Parse(time.DateOnly, l.AsOf)
	if err != nil {
		return fmt.Errorf("--as-of must be a date of the form YYYY-MM-DD, not %q", l.AsOf)
	}
	return withFile(l.File, func(file io.Reader) error {
		return l.post(ctx, env, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
			posted, err := service.ImportOpeningBalances(ctx, p, change, nil,
				booksapp.OpeningImport{File: file, AsOf: day, AgainstBroughtForward: l.BalanceAgainst != ""})
			if err != nil {
				return err
			}
			rows := table.New("currency", ">accounts", ">debits", ">credits", ">difference", "posting")
			for _, o := range posted.Done {
				c := o.Currency
				rows.Add(c, len(o.Lines), o.Debits.Major(c), o.Credits.Major(c), o.Difference.Major(c), postingOf(o.Posting.ID))
			}
			return l.printTable(env, rows, "")
		})
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

func (l ledgerReverseOpeningCommand) Run(ctx context.Context, env *Env) error {
	return l.post(ctx, env, func(service *booksapp.Service, p ident.Platform, change booksapp.Change) error {
		reversal, err := service.ReverseOpeningBalances(ctx, p, change, nil, money.Currency(l.Currency))
		return env.say(err, "The opening balances in %s are reversed by %s, effective %s.\n",
			l.Currency, postingOf(reversal.Done.ID), reversal.Done.Effective.Format(time.RFC3339))
	})
}
