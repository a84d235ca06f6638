package audit

import (
	"context"
	"slices"

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
// reversal, and looks for postings of months that are not recorded, and for closed months without any. Months that are archived are left
// out. What is recorded is read after the months that the snapshot has as closed, so that it has theirs, and again before a posting is
// found that it lacks, which may be of a month that was posted meanwhile.
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
	for _, run := range runs {
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
	unrecorded, err := c.checkRecurringDue(ctx, all, runs)
	if err != nil || len(unrecorded) == 0 {
		return err
	}
	if runs, err = c.store.RecurringRuns(ctx, p, period.Month{}); err != nil {
		return err
	}
	for _, due := range unrecorded {
		if !slices.ContainsFunc(runs, func(r recurring.Run) bool { return r.Posting == due.Posting() }) {
			c.report.addFinding(RuleRecurring, "posting %s on %s is that of the recurring adjustment %s for %s, and is not recorded",
				due.Posting(), p, due.Name, due.Month)
		}
	}
	return nil
}

// checkRecurringDue looks at months that are over and not recorded: it returns those that have a posting, and finds those that are closed
// without one.
func (c *platformRun) checkRecurringDue(ctx context.Context, all []recurring.Adjustment, runs []recurring.Run) (posted []recurring.Due,
	err error) {
	changes, err := c.view.MonthChanges(ctx, c.platform.Platform)
	if err != nil {
		return nil, err
	}
	var calendar period.Calendar
	for _, change := range changes {
		if calendar, err = calendar.Apply(change.Action, change.Month, change.At); err != nil {
			return nil, nil //nolint:nilerr // the rule of soft-closed months finds it
		}
	}
	for _, a := range all {
		for _, due := range a.Due(runs, period.Calendar{}, c.platform.Recorded) {
			switch _, found, err := c.store.LedgerReader().Posting(ctx, c.platform.Platform, due.Posting()); {
			case fault.Is(err, fault.MonthArchived):
			case err != nil:
				return nil, err
			case found:
				posted = append(posted, due)
			case calendar.State(due.Month) == period.Closed:
				c.report.addFinding(RuleRecurring, "the recurring adjustment %s on %s has no posting for %s, which is closed", due.Name,
					c.platform.Platform, due.Month)
			}
		}
	}
	return posted, nil
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
