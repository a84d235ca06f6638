package audit

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// checkPostings checks the postings of a platform, and what is compared with each of them.
func (c *platformRun) checkPostings(ctx context.Context) error {
	explainer := newExplainer(func(limit int) ([]ledger.Account, error) {
		return c.view.OldestAccounts(ctx, c.platform.Platform, limit)
	})
	postings := &postingCheck{report: c.report, platform: c.platform, totals: c.totals, explainer: explainer}
	var err error
	if c.verify != nil {
		if postings.log, err = c.newLogCheck(ctx); err != nil {
			return err
		}
	}
	treasury, err := c.newTreasuryCheck(ctx, c.platform.Platform)
	if err != nil {
		return err
	}
	receivables, err := c.newReceivableCheck(ctx, c.platform.Platform)
	if err != nil {
		return err
	}
	if err := c.view.Postings(ctx, c.platform.Platform, func(a ports.AuditPosting) error {
		receivables.posting(a)
		if err := treasury.posting(ctx, a); err != nil {
			return err
		}
		return postings.check(ctx, a)
	}); err != nil {
		return err
	}
	if err := treasury.finish(ctx); err != nil {
		return err
	}
	receivables.finish()
	return postings.finish(ctx)
}

// newLogCheck compares the log of postings of a platform with its postings and checkpoints.
func (c *platformRun) newLogCheck(ctx context.Context) (log *logCheck, err error) {
	log = newLogCheck(c.report, c.platform.Platform, c.verify.Keys)
	log.sealedBefore, log.ofCopy = c.verify.SealedBefore, c.verify.OfCopy
	if log.log, err = openStoredLog(ctx, c.view, c.platform.Platform); err != nil {
		return nil, err
	}
	log.addStoredCheckpoints(RuleSignedCheckpoints, c.view.LogCheckpoints)
	if err := log.addClosingCheckpoints(ctx, c.view); err != nil {
		return nil, err
	}
	if published := platformCheckpoints(c.verify.Published, ledger.PostingLog, c.platform.Platform); len(published) > 0 {
		log.addCheckpointList(RulePublishedCheckpoints, published)
	}
	return log, nil
}

// postingCheck checks the postings of one platform in the order of their numbers.
type postingCheck struct {
	report       *Report
	platform     ports.AuditPlatform
	totals       totals
	explainer    *explainer
	log          *logCheck // nil if the log is not verified
	lastSeq      int64
	lastRecorded time.Time
	opening      openingCheck
}

func (c *postingCheck) check(ctx context.Context, p ports.AuditPosting) error {
	if !p.Found {
		c.report.addFinding(RuleWellFormed, "%d entries on %s belong to posting number %d, which does not exist", len(p.Entries),
			c.platform.Platform, p.Seq)
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
	if c.explainer != nil { // an export has no authorisations
		c.opening.check(c.report, p.Seq, posting)
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

// checkDigest compares a posting with its digest, and returns what was changed if it can find
// that out.
func (c *postingCheck) checkDigest(p ports.AuditPosting, posting ledger.Posting) (why string) {
	if c.explainer == nil { // an export has no digests
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
		c.report.addFinding(RuleSequence, "posting %s on %s has number %d, which is not a valid number or already used", p.Posting.ID,
			c.platform.Platform, p.Seq)
		return
	case missing != 0:
		c.report.addFinding(RuleSequence, "%d postings are missing on %s between number %d and number %d", missing,
			c.platform.Platform, c.lastSeq, p.Seq)
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

// checkEntries checks each entry and returns the posting with its entries.
func (c *postingCheck) checkEntries(p ports.AuditPosting) ledger.Posting {
	for i, e := range p.Entries {
		if e.N != i+1 {
			c.report.addFinding(RuleWellFormed, "posting %s (number %d on %s) has entry number %d at position %d", p.Posting.ID, p.Seq,
				c.platform.Platform, e.N, i+1)
		}
		if c.explainer == nil {
			continue // an export has no accounts
		}
		c.report.countChecked(RuleCurrency)
		for _, side := range []ports.AuditSide{e.Debit, e.Credit} {
			switch {
			case !side.Found:
				c.report.addFinding(RuleCurrency, "entry %d of posting %s (number %d on %s) uses account %d, which does not exist",
					e.N, p.Posting.ID, p.Seq, c.platform.Platform, side.Number)
			case side.Currency != e.Currency:
				c.report.addFinding(RuleCurrency, "entry %d of posting %s (number %d on %s) is in %s, but account %d, %s, is in %s",
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

// finish compares the last posting with the platform's clock, and finishes the check of the log.
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
		c.report.addFinding(RuleSequence, "%s has postings but no clock", c.platform.Platform)
	case !c.platform.HasClock: // only accounts, created for a first posting that was refused
	case c.platform.Seq > c.lastSeq:
		c.report.addFinding(RuleSequence, "%d postings are missing on %s after number %d", c.platform.Seq-c.lastSeq,
			c.platform.Platform, c.lastSeq)
	case c.platform.Seq < c.lastSeq:
		c.report.addFinding(RuleSequence, "the clock of %s is at number %d, but the last posting has number %d", c.platform.Platform,
			c.platform.Seq, c.lastSeq)
	}
	if c.platform.HasClock && c.platform.Recorded.Before(c.lastRecorded) {
		c.report.addFinding(RuleRecordedTime, "the clock of %s is at %s, before the last posting at %s",
			c.platform.Platform, c.platform.Recorded.Format(time.RFC3339Nano), c.lastRecorded.Format(time.RFC3339Nano))
	}
}

// checkReversals compares each reversal of a platform with the posting that it reverses.
func checkReversals(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) error {
	c := &reversalCheck{report: report, platform: platform}
	return view.Reversals(ctx, platform, c.check)
}

// reversalCheck checks the reversals of one platform, ordered by the posting they reverse.
type reversalCheck struct {
	report   *Report
	platform ident.Platform
	previous uuid.UUID // the posting that the last one reversed
}

func (c *reversalCheck) check(reversal, original ports.NumberedPosting, found bool) error {
	c.report.countChecked(RuleReversals)
	p := reversal.Posting
	switch {
	case !found:
		c.report.addFinding(RuleReversals, "posting %s on %s reverses %s, which does not exist or has no entries", p.ID, c.platform, p.Reverses)
	case p.Reverses == c.previous:
		c.report.addFinding(RuleReversals, "posting %s on %s reverses %s, which another posting reverses too", p.ID, c.platform, p.Reverses)
	case !p.IsReversalOf(original.Posting):
		c.report.addFinding(RuleReversals, "posting %s on %s does not mirror %s", p.ID, c.platform, p.Reverses)
	case reversal.Seq <= original.Seq:
		c.report.addFinding(RuleReversals, "posting %s on %s, number %d, reverses %s, which is later, with number %d",
			p.ID, c.platform, reversal.Seq, p.Reverses, original.Seq)
	}
	c.previous = p.Reverses
	return nil
}
