package books

import (
	"bytes"
	"context"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// postingCheck goes through the postings of one platform in the order of their numbers.
type postingCheck struct {
	report   *Report
	platform ports.AuditPlatform
	totals   totals
	explain  *explainer
	log      *logCheck // nil: the log is not looked at
	last     int64
	recorded time.Time
}

func (c *postingCheck) check(ctx context.Context, p ports.AuditPosting) error {
	if !p.Found {
		c.report.broken(RuleWhole, "%d entries on %s name posting number %d, which is not there", len(p.Entries), c.platform.Platform, p.Seq)
		c.addUp(p.Entries)
		return nil
	}
	c.number(p)
	c.time(p)
	posting := c.assemble(p)

	c.report.checked(RuleWhole)
	if err := posting.Validate(); err != nil {
		c.report.broken(RuleWhole, "posting number %d on %s: %v", p.Seq, c.platform.Platform, err)
	}
	why := c.unchanged(p, posting)
	c.addUp(p.Entries)
	if c.log == nil {
		return nil
	}
	var near []ledger.Leaf
	if c.explain != nil {
		near = c.explain.nearby
	}
	return c.log.add(ctx, p, posting, why, near)
}

// unchanged holds a posting against its digest, and says what was changed if that can
// be told.
func (c *postingCheck) unchanged(p ports.AuditPosting, posting ledger.Posting) (why string) {
	if c.explain == nil { // there are no digests
		return ""
	}
	c.report.checked(RuleUnchanged)
	leaf := ledger.Leaf{Posting: posting, Seq: p.Seq, Recorded: p.Recorded}
	if digest := posting.Digest(); !bytes.Equal(digest[:], p.Digest) {
		why = c.explain.digest(leaf, p.Digest)
		what := "has been changed, or one of its entries has"
		if why != "" {
			what = "has been changed: " + why
		}
		c.report.broken(RuleUnchanged, "posting %s (%s, number %d on %s) %s", posting.ID, posting.Kind, p.Seq, c.platform.Platform, what)
	}
	c.explain.see(leaf)
	return why
}

func (c *postingCheck) number(p ports.AuditPosting) {
	c.report.checked(RuleNumbered)
	switch missing := p.Seq - c.last - 1; {
	case p.Seq <= c.last:
		c.report.broken(RuleNumbered, "posting %s on %s has number %d, which is none or another's", p.Posting.ID, c.platform.Platform, p.Seq)
		return
	case missing != 0:
		c.report.broken(RuleNumbered, "%d postings are missing on %s between number %d and number %d", missing, c.platform.Platform, c.last, p.Seq)
	}
	c.last = p.Seq
}

func (c *postingCheck) time(p ports.AuditPosting) {
	c.report.checked(RuleRecorded)
	if !p.Recorded.After(c.recorded) {
		c.report.broken(RuleRecorded, "posting %s (number %d on %s) was recorded at %s, not after the one before at %s",
			p.Posting.ID, p.Seq, c.platform.Platform, p.Recorded.Format(time.RFC3339Nano), c.recorded.Format(time.RFC3339Nano))
	}
	c.recorded = p.Recorded
}

// assemble puts the entries into the posting, and looks at each before.
func (c *postingCheck) assemble(p ports.AuditPosting) ledger.Posting {
	for i, e := range p.Entries {
		if e.N != i+1 {
			c.report.broken(RuleWhole, "posting %s (number %d on %s) has an entry %d in place %d", p.Posting.ID, p.Seq, c.platform.Platform, e.N, i+1)
		}
		if c.explain == nil {
			continue // and no accounts
		}
		c.report.checked(RuleCurrency)
		for _, side := range []ports.AuditSide{e.Debit, e.Credit} {
			switch {
			case !side.Found:
				c.report.broken(RuleCurrency, "entry %d of posting %s (number %d on %s) names account %d, which is not there",
					e.N, p.Posting.ID, p.Seq, c.platform.Platform, side.Number)
			case side.Currency != e.Currency:
				c.report.broken(RuleCurrency, "entry %d of posting %s (number %d on %s) moves %s on account %d, %s, which carries %s",
					e.N, p.Posting.ID, p.Seq, c.platform.Platform, e.Currency, side.Number, side.Path, side.Currency)
			}
		}
	}
	return p.WithEntries()
}

func (c *postingCheck) addUp(entries []ports.AuditEntry) {
	for _, e := range entries {
		c.totals.of(e.Currency).moved.add(e.Amount)
	}
}

// end holds what was seen against the platform's clock, and ends the log's check.
func (c *postingCheck) end(ctx context.Context) error {
	c.clock()
	if c.log == nil {
		return nil
	}
	return c.log.end(ctx, c.explain)
}

func (c *postingCheck) clock() {
	switch {
	case !c.platform.HasClock && c.last > 0:
		c.report.broken(RuleNumbered, "%s has postings and no clock", c.platform.Platform)
	case !c.platform.HasClock: // its accounts were held for a first posting, which was refused
	case c.platform.Seq > c.last:
		c.report.broken(RuleNumbered, "%d postings are missing on %s after number %d", c.platform.Seq-c.last, c.platform.Platform, c.last)
	case c.platform.Seq < c.last:
		c.report.broken(RuleNumbered, "the clock of %s stands at %d and the last posting has number %d", c.platform.Platform, c.platform.Seq, c.last)
	}
	if c.platform.HasClock && c.platform.Recorded.Before(c.recorded) {
		c.report.broken(RuleRecorded, "the clock of %s stands at %s, before the last posting at %s",
			c.platform.Platform, c.platform.Recorded.Format(time.RFC3339Nano), c.recorded.Format(time.RFC3339Nano))
	}
}
