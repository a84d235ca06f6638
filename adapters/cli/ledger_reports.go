package cli

import (
	"context"
	"errors"
	"fmt"

	"causeway/adapters/cli/table"
	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

type ledgerBalancesCommand struct {
	DatabaseFlags
	outputFlag
	Platform string `help:"Platform id. Default: all platforms. Required for csv and json if there are several." placeholder:"ID"`
}

func (l ledgerBalancesCommand) Run(ctx context.Context, env *Env) error {
	selected := platformFlag{l.Platform}
	if l.Output != table.Text {
		f := tableFlags{platformFlags{l.DatabaseFlags, selected}, l.outputFlag}
		return f.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
			return s.AccountsTable(p, ports.LedgerAccountFilter{}), nil
		})
	}
	platform, err := selected.parse()
	if err != nil {
		return err
	}
	return l.with(ctx, env, OnBooks, func(services Services) error {
		lines, err := services.Audit().Balances(ctx, platform)
		if err != nil {
			return err
		}
		if len(lines) == 0 && l.Platform != "" {
			if _, err := selected.resolve(ctx, services); err != nil {
				return err
			}
		}
		return writeBalances(env.Out, lines)
	})
}

type ledgerFXPositionCommand struct {
	reportFlags
	At                string `help:"Time of the positions, inclusive. Default: now." placeholder:"TIME"`
	ReportingCurrency string `default:"USD" help:"Currency of the values, at the market rates that the service kept last before that time." placeholder:"CODE"`
}

func (l ledgerFXPositionCommand) Run(ctx context.Context, env *Env) error {
	at, err := parseTime("--at", l.At)
	if err != nil {
		return err
	}
	if at.IsZero() {
		// Without a time, new rates would be kept, which must not come from the settings of a command.
		at = env.Clock.Now()
	}
	return l.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		position, err := s.FXPosition(ctx, p, ports.Cutoff{By: l.timeKind(), Moment: at}, money.Currency(l.ReportingCurrency))
		return position.Table(), err
	}, 1, 2, 3)
}

type ledgerUnmatchedCommand struct {
	tableFlags
	Assigned string `enum:"true,false," default:"" help:"true: only assigned funds; false: only funds that are not assigned." placeholder:"BOOL"`
}

func (l ledgerUnmatchedCommand) Run(ctx context.Context, env *Env) error {
	filter := ports.UnmatchedFilter{Ascending: true}
	if l.Assigned != "" {
		assigned := l.Assigned == "true"
		filter.Assigned = &assigned
	}
	return l.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		return s.UnmatchedTable(p, filter), nil
	}, 2)
}

type ledgerEntriesCommand struct {
	reportFlags
	Account     string `arg:"" optional:"" help:"Path of the account, such as rails/RTP. Its entries are in the order of recording."`
	Currency    string `help:"Currency of the account. Required with an account." placeholder:"CODE"`
	From        string `help:"With an account: start of the period, inclusive." placeholder:"TIME"`
	To          string `help:"With an account: end of the period, exclusive." placeholder:"TIME"`
	Transaction string `help:"Transaction id, in place of an account." placeholder:"ID"`
}

func (l ledgerEntriesCommand) Run(ctx context.Context, env *Env) error {
	switch {
	case (l.Account == "") == (l.Transaction == ""):
		return errors.New("specify either the path of an account or --transaction")
	case l.Transaction != "":
		return l.printTransaction(ctx, env)
	case !money.Currency(l.Currency).Known():
		return fmt.Errorf("--currency must be a supported currency, such as USD, not %q", l.Currency)
	}
	interval, err := parseInterval(l.From, l.To)
	if err != nil {
		return err
	}
	return l.report(ctx, env, func(s *accounting.Service, p ident.Platform) (accounting.Table, error) {
		return s.EntriesTable(ports.AccountEntryFilter{Account: ledger.Account{Platform: p, Path: l.Account,
			Currency: money.Currency(l.Currency)},
			By: l.timeKind(), Interval: interval, Ascending: true}), nil
	}, 6, 7, 8)
}

func (l ledgerEntriesCommand) printTransaction(ctx context.Context, env *Env) error {
	id, err := ident.ParseTransaction(l.Transaction)
	if err != nil {
		return flagError("--transaction", err)
	}
	if l.Currency != "" || l.From != "" || l.To != "" {
		return errors.New("--transaction cannot be combined with --currency, --from or --to; use causeway ledger postings --transaction")
	}
	return l.with(ctx, env, OnBooks, func(services Services) error {
		owner, err := services.Accounting().PlatformOf(ctx, id)
		if err != nil {
			return err
		}
		entries, err := services.Audit().TransactionEntries(ctx, owner, id)
		if err != nil {
			return err
		}
		return l.printTable(env, entriesTable(entries), "This transaction has no ledger entries.")
	})
}
