package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

type ledgerPostingsCommand struct {
	reportFlags
	From        string `help:"Start of the period, inclusive." placeholder:"TIME"`
	To          string `help:"End of the period, exclusive." placeholder:"TIME"`
	Kind        string `help:"Only postings of this kind, such as adjustment." placeholder:"KIND"`
	Transaction string `help:"Only those of this transaction." placeholder:"ID"`
	Customer    string `help:"Only those of the transactions of this customer." placeholder:"ID"`
	Memo        string `help:"Only those with exactly this memo." placeholder:"TEXT"`
}

func (l ledgerPostingsCommand) Run(ctx context.Context, out io.Writer) error {
	filter, err := l.filter()
	if err != nil {
		return err
	}
	return l.print(ctx, out, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		filter.Platform = p
		return s.PostingsTable(filter), nil
	}, 7)
}

func (l ledgerPostingsCommand) filter() (ports.PostingFilter, error) {
	interval, err := parseInterval(l.From, l.To)
	filter := ports.PostingFilter{Kind: ledger.Kind(l.Kind), Memo: l.Memo, By: l.timeKind(), Interval: interval, Ascending: true}
	if l.Kind != "" && !slices.Contains(ledger.Kinds(), filter.Kind) {
		err = errors.Join(err, fmt.Errorf("--kind: %q is no kind of posting; see Finance in the documentation", l.Kind))
	}
	if l.Transaction != "" {
		id, invalid := ident.ParseTransaction(l.Transaction)
		filter.Transaction, err = id, errors.Join(err, flagError("--transaction", invalid))
	}
	if l.Customer != "" {
		id, invalid := ident.ParseCustomer(l.Customer)
		filter.Customer, err = id, errors.Join(err, flagError("--customer", invalid))
	}
	return filter, err
}

// flagError returns an error with the name of its flag.
func flagError(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

type ledgerTimelineCommand struct {
	databaseFlags
	Transaction string `arg:"" help:"Id of the transaction." placeholder:"ID"`
	Format      string `default:"table" enum:"table,csv" help:"table, or csv for spreadsheets."`
}

func (l ledgerTimelineCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseTransaction(l.Transaction)
	if err != nil {
		return fmt.Errorf("%q is not the id of a transaction, such as Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33", l.Transaction)
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		owner, err := db.PlatformOfTransaction(ctx, id)
		if err != nil {
			return err
		}
		service := accounting.New(accounting.Config{Store: db, Ledger: db.Finance(), WebhookLog: outbox.NewLog(db.ReadPool(), db.Cipher()), Clock: systemClock{}})
		timeline, err := service.Timeline(ctx, owner, id)
		if err != nil {
			return err
		}
		return tableFlags{Format: l.Format}.write(ctx, out, timeline.Table(), 4)
	})
}
