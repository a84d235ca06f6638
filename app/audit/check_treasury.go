package audit

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// reportsPerRead is how many reports the check has in memory.
const reportsPerRead = 100

// treasuryCheck compares the reports and movements of one platform with its postings, which it receives in the
// order of their numbers. It is nil if they are not checked.
type treasuryCheck struct {
	source   TreasuryAudit
	report   *Report
	platform ident.Platform

	replay  *safeguarding.Replay
	reports []ports.KeptReport // the next ones
	read    int
	allRead bool
	lastSeq int64
	digest  [32]byte // of the last posting

	movements map[uuid.UUID]treasury.Movement // by their postings
	seen      map[uuid.UUID]ledger.Posting    // of movements
	recorded  time.Time                       // of the last posting
}

func (c *run) newTreasuryCheck(ctx context.Context, platform ident.Platform) (*treasuryCheck, error) {
	t := &treasuryCheck{source: c.store, report: c.report, platform: platform, replay: safeguarding.NewReplay(),
		movements: map[uuid.UUID]treasury.Movement{}, seen: map[uuid.UUID]ledger.Posting{}}
	movements, err := c.store.AuditedMovements(ctx, platform)
	for _, m := range movements {
		t.movements[m.Posting] = m
		if m.Arrival != nil {
			t.movements[m.Arrival.Posting] = m
		}
	}
	return t, err
}

// posting checks the reports that were made before a posting, and then the posting.
func (t *treasuryCheck) posting(ctx context.Context, a ports.AuditPosting) error {
	if !a.Found {
		return nil
	}
	if err := t.checkReports(ctx, a.Seq); err != nil {
		return err
	}
	posting := a.WithEntries()
	// RuleWellFormed has a finding for a posting that cannot be added.
	if t.replay.Add(posting) == nil {
		t.lastSeq, t.digest, t.recorded = a.Seq, posting.Digest(), a.Recorded
		t.checkMovement(a.Seq, posting)
	}
	return nil
}

// next returns the next report, or nil if there is none.
func (t *treasuryCheck) next(ctx context.Context) (*ports.KeptReport, error) {
	if len(t.reports) == 0 && !t.allRead {
		var err error
		if t.reports, err = t.source.AuditedReports(ctx, t.platform, t.read, reportsPerRead); err != nil {
			return nil, err
		}
		t.read += len(t.reports)
		t.allRead = len(t.reports) < reportsPerRead
	}
	if len(t.reports) == 0 {
		return nil, nil
	}
	return &t.reports[0], nil
}

// checkReports checks the reports that were made before the posting with a number.
func (t *treasuryCheck) checkReports(ctx context.Context, before int64) error {
	for {
		r, err := t.next(ctx)
		if err != nil || r == nil || r.Seq >= before {
			return err
		}
		t.reports = t.reports[1:]
		t.checkReport(*r)
	}
}

func (t *treasuryCheck) checkReport(r ports.KeptReport) {
	t.report.countChecked(RuleSafeguarding)
	finding := func(format string, args ...any) {
		t.report.addFinding(RuleSafeguarding, "the report of %s, version %d, on %s "+format,
			append([]any{r.Day, r.Version, t.platform}, args...)...)
	}
	if digest := r.Report.Digest(); !bytes.Equal(digest[:], r.Digest) {
		finding("has been changed")
		return
	}
	if r.Seq != t.lastSeq || r.Seq > 0 && !bytes.Equal(r.PostingDigest, t.digest[:]) {
		finding("was made at posting number %d, which has been changed or is missing", r.Seq)
		return
	}
	if line, want, found := t.replay.Mismatch(r.Report); found {
		finding("has %s of %s for %s; the postings up to number %d come to %s", line.Amount, line.Currency, line.Path, r.Seq, want)
	}
	if line, want, found := t.replay.ManualMismatch(r.Report); found {
		finding("says that %s of %s were posted by hand to %s since %s; the adjustments up to number %d come to %s", line.Manual, line.Currency,
			line.Path, line.ManualSince, r.Seq, want)
	}
	if line, found := r.UnconfirmedLine(); found {
		finding("says that a statement of the day confirms %s in %s, and has none", line.Path, line.Currency)
	}
	for _, f := range r.Figures {
		if !f.Explained() {
			finding("has a difference in %s of %s, and own funds of %s", f.Currency, f.Difference(), f.OwnFunds)
		}
	}
}

// checkMovement compares a posting of the treasury with its movement.
func (t *treasuryCheck) checkMovement(seq int64, p ledger.Posting) {
	m, found := t.movements[p.ID]
	isTreasury := p.Kind == ledger.KindSweep || p.Kind == ledger.KindTreasuryTransfer || p.Kind == ledger.KindFXSettlement
	if !found && !isTreasury {
		return
	}
	t.report.countChecked(RuleTreasury)
	t.seen[p.ID] = p
	switch {
	case !found:
		t.report.addFinding(RuleTreasury, "posting %s (%s, number %d on %s) belongs to no movement", p.ID, p.Kind, seq, t.platform)
	case m.Posting == p.ID && !m.IsPostedBy(p):
		t.report.addFinding(RuleTreasury, "posting %s (number %d on %s) is not what movement %s says", p.ID, seq, t.platform, m.ID)
	case m.Posting != p.ID && !t.isArrival(m, p):
		t.report.addFinding(RuleTreasury, "posting %s (number %d on %s) is not the arrival of movement %s", p.ID, seq, t.platform, m.ID)
	}
}

// isArrival reports whether a posting is that of the arrival of a movement.
func (t *treasuryCheck) isArrival(m treasury.Movement, p ledger.Posting) bool {
	sent, posted := t.seen[m.Posting]
	return posted && m.Arrival != nil && len(sent.Entries) == 1 && m.ArrivalPosting(*m.Arrival, sent).IsRepeatOf(p)
}

// postedAfter is the time in which a movement and its posting are surely in the same snapshot.
const postedAfter = 10 * time.Minute

// finish checks the last reports, and that every movement was posted.
func (t *treasuryCheck) finish(ctx context.Context) error {
	// Reports that were made after the snapshot are left to the next check.
	if err := t.checkReports(ctx, t.lastSeq+1); err != nil {
		return err
	}
	for posting, m := range t.movements {
		if _, posted := t.seen[posting]; !posted && m.At.Before(t.recorded.Add(-postedAfter)) {
			t.report.addFinding(RuleTreasury, "movement %s on %s has the posting %s, which does not exist", m.ID, t.platform, posting)
		}
	}
	return nil
}
