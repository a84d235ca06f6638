package audit

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// receivableCheck compares the receivables of one platform with its postings.
type receivableCheck struct {
	report   *Report
	platform ident.Platform
	expected map[uuid.UUID]expectedPosting // of the changes, until they are seen
	recorded time.Time                     // of the last posting
}

// expectedPosting is the posting of a change of a receivable.
type expectedPosting struct {
	receivable ident.Receivable
	at         time.Time
	posting    ledger.Posting
}

// newReceivableCheck compares every receivable with its changes: they explain its amounts, so the postings of the
// changes explain the balances of the accounts.
func (c *run) newReceivableCheck(ctx context.Context, platform ident.Platform) (*receivableCheck, error) {
	check := &receivableCheck{report: c.report, platform: platform, expected: map[uuid.UUID]expectedPosting{}}
	err := c.store.AuditedReceivables(ctx, platform, func(d ports.ReceivableDetails) error {
		c.report.countChecked(RuleReceivables)
		if d.Transaction.IsZero() {
			c.report.addFinding(RuleReceivables, "receivable %s on %s does not exist, and has %d changes", d.ID, platform, len(d.Changes))
			return nil
		}
		if err := d.CheckChanges(d.Changes); err != nil {
			c.report.addFinding(RuleReceivables, "receivable %s on %s does not match its changes: %s", d.ID, platform, err)
		}
		for _, change := range d.Changes {
			check.expected[change.Posting] = expectedPosting{d.ID, change.At, d.PostingFor(change)}
		}
		return nil
	})
	return check, err
}

// posting compares a posting with the change that it belongs to.
func (c *receivableCheck) posting(a ports.AuditPosting) {
	if !a.Found {
		return
	}
	c.recorded = a.Recorded
	p := a.WithEntries()
	want, found := c.expected[p.ID]
	switch {
	case found && !want.posting.IsRepeatOf(p):
		c.report.addFinding(RuleReceivables, "posting %s (number %d on %s) is not what receivable %s says", p.ID, a.Seq,
			c.platform, want.receivable)
	case !found && slices.ContainsFunc(p.Entries, func(e ledger.Entry) bool {
		return ledger.IsCustomerReceivable(e.Debit) || ledger.IsCustomerReceivable(e.Credit)
	}):
		c.report.addFinding(RuleReceivables, "posting %s (%s, number %d on %s) belongs to no receivable", p.ID, p.Kind, a.Seq, c.platform)
	}
	delete(c.expected, p.ID)
}

// finish checks that every change was posted. Changes that may be later than the snapshot are left to the next check.
func (c *receivableCheck) finish() {
	for id, want := range c.expected {
		if want.at.Before(c.recorded.Add(-postedAfter)) {
			c.report.addFinding(RuleReceivables, "receivable %s on %s has the posting %s, which does not exist", want.receivable, c.platform, id)
		}
	}
}
