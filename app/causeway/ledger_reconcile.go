package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/reconciliation"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ports"
)

// ledgerReconcileCommand imports a statement as the API does, without the API's size limit.
type ledgerReconcileCommand struct {
	databaseFlags
	Account  string `help:"Path of the ledger account that holds the funds at the bank or partner, such as rails/RTP or own/OPERATING. Without it, the file may have several accounts: see --accounts." placeholder:"PATH"`
	Currency string `help:"Currency of the account. Required with --account, and with --format csv without a column for it." placeholder:"CODE"`
	Accounts string `help:"Ledger accounts of the partner's accounts in the file, as 'DE02120300000000202051=rails/SEPA;…'. Needed for numbers that no earlier statement had." placeholder:"MAP"`
	File     string `required:"" help:"Statement file." placeholder:"FILE"`
	Format   string `enum:"camt053,csv,bai2,mt940" default:"camt053" help:"Statement format: camt053, csv, bai2 or mt940."`
	Map      string `help:"With --format csv: the column of each field and settings, as 'date=Booked;amount=Amount;reference=Ref'. With --format mt940: encoding=windows-1252, if it is not UTF-8." placeholder:"MAP"`
	Override string `help:"Why the file is right although its lines do not lead to its balances, or a statement seems to be missing. It is recorded." placeholder:"REASON"`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
	actorFlag
}

func (l ledgerReconcileCommand) Run(ctx context.Context, out io.Writer) (err error) {
	actor, err := platform.ParseActor(l.Actor)
	if err != nil {
		return fieldErrors("nothing was imported", err)
	}
	file, err := os.Open(l.File)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	defer file.Close()
	url, release, err := l.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	idGenerator := ids.New()
	db, err := openMigrated(ctx, postgres.Options{URL: url, AllPlatforms: true, NewCipher: l.cipher(), MaxConnections: 4, StatementTimeout: auditTimeout, Clock: systemClock{}, IDs: idGenerator, Render: api.RenderEvent})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := requireClock(ctx, db); err != nil {
		return err
	}
	owner, err := resolvePlatform(ctx, db, l.Platform)
	if err != nil {
		return err
	}
	service := newReconciliation(db, idGenerator)
	result, err := service.Import(ctx, reconciliation.ImportRequest{Platform: owner, Path: l.Account, Currency: l.Currency, Accounts: l.Accounts, Format: l.Format, Layout: l.Map,
		Override: l.Override, By: "operator " + actor, File: file}, nil)
	if err != nil {
		return flagErrors(err)
	}
	for i, run := range append([]reconcile.Run{result.Run}, result.Others...) {
		details, err := service.Get(ctx, owner, run.ID)
		if err != nil {
			return err
		}
		if i > 0 {
			if _, err := fmt.Fprintln(out); err != nil {
				return err
			}
		}
		if err := writeReconciliation(out, reconciliation.ImportResult{Run: run, AlreadyImported: result.AlreadyImported}, details); err != nil {
			return err
		}
		if err := writeBreaks(ctx, out, service, run); err != nil {
			return err
		}
	}
	return nil
}

// writeReconciliation prints the result of an import.
func writeReconciliation(out io.Writer, result reconciliation.ImportResult, details reconciliation.RunDetails) error {
	format := func(minor int64) string {
		return money.Amount{Minor: minor, Currency: result.Account.Currency}.String()
	}
	status := "imported"
	if result.AlreadyImported {
		status = "already imported; nothing has changed"
	}
	if _, err := fmt.Fprintf(out, "%s\n%s, %s, %s to %s: statement %s.\n\n", result.ID, result.Account.Path, result.Account.Currency, result.From, result.To, status); err != nil {
		return err
	}
	rows := table{rightAligned: []int{1}}
	rows.add("lines", fmt.Sprint(result.Lines))
	rows.add("already in earlier statements", fmt.Sprint(result.KnownLines))
	for _, rule := range reconcile.Rules() {
		if n := result.Matches[rule]; n > 0 {
			rows.add("matched by "+string(rule), fmt.Sprint(n))
		}
	}
	for _, reason := range reconcile.Reasons() {
		if n := result.Run.Breaks[reason]; n > 0 {
			rows.add("break "+string(reason), fmt.Sprint(n))
		}
	}
	rows.add("earlier breaks resolved", fmt.Sprint(result.EarlierBreaksResolved))
	rows.add("breaks open now", fmt.Sprint(details.OpenBreaks))
	if result.Closing != nil {
		rows.add("closing balance of the statement", format(*result.Closing))
	}
	rows.add("ledger balance", format(details.LedgerBalance))
	if b := details.Balance; b != nil {
		rows.add("difference", format(b.Difference()))
		rows.add("  in open breaks", format(b.OpenBreaks))
		rows.add("  matched with a later day", format(b.OtherDay))
		rows.add("  in breaks resolved without a posting by then", format(b.Resolved))
		rows.add("  unexplained", format(b.Unexplained()))
	}
	if err := rows.write(out, "statement", ""); err != nil || result.Override == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "\nImported nevertheless, because: %s\n%s\n", result.Override, strings.Join(result.Mismatches, "\n"))
	return err
}

// maxBreaks limits the breaks that are printed; the API lists all of them.
const maxBreaks = 200

// writeBreaks prints the open breaks of a run.
func writeBreaks(ctx context.Context, out io.Writer, service *reconciliations, run reconcile.Run) error {
	page, err := service.Runs.Breaks(ctx, run.Account.Platform, run.ID, ports.BreakFilter{Paging: ports.Paging{Limit: maxBreaks, Ascending: true}, Status: "OPEN"})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	rows := table{rightAligned: []int{1}}
	for _, b := range page.Items {
		rows.add(string(b.Reason), formatMajor(b.Difference, run.Account.Currency), b.Explanation)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	if err := rows.write(out, "break", "difference", "explanation"); err != nil {
		return err
	}
	if page.More {
		_, err = fmt.Fprintf(out, "and %d more\n", page.Total-maxBreaks)
	}
	return err
}
