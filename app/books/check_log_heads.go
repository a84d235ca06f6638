package books

import (
	"context"
	"fmt"
	"strings"
	"time"

	"causeway/ports"
)

// headSource is a line of heads by size, with the rule that they are for.
type headSource struct {
	rule Rule
	// next gives the following head; false at the end.
	next func(ctx context.Context) (PublishedHead, bool, error)

	head PublishedHead
	open bool
	fits int64 // size of the last head that did
	last int64 // size of the last head
	told bool  // that one does not fit
}

// published adds the heads of the platform that were kept outside, by size.
func (c *logCheck) published(heads []PublishedHead) { c.listed(RulePublished, heads) }

// closings adds the heads that were kept with closed months.
func (c *logCheck) closings(ctx context.Context, view ports.AuditView) error {
	closings, err := view.ClosingCheckpoints(ctx, c.platform.Platform)
	if err != nil {
		return err
	}
	var heads []PublishedHead
	for _, k := range closings {
		where := fmt.Sprintf("kept with the closing of %s", k.Month)
		found, err := ReadHeads(where, strings.NewReader(k.Checkpoint))
		if err != nil || len(found) != 1 || found[0].Platform != c.platform.Platform {
			c.report.broken(RuleHeads, "what was %s on %s is no signed head of its log", where, c.platform.Platform)
			continue
		}
		found[0].Where = where
		heads = append(heads, found...)
	}
	c.listed(RuleHeads, headsOf(heads, c.platform.Platform))
	return nil
}

// listed adds heads that stand in a list by size.
func (c *logCheck) listed(rule Rule, heads []PublishedHead) {
	c.sources = append(c.sources, &headSource{rule: rule, next: func(context.Context) (h PublishedHead, ok bool, err error) {
		if len(heads) > 0 {
			h, heads, ok = heads[0], heads[1:], true
		}
		return h, ok, nil
	}})
}

// kept adds the heads that are stored beside the postings.
func (c *logCheck) kept(view ports.AuditView) {
	var page []ports.SignedCheckpoint
	above, ended := int64(0), false
	c.sources = append(c.sources, &headSource{rule: RuleHeads, next: func(ctx context.Context) (PublishedHead, bool, error) {
		if len(page) == 0 && !ended {
			var err error
			if page, err = view.LogCheckpoints(ctx, c.platform.Platform, above, headsAtOnce); err != nil {
				return PublishedHead{}, false, err
			}
			ended = len(page) < headsAtOnce
		}
		if len(page) == 0 {
			return PublishedHead{}, false, nil
		}
		h := page[0]
		page, above = page[1:], h.Size
		return PublishedHead{h.Checkpoint, h.Note, "sealed at " + h.Sealed.Format(time.RFC3339)}, true, nil
	}})
}

const headsAtOnce = 1_000

// judge holds every head up to a size against the tree, which has come to it.
func (c *logCheck) judge(ctx context.Context, upto int64) error {
	for _, s := range c.sources {
		for {
			if err := c.advance(ctx, s); err != nil {
				return err
			}
			if !s.open || s.head.Size > upto {
				break
			}
			if err := c.fit(s); err != nil {
				return err
			}
			s.open = false
		}
	}
	return nil
}

// advance has the next head at hand, if there is one.
func (c *logCheck) advance(ctx context.Context, s *headSource) (err error) {
	if s.open {
		return nil
	}
	if s.head, s.open, err = s.next(ctx); err != nil || !s.open {
		return err
	}
	s.last = s.head.Size
	c.report.checked(s.rule)
	if err := c.signed(s.head); err != nil {
		c.report.broken(s.rule, "%s: %v", c.name(s.head), err)
	}
	return nil
}

func (c *logCheck) signed(h PublishedHead) error {
	if c.keys == nil {
		return nil
	}
	return c.keys.verifies(h.Checkpoint, h.Note)
}

// fit holds the head at hand against the tree.
func (c *logCheck) fit(s *headSource) error {
	if c.lost == 0 && s.head.Size == c.tree.Size() {
		root, err := c.tree.Root()
		if err != nil {
			return err
		}
		if root == s.head.Root {
			s.fits = s.head.Size
			c.acquit(s.head)
			return nil
		}
	}
	if s.told {
		c.report.brokenToo(s.rule) // it says no more than the first
		return nil
	}
	s.told = true
	since := "no earlier one fits"
	if s.fits > 0 {
		since = fmt.Sprintf("the one of size %d fits, so what is wrong comes after number %d", s.fits, s.fits)
	}
	if c.lost > 0 && c.lost <= s.head.Size {
		since = fmt.Sprintf("there is no posting number %d; %s", c.lost, since)
	}
	c.report.broken(s.rule, "%s does not fit the postings: %s", c.name(s.head), since)
	return nil
}

// acquit ends suspicion of postings that a signed head covers as they are: then it is
// the stored hashes that were changed.
func (c *logCheck) acquit(h PublishedHead) {
	for _, s := range c.suspects {
		c.report.broken(RuleSealed, "the log's hash of posting number %d on %s has been changed; the posting itself fits the head of size %d",
			s.leaf.Seq, c.platform.Platform, h.Size)
	}
	c.suspects = nil
}

func (c *logCheck) name(h PublishedHead) string {
	where := ""
	if h.Where != "" {
		where = " (" + h.Where + ")"
	}
	return fmt.Sprintf("the head of size %d of %s%s", h.Size, c.platform.Platform, where)
}

// beyond reports the heads that say there were more postings than there are.
func (c *logCheck) beyond(ctx context.Context, s *headSource) error {
	var last PublishedHead
	for {
		if err := c.advance(ctx, s); err != nil {
			return err
		}
		if !s.open {
			break
		}
		if last.Size > 0 {
			c.report.brokenToo(s.rule)
		}
		last, s.open = s.head, false
	}
	if last.Size > 0 {
		c.report.broken(s.rule, "the newest %d postings are missing on %s: %s says so, and the last posting that is there has number %d",
			last.Size-c.last, c.platform.Platform, c.name(last), c.last)
	}
	return nil
}
