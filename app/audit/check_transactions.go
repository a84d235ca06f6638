package audit

import (
	"context"
	"fmt"
	"slices"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// doubtfulTransaction is a transaction whose postings did not match its state.
type doubtfulTransaction struct {
	platform ident.Platform
	ports.PostedTransaction
	err error
}

// checkTransactions compares the postings of every transaction with its state. Payments
// continue during the check and states are read after postings, so a mismatch is not yet a
// violation: recheckTransactions decides.
func (c *platformRun) checkTransactions(ctx context.Context) error {
	return c.view.PostedTransactions(ctx, c.platform.Platform, func(group []ports.PostedTransaction) error {
		mismatches, err := c.compareTransactions(ctx, c.platform.Platform, group)
		if err != nil {
			return err
		}
		for i, transaction := range group {
			c.report.countChecked(RuleTransactions)
			if mismatches[i] != nil {
				c.inDoubt = append(c.inDoubt, doubtfulTransaction{c.platform.Platform, transaction, mismatches[i]})
			}
		}
		return nil
	})
}

// maxRechecks is how often a transaction in doubt is compared again. Postings and state change
// in one commit, so a mismatch means that the transaction changed between the two reads; if it
// remains after so many attempts, the ledger is damaged.
const maxRechecks = 3

// recheckTransactions compares the transactions in doubt again, with their current postings,
// and reports those that still do not match.
func (c *run) recheckTransactions(ctx context.Context) error {
	for _, s := range c.inDoubt {
		for range maxRechecks {
			postings, err := c.currentPostings(ctx, s.platform, s.Transaction)
			if err != nil {
				return err
			}
			mismatches, err := c.compareTransactions(ctx, s.platform, []ports.PostedTransaction{{Transaction: s.Transaction, Postings: postings}})
			if err != nil {
				return err
			}
			if s.err = mismatches[0]; s.err == nil {
				break
			}
		}
		if s.err != nil {
			c.report.addFinding(RuleTransactions, "%s on %s: %v", s.Transaction, s.platform, s.err)
		}
	}
	return nil
}

// checkUnposted checks the states of the transactions without postings, which no pass sees.
func (c *run) checkUnposted(ctx context.Context) error {
	return c.store.EachTransactionWithoutPostings(ctx, c.only,
		func(key ports.TransactionKey, flow transaction.Flow, state transaction.State) error {
			c.report.countChecked(RuleTransactions)
			if err := flow.CheckKinds(state, nil); err != nil {
				c.report.addFinding(RuleTransactions, "%s on %s: %v", key.ID, key.Platform, err)
			}
			return nil
		})
}

func (c *Checker) compareTransactions(
	ctx context.Context, platform ident.Platform, transactions []ports.PostedTransaction,
) ([]error, error) {
	mismatches, err := c.store.CheckTransactions(ctx, platform, transactions)
	if err != nil {
		return nil, fmt.Errorf("check transactions: %w", err)
	}
	if len(mismatches) != len(transactions) {
		return nil, fmt.Errorf("check transactions: %d results for %d transactions", len(mismatches), len(transactions))
	}
	return mismatches, nil
}

// currentPostings returns the postings of a transaction as they are now.
func (c *Checker) currentPostings(ctx context.Context, platform ident.Platform,
	id ident.Transaction) (posted []transaction.Posted, err error) {
	entries, err := c.TransactionEntries(ctx, platform, id)
	for len(entries) > 0 {
		n := slices.IndexFunc(entries, func(e ports.RecordedEntry) bool { return e.Position.Seq != entries[0].Position.Seq })
		if n < 0 {
			n = len(entries)
		}
		first := entries[0]
		posting := ledger.Posting{ID: first.Posting, Platform: platform, Kind: first.Kind, Transaction: id, Effective: first.Effective,
			Memo: first.Memo, Reverses: first.Reverses}
		for _, e := range entries[:n] {
			posting.Entries = append(posting.Entries, e.Entry)
		}
		digest := posting.Digest()
		posted = append(posted, transaction.Posted{ID: first.Posting, Kind: first.Kind, Effective: first.Effective, Recorded: first.Recorded,
			Memo: first.Memo, Digest: digest[:]})
		entries = entries[n:]
	}
	return posted, err
}
