package main

import (
	"context"

	"causeway/adapters/postgres"
	ledgerdb "causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/ledger"
	"causeway/ports"
)

func newAudit(db *postgres.DB) *audit.Checker {
	now := systemClock{}.Now()
	return audit.NewChecker(db, issuerFlags{}.newWalletProofs(), audit.Since{Counters: usageSince(now), Replies: repliesSince(now)})
}

// ledgerReader reads committed postings and balances.
type ledgerReader interface {
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	Entries(ctx context.Context, filter ports.EntryFilter) (ports.EntryPage, error)
}

// openLedgerReader returns a reader of the ledger of a database, and a function that closes it.
func openLedgerReader(ctx context.Context, url string) (ledgerReader, func(), error) {
	db, err := openMigrated(ctx, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 4, StatementTimeout: auditTimeout,
		ForReports: true, Clock: systemClock{}})
	if err != nil {
		return nil, nil, err
	}
	return ledgerdb.NewReader(ledgerdb.New(), db.Pool()), db.Close, nil
}
