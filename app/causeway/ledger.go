package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"causeway/adapters/postgres"
	ledgerdb "causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// ledgerCommand looks into the books without the service: beside a server that runs,
// or when none does.
type ledgerCommand struct {
	Check     ledgerCheckCommand     `cmd:"" help:"Prove every rule over everything in the books. The exit status is 1 when one is broken."`
	Verify    ledgerVerifyCommand    `cmd:"" help:"Prove that every posting is what was sealed in the log and signed, and that none is missing. The exit status is 1 when it is not so."`
	Export    ledgerExportCommand    `cmd:"" help:"Export the books: for spreadsheets, plain-text accounting and banks, or as the log for verify."`
	Rotate    ledgerRotateCommand    `cmd:"" name:"rotate-key" help:"Replace the key that signs the heads of the log."`
	Balances  ledgerBalancesCommand  `cmd:"" help:"Print the balance of every account."`
	Entries   ledgerEntriesCommand   `cmd:"" help:"Print what a transaction wrote into the books."`
	Reconcile ledgerReconcileCommand `cmd:"" help:"Compare a partner's statement with the books, and print what does not fit."`
	Periods   ledgerPeriodsCommand   `cmd:"" help:"Print the months of a platform's books, and which are closed."`
	Hold      ledgerSoftCloseCommand `cmd:"" help:"Hold a month: only what somebody authorised is posted into it."`
	Reopen    ledgerReopenCommand    `cmd:"" help:"Reopen a month that is held."`
	Close     ledgerCloseCommand     `cmd:"" help:"Close a month that is held, for good, and keep its trial balance."`
	Detach    ledgerArchiveCommand   `cmd:"" help:"Take the oldest month of all platforms out of the books, into tables that can be kept elsewhere."`
	Attach    ledgerRestoreCommand   `cmd:"" help:"Put the month back that was detached last."`
}

type ledgerCheckCommand struct{ databaseFlags }

func (l ledgerCheckCommand) Run(ctx context.Context, out io.Writer) error {
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		report, err := newAudit(db).Check(ctx)
		if err != nil {
			return err
		}
		if err := checkUnposted(ctx, db, &report); err != nil {
			return err
		}
		return writeReport(out, report)
	})
}

// checkUnposted holds the transactions for which nothing was posted against their
// states. The check of the books begins at postings, so it cannot know of them.
func checkUnposted(ctx context.Context, db *postgres.DB, report *audit.Report) error {
	return db.EachTransactionWithoutPostings(ctx, func(key ports.TransactionKey, shape transaction.Flow, state transaction.State) error {
		i := slices.IndexFunc(report.Rules, func(r audit.RuleReport) bool { return r.Rule == audit.RuleTransactionStates })
		rule := &report.Rules[i]
		rule.Checked++
		if wrong := shape.CheckKinds(state, nil); wrong != nil {
			rule.Violations++
			if rule.Violations <= audit.MaxFindings {
				report.Findings = append(report.Findings, audit.Finding{Rule: audit.RuleTransactionStates, Message: fmt.Sprintf("%s on %s: %v", key.ID, key.Platform, wrong)})
			}
		}
		return nil
	})
}

type ledgerBalancesCommand struct {
	databaseFlags
	Platform string `help:"Of one platform. Without it, of all." placeholder:"ID"`
}

func (l ledgerBalancesCommand) Run(ctx context.Context, out io.Writer) error {
	var platform ident.Platform
	if l.Platform != "" {
		var err error
		if platform, err = ident.ParsePlatform(l.Platform); err != nil {
			return fmt.Errorf("--platform: %w", err)
		}
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		lines, err := newAudit(db).Balances(ctx, platform)
		if err != nil {
			return err
		}
		if len(lines) == 0 && l.Platform != "" {
			if _, err := resolvePlatform(ctx, db, l.Platform); err != nil {
				return err
			}
		}
		return writeBalances(out, lines)
	})
}

type ledgerEntriesCommand struct {
	databaseFlags
	Transaction string `required:"" help:"The transaction." placeholder:"ID"`
}

func (l ledgerEntriesCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseTransaction(l.Transaction)
	if err != nil {
		return fmt.Errorf("--transaction: %w", err)
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		owner, err := db.PlatformOfTransaction(ctx, id)
		if err != nil {
			return err
		}
		entries, err := newAudit(db).TransactionEntries(ctx, owner, id)
		if err != nil {
			return err
		}
		return writeEntries(out, entries)
	})
}

// auditTimeout is how long one statement may take here: the service's limit is for the
// service.
const auditTimeout = 24 * time.Hour

// openDatabase connects to a database to look into its books.
func openDatabase(ctx context.Context, url string) (*postgres.DB, error) {
	return postgres.Open(ctx, postgres.Options{URL: url, MaxConnections: 4, StatementTimeout: auditTimeout, ForReports: true, Clock: systemClock{}})
}

// withDatabase runs something on the database of the settings.
func (w databaseFlags) withDatabase(ctx context.Context, do func(*postgres.DB) error) (err error) {
	url, giveBack, err := w.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	db, err := openDatabase(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}

func newAudit(db *postgres.DB) *audit.Checker {
	kept := ledgerdb.New()
	return audit.NewChecker(ledgerdb.NewReader(kept, db.Pool()), ledgerdb.NewAudit(kept, db.Pool()), db.CheckTransactionStates)
}

// openLedgerReader reads the books of a database until the function is called.
func openLedgerReader(ctx context.Context, url string) (ports.LedgerReader, func(), error) {
	db, err := openDatabase(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	return ledgerdb.NewReader(ledgerdb.New(), db.Pool()), db.Close, nil
}
