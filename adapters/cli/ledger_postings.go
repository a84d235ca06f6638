package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

func (l ledgerPostingsCommand) Run(ctx context.Context, env *Env) error {
	filter, err := l.filter()
	if err != nil {
		return err
	}
	return l.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		filter.Platform = p
		return s.PostingsTable(filter), nil
	}, 7)
}

func (l ledgerPostingsCommand) filter() (ports.PostingFilter, error) {
	interval, err := parseInterval(l.From, l.To)
	filter := ports.PostingFilter{Kind: ledger.Kind(l.Kind), By: l.timeKind(), Interval: interval, Ascending: true}
	if l.Memo != "" {
		filter.Memos = []string{l.Memo}
	}
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

type ledgerTimelineCommand struct {
	DatabaseFlags
	outputFlag
	Transaction string `arg:"" help:"Id of the transaction." placeholder:"ID"`
}

func (l ledgerTimelineCommand) Run(ctx context.Context, env *Env) error {
	id, err := parseTransaction(l.Transaction)
	if err != nil {
		return err
	}
	return l.with(ctx, env, OnBooks, func(services Services) error {
		owner, err := services.Accounting().PlatformOf(ctx, id)
		if err != nil {
			return err
		}
		timeline, err := services.Accounting().Timeline(ctx, owner, id)
		if err != nil {
			return err
		}
		return l.printReport(ctx, env, timeline.Table(), 4)
	})
}

// parseTransaction parses an argument with the id of a transaction.
func parseTransaction(text string) (ident.Transaction, error) {
	id, err := ident.ParseTransaction(text)
	if err != nil {
		err = fmt.Errorf("%q is not the id of a transaction, such as Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33", text)
	}
	return id, err
}
