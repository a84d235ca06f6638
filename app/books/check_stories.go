package books

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// Explain says of each transaction whether the kinds posted for it, in order, are
// exactly those that its present state calls for: nil, or what is wrong, at the same
// place. The error is for when it cannot tell.
type Explain func(ctx context.Context, platform ident.Platform, stories []ports.TransactionKinds) (wrong []error, err error)

// story is one transaction in doubt.
type story struct {
	platform ident.Platform
	ports.TransactionKinds
	wrong error
}

// checkStories asks of every transaction with postings whether they explain its state.
// States are read after the postings, while payments go on, so what does not fit is
// only in doubt.
func (b *Books) checkStories(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) (doubts []story, err error) {
	if b.explain == nil {
		return nil, nil
	}
	err = view.TransactionKinds(ctx, platform, func(group []ports.TransactionKinds) error {
		wrong, err := b.explained(ctx, platform, group)
		if err != nil {
			return err
		}
		for i, s := range group {
			report.checked(RuleExplained)
			if wrong[i] != nil {
				doubts = append(doubts, story{platform, s, wrong[i]})
			}
		}
		return nil
	})
	return doubts, err
}

// Postings and state change in one commit, so whoever is asked again soon either fits
// or is caught in the middle of another change; three times in a row is damage.
const askAgain = 3

// settleDoubts asks again about the transactions in doubt, with their postings as they
// are now, and reports those that still do not fit.
func (b *Books) settleDoubts(ctx context.Context, report *Report, doubts []story) error {
	for _, s := range doubts {
		for range askAgain {
			kinds, err := b.kindsOf(ctx, s.platform, s.Transaction)
			if err != nil {
				return err
			}
			wrong, err := b.explained(ctx, s.platform, []ports.TransactionKinds{{Transaction: s.Transaction, Kinds: kinds}})
			if err != nil {
				return err
			}
			if s.wrong = wrong[0]; s.wrong == nil {
				break
			}
		}
		if s.wrong != nil {
			report.broken(RuleExplained, "%s on %s: %v", s.Transaction, s.platform, s.wrong)
		}
	}
	return nil
}

func (b *Books) explained(ctx context.Context, platform ident.Platform, stories []ports.TransactionKinds) ([]error, error) {
	wrong, err := b.explain(ctx, platform, stories)
	if err != nil {
		return nil, fmt.Errorf("explain transactions: %w", err)
	}
	if len(wrong) != len(stories) {
		return nil, fmt.Errorf("explain transactions: %d answers to %d", len(wrong), len(stories))
	}
	return wrong, nil
}

// kindsOf lists the kinds posted for a transaction by now, one a posting.
func (b *Books) kindsOf(ctx context.Context, platform ident.Platform, transaction ident.Transaction) (kinds []ledger.Kind, err error) {
	entries, err := b.EntriesOf(ctx, platform, transaction)
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
