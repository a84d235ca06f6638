package audit

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// StateChecker says of each transaction whether the kinds posted for it, in order, are
// exactly those that its present state calls for: nil, or what is wrong, at the same
// place. The error is for when it cannot tell.
type StateChecker func(ctx context.Context, platform ident.Platform, stories []ports.TransactionKinds) (wrong []error, err error)

// unexplainedTransaction is one transaction in doubt.
type unexplainedTransaction struct {
	platform ident.Platform
	ports.TransactionKinds
	err error
}

// checkTransactionStates asks of every transaction with postings whether they explain its state.
// States are read after the postings, while payments go on, so what does not fit is
// only in doubt.
func (b *Checker) checkTransactionStates(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) (doubts []unexplainedTransaction, err error) {
	if b.stateChecker == nil {
		return nil, nil
	}
	err = view.TransactionKinds(ctx, platform, func(group []ports.TransactionKinds) error {
		wrong, err := b.runStateChecker(ctx, platform, group)
		if err != nil {
			return err
		}
		for i, s := range group {
			report.countChecked(RuleTransactionStates)
			if wrong[i] != nil {
				doubts = append(doubts, unexplainedTransaction{platform, s, wrong[i]})
			}
		}
		return nil
	})
	return doubts, err
}

// Postings and state change in one commit, so whoever is asked again soon either fits
// or is caught in the middle of another change; three times in a row is damage.
const maxRechecks = 3

// recheckUnexplained asks again about the transactions in doubt, with their postings as they
// are now, and reports those that still do not fit.
func (b *Checker) recheckUnexplained(ctx context.Context, report *Report, doubts []unexplainedTransaction) error {
	for _, s := range doubts {
		for range maxRechecks {
			kinds, err := b.transactionKinds(ctx, s.platform, s.Transaction)
			if err != nil {
				return err
			}
			wrong, err := b.runStateChecker(ctx, s.platform, []ports.TransactionKinds{{Transaction: s.Transaction, Kinds: kinds}})
			if err != nil {
				return err
			}
			if s.err = wrong[0]; s.err == nil {
				break
			}
		}
		if s.err != nil {
			report.addFinding(RuleTransactionStates, "%s on %s: %v", s.Transaction, s.platform, s.err)
		}
	}
	return nil
}

func (b *Checker) runStateChecker(ctx context.Context, platform ident.Platform, stories []ports.TransactionKinds) ([]error, error) {
	wrong, err := b.stateChecker(ctx, platform, stories)
	if err != nil {
		return nil, fmt.Errorf("explain transactions: %w", err)
	}
	if len(wrong) != len(stories) {
		return nil, fmt.Errorf("explain transactions: %d answers to %d", len(wrong), len(stories))
	}
	return wrong, nil
}

// transactionKinds lists the kinds posted for a transaction by now, one a posting.
func (b *Checker) transactionKinds(ctx context.Context, platform ident.Platform, transaction ident.Transaction) (kinds []ledger.Kind, err error) {
	entries, err := b.TransactionEntries(ctx, platform, transaction)
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
