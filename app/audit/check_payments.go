package audit

import (
	"context"
	"fmt"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// WithPayments adds the rules of what is stored beside payments: their lists by status, and the replies of rails. Replies of
// before repliesSince may have been deleted at the end of their retention.
func (c *Checker) WithPayments(payments ports.PaymentAudit, repliesSince time.Time) *Checker {
	c.payments, c.repliesSince = payments, repliesSince
	return c
}

// checkPayments checks the lists by status and the replies of rails, each in one snapshot: so payments that run meanwhile are
// no violations.
func (c *Checker) checkPayments(ctx context.Context, report *Report) error {
	if c.payments == nil {
		return nil
	}
	transactions, err := c.payments.StatusMismatches(ctx, c.only, func(m ports.StatusMismatch) error {
		if m.Listed {
			report.addFinding(RuleStatuses, "the list of %s %s transactions of %s has %s, which is none of them", m.Status, m.Direction, m.Platform, m.Transaction)
		} else {
			report.addFinding(RuleStatuses, "the list of %s %s transactions of %s lacks %s", m.Status, m.Direction, m.Platform, m.Transaction)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check lists by status: %w", err)
	}
	report.rule(RuleStatuses).Checked += transactions
	return c.checkReplies(ctx, report)
}

func (c *Checker) checkReplies(ctx context.Context, report *Report) error {
	compared, withoutKey, err := c.payments.ChangedReplies(ctx, c.only, func(r ports.ChangedReply) error {
		problem := "is not what was recorded: it was changed"
		if r.Unsealed {
			problem = "has no hash: it was not recorded by the service"
		}
		report.addFinding(RuleReplies, "the reply %s to %s about %s of %s, of %s, %s", r.Verdict, r.Call, r.Subject, r.Platform, r.At.Format(time.RFC3339), problem)
		return nil
	})
	if err != nil {
		return fmt.Errorf("check replies of rails: %w", err)
	}
	report.rule(RuleReplies).Checked += compared
	report.RepliesNotCompared += withoutKey
	err = c.payments.MissingReplies(ctx, c.only, c.repliesSince, func(m ports.MissingReply) error {
		report.addFinding(RuleReplies, "%s of %s has a posting that its %s, and no reply of the rail says so: the reply was deleted or changed",
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
