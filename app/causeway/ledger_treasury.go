package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/treasury"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/core/safeguarding"
	movements "causeway/core/treasury"
	"causeway/ports"
)

func newTreasury(db *postgres.DB, idGenerator ports.IDs) *treasury.Service {
	return treasury.New(treasury.Config{Store: db, Ledger: db.Finance(), Balances: db.Readers().LedgerReader(), KeptRates: db, Proofs: db, Connections: db, Clock: systemClock{}, IDs: idGenerator})
}

// movementCommand holds the arguments of a command that posts a movement between accounts at partners.
type movementCommand struct {
	databaseFlags
	actorFlag
	From           string `required:"" help:"Path of the account that pays, such as rails/RTP." placeholder:"ACCOUNT"`
	To             string `required:"" help:"Path of the account that receives, such as own/OPERATING." placeholder:"ACCOUNT"`
	Amount         string `required:"" help:"Amount and currency, such as '12.50 USD'." placeholder:"AMOUNT"`
	Note           string `help:"Reason, stored with the movement." placeholder:"TEXT"`
	EffectiveAt    string `help:"Effective time. Default: now." placeholder:"TIME"`
	AllowOverdraft bool   `help:"Allow an account to go below zero. Needs --note."`
	Platform       string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c movementCommand) move(ctx context.Context, out io.Writer, m movements.Movement) error {
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	if m.Amount, err = parseAmount("--amount", c.Amount); err != nil {
		return err
	}
	if m.Effective, err = parseTime("--effective-at", c.EffectiveAt); err != nil {
		return err
	}
	m.From, m.To, m.Note, m.AllowOverdraft, m.By.Actor = c.From, c.To, c.Note, c.AllowOverdraft, actor
	return c.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		if m.Platform, err = resolvePlatform(ctx, db, c.Platform); err != nil {
			return err
		}
		done, err := newTreasury(db, idGenerator).MoveAlone(ctx, m)
		if err != nil {
			return fieldErrors("nothing was posted", err)
		}
		return writeMovements(out, []movements.Movement{done})
	})
}

// parseAmount parses an amount in major units with its currency.
func parseAmount(flag, text string) (money.Amount, error) {
	number, code, _ := strings.Cut(strings.TrimSpace(text), " ")
	currency := money.Currency(strings.TrimSpace(code))
	if !currency.Known() {
		return money.Amount{}, fmt.Errorf("%s must be an amount and a currency, such as '12.50 USD', not %q", flag, text)
	}
	minor, err := reconcile.ParseAmount(number, currency, '.', 0)
	if err != nil {
		return money.Amount{}, fmt.Errorf("%s: %w", flag, err)
	}
	return money.Amount{Minor: minor, Currency: currency}, nil
}

type ledgerSweepCommand struct{ movementCommand }

func (l ledgerSweepCommand) Run(ctx context.Context, out io.Writer) error {
	return l.move(ctx, out, movements.Movement{Kind: movements.Sweep})
}

type ledgerTreasuryCommand struct {
	Transfer treasuryTransferCommand `cmd:"" help:"Post that money was moved from one account at a partner to another."`
	Arrive   treasuryArriveCommand   `cmd:"" help:"Post that a transfer in transit has arrived."`
	Settle   treasurySettleCommand   `cmd:"" help:"Post an exchange with a liquidity provider."`
	List     treasuryListCommand     `cmd:"" help:"List sweeps, transfers and settlements, newest first."`
	Purpose  treasuryPurposeCommand  `cmd:"" help:"List accounts at partners with their purpose, or set that of one: customers' money or the company's own."`
}

type treasuryTransferCommand struct {
	movementCommand
	InTransit bool `help:"The money arrives later: post its arrival with the command arrive."`
}

func (c treasuryTransferCommand) Run(ctx context.Context, out io.Writer) error {
	return c.move(ctx, out, movements.Movement{Kind: movements.Transfer, InTransit: c.InTransit})
}

type treasurySettleCommand struct {
	movementCommand
	Bought string `required:"" help:"Amount and currency that are bought, such as '0.00100000 BTC'." placeholder:"AMOUNT"`
}

func (c treasurySettleCommand) Run(ctx context.Context, out io.Writer) error {
	bought, err := parseAmount("--bought", c.Bought)
	if err != nil {
		return err
	}
	return c.move(ctx, out, movements.Movement{Kind: movements.Settlement, Bought: bought})
}

type treasuryArriveCommand struct {
	databaseFlags
	actorFlag
	Movement    string `arg:"" help:"Id of the transfer, as listed." placeholder:"ID"`
	EffectiveAt string `help:"Time of the arrival. Default: now." placeholder:"TIME"`
	Platform    string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c treasuryArriveCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseMovement(c.Movement)
	if err != nil {
		return fmt.Errorf("%q is not the id of a transfer. List them with: causeway ledger treasury list --open", c.Movement)
	}
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	effective, err := parseTime("--effective-at", c.EffectiveAt)
	if err != nil {
		return err
	}
	return c.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		done, err := newTreasury(db, idGenerator).ArriveAlone(ctx, p, id, platform.Author{Actor: actor}, effective)
		if err != nil {
			return fieldErrors("nothing was posted", err)
		}
		return writeMovements(out, []movements.Movement{done})
	})
}

type treasuryListCommand struct {
	databaseFlags
	Open     bool   `help:"Only transfers that have not arrived."`
	Limit    int    `default:"100" help:"Maximum number of movements, from 1 to 10000."`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c treasuryListCommand) Run(ctx context.Context, out io.Writer) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		page, err := newTreasury(db, ids.New()).Movements(ctx, p, ports.MovementFilter{Paging: ports.Paging{Limit: c.Limit}, Open: c.Open})
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			_, err := fmt.Fprintln(out, "There are no such movements.")
			return err
		}
		return writeMovements(out, page.Items)
	})
}

func writeMovements(out io.Writer, list []movements.Movement) error {
	rows := table{rightAligned: []int{4}}
	for _, m := range list {
		status := "completed"
		if m.IsOpen() {
			status = "in transit"
		}
		amount := m.Amount.String()
		if m.Kind == movements.Settlement {
			amount += " for " + m.Bought.String()
		}
		rows.add(m.ID.String(), strings.ToLower(string(m.Kind)), m.From, m.To, amount, m.Effective.Format("2006-01-02 15:04:05"), status, changeText(m.By, m.Approval), m.Note)
	}
	return rows.write(out, "movement", "kind", "from", "to", "amount", "effective (UTC)", "status", "by", "note")
}

type treasuryPurposeCommand struct {
	databaseFlags
	actorFlag
	Account  string `arg:"" optional:"" help:"Path of the account, rails/<RAIL> or chains/<network>. Without it, all are listed." placeholder:"ACCOUNT"`
	Purpose  string `arg:"" optional:"" enum:"CLIENT,OWN," default:"" help:"CLIENT or OWN."`
	Note     string `help:"Reason, stored with the change." placeholder:"TEXT"`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c treasuryPurposeCommand) Run(ctx context.Context, out io.Writer) error {
	if (c.Account == "") != (c.Purpose == "") {
		return fmt.Errorf("give an account and its purpose, CLIENT or OWN, or neither to list all")
	}
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		service := newTreasury(db, idGenerator)
		if c.Account != "" {
			if err := requireClock(ctx, db); err != nil {
				return err
			}
			change := ports.AccountPurpose{Path: c.Account, Purpose: safeguarding.Purpose(c.Purpose), By: platform.Author{Actor: actor}, Note: c.Note}
			if err := service.SetPurposeAlone(ctx, p, change); err != nil {
				return fieldErrors("nothing was changed", err, argument{"account", c.Account})
			}
		}
		accounts, err := service.Accounts(ctx, p)
		if err != nil {
			return err
		}
		return writePartnerAccounts(out, accounts)
	})
}

func writePartnerAccounts(out io.Writer, accounts []treasury.Account) error {
	rows := table{rightAligned: []int{2}}
	for _, a := range accounts {
		since, by, note := "", "", ""
		if n := len(a.Changes); n > 0 {
			last := a.Changes[n-1]
			since, by, note = last.At.Format("2006-01-02 15:04:05"), changeText(last.By, last.Approval), last.Note
		}
		balances := make([]string, len(a.Balances))
		for i, b := range a.Balances {
			balances[i] = b.Balance.Major(b.Account.Currency) + " " + string(b.Account.Currency)
		}
		rows.add(a.Path, string(a.Purpose), strings.Join(balances, ", "), since, by, note)
	}
	return rows.write(out, "account", "purpose", "balances", "since (UTC)", "by", "note")
}
