// Package audit proves that the ledger is what was posted. A Checker checks every
// invariant of the ledger and verifies it against its log, or an export of the log
// against checkpoints alone. A Log seals each platform's new postings in a Merkle tree,
// signs checkpoints of it, publishes them, and proves that a posting is in the log.
//
// The package never posts and never corrects. Posting never waits for sealing.
package audit

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/ports"
)

// Checker answers questions about the ledger.
type Checker struct {
	reader       ports.LedgerReader
	audit        ports.LedgerAudit
	stateChecker StateChecker
}

// NewChecker makes the books. Without explain the check leaves out the rule that needs it.
func NewChecker(reader ports.LedgerReader, audit ports.LedgerAudit, explain StateChecker) *Checker {
	return &Checker{reader, audit, explain}
}

// Balances lists the accounts of a platform, of all platforms when zero, with their
// present balances, by platform, currency and path.
func (b *Checker) Balances(ctx context.Context, platform ident.Platform) (lines []ports.AccountBalance, err error) {
	err = b.reader.TrialBalance(ctx, platform, func(line ports.AccountBalance) error {
		lines = append(lines, line)
		return nil
	})
	return lines, err
}

// TransactionEntries lists everything that was posted for a transaction of a platform, in order.
func (b *Checker) TransactionEntries(ctx context.Context, platform ident.Platform, transaction ident.Transaction) (entries []ports.RecordedEntry, err error) {
	filter := ports.EntryFilter{Platform: platform, Transaction: transaction, Limit: 1000}
	for {
		page, err := b.reader.Entries(ctx, filter)
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

// Platforms lists the platforms that anything in the books belongs to.
func (b *Checker) Platforms(ctx context.Context) (platforms []ident.Platform, err error) {
	err = b.audit.Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		found, err := view.Platforms(ctx)
		for _, p := range found {
			platforms = append(platforms, p.Platform)
		}
		return err
	})
	return platforms, err
}
