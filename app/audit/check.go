package audit

import (
	"context"
	"slices"

	"causeway/ledger"
	"causeway/ports"
)

// Check proves every rule over everything that the books hold, as one moment saw it.
// It streams: the memory it needs does not grow with the books. Damage is in the
// report; an error means that the check itself could not be done.
func (b *Checker) Check(ctx context.Context) (Report, error) {
	return b.check(ctx, newReport(b.stateChecker != nil), nil)
}

// VerifyOptions says what the log of postings is held against, beside the books.
type VerifyOptions struct {
	// Published are heads that were kept outside; they count more than those stored
	// beside the postings, for who can change the one can change the other.
	Published []PublishedCheckpoint
	// Keys verify the signatures of heads. Without any, the stored ones do.
	Keys [][32]byte
}

// Verify proves what Check proves, and beside it that every posting is what was sealed
// in the log: it makes the log again from the postings and their entries alone, and
// holds it against the stored hashes and against every head.
func (b *Checker) Verify(ctx context.Context, v VerifyOptions) (Report, error) {
	report := newReport(b.stateChecker != nil)
	report.addRule(RuleSealed, "postings")
	report.addRule(RuleSignedCheckpoints, "heads")
	if len(v.Published) > 0 {
		report.addRule(RulePublishedCheckpoints, "heads")
	}
	return b.check(ctx, report, &v)
}

func (b *Checker) check(ctx context.Context, report *Report, v *VerifyOptions) (Report, error) {
	var unexplained []unexplainedTransaction
	err := b.audit.Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		platforms, err := view.Platforms(ctx)
		if err != nil {
			return err
		}
		if v != nil {
			v, platforms, err = v.withStoredKeys(ctx, view, platforms)
			if err != nil {
				return err
			}
		}
		for _, p := range platforms {
			doubts, err := b.checkPlatform(ctx, view, report, p, v)
			if err != nil {
				return err
			}
			unexplained = append(unexplained, doubts...)
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	if err := b.recheckUnexplained(ctx, report, unexplained); err != nil {
		return Report{}, err
	}
	return *report, nil
}

// withStoredKeys completes a verification with the stored keys, and the platforms with those of
// which nothing is left but heads outside.
func (v VerifyOptions) withStoredKeys(ctx context.Context, view ports.AuditView, platforms []ports.AuditPlatform) (*VerifyOptions, []ports.AuditPlatform, error) {
	if len(v.Keys) == 0 {
		stored, err := view.LogKeys(ctx)
		if err != nil {
			return nil, nil, err
		}
		v.Keys = [][32]byte{}
		for _, k := range stored {
			v.Keys = append(v.Keys, k.Public)
		}
	}
	for _, h := range v.Published {
		if !slices.ContainsFunc(platforms, func(p ports.AuditPlatform) bool { return p.Platform == h.Platform }) {
			platforms = append(platforms, ports.AuditPlatform{Platform: h.Platform})
		}
	}
	return &v, platforms, nil
}

func (b *Checker) checkPlatform(ctx context.Context, view ports.AuditView, report *Report, p ports.AuditPlatform, v *VerifyOptions) ([]unexplainedTransaction, error) {
	totals := totals{}
	postings := &postingCheck{report: report, platform: p, totals: totals, explainer: newExplainer(func(most int) ([]ledger.Account, error) {
		return view.OldestAccounts(ctx, p.Platform, most)
	})}
	if v != nil {
		var err error
		postings.log = newLogCheck(report, p, v.Keys)
		if postings.log.stored, err = openStoredLog(ctx, view, p.Platform); err != nil {
			return nil, err
		}
		postings.log.addStoredCheckpoints(view)
		if err := postings.log.addClosingCheckpoints(ctx, view); err != nil {
			return nil, err
		}
		if published := platformCheckpoints(v.Published, p.Platform); len(published) > 0 {
			postings.log.addPublished(published)
		}
	}
	if err := view.Postings(ctx, p.Platform, func(a ports.AuditPosting) error { return postings.check(ctx, a) }); err != nil {
		return nil, err
	}
	if err := postings.finish(ctx); err != nil {
		return nil, err
	}

	accounts := &accountCheck{report: report, platform: p, totals: totals}
	if err := view.Accounts(ctx, p.Platform, accounts); err != nil {
		return nil, err
	}
	accounts.finishAccount()
	if err := view.OrphanBalances(ctx, p.Platform, accounts.orphanBalance); err != nil {
		return nil, err
	}
	accounts.checkSnapshotProgress()
	totals.check(report, p.Platform)

	if err := checkIndexes(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	reversals := &reversalCheck{report: report, platform: p.Platform}
	if err := view.Reversals(ctx, p.Platform, reversals.check); err != nil {
		return nil, err
	}
	if err := checkClosedMonths(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	return b.checkTransactionStates(ctx, view, report, p.Platform)
}
