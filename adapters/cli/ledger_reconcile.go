package cli

import (
	"context"
	"io"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/reconciliation"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ports"
)

// ledgerReconcileCommand imports a statement as the API does, without the API's size limit.
type ledgerReconcileCommand struct {
	changeFlags
	outputFlag
	Account  string `help:"Path of the ledger account that holds the funds at the bank or partner, such as rails/RTP or own/OPERATING. Without it, the file may have several accounts: see --accounts." placeholder:"PATH"`
	Currency string `help:"Currency of the account. Required with --account, and with --format csv without a column for it." placeholder:"CODE"`
	Accounts string `help:"Ledger accounts of the partner's accounts in the file, as 'DE02120300000000202051=rails/SEPA;…'. Needed for numbers that no earlier statement had." placeholder:"MAP"`
	File     string `required:"" help:"Statement file." placeholder:"FILE"`
	Format   string `enum:"camt053,csv,bai2,mt940" default:"camt053" help:"Statement format: camt053, csv, bai2 or mt940."`
	Map      string `help:"With --format csv: the column of each field and settings, as 'date=Booked;amount=Amount;reference=Ref'. With --format mt940: encoding=windows-1252, if it is not UTF-8." placeholder:"MAP"`
	Override string `help:"Why the file is right although its lines do not lead to its balances, or a statement seems to be missing. It is recorded." placeholder:"REASON"`
}

func (l ledgerReconcileCommand) Run(ctx context.Context, env *Env) error {
	return withFile(l.File, func(file io.Reader) error {
		return l.change(ctx, env, OnImport, "nothing was imported", func(services Services, p ident.Platform, by platform.Author) error {
			service := services.Reconciliation()
			result, err := service.Import(ctx, reconciliation.ImportRequest{Platform: p, Path: l.Account, Currency: l.Currency,
				Accounts: l.Accounts, Format: l.Format,
				Layout: l.Map, Override: l.Override, By: "operator " + by.Actor, File: file}, nil)
			if err != nil {
				return flagErrors(err)
			}
			return l.printImport(ctx, env, service, p, result)
		})
	})
}

// maxBreaks limits the breaks that are printed; the API lists all of them.
const maxBreaks = 200

// printImport prints the result for each account of the file, with its open breaks.
func (l ledgerReconcileCommand) printImport(ctx context.Context, env *Env, service Reconciliation, p ident.Platform,
	result reconciliation.ImportResult) error {
	var page table.Page
	for i, run := range append([]reconcile.Run{result.Run}, result.Others...) {
		details, err := service.Get(ctx, p, run.ID)
		if err != nil {
			return err
		}
		breaks, err := service.Breaks(ctx, p, run.ID, ports.BreakFilter{Paging: ports.Paging{Limit: maxBreaks, Ascending: true}, Status: "OPEN"})
		if err != nil {
			return err
		}
		if i > 0 {
			page.Line("")
		}
		key := run.ID.String()
		addRun(&page, key, reconciliation.ImportResult{Run: run, AlreadyImported: result.AlreadyImported}, details)
		rows := table.New("break", ">difference", "explanation")
		for _, b := range breaks.Items {
			rows.Add(b.Reason, table.Major(b.Difference, run.Account.Currency), b.Explanation)
		}
		if rows.Len() > 0 {
			page.Line("")
		}
		page.Table("breaks of "+key, rows, "")
		if breaks.More {
			page.Line("and %d more", breaks.Total-maxBreaks)
		}
	}
	return l.print(env, &page)
}

// addRun adds the result of an import.
func addRun(page *table.Page, key string, result reconciliation.ImportResult, details reconciliation.RunDetails) {
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: result.Account.Currency} }
	status := "imported"
	if result.AlreadyImported {
		status = "already imported; nothing has changed"
	}
	page.Line("%s\n%s, %s, %s to %s: statement %s.\n", result.ID, result.Account.Path, result.Account.Currency, result.From, result.To, status)
	rows := table.New("statement", ">|value")
	rows.Add("lines", result.Lines)
	rows.Add("already in earlier statements", result.KnownLines)
	for _, rule := range reconcile.Rules() {
		if n := result.Matches[rule]; n > 0 {
			rows.Add("matched by "+string(rule), n)
		}
	}
	for _, reason := range reconcile.Reasons() {
		if n := result.Run.Breaks[reason]; n > 0 {
			rows.Add("break "+string(reason), n)
		}
	}
	rows.Add("earlier breaks resolved", result.EarlierBreaksResolved)
	rows.Add("breaks open now", details.OpenBreaks)
	if result.Closing != nil {
		rows.Add("closing balance of the statement", amount(*result.Closing))
	}
	rows.Add("ledger balance", amount(details.LedgerBalance))
	if b := details.Balance; b != nil {
		rows.Add("difference", amount(b.Difference()))
		rows.Add("  in open breaks", amount(b.OpenBreaks))
		rows.Add("  matched with a later day", amount(b.OtherDay))
		rows.Add("  in breaks resolved without a posting by then", amount(b.Resolved))
		rows.Add("  unexplained", amount(b.Unexplained()))
	}
	page.Table(key, rows, "")
	if result.Override != "" {
		page.Line("\nImported nevertheless, because: %s\n%s", result.Override, strings.Join(result.Mismatches, "\n"))
	}
}
