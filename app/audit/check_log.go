package audit

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// logCheck computes the log of one platform anew from its postings, and compares it with the
// stored hashes and with checkpoints.
type logCheck struct {
	checkpointCheck
	log          *storedLog // nil for an export
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
		if c.log != nil {
			c.report.addFinding(RuleSealed, "posting %s (%s) on %s has number %d, which was sealed with another posting", posting.ID,
				posting.Kind, c.platform, a.Seq)
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
	if c.log == nil || c.sealedBefore.IsZero() || leaf.Seq <= c.log.size {
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
	if c.log == nil || from > c.log.size {
		return
	}
	to = min(to, c.log.size)
	c.report.addFinding(RuleSealed, "%d sealed postings are missing on %s: number %d to %d", to-from+1, c.platform, from, to)
}

// compareLeaf compares the hash of a leaf with the stored one.
func (c *logCheck) compareLeaf(ctx context.Context, leaf ledger.Leaf, hash merkle.Hash, why string, near []ledger.Leaf) error {
	if c.log == nil || leaf.Seq > c.log.size {
		return nil
	}
	want, ok, err := c.log.leaf(ctx, leaf.Seq)
	if err != nil {
		return err
	}
	c.report.countChecked(RuleSealed)
	switch {
	case !ok:
		c.leafMismatch = true
		if c.log.markTileMissing() {
			c.report.addFinding(RuleSealed, "the log of %s has no hashes around number %d", c.platform, leaf.Seq)
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
	if err != nil || c.log == nil || c.leafMismatch {
		return err
	}
	return c.compareUpperTiles(ctx, full)
}

func (c *logCheck) compareUpperTiles(ctx context.Context, full []ports.LogTile) error {
	var computed []ports.LogTile
	var indexes []ports.TileIndex
	for _, t := range full {
		if t.Level > 0 && (t.N+1)<<(8*(t.Level+1)) <= c.log.size {
			computed, indexes = append(computed, t), append(indexes, t.TileIndex)
		}
	}
	if len(computed) == 0 {
		return nil
	}
	stored, err := c.log.view.LogTiles(ctx, c.platform, indexes)
	for i, t := range computed {
		if err == nil && !bytes.Equal(stored[i], t.Hashes) {
			c.report.addFinding(RuleSealed, "the log of %s has wrong hashes in tile %d of level %d", c.platform, t.N, t.Level)
		}
	}
	return err
}

// addClosingCheckpoints adds the checkpoints that were recorded with closed months.
func (c *logCheck) addClosingCheckpoints(ctx context.Context, view ports.AuditView) error {
	closings, err := view.ClosingCheckpoints(ctx, c.platform)
	if err != nil {
		return err
	}
	var list []PublishedCheckpoint
	for _, closing := range closings {
		where := fmt.Sprintf("recorded with the closing of %s", closing.Month)
		found, err := ReadCheckpoints(where, strings.NewReader(closing.Checkpoint))
		if err != nil || len(found) != 1 || found[0].Platform != c.platform {
			c.report.addFinding(RuleSignedCheckpoints, "what was %s on %s is not a signed checkpoint of its log", where, c.platform)
			continue
		}
		found[0].Location = where
		list = append(list, found...)
	}
	c.addCheckpointList(RuleSignedCheckpoints, platformCheckpoints(list, ledger.PostingLog, c.platform))
	return nil
}

// clearSuspects reports the stored hashes of all suspects as changed: a signed checkpoint
// matches the postings as they are.
func (c *logCheck) clearSuspects(p PublishedCheckpoint) {
	for _, s := range c.suspects {
		c.report.addFinding(RuleSealed, "the log's hash of posting number %d on %s has been changed; the posting matches the checkpoint of "+
			"size %d",
			s.leaf.Seq, c.platform, p.Size)
	}
	c.suspects = nil
}

// finish reports what can only be seen after the last posting.
func (c *logCheck) finish(ctx context.Context, explain *explainer) error {
	if c.log != nil {
		if missing := c.log.size - c.lastSeq; missing > 0 {
			c.report.addFinding(RuleSealed, "the newest %d postings are missing on %s: the log has %d, and the last one in the ledger has number %d",
				missing, c.platform, c.log.size, c.lastSeq)
		}
		if err := c.compareEdge(); err != nil {
			return err
		}
		if c.late > 0 {
			c.report.addFinding(RuleSealedInTime, "%d postings of %s are not sealed, %d of them for longer than allowed; the first is number %d, "+
				"recorded at %s",
				c.unsealed, c.platform, c.late, c.firstLate.Seq, c.firstLate.Recorded.Format(time.RFC3339))
		}
	}
	for _, s := range c.sources {
		if err := c.reportTruncation(ctx, s); err != nil {
			return err
		}
	}
	if c.log != nil && c.stored.lastSize != c.log.size {
		c.report.addFinding(RuleSignedCheckpoints, "the log of %s has size %d, but its last checkpoint has size %d", c.platform,
			c.log.size, c.stored.lastSize)
	}
	for _, s := range c.suspects {
		c.report.addFinding(RuleSealed, "posting %s (%s, number %d on %s) is not what was sealed: %s",
			s.leaf.ID, s.leaf.Kind, s.leaf.Seq, c.platform, explain.explainSuspect(s, c.suspects))
	}
	return nil
}

// compareEdge compares the stored edge with the tree, if the tree has the same size.
func (c *logCheck) compareEdge() error {
	if c.firstMissing > 0 || c.leafMismatch || c.tree.Size() != c.log.size {
		return nil
	}
	_, edge, err := c.tree.Flush()
	if err == nil && !bytes.Equal(edge, c.log.edge) {
		c.report.addFinding(RuleSealed, "the log of %s has wrong hashes in its partial tiles", c.platform)
	}
	return err
}

func newLogCheck(report *Report, p ident.Platform, keys logKeys) *logCheck {
	c := &logCheck{checkpointCheck: checkpointCheck{report: report, platform: p, names: postingNames, keys: keys, tree: merkle.NewTree()}}
	c.matched = c.clearSuspects
	return c
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
