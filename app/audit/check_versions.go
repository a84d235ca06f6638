package audit

import (
	"context"
	"maps"
	"slices"
	"time"

	"causeway/ledger"
)

// sealedVersion is a version of a row that changes, as it was sealed.
type sealedVersion struct {
	ledger.Fact
	sealed time.Time
}

// versionsPerRead is the number of rows that are compared at once.
const versionsPerRead = 1000

// checkVersions compares the rows of a kind with the last versions that were sealed of them. A version that is still queued
// is that of the service, and is compared when it is sealed. The last version of a row that the service deleted is empty.
func (c *evidenceCheck) checkVersions(ctx context.Context, kind ledger.FactKind) error {
	last := c.versions[kind]
	queued, err := c.view.QueuedSubjects(ctx, c.platform, kind)
	if err != nil {
		return err
	}
	var batch []string
	compare := func() error {
		stored, err := c.view.Facts(ctx, c.platform, kind, batch)
		for _, subject := range batch {
			version := last[subject]
			c.compare(version.sealed, version.Fact, stored)
			delete(last, subject)
		}
		batch = batch[:0]
		return err
	}
	err = c.view.Subjects(ctx, c.platform, kind, func(subject string, isQueued bool) error {
		version, sealed := last[subject]
		switch {
		case isQueued:
			delete(last, subject)
			return nil
		case !sealed, c.isDeletion(version.Fact):
			c.report.addFinding(RuleEvidence, "the %s %s of %s has no evidence: it was not recorded by the service", kind, subject, c.platform)
			delete(last, subject)
			return nil
		}
		if batch = append(batch, subject); len(batch) < versionsPerRead {
			return nil
		}
		return compare()
	})
	if err == nil {
		err = compare()
	}
	if err != nil {
		return err
	}
	for _, subject := range slices.Sorted(maps.Keys(last)) {
		if version := last[subject]; !queued[subject] && !c.isDeletion(version.Fact) {
			c.compare(version.sealed, version.Fact, nil)
		}
	}
	return nil
}

// isDeletion reports whether a version was sealed of a row that no longer existed.
func (c *evidenceCheck) isDeletion(f ledger.Fact) bool {
	return f.Hash == ledger.NewFact(c.platform, f.Kind, f.Subject, nil).Hash
}
