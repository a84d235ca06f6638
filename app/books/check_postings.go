package books

import (
	"bytes"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// postingCheck goes through the postings of one platform in the order of their numbers.
type postingCheck struct {
	report   *Report
	platform ports.AuditPlatform
	totals   totals
	last     int64
	recorded time.Time
}

func (c *postingCheck) check(p ports.AuditPosting) error {
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
	c.report.checked(RuleUnchanged)
	if digest := posting.Digest(); !bytes.Equal(digest[:], p.Digest) {
		c.report.broken(RuleUnchanged, "posting %s (%s, number %d on %s) has been changed, or one of its entries has",
			posting.ID, posting.Kind, p.Seq, c.platform.Platform)
	}
	c.addUp(p.Entries)
	return nil
}

func (c *postingCheck) number(p ports.AuditPosting) {
	c.report.checked(RuleNumbered)
	if missing := p.Seq - c.last - 1; missing != 0 {
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

// assemble puts the entries into the posting, and looks at each on the way.
func (c *postingCheck) assemble(p ports.AuditPosting) ledger.Posting {
	posting := p.Posting
	for i, e := range p.Entries {
		if e.N != i+1 {
			c.report.broken(RuleWhole, "posting %s (number %d on %s) has an entry %d in place %d", posting.ID, p.Seq, c.platform.Platform, e.N, i+1)
		}
		c.report.checked(RuleCurrency)
		for _, side := range []ports.AuditSide{e.Debit, e.Credit} {
			switch {
			case !side.Found:
				c.report.broken(RuleCurrency, "entry %d of posting %s (number %d on %s) names account %d, which is not there",
					e.N, posting.ID, p.Seq, c.platform.Platform, side.Number)
			case side.Currency != e.Currency:
				c.report.broken(RuleCurrency, "entry %d of posting %s (number %d on %s) moves %s on account %d, %s, which carries %s",
					e.N, posting.ID, p.Seq, c.platform.Platform, e.Currency, side.Number, side.Path, side.Currency)
			}
		}
		posting.Entries = append(posting.Entries, ledger.Entry{Debit: e.Debit.Path, Credit: e.Credit.Path, Currency: e.Currency, Amount: e.Amount})
	}
	return posting
}

func (c *postingCheck) addUp(entries []ports.AuditEntry) {
	for _, e := range entries {
		c.totals.of(e.Currency).moved.add(e.Amount)
	}
}

// end holds what was seen against the platform's clock.
func (c *postingCheck) end() {
	switch {
	case !c.platform.HasClock:
		c.report.broken(RuleNumbered, "%s has postings or accounts and no clock", c.platform.Platform)
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
