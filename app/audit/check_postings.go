package audit

import (
	"bytes"
	"context"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// postingCheck goes through the postings of one platform in the order of their numbers.
type postingCheck struct {
	report       *Report
	platform     ports.AuditPlatform
	totals       totals
	explainer    *explainer
	log          *logCheck // nil: the log is not looked at
	lastSeq      int64
	lastRecorded time.Time
}

func (c *postingCheck) check(ctx context.Context, p ports.AuditPosting) error {
	if !p.Found {
		c.report.addFinding(RuleWellFormed, "%d entries on %s name posting number %d, which is not there", len(p.Entries), c.platform.Platform, p.Seq)
		c.addToTotals(p.Entries)
		return nil
	}
	c.checkNumber(p)
	c.checkRecordedTime(p)
	posting := c.checkEntries(p)

	c.report.countChecked(RuleWellFormed)
	if err := posting.Validate(); err != nil {
		c.report.addFinding(RuleWellFormed, "posting number %d on %s: %v", p.Seq, c.platform.Platform, err)
	}
	why := c.checkDigest(p, posting)
	c.addToTotals(p.Entries)
	if c.log == nil {
		return nil
	}
	var near []ledger.Leaf
	if c.explainer != nil {
		near = c.explainer.nearby
	}
	return c.log.addPosting(ctx, p, posting, why, near)
}

// checkDigest holds a posting against its digest, and says what was changed if that can
// be told.
func (c *postingCheck) checkDigest(p ports.AuditPosting, posting ledger.Posting) (why string) {
	if c.explainer == nil { // there are no digests
		return ""
	}
	c.report.countChecked(RuleUnchanged)
	leaf := ledger.Leaf{Posting: posting, Seq: p.Seq, Recorded: p.Recorded}
	if digest := posting.Digest(); !bytes.Equal(digest[:], p.Digest) {
		why = c.explainer.explainDigest(leaf, p.Digest)
		what := "has been changed, or one of its entries has"
		if why != "" {
			what = "has been changed: " + why
		}
		c.report.addFinding(RuleUnchanged, "posting %s (%s, number %d on %s) %s", posting.ID, posting.Kind, p.Seq, c.platform.Platform, what)
	}
	c.explainer.addNearby(leaf)
	return why
}

func (c *postingCheck) checkNumber(p ports.AuditPosting) {
	c.report.countChecked(RuleSequence)
	switch missing := p.Seq - c.lastSeq - 1; {
	case p.Seq <= c.lastSeq:
		c.report.addFinding(RuleSequence, "posting %s on %s has number %d, which is none or another's", p.Posting.ID, c.platform.Platform, p.Seq)
		return
	case missing != 0:
		c.report.addFinding(RuleSequence, "%d postings are missing on %s between number %d and number %d", missing, c.platform.Platform, c.lastSeq, p.Seq)
	}
	c.lastSeq = p.Seq
}

func (c *postingCheck) checkRecordedTime(p ports.AuditPosting) {
	c.report.countChecked(RuleRecordedTime)
	if !p.Recorded.After(c.lastRecorded) {
		c.report.addFinding(RuleRecordedTime, "posting %s (number %d on %s) was recorded at %s, not after the one before at %s",
			p.Posting.ID, p.Seq, c.platform.Platform, p.Recorded.Format(time.RFC3339Nano), c.lastRecorded.Format(time.RFC3339Nano))
	}
	c.lastRecorded = p.Recorded
}

// checkEntries puts the entries into the posting, and looks at each before.
func (c *postingCheck) checkEntries(p ports.AuditPosting) ledger.Posting {
	for i, e := range p.Entries {
		if e.N != i+1 {
			c.report.addFinding(RuleWellFormed, "posting %s (number %d on %s) has an entry %d in place %d", p.Posting.ID, p.Seq, c.platform.Platform, e.N, i+1)
		}
		if c.explainer == nil {
			continue // and no accounts
		}
		c.report.countChecked(RuleCurrency)
		for _, side := range []ports.AuditSide{e.Debit, e.Credit} {
			switch {
			case !side.Found:
				c.report.addFinding(RuleCurrency, "entry %d of posting %s (number %d on %s) names account %d, which is not there",
					e.N, p.Posting.ID, p.Seq, c.platform.Platform, side.Number)
			case side.Currency != e.Currency:
				c.report.addFinding(RuleCurrency, "entry %d of posting %s (number %d on %s) moves %s on account %d, %s, which carries %s",
					e.N, p.Posting.ID, p.Seq, c.platform.Platform, e.Currency, side.Number, side.Path, side.Currency)
			}
		}
	}
	return p.WithEntries()
}

func (c *postingCheck) addToTotals(entries []ports.AuditEntry) {
	for _, e := range entries {
		c.totals.currency(e.Currency).entries.add(e.Amount)
	}
}

// finish holds what was seen against the platform's clock, and ends the log's check.
func (c *postingCheck) finish(ctx context.Context) error {
	c.checkClock()
	if c.log == nil {
		return nil
	}
	return c.log.finish(ctx, c.explainer)
}

func (c *postingCheck) checkClock() {
	switch {
	case !c.platform.HasClock && c.lastSeq > 0:
		c.report.addFinding(RuleSequence, "%s has postings and no clock", c.platform.Platform)
	case !c.platform.HasClock: // its accounts were held for a first posting, which was refused
	case c.platform.Seq > c.lastSeq:
		c.report.addFinding(RuleSequence, "%d postings are missing on %s after number %d", c.platform.Seq-c.lastSeq, c.platform.Platform, c.lastSeq)
	case c.platform.Seq < c.lastSeq:
		c.report.addFinding(RuleSequence, "the clock of %s stands at %d and the last posting has number %d", c.platform.Platform, c.platform.Seq, c.lastSeq)
	}
	if c.platform.HasClock && c.platform.Recorded.Before(c.lastRecorded) {
		c.report.addFinding(RuleRecordedTime, "the clock of %s stands at %s, before the last posting at %s",
			c.platform.Platform, c.platform.Recorded.Format(time.RFC3339Nano), c.lastRecorded.Format(time.RFC3339Nano))
	}
}
