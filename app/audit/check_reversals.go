package audit

import (
	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// reversalCheck goes through the reversals of one platform, by what they reverse.
type reversalCheck struct {
	report   *Report
	platform ident.Platform
	previous uuid.UUID // what the last one reversed
}

func (c *reversalCheck) check(reversal, original ports.NumberedPosting, found bool) error {
	c.report.countChecked(RuleReversals)
	p := reversal.Posting
	switch {
	case !found:
		c.report.addFinding(RuleReversals, "posting %s on %s reverses %s, which is not there or has no entries", p.ID, c.platform, p.Reverses)
	case p.Reverses == c.previous:
		c.report.addFinding(RuleReversals, "posting %s on %s reverses %s, which another reverses too", p.ID, c.platform, p.Reverses)
	case !p.IsReversalOf(original.Posting):
		c.report.addFinding(RuleReversals, "posting %s on %s is not the mirror of %s", p.ID, c.platform, p.Reverses)
	case reversal.Seq <= original.Seq:
		c.report.addFinding(RuleReversals, "posting %s on %s, number %d, reverses %s, which comes later with number %d",
			p.ID, c.platform, reversal.Seq, p.Reverses, original.Seq)
	}
	c.previous = p.Reverses
	return nil
}
