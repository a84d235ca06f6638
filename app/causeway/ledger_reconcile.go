package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"

	"causeway/adapters/bankfiles"
	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/reconciliation"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ports"
)

// ledgerReconcileCommand imports a statement as the interface does, of any size.
type ledgerReconcileCommand struct {
	databaseFlags
	Account  string `required:"" help:"The account in the books that the partner keeps, such as rails/RTP." placeholder:"PATH"`
	Currency string `required:"" help:"The currency of the account." placeholder:"CODE"`
	File     string `required:"" help:"The statement." placeholder:"FILE"`
	Format   string `enum:"camt053,csv,bai2" default:"camt053" help:"How it is written: camt053, csv or bai2."`
	Map      string `help:"For csv: what stands in which column, as 'date=Booked;amount=Amount;reference=Ref'." placeholder:"MAP"`
	Platform string `help:"Whose books. Needed where there are several platforms." placeholder:"ID"`
}

func (l ledgerReconcileCommand) Run(ctx context.Context, out io.Writer) (err error) {
	file, err := os.Open(l.File)
	if err != nil {
		return err
	}
	defer file.Close()
	url, giveBack, err := l.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	made := ids.New()
	db, err := postgres.Open(ctx, postgres.Options{URL: url, MaxConnections: 4, StatementTimeout: auditTimeout, Clock: systemClock{}, IDs: made, Render: api.RenderEvent})
	if err != nil {
		return err
	}
	defer db.Close()
	owner, err := resolvePlatform(ctx, db, l.Platform)
	if err != nil {
		return err
	}
	desk := newReconciliation(db, made)
	done, err := desk.Import(ctx, reconciliation.ImportRequest{Platform: owner, Path: l.Account, Currency: l.Currency, Format: l.Format, Layout: l.Map,
		By: operatorName(), File: file}, nil)
	if err != nil {
		return flagErrors(err)
	}
	shown, err := desk.Get(ctx, owner, done.ID)
	if err != nil {
		return err
	}
	if err := writeReconciliation(out, done, shown); err != nil {
		return err
	}
	return writeBreaks(ctx, out, desk, done.Run)
}

func newReconciliation(db *postgres.DB, made ports.IDs) *reconciliation.Service {
	return reconciliation.New(reconciliation.Config{Store: db, Runs: db, Ledger: db.LedgerReader(), Statements: bankfiles.Reader{}, Clock: systemClock{}, IDs: made})
}

// operatorName is who sits at the command line, as far as the machine knows.
func operatorName() string {
	if who, err := user.Current(); err == nil && who.Username != "" {
		return "operator " + who.Username
	}
	return "operator"
}

// writeReconciliation prints what was compared, and what became of it.
func writeReconciliation(out io.Writer, done reconciliation.ImportResult, now reconciliation.RunDetails) error {
	in := func(minor int64) string { return money.Amount{Minor: minor, Currency: done.Account.Currency}.String() }
	what := "was imported"
	if done.AlreadyImported {
		what = "was imported before; nothing has changed"
	}
	if _, err := fmt.Fprintf(out, "%s\n%s, %s, %s to %s: the statement %s.\n\n", done.ID, done.Account.Path, done.Account.Currency, done.From, done.To, what); err != nil {
		return err
	}
	rows := table{rightAligned: []int{1}}
	rows.add("lines", fmt.Sprint(done.Lines))
	rows.add("known from earlier statements", fmt.Sprint(done.KnownLines))
	for _, rule := range reconcile.Rules() {
		if n := done.Matches[rule]; n > 0 {
			rows.add("matched by "+string(rule), fmt.Sprint(n))
		}
	}
	for _, reason := range reconcile.Reasons() {
		if n := done.Run.Breaks[reason]; n > 0 {
			rows.add("break "+string(reason), fmt.Sprint(n))
		}
	}
	rows.add("earlier breaks resolved", fmt.Sprint(done.EarlierBreaksResolved))
	rows.add("breaks open now", fmt.Sprint(now.OpenBreaks))
	if done.Closing != nil {
		rows.add("balance there", in(*done.Closing))
	}
	rows.add("balance here", in(now.LedgerBalance))
	return rows.write(out, "statement", "")
}

// maxBreaks is how many breaks are printed; the interface lists all.
const maxBreaks = 200

// writeBreaks prints the open breaks of a run.
func writeBreaks(ctx context.Context, out io.Writer, desk *reconciliation.Service, run reconcile.Run) error {
	page, err := desk.Breaks(ctx, run.Account.Platform, run.ID, ports.BreakFilter{Paging: ports.Paging{Limit: maxBreaks, Ascending: true}, Status: "OPEN"})
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
	if err := rows.write(out, "break", "difference", "what was compared"); err != nil {
		return err
	}
	if page.More {
		_, err = fmt.Fprintf(out, "and %d more\n", page.Total-maxBreaks)
	}
	return err
}
