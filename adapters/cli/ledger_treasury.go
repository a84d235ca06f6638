package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/treasury"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	movements "causeway/core/treasury"
	"causeway/ports"
)

// movementCommand holds the arguments of a command that posts a movement between accounts at partners.
type movementCommand struct {
	changeFlags
	outputFlag
	From           string `required:"" help:"Path of the account that pays, such as rails/RTP." placeholder:"ACCOUNT"`
	To             string `required:"" help:"Path of the account that receives, such as own/OPERATING." placeholder:"ACCOUNT"`
	Amount         string `required:"" help:"Amount and currency, such as '12.50 USD'." placeholder:"AMOUNT"`
	Note           string `help:"Why. It is recorded." placeholder:"TEXT"`
	EffectiveAt    string `help:"Effective time. Default: now." placeholder:"TIME"`
	AllowOverdraft bool   `help:"Allow an account to go below zero. Needs --note."`
}

func (c movementCommand) move(ctx context.Context, env *Env, m movements.Movement) (err error) {
	if m.Amount, err = parseAmount("--amount", c.Amount); err != nil {
		return err
	}
	if m.Effective, err = parseTime("--effective-at", c.EffectiveAt); err != nil {
		return err
	}
	m.From, m.To, m.Note, m.AllowOverdraft = c.From, c.To, c.Note, c.AllowOverdraft
	return c.change(ctx, env, AsRequest, "nothing was posted", func(services Services, p ident.Platform, by platform.Author) error {
		m.Platform, m.By = p, by
		done, err := services.Treasury().MoveAlone(ctx, m)
		if err != nil {
			return err
		}
		return c.printMovement(env, done)
	})
}

type ledgerSweepCommand struct{ movementCommand }

func (l ledgerSweepCommand) Run(ctx context.Context, env *Env) error {
	return l.move(ctx, env, movements.Movement{Kind: movements.Sweep})
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

func (c treasuryTransferCommand) Run(ctx context.Context, env *Env) error {
	return c.move(ctx, env, movements.Movement{Kind: movements.Transfer, InTransit: c.InTransit})
}

type treasurySettleCommand struct {
	movementCommand
	Bought string `required:"" help:"Amount and currency that are bought, such as '0.00100000 BTC'." placeholder:"AMOUNT"`
}

func (c treasurySettleCommand) Run(ctx context.Context, env *Env) error {
	bought, err := parseAmount("--bought", c.Bought)
	if err != nil {
		return err
	}
	return c.move(ctx, env, movements.Movement{Kind: movements.Settlement, Bought: bought})
}

type treasuryArriveCommand struct {
	changeFlags
	outputFlag
	Movement    string `arg:"" help:"Id of the transfer, as listed." placeholder:"ID"`
	EffectiveAt string `help:"Time of the arrival. Default: now." placeholder:"TIME"`
}

func (c treasuryArriveCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseMovement(c.Movement)
	if err != nil {
		return fmt.Errorf("%q is not the id of a transfer. List them with: causeway ledger treasury list --open", c.Movement)
	}
	effective, err := parseTime("--effective-at", c.EffectiveAt)
	if err != nil {
		return err
	}
	return c.change(ctx, env, AsRequest, "nothing was posted", func(services Services, p ident.Platform, by platform.Author) error {
		done, err := services.Treasury().ArriveAlone(ctx, p, id, by, effective)
		if err != nil {
			return err
		}
		return c.printMovement(env, done)
	})
}

type treasuryListCommand struct {
	platformFlags
	listFlags
	Open bool `help:"Only transfers that have not arrived."`
}

func (c treasuryListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		page, err := services.Treasury().Movements(ctx, p, ports.MovementFilter{Paging: c.paging(), Open: c.Open})
		return printList(env, c.listFlags, page.Items, err,
			listing[movements.Movement]{columns: movementColumns, row: addMovement, none: "There are no such movements."})
	})
}

var movementColumns = []string{"movement", "kind", "from", "to", ">amount", "effective (UTC)", "status", "by", "note"}

func addMovement(t *table.Table, m movements.Movement) {
	status := "completed"
	if m.IsOpen() {
		status = "in transit"
	}
	amount := m.Amount.String()
	if m.Kind == movements.Settlement {
		amount += " for " + m.Bought.String()
	}
	t.Add(m.ID, strings.ToLower(string(m.Kind)), m.From, m.To, amount, table.Second(m.Effective), status, changeText(m.By, m.Approval), m.Note)
}

func (f outputFlag) printMovement(env *Env, m movements.Movement) error {
	t := table.New(movementColumns...)
	addMovement(t, m)
	return f.printTable(env, t, "")
}

type treasuryPurposeCommand struct {
	platformFlags
	outputFlag
	actorFlag
	Account string `arg:"" optional:"" help:"Path of the account, rails/<RAIL> or chains/<network>. Without it, all are listed." placeholder:"ACCOUNT"`
	Purpose string `arg:"" optional:"" enum:"CLIENT,OWN," default:"" help:"CLIENT or OWN."`
	Note    string `help:"Why. It is recorded." placeholder:"TEXT"`
}

func (c treasuryPurposeCommand) Run(ctx context.Context, env *Env) error {
	if (c.Account == "") != (c.Purpose == "") {
		return errors.New("give an account and its purpose, CLIENT or OWN, or neither to list all")
	}
	return c.on(ctx, env, AsRequest, func(services Services, p ident.Platform) error {
		service := services.Treasury()
		if c.Account != "" {
			by, err := c.changer(ctx, env, services, "nothing was changed")
			if err != nil {
				return err
			}
			change := ports.AccountPurpose{Path: c.Account, Purpose: safeguarding.Purpose(c.Purpose), By: by, Note: c.Note}
			if err := service.SetPurposeAlone(ctx, p, change); err != nil {
				return fieldErrors("nothing was changed", err, argument{"account", c.Account})
			}
		}
		accounts, err := service.Accounts(ctx, p)
		if err != nil {
			return err
		}
		return c.printTable(env, partnerAccounts(accounts), "")
	})
}

func partnerAccounts(accounts []treasury.Account) *table.Table {
	rows := table.New("account", "purpose", ">balances", "since (UTC)", "by", "note")
	for _, a := range accounts {
		var since time.Time
		by, note := table.Actor(""), ""
		if n := len(a.Changes); n > 0 {
			last := a.Changes[n-1]
			since, by, note = last.At, changeText(last.By, last.Approval), last.Note
		}
		balances := make([]string, len(a.Balances))
		for i, b := range a.Balances {
			balances[i] = b.Balance.Major(b.Account.Currency) + " " + string(b.Account.Currency)
		}
		rows.Add(a.Path, a.Purpose, strings.Join(balances, ", "), table.Second(since), by, note)
	}
	return rows
}
