package audit

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// StateChecker compares the kinds of the postings of each transaction, in order, with the
// transaction's current state. At the index of each transaction it returns nil, or how they
// differ. The error means that it could not compare them.
type StateChecker func(ctx context.Context, platform ident.Platform, transactions []ports.TransactionKinds) (mismatches []error, err error)

// doubtfulTransaction is a transaction whose postings did not match its state.
type doubtfulTransaction struct {
	platform ident.Platform
	ports.TransactionKinds
	err error
}

// checkTransactionStates compares the postings of every transaction with its state. Payments
// continue during the check and states are read after postings, so a mismatch is not yet a
// violation: recheckTransactions decides.
func (c *Checker) checkTransactionStates(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) (inDoubt []doubtfulTransaction, err error) {
	if c.stateChecker == nil {
		return nil, nil
	}
	err = view.TransactionKinds(ctx, platform, func(group []ports.TransactionKinds) error {
		mismatches, err := c.runStateChecker(ctx, platform, group)
		if err != nil {
			return err
		}
		for i, transaction := range group {
			report.countChecked(RuleTransactionStates)
			if mismatches[i] != nil {
				inDoubt = append(inDoubt, doubtfulTransaction{platform, transaction, mismatches[i]})
			}
		}
		return nil
	})
	return inDoubt, err
}

// maxRechecks is how often a transaction in doubt is compared again. Postings and state change
// in one commit, so a mismatch means that the transaction changed between the two reads; if it
// remains after so many attempts, the ledger is damaged.
const maxRechecks = 3

// recheckTransactions compares the transactions in doubt again, with their current postings,
// and reports those that still do not match.
func (c *Checker) recheckTransactions(ctx context.Context, report *Report, inDoubt []doubtfulTransaction) error {
	for _, s := range inDoubt {
		for range maxRechecks {
			kinds, err := c.transactionKinds(ctx, s.platform, s.Transaction)
			if err != nil {
				return err
			}
			mismatches, err := c.runStateChecker(ctx, s.platform, []ports.TransactionKinds{{Transaction: s.Transaction, Kinds: kinds}})
			if err != nil {
				return err
			}
			if s.err = mismatches[0]; s.err == nil {
				break
			}
		}
		if s.err != nil {
			report.addFinding(RuleTransactionStates, "%s on %s: %v", s.Transaction, s.platform, s.err)
		}
	}
	return nil
}

func (c *Checker) runStateChecker(ctx context.Context, platform ident.Platform, transactions []ports.TransactionKinds) ([]error, error) {
	mismatches, err := c.stateChecker(ctx, platform, transactions)
	if err != nil {
		return nil, fmt.Errorf("check transaction states: %w", err)
	}
	if len(mismatches) != len(transactions) {
		return nil, fmt.Errorf("check transaction states: %d results for %d transactions", len(mismatches), len(transactions))
	}
	return mismatches, nil
}

// transactionKinds returns the kinds of the current postings of a transaction.
func (c *Checker) transactionKinds(ctx context.Context, platform ident.Platform, transaction ident.Transaction) (kinds []ledger.Kind, err error) {
	entries, err := c.TransactionEntries(ctx, platform, transaction)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if i == 0 || e.Position.Seq != entries[i-1].Position.Seq {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds, nil
}
