package cli

import (
	"context"
	"fmt"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/receivables"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/receivable"
	"causeway/ports"
)

type ledgerReceivablesCommand struct {
	List     receivablesListCommand     `cmd:"" help:"List what customers owe for collections that were returned, newest first."`
	Show     receivablesShowCommand     `cmd:"" help:"Print a receivable with its changes."`
	Record   receivablesRecordCommand   `cmd:"" help:"Record that the collection of a completed transaction was returned."`
	WriteOff receivablesWriteOffCommand `cmd:"" help:"Give up what a receivable still owes."`
	Aging    receivablesAgingCommand    `cmd:"" help:"Print what is owed in each currency, by the days since the return."`

	PostAllowance receivablesPostAllowanceCommand `cmd:"" help:"Post the allowance for receivables of a soft-closed month."`
	Allowance     receivablesAllowanceCommand     `cmd:"" help:"Print the allowance for receivables of a month."`
}

// receivableChange holds the arguments of a command that changes a receivable.
type receivableChange struct {
	changeFlags
	outputFlag
}

// change makes a change, and prints the receivable.
func (c receivableChange) change(ctx context.Context, env *Env,
	change func(*receivables.Service, ident.Platform, platform.Author) (ports.ReceivableDetails, error)) error {
	return c.changeFlags.change(ctx, env, AsRequest, "nothing was posted", func(services Services, p ident.Platform,
		by platform.Author) error {
		details, err := change(services.Receivables(), p, by)
		if err != nil {
			return err
		}
		return c.print(env, receivablePage(details))
	})
}

type receivablesRecordCommand struct {
	receivableChange
	Transaction string `arg:"" help:"Id of the transaction whose collection was returned." placeholder:"ID"`
	ReasonCode  string `required:"" help:"Partner's code of the return, such as R01." placeholder:"CODE"`
	ReturnedAt  string `required:"" help:"When the partner took the money back." placeholder:"TIME"`
	PartnerID   string `help:"Partner's id of the return, with which its statement names it." placeholder:"ID"`
	Note        string `help:"Why. It is recorded." placeholder:"TEXT"`
}

func (c receivablesRecordCommand) Run(ctx context.Context, env *Env) error {
	id, err := parseTransaction(c.Transaction)
	if err != nil {
		return err
	}
	at, err := parseTime("--returned-at", c.ReturnedAt)
	if err != nil {
		return err
	}
	return c.change(ctx, env, func(s *receivables.Service, p ident.Platform, by platform.Author) (ports.ReceivableDetails, error) {
		return s.Record(ctx, p, id, receivable.Return{ReasonCode: c.ReasonCode, PartnerID: c.PartnerID, ReturnedAt: at, Note: c.Note, By: by},
			nil)
	})
}

// receivableArg names a receivable.
type receivableArg struct {
	Receivable string `arg:"" help:"Id of the receivable, as listed." placeholder:"ID"`
}

func (a receivableArg) id() (ident.Receivable, error) {
	id, err := ident.ParseReceivable(a.Receivable)
	if err != nil {
		return id, fmt.Errorf("%q is not the id of a receivable. List them with: causeway ledger receivables list", a.Receivable)
	}
	return id, nil
}

type receivablesWriteOffCommand struct {
	receivableChange
	receivableArg
	Note string `required:"" help:"Why. It is recorded." placeholder:"TEXT"`
}

func (c receivablesWriteOffCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	return c.change(ctx, env, func(s *receivables.Service, p ident.Platform, by platform.Author) (ports.ReceivableDetails, error) {
		return s.WriteOffAlone(ctx, p, by, receivables.WriteOffCommand{Receivable: id, Note: c.Note})
	})
}

type receivablesShowCommand struct {
	tableFlags
	receivableArg
}

func (c receivablesShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id()
	return c.show(ctx, env, OnBooks, err, func(services Services, p ident.Platform) (*table.Page, error) {
		details, err := services.Receivables().Receivable(ctx, p, id)
		return receivablePage(details), err
	})
}

func receivablePage(d ports.ReceivableDetails) *table.Page {
	owed, changes := table.New(receivableColumns...), table.New(">no.|number", "change", ">amount", "changed (UTC)", "posting", "by", "note")
	addReceivable(owed, d.Receivable)
	for _, c := range d.Changes {
		amount := money.Amount{Minor: c.Amount, Currency: d.Amount.Currency}
		changes.Add(c.Number, changeNames[c.Kind], amount, table.Second(c.At), c.Posting, changeText(c.By, c.Approval), c.Note)
	}
	page := new(table.Page)
	page.Table("receivable", owed, "")
	page.Line("")
	page.Table("changes", changes, "")
	return page
}

var changeNames = map[receivable.ChangeKind]string{receivable.Returned: "returned", receivable.Collected: "collected",
	receivable.GivenUp: "written off"}

type receivablesListCommand struct {
	platformFlags
	listFlags
	Status string `enum:"OPEN,SETTLED,WRITTEN_OFF," default:"" help:"OPEN, SETTLED or WRITTEN_OFF. Default: all."`
}

func (c receivablesListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		page, err := services.Receivables().Receivables(ctx, p, ports.ReceivableFilter{Paging: c.paging(), State: receivable.State(c.Status)})
		return printList(env, c.listFlags, page.Items, err,
			listing[receivable.Receivable]{columns: receivableColumns, row: addReceivable, none: "There are no such receivables."})
	})
}

var receivableColumns = []string{"receivable", "status", ">returned", ">collected", ">written off", ">owed", "returned (UTC)|returned_at",
	"reason", "transaction", "by"}

func addReceivable(t *table.Table, r receivable.Receivable) {
	of := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: r.Amount.Currency} }
	t.Add(r.ID, strings.ToLower(strings.ReplaceAll(string(r.State), "_", " ")), r.Amount, of(r.Collected), of(r.WrittenOff), of(r.Owed()),
		table.Second(r.ReturnedAt), r.ReasonCode, r.Transaction, r.By)
}

type receivablesAgingCommand struct{ tableFlags }

func (c receivablesAgingCommand) Run(ctx context.Context, env *Env) error {
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		report, err := services.Receivables().Aging(ctx, p)
		if err != nil {
			return err
		}
		return c.printReport(ctx, env, report.Table(), 2, 3, 4, 5, 6)
	})
}
