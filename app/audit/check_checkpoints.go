package audit

import (
	"context"
	"fmt"
	"time"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ports"
)

// checkpointCheck compares the checkpoints of one log of a platform with the tree of its leaves, while it grows.
type checkpointCheck struct {
	report   *Report
	platform ident.Platform
	names    logNames
	keys     logKeys             // nil if signatures are not verified
	ofCopy   bool                // see VerifyOptions
	sources  []*checkpointSource // by size
	// stored are the stored checkpoints, one of the sources; nil if there are none. lastStored is the size of the last
	// one that was compared.
	stored     *checkpointSource
	lastStored int64

	tree    *merkle.Tree
	lastSeq int64 // number of the last leaf
	// firstMissing is the number of the first missing leaf, from which on the tree cannot be computed; 0 if none.
	firstMissing int64
	// matched is called with each checkpoint that matches; nil if nobody needs it.
	matched func(PublishedCheckpoint)
}

// logNames are the words for a log in findings.
type logNames struct{ leaf, leaves, checkpoint string }

var (
	postingNames  = logNames{leaf: "posting", leaves: "postings", checkpoint: "checkpoint"}
	evidenceNames = logNames{leaf: "leaf of evidence", leaves: "leaves of evidence", checkpoint: "checkpoint of evidence"}
)

// checkpointSource is a series of checkpoints by size, with the rule that they are checked for.
type checkpointSource struct {
	rule Rule
	// next returns the next checkpoint, or false at the end.
	next func(ctx context.Context) (PublishedCheckpoint, bool, error)

	current          PublishedCheckpoint
	hasCurrent       bool
	lastValidSize    int64 // size of the last one that matches the postings
	lastSize         int64 // size of the last one
	mismatchReported bool  // a mismatch has been reported
}

// addCheckpointList adds a list of checkpoints, ordered by size.
func (c *checkpointCheck) addCheckpointList(rule Rule, list []PublishedCheckpoint) {
	c.sources = append(c.sources, &checkpointSource{rule: rule, next: func(context.Context) (next PublishedCheckpoint, ok bool, err error) {
		if len(list) > 0 {
			next, list, ok = list[0], list[1:], true
		}
		return next, ok, nil
	}})
}

// addStoredCheckpoints adds the checkpoints in the database.
func (c *checkpointCheck) addStoredCheckpoints(rule Rule, read readCheckpoints) {
	var page []ports.SignedCheckpoint
	above, ended := int64(0), false
	c.stored = &checkpointSource{rule: rule, next: func(ctx context.Context) (PublishedCheckpoint, bool, error) {
		if len(page) == 0 && !ended {
			var err error
			if page, err = read(ctx, c.platform, above, checkpointPageSize); err != nil {
				return PublishedCheckpoint{}, false, err
			}
			ended = len(page) < checkpointPageSize
		}
		if len(page) == 0 {
			return PublishedCheckpoint{}, false, nil
		}
		next := page[0]
		c.checkPrevious(rule, next, above)
		page, above = page[1:], next.Size
		return PublishedCheckpoint{next.Checkpoint, next.Note, "sealed at " + next.Sealed.Format(time.RFC3339)}, true, nil
	}}
	c.sources = append(c.sources, c.stored)
}

// readCheckpoints reads the stored checkpoints above a size, in order, at most limit.
type readCheckpoints func(ctx context.Context, p ident.Platform, above int64, limit int) ([]ports.SignedCheckpoint, error)

const checkpointPageSize = 1_000

// checkPrevious compares the checkpoint that a stored one was sealed after with the stored one before it.
func (c *checkpointCheck) checkPrevious(rule Rule, stored ports.SignedCheckpoint, before int64) {
	switch {
	case stored.PreviousSize == before:
	case stored.PreviousSize > before:
		c.report.addFinding(rule, "the %s of size %d of %s is missing: the one of size %d was sealed after it", c.names.checkpoint,
			stored.PreviousSize, c.platform, stored.Size)
	default:
		c.report.addFinding(rule, "the %s of size %d of %s was inserted later: the one of size %d was sealed after that of size %d",
			c.names.checkpoint, before, c.platform, stored.Size, stored.PreviousSize)
	}
}

// checkUpTo compares every checkpoint up to a size with the tree, which has that size.
func (c *checkpointCheck) checkUpTo(ctx context.Context, upto int64) error {
	for {
		s, err := c.nextSource(ctx, upto)
		if err != nil || s == nil {
			return err
		}
		if err := c.checkRoot(s); err != nil {
			return err
		}
		c.checkStored(s)
		s.hasCurrent = false
	}
}

// nextSource returns the source with the smallest checkpoint up to a size, of several the first; nil if there is none.
func (c *checkpointCheck) nextSource(ctx context.Context, upto int64) (next *checkpointSource, err error) {
	for _, s := range c.sources {
		if err := c.advance(ctx, s); err != nil {
			return nil, err
		}
		if s.hasCurrent && s.current.Size <= upto && (next == nil || s.current.Size < next.current.Size) {
			next = s
		}
	}
	return next, nil
}

// checkStored reports a checkpoint that was published, or recorded with a closed month, and is not stored any more.
func (c *checkpointCheck) checkStored(s *checkpointSource) {
	switch {
	case c.stored == nil:
	case s == c.stored:
		c.lastStored = s.current.Size
	case c.ofCopy && !c.stored.hasCurrent: // published after the last one that the copy has
	case c.lastStored != s.current.Size:
		c.report.addFinding(s.rule, "%s is missing among the stored checkpoints", c.describe(s.current))
	}
}

// advance makes the next checkpoint current, if there is one.
func (c *checkpointCheck) advance(ctx context.Context, s *checkpointSource) (err error) {
	if s.hasCurrent {
		return nil
	}
	if s.current, s.hasCurrent, err = s.next(ctx); err != nil || !s.hasCurrent {
		return err
	}
	s.lastSize = s.current.Size
	c.report.countChecked(s.rule)
	if err := c.checkSignature(s.current); err != nil {
		c.report.addFinding(s.rule, "%s: %v", c.describe(s.current), err)
	}
	return nil
}

func (c *checkpointCheck) checkSignature(p PublishedCheckpoint) error {
	if c.keys == nil {
		return nil
	}
	return c.keys.verify(p.Checkpoint, p.Note)
}

// checkRoot compares the root hash of the current checkpoint with the tree.
func (c *checkpointCheck) checkRoot(s *checkpointSource) error {
	if c.firstMissing == 0 && s.current.Size == c.tree.Size() {
		root, err := c.tree.Root()
		if err != nil {
			return err
		}
		if root == s.current.Root {
			s.lastValidSize = s.current.Size
			if c.matched != nil {
				c.matched(s.current)
			}
			return nil
		}
	}
	if s.mismatchReported {
		c.report.countViolation(s.rule) // the first mismatch has been reported
		return nil
	}
	s.mismatchReported = true
	details := "no earlier one matches"
	if s.lastValidSize > 0 {
		details = fmt.Sprintf("the one of size %d matches, so the first change is after number %d", s.lastValidSize, s.lastValidSize)
	}
	if c.firstMissing > 0 && c.firstMissing <= s.current.Size {
		details = fmt.Sprintf("%s number %d is missing; %s", c.names.leaf, c.firstMissing, details)
	}
	c.report.addFinding(s.rule, "%s does not match the %s: %s", c.describe(s.current), c.names.leaves, details)
	return nil
}

func (c *checkpointCheck) describe(p PublishedCheckpoint) string {
	where := ""
	if p.Location != "" {
		where = " (" + p.Location + ")"
	}
	return fmt.Sprintf("the %s of size %d of %s%s", c.names.checkpoint, p.Size, c.platform, where)
}

// reportTruncation reports the checkpoints of more postings than there are.
func (c *checkpointCheck) reportTruncation(ctx context.Context, s *checkpointSource) error {
	var last PublishedCheckpoint
	for {
		if err := c.advance(ctx, s); err != nil {
			return err
		}
		if !s.hasCurrent {
			break
		}
		if last.Size > 0 && !c.isUnreached(s.rule) {
			c.report.countViolation(s.rule)
		}
		last, s.hasCurrent = s.current, false
	}
	if c.isUnreached(s.rule) {
		if s.rule == RulePublishedCheckpoints && last.Size > 0 {
			c.report.Unreached += last.Size - c.lastSeq
		}
		return nil
	}
	if last.Size > 0 {
		c.report.addFinding(s.rule, "the newest %d %s are missing on %s: %s covers them, and the last %s has number %d",
			last.Size-c.lastSeq, c.names.leaves, c.platform, c.describe(last), c.names.leaf, c.lastSeq)
	}
	return nil
}

// isUnreached reports whether checkpoints of a rule may cover more than there is.
func (c *checkpointCheck) isUnreached(rule Rule) bool {
	return c.ofCopy && (rule == RulePublishedCheckpoints || rule == RulePublishedEvidence)
}
