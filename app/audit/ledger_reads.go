package audit

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/ports"
)

// Balances lists the accounts of a platform, of all platforms if zero, with their current
// balances, by platform, currency and path.
func (c *Checker) Balances(ctx context.Context, platform ident.Platform) (lines []ports.AccountBalance, err error) {
	err = c.store.LedgerReader().TrialBalance(ctx, platform, func(line ports.AccountBalance) error {
		lines = append(lines, line)
		return nil
	})
	return lines, err
}

// TransactionEntries lists the entries of a transaction in the order of posting.
func (c *Checker) TransactionEntries(ctx context.Context, platform ident.Platform,
	transaction ident.Transaction) (entries []ports.RecordedEntry, err error) {
	filter := ports.EntryFilter{Platform: platform, Transaction: transaction, Limit: 1000}
	for {
		page, err := c.store.LedgerReader().Entries(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("read the entries of %s: %w", transaction, err)
		}
		entries = append(entries, page.Entries...)
		if !page.More {
			return entries, nil
		}
		filter.After = page.Entries[len(page.Entries)-1].Position
	}
}
