package audit

import (
	"bytes"
	"context"
	"time"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// logCheck computes the log of one platform anew from its postings, and compares it with the
// stored hashes and with checkpoints.
type logCheck struct {
	report   *Report
	platform ports.AuditPlatform
	stored   *storedLog // nil for an export
	keys     logKeys    // nil if signatures are not verified
	sources  []*checkpointSource

	tree    *merkle.Tree
	lastSeq int64 // number of the last posting
	// firstMissing is the number of the first missing posting, from which on the tree cannot be
	// computed; 0 if none.
	firstMissing int64
	suspects     []suspect
	leafMismatch bool // a leaf differs from its stored hash

	sealedBefore time.Time // when every posting must be sealed; zero if that is not checked
	// unsealed counts the postings that the log does not have yet; late are those of them that it should have,
	// and firstLate is the first.
	unsealed, late int64
	firstLate      ledger.Leaf
}

const leavesPerFlush = 4_096

// addPosting adds a posting to the tree. Postings come in the order of their numbers.
func (c *logCheck) addPosting(ctx context.Context, a ports.AuditPosting, posting ledger.Posting, why string, near []ledger.Leaf) error {
	if a.Seq <= c.lastSeq { // below 1, or a duplicate
		if c.stored != nil {
			c.report.addFinding(RuleSealed, "posting %s (%s) on %s has number %d, which was sealed with another posting", posting.ID, posting.Kind, c.platform.Platform, a.Seq)
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
	c.countUnsealed(leaf)
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

// countUnsealed counts a posting that the log does not have yet.
func (c *logCheck) countUnsealed(leaf ledger.Leaf) {
	if c.stored == nil || c.sealedBefore.IsZero() || leaf.Seq <= c.stored.size {
		return
	}
	c.report.countChecked(RuleSealedInTime)
	if c.unsealed++; leaf.Recorded.Before(c.sealedBefore) {
		if c.late++; c.late == 1 {
			c.firstLate = leaf
		}
	}
}

func (c *logCheck) markMissing(seq int64) {
	if c.firstMissing == 0 {
		c.firstMissing = seq
	}
}

// reportMissing reports sealed postings that are missing.
func (c *logCheck) reportMissing(from, to int64) {
	if c.stored == nil || from > c.stored.size {
		return
	}
	to = min(to, c.stored.size)
	c.report.addFinding(RuleSealed, "%d sealed postings are missing on %s: number %d to %d", to-from+1, c.platform.Platform, from, to)
}

// compareLeaf compares the hash of a leaf with the stored one.
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
			c.report.addFinding(RuleSealed, "the log of %s has no hashes around number %d", c.platform.Platform, leaf.Seq)
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

// flushTree releases leaves, and compares the upper levels of the tree with the stored ones.
func (c *logCheck) flushTree(ctx context.Context) error {
	full, _, err := c.tree.Flush()
	if err != nil || c.stored == nil || c.leafMismatch {
		return err
	}
	return c.compareUpperTiles(ctx, full)
}

func (c *logCheck) compareUpperTiles(ctx context.Context, full []ports.LogTile) error {
	var computed []ports.LogTile
	var indexes []ports.TileIndex
	for _, t := range full {
		if t.Level > 0 && (t.N+1)<<(8*(t.Level+1)) <= c.stored.size {
			computed, indexes = append(computed, t), append(indexes, t.TileIndex)
		}
	}
	if len(computed) == 0 {
		return nil
	}
	stored, err := c.stored.view.LogTiles(ctx, c.platform.Platform, indexes)
	for i, t := range computed {
		if err == nil && !bytes.Equal(stored[i], t.Hashes) {
			c.report.addFinding(RuleSealed, "the log of %s has wrong hashes in tile %d of level %d", c.platform.Platform, t.N, t.Level)
		}
	}
	return err
}

// finish reports what can only be seen after the last posting.
func (c *logCheck) finish(ctx context.Context, explain *explainer) error {
	if c.stored != nil {
		if missing := c.stored.size - c.lastSeq; missing > 0 {
			c.report.addFinding(RuleSealed, "the newest %d postings are missing on %s: the log has %d, and the last one in the ledger has number %d",
				missing, c.platform.Platform, c.stored.size, c.lastSeq)
		}
		if err := c.compareEdge(); err != nil {
			return err
		}
		if c.late > 0 {
			c.report.addFinding(RuleSealedInTime, "%d postings of %s are not sealed, %d of them for longer than allowed; the first is number %d, recorded at %s",
				c.unsealed, c.platform.Platform, c.late, c.firstLate.Seq, c.firstLate.Recorded.Format(time.RFC3339))
		}
	}
	for _, s := range c.sources {
		if err := c.reportTruncation(ctx, s); err != nil {
			return err
		}
	}
	if c.stored != nil && c.sources[0].lastSize != c.stored.size {
		c.report.addFinding(RuleSignedCheckpoints, "the log of %s has size %d, but its last checkpoint has size %d", c.platform.Platform, c.stored.size, c.sources[0].lastSize)
	}
	for _, s := range c.suspects {
		c.report.addFinding(RuleSealed, "posting %s (%s, number %d on %s) is not what was sealed: %s",
			s.leaf.ID, s.leaf.Kind, s.leaf.Seq, c.platform.Platform, explain.explainSuspect(s, c.suspects))
	}
	return nil
}

// compareEdge compares the stored edge with the tree, if the tree has the same size.
func (c *logCheck) compareEdge() error {
	if c.firstMissing > 0 || c.leafMismatch || c.tree.Size() != c.stored.size {
		return nil
	}
	_, edge, err := c.tree.Flush()
	if err == nil && !bytes.Equal(edge, c.stored.edge) {
		c.report.addFinding(RuleSealed, "the log of %s has wrong hashes in its partial tiles", c.platform.Platform)
	}
	return err
}

func newLogCheck(report *Report, p ports.AuditPlatform, keys logKeys) *logCheck {
	return &logCheck{report: report, platform: p, keys: keys, tree: merkle.NewTree()}
}

// storedLog reads the stored leaf hashes of a log in order.
type storedLog struct {
	view     ports.AuditView
	platform ident.Platform
	size     int64
	edge     []byte

	loadedTiles     [][]byte // from firstTile on
	firstTile       int64
	missingReported bool // of the current tile
}

// tilesPerRead is how many tiles of leaves are read at once, 8 KiB each.
const tilesPerRead = 16

func openStoredLog(ctx context.Context, view ports.AuditView, p ident.Platform) (*storedLog, error) {
	size, edge, err := view.Log(ctx, p)
	return &storedLog{view: view, platform: p, size: size, edge: edge, firstTile: -1}, err
}

// leaf returns the stored hash of a number, or false if it is missing.
func (s *storedLog) leaf(ctx context.Context, seq int64) (hash merkle.Hash, ok bool, err error) {
	n, offset := (seq-1)/merkle.TileWidth, (seq-1)%merkle.TileWidth*merkle.HashSize
	tile := s.edge
	if full := s.size / merkle.TileWidth; n < full {
		if s.firstTile < 0 || n < s.firstTile || n >= s.firstTile+int64(len(s.loadedTiles)) {
			if err := s.loadTiles(ctx, n, min(full-n, tilesPerRead)); err != nil {
				return hash, false, err
			}
		}
		tile = s.loadedTiles[n-s.firstTile]
	}
	if offset == 0 {
		s.missingReported = false
	}
	if offset+merkle.HashSize > int64(len(tile)) {
		return hash, false, nil
	}
	copy(hash[:], tile[offset:])
	return hash, true, nil
}

func (s *storedLog) loadTiles(ctx context.Context, first, n int64) (err error) {
	indexes := make([]ports.TileIndex, n)
	for i := range indexes {
		indexes[i].N = first + int64(i)
	}
	s.firstTile = first
	s.loadedTiles, err = s.view.LogTiles(ctx, s.platform, indexes)
	return err
}

// markTileMissing reports whether the current tile was not yet marked as missing.
func (s *storedLog) markTileMissing() bool {
	before := s.missingReported
	s.missingReported = true
	return !before
}
