package audit

import (
	"context"
	"fmt"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// checkPayments checks the lists by status and the replies of rails, each in one snapshot: so payments that run meanwhile are
// no violations.
func (c *run) checkPayments(ctx context.Context) error {
	transactions, err := c.store.StatusMismatches(ctx, c.only, func(m ports.StatusMismatch) error {
		if m.Listed {
			c.report.addFinding(RuleStatuses, "the list of %s %s transactions of %s has %s, which is none of them",
				m.Status, m.Direction, m.Platform, m.Transaction)
		} else {
			c.report.addFinding(RuleStatuses, "the list of %s %s transactions of %s lacks %s", m.Status, m.Direction, m.Platform, m.Transaction)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check lists by status: %w", err)
	}
	c.report.rule(RuleStatuses).Checked += transactions
	return c.checkReplies(ctx)
}

func (c *run) checkReplies(ctx context.Context) error {
	compared, withoutKey, err := c.store.ChangedReplies(ctx, c.only, func(r ports.ChangedReply) error {
		problem := "is not what was recorded: it was changed"
		if r.Unsealed {
			problem = "has no hash: it was not recorded by the service"
		}
		c.report.addFinding(RuleReplies, "the reply %s to %s about %s of %s, of %s, %s",
			r.Verdict, r.Call, r.Subject, r.Platform, r.At.Format(time.RFC3339), problem)
		return nil
	})
	if err != nil {
		return fmt.Errorf("check replies of rails: %w", err)
	}
	c.report.rule(RuleReplies).Checked += compared
	c.report.RepliesNotCompared += withoutKey
	err = c.store.MissingReplies(ctx, c.only, c.since.Replies, func(m ports.MissingReply) error {
		c.report.addFinding(RuleReplies, "%s of %s has a posting that its %s, and no reply of the rail says so: the reply was deleted or changed",
			m.Transaction, m.Platform, endOf(m.Kind))
		return nil
	})
	if err != nil {
		return fmt.Errorf("check replies of rails: %w", err)
	}
	return nil
}

// endOf says how the rail has ended what a posting of a kind follows from.
func endOf(k ledger.Kind) string {
	switch k {
	case ledger.KindReturned:
		return "payout was returned"
	case ledger.KindRefundFailed:
		return "refund was refused"
	default:
		return "payout was refused"
	}
}
