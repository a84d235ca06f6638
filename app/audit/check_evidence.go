package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// checkEvidence compares the sealed facts of all platforms with what is stored, in one snapshot.
func (c *run) checkEvidence(ctx context.Context) error {
	err := c.store.EvidenceSnapshot(ctx, func(ctx context.Context, view ports.EvidenceView) error {
		platforms, err := view.EvidencePlatforms(ctx)
		if err != nil {
			return err
		}
		platforms = slices.DeleteFunc(platforms, c.ofOthers)
		var options VerifyOptions
		if c.verify != nil {
			options = *c.verify
			if len(options.Keys) == 0 {
				if options.Keys, err = storedKeys(ctx, view.LogKeys); err != nil {
					return err
				}
			}
			for _, published := range options.Published {
				if published.Log == ledger.EvidenceLog && !slices.Contains(platforms, published.Platform) {
					platforms = append(platforms, published.Platform)
				}
			}
		}
		for _, p := range platforms {
			check := &evidenceCheck{report: c.report, platform: p, view: view,
				sealed: map[ledger.FactKind][]uint64{}, versions: map[ledger.FactKind]map[string]sealedVersion{}}
			if c.verify != nil {
				check.addLog(options)
			}
			if err := check.run(ctx, options.SealedBefore); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check evidence: %w", err)
	}
	return nil
}

// evidenceCheck checks the evidence of one platform.
type evidenceCheck struct {
	report   *Report
	platform ident.Platform
	view     ports.EvidenceView
	log      *checkpointCheck // nil unless the log is verified

	// sealed are the sealed facts of each queued kind, 8 bytes each: their decisions are few beside the payments.
	sealed map[ledger.FactKind][]uint64
	// versions are the last sealed versions of rows that change, by kind and subject.
	versions map[ledger.FactKind]map[string]sealedVersion
}

func (c *evidenceCheck) addLog(v VerifyOptions) {
	c.log = &checkpointCheck{report: c.report, platform: c.platform, names: evidenceNames, keys: v.Keys, ofCopy: v.OfCopy,
		tree: merkle.NewTree()}
	c.log.addStoredCheckpoints(RuleEvidenceCheckpoints, c.view.EvidenceCheckpoints)
	if published := platformCheckpoints(v.Published, ledger.EvidenceLog, c.platform); len(published) > 0 {
		c.log.addCheckpointList(RulePublishedEvidence, published)
	}
}

func (c *evidenceCheck) run(ctx context.Context, sealedBefore time.Time) error {
	kinds, versions := c.view.QueuedKinds()
	for _, kind := range kinds {
		c.sealed[kind] = nil
	}
	for _, kind := range versions {
		c.versions[kind] = map[string]sealedVersion{}
	}
	err := c.view.Leaves(ctx, c.platform, func(leaf ledger.EvidenceLeaf) error {
		if c.log != nil {
			if err := c.log.addLeaf(ctx, leaf); err != nil {
				return err
			}
		}
		return c.checkFacts(ctx, leaf)
	})
	if err != nil {
		return err
	}
	if err := c.findInserted(ctx, kinds); err != nil {
		return err
	}
	for _, kind := range versions {
		if err := c.checkVersions(ctx, kind); err != nil {
			return err
		}
	}
	err = c.view.SkippedPayments(ctx, c.platform, func(kind ledger.FactKind, subject string) error {
		c.report.addFinding(RuleEvidence, "the %s %s of %s has no evidence: its postings were marked as sealed, and it was not", kind,
			subject, c.platform)
		return nil
	})
	if err != nil {
		return err
	}
	err = c.view.UnmatchedWithoutReceipt(ctx, c.platform, func(posting uuid.UUID) error {
		c.report.addFinding(RuleEvidence, "the posting %s of %s is of unmatched funds, and has no receipt: they are missing from the list of "+
			"unmatched funds", posting, c.platform)
		return nil
	})
	if err != nil {
		return err
	}
	err = c.view.DanglingMatches(ctx, c.platform, func(what, id, without string) error {
		c.report.addFinding(RuleEvidence, "the %s %s of %s belongs to no %s: it was not recorded by the service", what, id, c.platform, without)
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.checkPayees(ctx); err != nil {
		return err
	}
	if c.log == nil {
		return nil
	}
	if err := c.finishLog(ctx); err != nil {
		return err
	}
	return c.checkSealedInTime(ctx, sealedBefore)
}

func (c *evidenceCheck) checkPayees(ctx context.Context) error {
	waiting, err := c.view.ChangedPayees(ctx, c.platform, func(t ident.Transaction) error {
		c.report.addFinding(RulePayees, "the payment %s of %s is not what was accepted: its payee or its amount was changed", t, c.platform)
		return nil
	})
	if err != nil {
		return err
	}
	c.report.rule(RulePayees).Checked += waiting
	compared, err := c.view.ChangedAccounts(ctx, c.platform, func(a ident.ExternalAccount, unreadable error) error {
		if unreadable != nil {
			c.report.addFinding(RuleAccounts, "the external account %s of %s has data that do not belong to its row: %v", a, c.platform, unreadable)
		} else {
			c.report.addFinding(RuleAccounts, "the external account %s of %s does not have the details that were registered", a, c.platform)
		}
		return nil
	})
	c.report.rule(RuleAccounts).Checked += compared
	return err
}

// addLeaf adds a leaf of evidence to the tree. Leaves come in the order of their numbers.
func (c *checkpointCheck) addLeaf(ctx context.Context, leaf ledger.EvidenceLeaf) error {
	if leaf.Seq != c.lastSeq+1 && c.firstMissing == 0 {
		c.firstMissing = c.lastSeq + 1
	}
	c.lastSeq = leaf.Seq
	if c.firstMissing == 0 {
		if err := c.tree.Add(merkle.LeafHash(leaf)); err != nil {
			return err
		}
		if c.tree.Size()%leavesPerFlush == 0 {
			if _, _, err := c.tree.Flush(); err != nil {
				return err
			}
		}
	}
	return c.checkUpTo(ctx, leaf.Seq)
}

// checkFacts compares the facts of a leaf with what is stored now.
func (c *evidenceCheck) checkFacts(ctx context.Context, leaf ledger.EvidenceLeaf) error {
	subjects := map[ledger.FactKind][]string{}
	var kinds []ledger.FactKind
	for _, f := range leaf.Facts {
		if versions, changing := c.versions[f.Kind]; changing {
			versions[f.Subject] = sealedVersion{f, leaf.Sealed}
			continue
		}
		if len(subjects[f.Kind]) == 0 {
			kinds = append(kinds, f.Kind)
		}
		subjects[f.Kind] = append(subjects[f.Kind], f.Subject)
		if sealed, queued := c.sealed[f.Kind]; queued {
			c.sealed[f.Kind] = append(sealed, subjectKey(f.Subject))
		}
	}
	stored := map[ledger.FactKind]map[string]ports.StoredFact{}
	for _, kind := range kinds {
		var err error
		if stored[kind], err = c.view.Facts(ctx, c.platform, kind, subjects[kind]); err != nil {
			return err
		}
	}
	for _, f := range leaf.Facts {
		if _, changing := c.versions[f.Kind]; !changing {
			c.compare(leaf.Sealed, f, stored[f.Kind])
		}
	}
	return nil
}

func (c *evidenceCheck) compare(at time.Time, sealed ledger.Fact, stored map[string]ports.StoredFact) {
	now, exists := stored[sealed.Subject]
	if now.NoKey {
		c.report.EncryptedTexts++
		return
	}
	c.report.countChecked(RuleEvidence)
	switch {
	case !exists && sealed.Kind == ledger.FactTexts: // the finding is that its transaction is missing
	case !exists:
		c.report.addFinding(RuleEvidence, "the %s %s of %s, sealed at %s, is missing", sealed.Kind, sealed.Subject, c.platform,
			at.Format(time.RFC3339))
	case now.Unreadable != nil:
		c.report.addFinding(RuleEvidence, "the texts of the transaction %s of %s cannot be decrypted: %v", sealed.Subject,
			c.platform, now.Unreadable)
	case now.Hash == sealed.Hash:
	case now.Erased && now.OfDeleted:
		c.report.countChecked(RuleErasedTexts)
	case now.Erased:
		c.report.countChecked(RuleErasedTexts)
		c.report.addFinding(RuleErasedTexts, "the texts of the transaction %s of %s are removed, and its customer is not deleted",
			sealed.Subject, c.platform)
	default:
		differing := strings.Join(sealed.Differences(now.Fact, now.Names), ", ")
		if differing == "" {
			differing = "its evidence" // the stored hash was changed, or a value that has the same hint
		}
		c.report.addFinding(RuleEvidence, "the %s %s of %s is not what was sealed at %s: %s was changed", sealed.Kind, sealed.Subject, c.platform,
			at.Format(time.RFC3339), differing)
	}
}

// subjectKey shortens a subject to 8 bytes that nobody can choose.
func subjectKey(subject string) uint64 {
	hash := sha256.Sum256([]byte(subject))
	return binary.BigEndian.Uint64(hash[:8])
}

// findInserted reports the facts of queued kinds that are neither sealed nor queued: the service did not record them.
func (c *evidenceCheck) findInserted(ctx context.Context, kinds []ledger.FactKind) error {
	for _, kind := range kinds {
		sealed := c.sealed[kind]
		slices.Sort(sealed)
		err := c.view.Subjects(ctx, c.platform, kind, func(subject string, queued bool) error {
			if _, found := slices.BinarySearch(sealed, subjectKey(subject)); !found && !queued {
				c.report.addFinding(RuleEvidence, "the %s %s of %s has no evidence: it was not recorded by the service", kind, subject, c.platform)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finishLog compares the tree with the stored state of the log, and reports the checkpoints of missing leaves.
func (c *evidenceCheck) finishLog(ctx context.Context) error {
	size, edge, err := c.view.EvidenceLog(ctx, c.platform)
	if err != nil {
		return err
	}
	for _, s := range c.log.sources {
		if err := c.log.reportTruncation(ctx, s); err != nil {
			return err
		}
	}
	switch {
	case c.log.stored.lastSize != size:
		c.report.addFinding(RuleEvidenceCheckpoints, "the log of evidence of %s has size %d, but its last checkpoint has size %d", c.platform,
			size, c.log.stored.lastSize)
	case c.log.lastSeq != size || c.log.firstMissing > 0:
		c.report.addFinding(RuleEvidenceCheckpoints, "the log of evidence of %s has size %d, but not as many leaves: the last one has number %d",
			c.platform, size, c.log.lastSeq)
	default:
		_, computed, err := c.log.tree.Flush()
		if err != nil {
			return err
		}
		if !bytes.Equal(computed, edge) {
			c.report.addFinding(RuleEvidenceCheckpoints, "the log of evidence of %s has wrong hashes in its partial tiles", c.platform)
		}
	}
	return nil
}

// checkSealedInTime reports facts that are not sealed, if they should be.
func (c *evidenceCheck) checkSealedInTime(ctx context.Context, before time.Time) error {
	if before.IsZero() {
		return nil
	}
	count, since, err := c.view.Unsealed(ctx, c.platform)
	if err != nil {
		return err
	}
	c.report.rule(RuleEvidenceInTime).Checked += count
	if count > 0 && since.Before(before) {
		c.report.addFinding(RuleEvidenceInTime, "%d facts or postings of %s are not sealed in the log of evidence, the oldest since %s", count,
			c.platform, since.Format(time.RFC3339))
	}
	return nil
}
