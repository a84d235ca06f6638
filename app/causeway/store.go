package main

import (
	"context"

	"causeway/ledger"
	"causeway/ports"
)

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Balances returns the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
	// Entries returns a page of entries in the order in which they were recorded.
	Entries(ctx context.Context, filter ports.EntryFilter) (ports.EntryPage, error)
}
