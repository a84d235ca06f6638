package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/receivables"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/receivable"
	"causeway/ports"
)

func newReceivables(db *postgres.DB, idGenerator ports.IDs) *receivables.Service {
	return receivables.New(receivables.Config{Store: db, Clock: systemClock{}, IDs: idGenerator})
}

type ledgerReceivablesCommand struct {
	List     receivablesListCommand     `cmd:"" help:"List what customers owe for collections that were returned, newest first."`
	Show     receivablesShowCommand     `cmd:"" help:"Print a receivable with its changes."`
	Record   receivablesRecordCommand   `cmd:"" help:"Record that the collection of a completed transaction was returned."`
	WriteOff receivablesWriteOffCommand `cmd:"" help:"Give up what a receivable still owes."`
	Aging    receivablesAgingCommand    `cmd:"" help:"Print what is owed in each currency, by the days since the return."`
}

type receivablesRecordCommand struct {
	databaseFlags
	actorFlag
	Transaction string `arg:"" help:"Id of the transaction whose collection was returned." placeholder:"ID"`
	ReasonCode  string `required:"" help:"Partner's code of the return, such as R01." placeholder:"CODE"`
	ReturnedAt  string `required:"" help:"When the partner took the money back." placeholder:"TIME"`
	PartnerID   string `help:"Partner's id of the return, with which its statement names it." placeholder:"ID"`
	Note        string `help:"Note, stored with the return." placeholder:"TEXT"`
	Platform    string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c receivablesRecordCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseTransaction(c.Transaction)
	if err != nil {
		return fmt.Errorf("%q is not the id of a transaction, such as Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e33", c.Transaction)
	}
	at, err := parseTime("--returned-at", c.ReturnedAt)
	if err != nil {
		return err
	}
	return changeReceivable(ctx, out, c.databaseFlags, c.Actor, c.Platform, func(s *receivables.Service, p ident.Platform, by platform.Author) (ports.ReceivableDetails, error) {
		return s.Record(ctx, p, id, receivable.Return{ReasonCode: c.ReasonCode, PartnerID: c.PartnerID, ReturnedAt: at, Note: c.Note, By: by}, nil)
	})
}

type receivablesWriteOffCommand struct {
	databaseFlags
	actorFlag
	Receivable string `arg:"" help:"Id of the receivable, as listed." placeholder:"ID"`
	Note       string `required:"" help:"Reason, stored with the write-off." placeholder:"TEXT"`
	Platform   string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c receivablesWriteOffCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := parseReceivable(c.Receivable)
	if err != nil {
		return err
	}
	return changeReceivable(ctx, out, c.databaseFlags, c.Actor, c.Platform, func(s *receivables.Service, p ident.Platform, by platform.Author) (ports.ReceivableDetails, error) {
		return s.WriteOffAlone(ctx, p, by, receivables.WriteOffCommand{Receivable: id, Note: c.Note})
	})
}

func parseReceivable(text string) (ident.Receivable, error) {
	id, err := ident.ParseReceivable(text)
	if err != nil {
		return id, fmt.Errorf("%q is not the id of a receivable. List them with: causeway ledger receivables list", text)
	}
	return id, nil
}

// changeReceivable runs a command that changes a receivable, and prints it.
func changeReceivable(ctx context.Context, out io.Writer, flags databaseFlags, actorName, platformID string,
	change func(*receivables.Service, ident.Platform, platform.Author) (ports.ReceivableDetails, error)) error {
	actor, err := platform.ParseActor(actorName)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return flags.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		p, err := resolvePlatform(ctx, db, platformID)
		if err != nil {
			return err
		}
		details, err := change(newReceivables(db, idGenerator), p, platform.Author{Actor: actor})
		if err != nil {
			return fieldErrors("nothing was posted", err)
		}
		return writeReceivable(out, details)
	})
}

type receivablesShowCommand struct {
	databaseFlags
	Receivable string `arg:"" help:"Id of the receivable, as listed." placeholder:"ID"`
	Platform   string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c receivablesShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := parseReceivable(c.Receivable)
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		details, err := newReceivables(db, ids.New()).Receivable(ctx, p, id)
		if err != nil {
			return err
		}
		return writeReceivable(out, details)
	})
}

func writeReceivable(out io.Writer, d ports.ReceivableDetails) error {
	if err := writeReceivables(out, []receivable.Receivable{d.Receivable}); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	rows := table{rightAligned: []int{0, 2}}
	for _, c := range d.Changes {
		amount := money.Amount{Minor: c.Amount, Currency: d.Amount.Currency}
		rows.add(fmt.Sprint(c.Number), changeNames[c.Kind], amount.String(), c.At.Format("2006-01-02 15:04:05"), c.Posting.String(), changeText(c.By, c.Approval), c.Note)
	}
	return rows.write(out, "no.", "change", "amount", "changed (UTC)", "posting", "by", "note")
}

var changeNames = map[receivable.ChangeKind]string{receivable.Returned: "returned", receivable.Collected: "collected", receivable.GivenUp: "written off"}

type receivablesListCommand struct {
	databaseFlags
	Status   string `enum:"OPEN,SETTLED,WRITTEN_OFF," default:"" help:"OPEN, SETTLED or WRITTEN_OFF. Default: all."`
	Limit    int    `default:"100" help:"Maximum number of receivables, from 1 to 10000."`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c receivablesListCommand) Run(ctx context.Context, out io.Writer) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		page, err := newReceivables(db, ids.New()).Receivables(ctx, p, ports.ReceivableFilter{Paging: ports.Paging{Limit: c.Limit}, State: receivable.State(c.Status)})
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			_, err := fmt.Fprintln(out, "There are no such receivables.")
			return err
		}
		return writeReceivables(out, page.Items)
	})
}

func writeReceivables(out io.Writer, list []receivable.Receivable) error {
	rows := table{rightAligned: []int{2, 3, 4, 5}}
	for _, r := range list {
		of := func(minor int64) string { return money.Amount{Minor: minor, Currency: r.Amount.Currency}.String() }
		rows.add(r.ID.String(), strings.ToLower(strings.ReplaceAll(string(r.State), "_", " ")), r.Amount.String(), of(r.Collected), of(r.WrittenOff), of(r.Owed()),
			r.ReturnedAt.Format("2006-01-02 15:04:05"), r.ReasonCode, r.Transaction.String(), r.By.String())
	}
	return rows.write(out, "receivable", "status", "returned", "collected", "written off", "owed", "returned (UTC)", "reason", "transaction", "by")
}

type receivablesAgingCommand struct{ tableFlags }

func (c receivablesAgingCommand) Run(ctx context.Context, out io.Writer) error {
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		report, err := newReceivables(db, ids.New()).Aging(ctx, p)
		if err != nil {
			return err
		}
		return c.write(ctx, out, report.Table(), 2, 3, 4, 5, 6)
	})
}
