package books

import (
	"context"

	"causeway/ports"
)

// Check proves every rule over everything that the books hold, as one moment saw it.
// It streams: the memory it needs does not grow with the books. Damage is in the
// report; an error means that the check itself could not be done.
func (b *Books) Check(ctx context.Context) (Report, error) {
	report := newReport(b.explain != nil)
	var unexplained []story
	err := b.audit.Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		platforms, err := view.Platforms(ctx)
		if err != nil {
			return err
		}
		for _, p := range platforms {
			doubts, err := b.checkPlatform(ctx, view, report, p)
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
	if err := b.settleDoubts(ctx, report, unexplained); err != nil {
		return Report{}, err
	}
	return *report, nil
}

func (b *Books) checkPlatform(ctx context.Context, view ports.AuditView, report *Report, p ports.AuditPlatform) ([]story, error) {
	totals := totals{}
	postings := &postingCheck{report: report, platform: p, totals: totals}
	if err := view.Postings(ctx, p.Platform, postings.check); err != nil {
		return nil, err
	}
	postings.end()

	accounts := &accountCheck{report: report, platform: p, totals: totals}
	if err := view.Accounts(ctx, p.Platform, accounts); err != nil {
		return nil, err
	}
	accounts.end()
	totals.compare(report, p.Platform)

	reversals := &reversalCheck{report: report, platform: p.Platform}
	if err := view.Reversals(ctx, p.Platform, reversals.check); err != nil {
		return nil, err
	}
	if err := checkMonths(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	return b.checkStories(ctx, view, report, p.Platform)
}
