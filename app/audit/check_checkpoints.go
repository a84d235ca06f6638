package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"causeway/ports"
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

// addPublished adds the published checkpoints of the platform, by size.
func (c *logCheck) addPublished(list []PublishedCheckpoint) {
	c.addCheckpointList(RulePublishedCheckpoints, list)
}

// addClosingCheckpoints adds the checkpoints that were recorded with closed months.
func (c *logCheck) addClosingCheckpoints(ctx context.Context, view ports.AuditView) error {
	closings, err := view.ClosingCheckpoints(ctx, c.platform.Platform)
	if err != nil {
		return err
	}
	var list []PublishedCheckpoint
	for _, closing := range closings {
		where := fmt.Sprintf("recorded with the closing of %s", closing.Month)
		found, err := ReadCheckpoints(where, strings.NewReader(closing.Checkpoint))
		if err != nil || len(found) != 1 || found[0].Platform != c.platform.Platform {
			c.report.addFinding(RuleSignedCheckpoints, "what was %s on %s is not a signed checkpoint of its log", where, c.platform.Platform)
			continue
		}
		found[0].Location = where
		list = append(list, found...)
	}
	c.addCheckpointList(RuleSignedCheckpoints, platformCheckpoints(list, c.platform.Platform))
	return nil
}

// addCheckpointList adds a list of checkpoints, ordered by size.
func (c *logCheck) addCheckpointList(rule Rule, list []PublishedCheckpoint) {
	c.sources = append(c.sources, &checkpointSource{rule: rule, next: func(context.Context) (next PublishedCheckpoint, ok bool, err error) {
		if len(list) > 0 {
			next, list, ok = list[0], list[1:], true
		}
		return next, ok, nil
	}})
}

// addStoredCheckpoints adds the checkpoints in the database.
func (c *logCheck) addStoredCheckpoints(view ports.AuditView) {
	var page []ports.SignedCheckpoint
	above, ended := int64(0), false
	c.sources = append(c.sources, &checkpointSource{rule: RuleSignedCheckpoints, next: func(ctx context.Context) (PublishedCheckpoint, bool, error) {
		if len(page) == 0 && !ended {
			var err error
			if page, err = view.LogCheckpoints(ctx, c.platform.Platform, above, checkpointPageSize); err != nil {
				return PublishedCheckpoint{}, false, err
			}
			ended = len(page) < checkpointPageSize
		}
		if len(page) == 0 {
			return PublishedCheckpoint{}, false, nil
		}
		next := page[0]
		page, above = page[1:], next.Size
		return PublishedCheckpoint{next.Checkpoint, next.Note, "sealed at " + next.Sealed.Format(time.RFC3339)}, true, nil
	}})
}

const checkpointPageSize = 1_000

// checkUpTo compares every checkpoint up to a size with the tree, which has that size.
func (c *logCheck) checkUpTo(ctx context.Context, upto int64) error {
	for _, s := range c.sources {
		for {
			if err := c.advance(ctx, s); err != nil {
				return err
			}
			if !s.hasCurrent || s.current.Size > upto {
				break
			}
			if err := c.checkRoot(s); err != nil {
				return err
			}
			s.hasCurrent = false
		}
	}
	return nil
}

// advance makes the next checkpoint current, if there is one.
func (c *logCheck) advance(ctx context.Context, s *checkpointSource) (err error) {
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

func (c *logCheck) checkSignature(p PublishedCheckpoint) error {
	if c.keys == nil {
		return nil
	}
	return c.keys.verify(p.Checkpoint, p.Note)
}

// checkRoot compares the root hash of the current checkpoint with the tree.
func (c *logCheck) checkRoot(s *checkpointSource) error {
	if c.firstMissing == 0 && s.current.Size == c.tree.Size() {
		root, err := c.tree.Root()
		if err != nil {
			return err
		}
		if root == s.current.Root {
			s.lastValidSize = s.current.Size
			c.clearSuspects(s.current)
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
		details = fmt.Sprintf("posting number %d is missing; %s", c.firstMissing, details)
	}
	c.report.addFinding(s.rule, "%s does not match the postings: %s", c.describe(s.current), details)
	return nil
}

// clearSuspects reports the stored hashes of all suspects as changed: a signed checkpoint
// matches the postings as they are.
func (c *logCheck) clearSuspects(p PublishedCheckpoint) {
	for _, s := range c.suspects {
		c.report.addFinding(RuleSealed, "the log's hash of posting number %d on %s has been changed; the posting matches the checkpoint of size %d",
			s.leaf.Seq, c.platform.Platform, p.Size)
	}
	c.suspects = nil
}

func (c *logCheck) describe(p PublishedCheckpoint) string {
	where := ""
	if p.Location != "" {
		where = " (" + p.Location + ")"
	}
	return fmt.Sprintf("the checkpoint of size %d of %s%s", p.Size, c.platform.Platform, where)
}

// reportTruncation reports the checkpoints of more postings than there are.
func (c *logCheck) reportTruncation(ctx context.Context, s *checkpointSource) error {
	var last PublishedCheckpoint
	for {
		if err := c.advance(ctx, s); err != nil {
			return err
		}
		if !s.hasCurrent {
			break
		}
		if last.Size > 0 {
			c.report.countViolation(s.rule)
		}
		last, s.hasCurrent = s.current, false
	}
	if last.Size > 0 {
		c.report.addFinding(s.rule, "the newest %d postings are missing on %s: %s covers them, and the last posting has number %d",
			last.Size-c.lastSeq, c.platform.Platform, c.describe(last), c.lastSeq)
	}
	return nil
}
