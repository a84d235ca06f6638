package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"causeway/app/rails"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

type railsBalanceCommand struct {
	databaseFlags
	Name     string `arg:"" help:"Name of the connection."`
	Set      *int64 `help:"Set the balance to this amount, in minor units, such as 1000050 for 10000.50 EUR. Needs --currency and --note." placeholder:"AMOUNT"`
	Currency string `help:"Currency of the balance that is set." placeholder:"CODE"`
	Note     string `help:"Why it is set. It is recorded." placeholder:"TEXT"`
	actorFlag
}

func (c railsBalanceCommand) Run(ctx context.Context, out io.Writer) error {
	if (c.Set == nil) != (c.Currency == "" && c.Note == "") {
		return errors.New("to set the balance give --set, --currency and --note")
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		if c.Set != nil {
			b := ports.OpeningBalance{Connection: c.Name, Amount: money.Amount{Minor: *c.Set, Currency: money.Currency(c.Currency)}, Actor: c.Actor, Note: c.Note}
			if err := service.SetBalance(ctx, b); err != nil {
				return settingErrors("nothing was changed", err)
			}
		}
		shown, err := service.Show(ctx, c.Name)
		if err != nil {
			return err
		}
		return writeRailAccounts(out, shown)
	})
}

type railsProveCommand struct {
	databaseFlags
	At time.Time `help:"Compare the last balances up to this time. Default: now." placeholder:"TIME"`
}

func (c railsProveCommand) Run(ctx context.Context, out io.Writer) error {
	if c.At.IsZero() {
		c.At = systemClock{}.Now()
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		proofs, err := service.Prove(ctx, c.At)
		if err != nil {
			return err
		}
		if len(proofs) == 0 {
			_, err := fmt.Fprintln(out, "There are no connections, so there is nothing to prove.")
			return err
		}
		if err := writeProofs(out, proofs); err != nil {
			return err
		}
		if slices.ContainsFunc(proofs, func(p rail.Proof) bool { return p.State != rail.Proved }) {
			return rails.ErrNotProved
		}
		return nil
	})
}

func writeProofs(out io.Writer, proofs []rail.Proof) error {
	t := table{rightAligned: []int{3, 4, 5, 6, 7}}
	for _, p := range proofs {
		major := func(total money.Total) string { return total.Major(p.Currency) }
		at := "-"
		if !p.To.IsZero() {
			at = formatMinute(p.To)
		}
		t.add(strings.Join(p.Connections, ","), string(p.Currency), at, major(p.Partners), major(p.LedgerTo), major(p.Out), major(p.In), major(p.Difference), string(p.State))
	}
	if err := t.write(out, "connections", "currency", "at", "partners", "ledger", "going out", "coming in", "difference", "result"); err != nil {
		return err
	}
	for _, p := range proofs {
		if p.Problem != "" {
			if _, err := fmt.Fprintf(out, "%s %s: %s\n", p.Currency, strings.Join(p.Connections, ","), p.Problem); err != nil {
				return err
			}
		}
		for _, suspect := range p.Suspects {
			if _, err := fmt.Fprintf(out, "%s %s: the difference is the amount of %s\n", p.Currency, strings.Join(p.Connections, ","), suspect); err != nil {
				return err
			}
		}
	}
	return nil
}
