package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/postgres/books"
	"causeway/core/ident"
	"causeway/ports"
)

// ledgerCommand looks into the books without the service: beside a server that runs,
// or when none does.
type ledgerCommand struct {
	Balances ledgerBalancesCommand `cmd:"" help:"Print the balance of every account."`
	Entries  ledgerEntriesCommand  `cmd:"" help:"Print what a transaction wrote into the ledger."`
}

// anAudit is how long one statement may take here: the service's limit is for the
// service.
const anAudit = 24 * time.Hour

// openDatabase connects to a database to look into its books.
func openDatabase(ctx context.Context, url string) (*postgres.DB, error) {
	return postgres.Open(ctx, postgres.Options{URL: url, MaxConnections: 4, StatementTimeout: anAudit, Clock: clock{}})
}

// openBooks reads the books of a database until the function is called.
func openBooks(ctx context.Context, url string) (ports.BookReader, func(), error) {
	db, err := openDatabase(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	return books.NewReader(books.New(), db.Pool()), db.Close, nil
}

// in runs something on the database of the settings.
func (w where) in(ctx context.Context, do func(*postgres.DB) error) (err error) {
	url, giveBack, err := w.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	db, err := openDatabase(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}

type ledgerBalancesCommand struct {
	where
	Platform string `help:"Of one platform. Without it, of all." placeholder:"ID"`
}

func (l ledgerBalancesCommand) Run(ctx context.Context, out io.Writer) error {
	var platform ident.Platform
	if l.Platform != "" {
		var err error
		if platform, err = ident.ParsePlatform(l.Platform); err != nil {
			return fmt.Errorf("--platform: %w", err)
		}
	}
	return l.in(ctx, func(db *postgres.DB) error {
		sheet := balanceSheet{out: out}
		if err := books.NewReader(books.New(), db.Pool()).TrialBalance(ctx, platform, sheet.add); err != nil {
			return err
		}
		return sheet.end()
	})
}

type ledgerEntriesCommand struct {
	where
	Transaction string `required:"" help:"The transaction." placeholder:"ID"`
}

func (l ledgerEntriesCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseTransaction(l.Transaction)
	if err != nil {
		return fmt.Errorf("--transaction: %w", err)
	}
	return l.in(ctx, func(db *postgres.DB) error {
		owner, err := db.OwnerOf(ctx, id)
		if err != nil {
			return err
		}
		page, err := books.NewReader(books.New(), db.Pool()).Entries(ctx, ports.EntryFilter{Platform: owner, Transaction: id, Limit: 1000})
		if err != nil {
			return err
		}
		return writeEntries(out, id, owner, page.Entries)
	})
}

func writeEntries(out io.Writer, id ident.Transaction, owner ident.Platform, entries []ports.RecordedEntry) error {
	if _, err := fmt.Fprintf(out, "%s of %s\n", id, owner); err != nil {
		return err
	}
	if len(entries) == 0 {
		_, err := fmt.Fprintln(out, "No money has moved for it.")
		return err
	}
	rows := table{right: []int{5}}
	for _, e := range entries {
		rows.add(fmt.Sprintf("%d.%d", e.Place.Seq, e.Place.N), e.Recorded.Format("2006-01-02 15:04:05.000"), string(e.Kind),
			e.Debit, e.Credit, inMajorUnits(e.Amount, e.Currency), string(e.Currency))
	}
	return rows.write(out, "no.", "recorded (UTC)", "posting", "debit", "credit", "amount", "")
}
