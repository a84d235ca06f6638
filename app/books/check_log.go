package books

import (
	"bytes"
	"context"

	"causeway/app/merkle"
	"causeway/ledger"
	"causeway/ports"
)

// logCheck makes the log of one platform again, from its postings as they come by, and
// holds it against the hashes that were stored and the heads that were signed.
type logCheck struct {
	report   *Report
	platform ports.AuditPlatform
	stored   *storedLog // nil where there is none to compare with
	keys     sealKeys   // nil: signatures are not verified
	sources  []*headSource

	tree *merkle.Tree
	last int64 // the number that came by last
	// lost is the first number that the tree cannot be made for; 0 while it can.
	lost     int64
	suspects []suspect
	differs  bool // a leaf did
}

const logPiece = 4_096

// add takes a posting in the order of numbers.
func (c *logCheck) add(ctx context.Context, a ports.AuditPosting, posting ledger.Posting, why string, near []ledger.Leaf) error {
	if a.Seq <= c.last { // below the first number, or a number that is there twice
		if c.stored != nil {
			c.report.broken(RuleSealed, "posting %s (%s) on %s has number %d, under which it was never sealed", posting.ID, posting.Kind, c.platform.Platform, a.Seq)
		}
		return nil
	}
	if a.Seq != c.last+1 {
		c.lose(c.last + 1)
		if err := c.judge(ctx, a.Seq-1); err != nil {
			return err
		}
		c.gone(c.last+1, a.Seq-1)
	}
	c.last = a.Seq
	leaf := ledger.Leaf{Posting: posting, Seq: a.Seq, Recorded: a.Recorded}
	hash := merkle.LeafHash(leaf)
	if err := c.compare(ctx, leaf, hash, why, near); err != nil {
		return err
	}
	if c.lost == 0 {
		if err := c.tree.Add(hash); err != nil {
			return err
		}
		if c.tree.Size()%logPiece == 0 {
			if err := c.cut(ctx); err != nil {
				return err
			}
		}
	}
	return c.judge(ctx, a.Seq)
}

func (c *logCheck) lose(at int64) {
	if c.lost == 0 {
		c.lost = at
	}
}

// gone reports sealed numbers that no posting has.
func (c *logCheck) gone(from, to int64) {
	if c.stored == nil || from > c.stored.size {
		return
	}
	to = min(to, c.stored.size)
	c.report.broken(RuleSealed, "%d postings are missing on %s that were sealed: number %d to %d", to-from+1, c.platform.Platform, from, to)
}

// compare holds a leaf against the hash that was stored of it.
func (c *logCheck) compare(ctx context.Context, leaf ledger.Leaf, hash merkle.Hash, why string, near []ledger.Leaf) error {
	if c.stored == nil || leaf.Seq > c.stored.size {
		return nil
	}
	want, ok, err := c.stored.leaf(ctx, leaf.Seq)
	if err != nil {
		return err
	}
	c.report.checked(RuleSealed)
	switch {
	case !ok:
		c.differs = true
		if c.stored.newlyMissing() {
			c.report.broken(RuleSealed, "the log of %s has lost its hashes around number %d", c.platform.Platform, leaf.Seq)
		}
	case want != hash:
		c.differs = true
		if len(c.suspects) < MaxFindings {
			c.suspects = append(c.suspects, suspect{leaf, want, why, near})
		} else {
			c.report.brokenToo(RuleSealed)
		}
	}
	return nil
}

// cut forgets leaves, and holds the upper levels of the tree against what was stored.
func (c *logCheck) cut(ctx context.Context) error {
	full, _, err := c.tree.Cut()
	if err != nil || c.stored == nil || c.differs {
		return err
	}
	return c.upper(ctx, full)
}

func (c *logCheck) upper(ctx context.Context, full []ports.LogTile) error {
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
			c.report.broken(RuleSealed, "the log of %s has wrong hashes at level %d, place %d", c.platform.Platform, t.Level, t.N)
		}
	}
	return err
}

// end reports what only shows when all postings have come by.
func (c *logCheck) end(ctx context.Context, explain *explainer) error {
	if c.stored != nil {
		if missing := c.stored.size - c.last; missing > 0 {
			c.report.broken(RuleSealed, "the newest %d postings are missing on %s: the log says %d were sealed, and the last one that is there has number %d",
				missing, c.platform.Platform, c.stored.size, c.last)
		}
		if err := c.edge(); err != nil {
			return err
		}
	}
	for _, s := range c.sources {
		if err := c.beyond(ctx, s); err != nil {
			return err
		}
	}
	if c.stored != nil && c.sources[0].last != c.stored.size {
		c.report.broken(RuleHeads, "the log of %s is at size %d and its last head at size %d", c.platform.Platform, c.stored.size, c.sources[0].last)
	}
	for _, s := range c.suspects {
		c.report.broken(RuleSealed, "posting %s (%s, number %d on %s) is not what was sealed: %s",
			s.leaf.ID, s.leaf.Kind, s.leaf.Seq, c.platform.Platform, explain.sealed(s, c.suspects))
	}
	return nil
}

// edge holds the stored edge against the tree, if it has just come to the same size.
func (c *logCheck) edge() error {
	if c.lost > 0 || c.differs || c.tree.Size() != c.stored.size {
		return nil
	}
	_, edge, err := c.tree.Cut()
	if err == nil && !bytes.Equal(edge, c.stored.edge) {
		c.report.broken(RuleSealed, "the log of %s has wrong hashes at its edge", c.platform.Platform)
	}
	return err
}

func newLogCheck(report *Report, p ports.AuditPlatform, keys sealKeys) *logCheck {
	return &logCheck{report: report, platform: p, keys: keys, tree: merkle.Empty()}
}
