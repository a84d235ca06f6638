package audit

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// checkYearEnds checks that the closing of each year is its income and expense at that time, and that every
// posting that closes a year belongs to one.
func checkYearEnds(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) error {
	recorded := map[uuid.UUID]bool{}
	err := view.YearClosings(ctx, platform, func(c ports.AuditYearClosing) error {
		report.countChecked(RuleYearEnds)
		recorded[c.Posting] = true
		for _, problem := range c.CheckRecord(c.ClosingPosting, c.ReversalPosting, c.Balances) {
			report.addFinding(RuleYearEnds, "closing %d of the year %s on %s: %s", c.Number, c.Year, platform, problem)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return view.YearEndPostings(ctx, platform, func(n ports.NumberedPosting) error {
		if !recorded[n.Posting.ID] {
			report.addFinding(RuleYearEnds, "posting %s (number %d on %s) closes a year, and no closing of a year names it",
				n.Posting.ID, n.Seq, platform)
		}
		return nil
	})
}
