package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"causeway/ports"
)

// checkpointSource is a line of heads by size, with the rule that they are for.
type checkpointSource struct {
	rule Rule
	// next gives the following head; false at the end.
	next func(ctx context.Context) (PublishedCheckpoint, bool, error)

	current          PublishedCheckpoint
	hasCurrent       bool
	lastValidSize    int64 // size of the last head that did
	lastSize         int64 // size of the last head
	mismatchReported bool  // that one does not fit
}

// addPublished adds the heads of the platform that were kept outside, by size.
func (c *logCheck) addPublished(heads []PublishedCheckpoint) {
	c.addCheckpointList(RulePublishedCheckpoints, heads)
}

// addClosingCheckpoints adds the heads that were kept with closed months.
func (c *logCheck) addClosingCheckpoints(ctx context.Context, view ports.AuditView) error {
	closings, err := view.ClosingCheckpoints(ctx, c.platform.Platform)
	if err != nil {
		return err
	}
	var heads []PublishedCheckpoint
	for _, k := range closings {
		where := fmt.Sprintf("kept with the closing of %s", k.Month)
		found, err := ReadCheckpoints(where, strings.NewReader(k.Checkpoint))
		if err != nil || len(found) != 1 || found[0].Platform != c.platform.Platform {
			c.report.addFinding(RuleSignedCheckpoints, "what was %s on %s is no signed head of its log", where, c.platform.Platform)
			continue
		}
		found[0].Location = where
		heads = append(heads, found...)
	}
	c.addCheckpointList(RuleSignedCheckpoints, platformCheckpoints(heads, c.platform.Platform))
	return nil
}

// addCheckpointList adds heads that stand in a list by size.
func (c *logCheck) addCheckpointList(rule Rule, heads []PublishedCheckpoint) {
	c.sources = append(c.sources, &checkpointSource{rule: rule, next: func(context.Context) (h PublishedCheckpoint, ok bool, err error) {
		if len(heads) > 0 {
			h, heads, ok = heads[0], heads[1:], true
		}
		return h, ok, nil
	}})
}

// addStoredCheckpoints adds the heads that are stored beside the postings.
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
		h := page[0]
		page, above = page[1:], h.Size
		return PublishedCheckpoint{h.Checkpoint, h.Note, "sealed at " + h.Sealed.Format(time.RFC3339)}, true, nil
	}})
}

const checkpointPageSize = 1_000

// checkUpTo holds every head up to a size against the tree, which has come to it.
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

// advance has the next head at hand, if there is one.
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

func (c *logCheck) checkSignature(h PublishedCheckpoint) error {
	if c.keys == nil {
		return nil
	}
	return c.keys.verify(h.Checkpoint, h.Note)
}

// checkRoot holds the head at hand against the tree.
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
		c.report.countViolation(s.rule) // it says no more than the first
		return nil
	}
	s.mismatchReported = true
	since := "no earlier one fits"
	if s.lastValidSize > 0 {
		since = fmt.Sprintf("the one of size %d fits, so what is wrong comes after number %d", s.lastValidSize, s.lastValidSize)
	}
	if c.firstMissing > 0 && c.firstMissing <= s.current.Size {
		since = fmt.Sprintf("there is no posting number %d; %s", c.firstMissing, since)
	}
	c.report.addFinding(s.rule, "%s does not fit the postings: %s", c.describe(s.current), since)
	return nil
}

// clearSuspects ends suspicion of postings that a signed head covers as they are: then it is
// the stored hashes that were changed.
func (c *logCheck) clearSuspects(h PublishedCheckpoint) {
	for _, s := range c.suspects {
		c.report.addFinding(RuleSealed, "the log's hash of posting number %d on %s has been changed; the posting itself fits the head of size %d",
			s.leaf.Seq, c.platform.Platform, h.Size)
	}
	c.suspects = nil
}

func (c *logCheck) describe(h PublishedCheckpoint) string {
	where := ""
	if h.Location != "" {
		where = " (" + h.Location + ")"
	}
	return fmt.Sprintf("the head of size %d of %s%s", h.Size, c.platform.Platform, where)
}

// reportTruncation reports the heads that say there were more postings than there are.
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
		c.report.addFinding(s.rule, "the newest %d postings are missing on %s: %s says so, and the last posting that is there has number %d",
			last.Size-c.lastSeq, c.platform.Platform, c.describe(last), c.lastSeq)
	}
	return nil
}
