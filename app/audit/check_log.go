package audit

import (
	"bytes"
	"context"

	"causeway/app/audit/merkle"
	"causeway/ledger"
	"causeway/ports"
)

// logCheck makes the log of one platform again, from its postings as they come by, and
// holds it against the hashes that were stored and the heads that were signed.
type logCheck struct {
	report   *Report
	platform ports.AuditPlatform
	stored   *storedLog // nil where there is none to compare with
	keys     logKeys    // nil: signatures are not verified
	sources  []*checkpointSource

	tree    *merkle.Tree
	lastSeq int64 // the number that came by last
	// firstMissing is the first number that the tree cannot be made for; 0 while it can.
	firstMissing int64
	suspects     []suspect
	leafMismatch bool // a leaf did
}

const leavesPerFlush = 4_096

// addPosting takes a posting in the order of numbers.
func (c *logCheck) addPosting(ctx context.Context, a ports.AuditPosting, posting ledger.Posting, why string, near []ledger.Leaf) error {
	if a.Seq <= c.lastSeq { // below the first number, or a number that is there twice
		if c.stored != nil {
			c.report.addFinding(RuleSealed, "posting %s (%s) on %s has number %d, under which it was never sealed", posting.ID, posting.Kind, c.platform.Platform, a.Seq)
		}
		return nil
	}
	if a.Seq != c.lastSeq+1 {
		c.markMissing(c.lastSeq + 1)
		if err := c.checkUpTo(ctx, a.Seq-1); err != nil {
			return err
		}
		c.reportMissing(c.lastSeq+1, a.Seq-1)
	}
	c.lastSeq = a.Seq
	leaf := ledger.Leaf{Posting: posting, Seq: a.Seq, Recorded: a.Recorded}
	hash := merkle.LeafHash(leaf)
	if err := c.compareLeaf(ctx, leaf, hash, why, near); err != nil {
		return err
	}
	if c.firstMissing == 0 {
		if err := c.tree.Add(hash); err != nil {
			return err
		}
		if c.tree.Size()%leavesPerFlush == 0 {
			if err := c.flushTree(ctx); err != nil {
				return err
			}
		}
	}
	return c.checkUpTo(ctx, a.Seq)
}

func (c *logCheck) markMissing(at int64) {
	if c.firstMissing == 0 {
		c.firstMissing = at
	}
}

// reportMissing reports sealed numbers that no posting has.
func (c *logCheck) reportMissing(from, to int64) {
	if c.stored == nil || from > c.stored.size {
		return
	}
	to = min(to, c.stored.size)
	c.report.addFinding(RuleSealed, "%d postings are missing on %s that were sealed: number %d to %d", to-from+1, c.platform.Platform, from, to)
}

// compareLeaf holds a leaf against the hash that was stored of it.
func (c *logCheck) compareLeaf(ctx context.Context, leaf ledger.Leaf, hash merkle.Hash, why string, near []ledger.Leaf) error {
	if c.stored == nil || leaf.Seq > c.stored.size {
		return nil
	}
	want, ok, err := c.stored.leaf(ctx, leaf.Seq)
	if err != nil {
		return err
	}
	c.report.countChecked(RuleSealed)
	switch {
	case !ok:
		c.leafMismatch = true
		if c.stored.markTileMissing() {
			c.report.addFinding(RuleSealed, "the log of %s has lost its hashes around number %d", c.platform.Platform, leaf.Seq)
		}
	case want != hash:
		c.leafMismatch = true
		if len(c.suspects) < MaxFindings {
			c.suspects = append(c.suspects, suspect{leaf, want, why, near})
		} else {
			c.report.countViolation(RuleSealed)
		}
	}
	return nil
}

// flushTree forgets leaves, and holds the upper levels of the tree against what was stored.
func (c *logCheck) flushTree(ctx context.Context) error {
	full, _, err := c.tree.Flush()
	if err != nil || c.stored == nil || c.leafMismatch {
		return err
	}
	return c.compareUpperTiles(ctx, full)
}

func (c *logCheck) compareUpperTiles(ctx context.Context, full []ports.LogTile) error {
	var made []ports.LogTile
	var places []ports.TileIndex
	for _, t := range full {
		if t.Level > 0 && (t.N+1)<<(8*(t.Level+1)) <= c.stored.size {
			made, places = append(made, t), append(places, t.TileIndex)
		}
	}
	if len(made) == 0 {
		return nil
	}
	kept, err := c.stored.view.LogTiles(ctx, c.platform.Platform, places)
	for i, t := range made {
		if err == nil && !bytes.Equal(kept[i], t.Hashes) {
			c.report.addFinding(RuleSealed, "the log of %s has wrong hashes at level %d, place %d", c.platform.Platform, t.Level, t.N)
		}
	}
	return err
}

// finish reports what only shows when all postings have come by.
func (c *logCheck) finish(ctx context.Context, explain *explainer) error {
	if c.stored != nil {
		if missing := c.stored.size - c.lastSeq; missing > 0 {
			c.report.addFinding(RuleSealed, "the newest %d postings are missing on %s: the log says %d were sealed, and the last one that is there has number %d",
				missing, c.platform.Platform, c.stored.size, c.lastSeq)
		}
		if err := c.compareEdge(); err != nil {
			return err
		}
	}
	for _, s := range c.sources {
		if err := c.reportTruncation(ctx, s); err != nil {
			return err
		}
	}
	if c.stored != nil && c.sources[0].lastSize != c.stored.size {
		c.report.addFinding(RuleSignedCheckpoints, "the log of %s is at size %d and its last head at size %d", c.platform.Platform, c.stored.size, c.sources[0].lastSize)
	}
	for _, s := range c.suspects {
		c.report.addFinding(RuleSealed, "posting %s (%s, number %d on %s) is not what was sealed: %s",
			s.leaf.ID, s.leaf.Kind, s.leaf.Seq, c.platform.Platform, explain.explainSuspect(s, c.suspects))
	}
	return nil
}

// compareEdge holds the stored edge against the tree, if it has just come to the same size.
func (c *logCheck) compareEdge() error {
	if c.firstMissing > 0 || c.leafMismatch || c.tree.Size() != c.stored.size {
		return nil
	}
	_, edge, err := c.tree.Flush()
	if err == nil && !bytes.Equal(edge, c.stored.edge) {
		c.report.addFinding(RuleSealed, "the log of %s has wrong hashes at its edge", c.platform.Platform)
	}
	return err
}

func newLogCheck(report *Report, p ports.AuditPlatform, keys logKeys) *logCheck {
	return &logCheck{report: report, platform: p, keys: keys, tree: merkle.NewTree()}
}
