package audit

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/recurring"
	"causeway/ledger"
)

// RecurringAudit reads recurring adjustments and what was posted for them, to check them.
type RecurringAudit interface {
	RecurringAdjustments(ctx context.Context, p ident.Platform) ([]recurring.Adjustment, error)
	RecurringRuns(ctx context.Context, p ident.Platform, from period.Month) ([]recurring.Run, error)
}

// checkRecurring pairs each month of a recurring adjustment with the version that says what is posted for it, its posting and the
// reversal, and looks for postings of months that are not recorded. Months that are archived are left out.
func (c *platformRun) checkRecurring(ctx context.Context) error {
	p := c.platform.Platform
	all, err := c.store.RecurringAdjustments(ctx, p)
	if err != nil {
		return err
	}
	runs, err := c.store.RecurringRuns(ctx, p, period.Month{})
	if err != nil {
		return err
	}
	recorded := map[uuid.UUID]bool{}
	for _, run := range runs {
		recorded[run.Posting], recorded[run.Reversal] = true, true
		problem, err := c.checkRecurringRun(ctx, all, run)
		if fault.Is(err, fault.MonthArchived) {
			continue
		}
		if err != nil {
			return err
		}
		c.report.countChecked(RuleRecurring)
		if problem != "" {
			c.report.addFinding(RuleRecurring, "the recurring adjustment %s of %s on %s %s", run.Name, run.Month, p, problem)
		}
	}
	for _, a := range all {
		for _, due := range a.Due(runs, period.Calendar{}, c.platform.Recorded) {
			posting, found, err := c.store.LedgerReader().Posting(ctx, p, due.Posting())
			if err != nil && !fault.Is(err, fault.MonthArchived) {
				return err
			}
			if found && !recorded[posting.ID] {
				c.report.addFinding(RuleRecurring, "posting %s on %s is that of the recurring adjustment %s for %s, and is not recorded", posting.ID, p,
					due.Name, due.Month)
			}
		}
	}
	return nil
}

// checkRecurringRun returns what of a month is not what its version says; empty if all is.
func (c *platformRun) checkRecurringRun(ctx context.Context, all []recurring.Adjustment, run recurring.Run) (string, error) {
	i := slices.IndexFunc(all, func(a recurring.Adjustment) bool { return a[0].Name == run.Name })
	if i < 0 || run.Version < 1 || run.Version > len(all[i]) {
		return "has no version that says what is posted", nil
	}
	want, postings, _ := recurring.Due{Version: all[i][run.Version-1], Month: run.Month}.Post(run.At)
	if want.Posting != run.Posting || want.Reversal != run.Reversal {
		return "names other postings than its own", nil
	}
	for _, w := range postings {
		posted, found, err := c.store.LedgerReader().Posting(ctx, run.Platform, w.ID)
		switch {
		case err != nil:
			return "", err
		case !found && w.Kind == ledger.KindReversal:
			return "is not reversed", nil
		case !found:
			return "has no posting", nil
		case posted.Kind != w.Kind || posted.Reverses != w.Reverses || !posted.Effective.Equal(w.Effective) ||
			!slices.Equal(posted.Entries, w.Entries):
			return "is not posted as was approved", nil
		}
	}
	return "", nil
}
