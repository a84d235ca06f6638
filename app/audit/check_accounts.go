package audit

import (
	"math"
	"time"

	"causeway/ledger"
	"causeway/ports"
)

// accountCheck goes through the accounts of one platform, and for each through what
// touches it in the order of postings.
type accountCheck struct {
	report   *Report
	platform ports.AuditPlatform
	totals   totals

	account              ports.AuditAccount // the one at hand
	hasAccount           bool
	balance              sum   // of the account at hand so far
	debits               sum   // of the account at hand so far
	lastSeq              int64 // the posting that moved it last
	overdrawn            bool  // the account at hand was below zero already
	changedSinceSnapshot bool  // something moved it since its last checkpoint
	monthEndsPassed      int   // whose ends lie behind seq
}

// Account is as ports.AccountVisitor says.
func (c *accountCheck) Account(a ports.AuditAccount) error {
	c.finishAccount()
	c.account, c.hasAccount, c.overdrawn, c.changedSinceSnapshot, c.monthEndsPassed = a, true, false, false, 0
	c.balance.reset()
	c.debits.reset()

	c.report.countChecked(RuleChart)
	line, err := ledger.FindChartLine(a.Account.Path)
	switch {
	case err != nil:
		c.report.addFinding(RuleChart, "account %d, %s: %v", a.Number, a.Account, err)
	case line.Class != a.Class:
		c.report.addFinding(RuleChart, "account %d, %s, is of class %s and not %s", a.Number, a.Account, a.Class, line.Class)
	case line.NoOverdraft != a.NoOverdraft:
		c.report.addFinding(RuleChart, "account %d, %s, is guarded: %t and not %t", a.Number, a.Account, a.NoOverdraft, line.NoOverdraft)
	case !a.Account.Currency.Known():
		c.report.addFinding(RuleChart, "account %d, %s, has an unknown currency", a.Number, a.Account)
	}
	return nil
}

// Move is as ports.AccountVisitor says.
func (c *accountCheck) Move(number, seq int64, debit bool, amount int64) error {
	if !c.hasAccount || c.account.Number != number {
		// An account that is not there: its entries have been found already, and their
		// amounts are missing from the totals.
		return nil
	}
	if seq != c.lastSeq {
		c.checkOverdraft() // the entries of a posting count together
		c.lastSeq = seq
	}
	c.checkMonthEnds(seq)
	c.changedSinceSnapshot = true
	if debit == c.account.Class.IsDebitNormal() {
		c.balance.add(amount)
	} else {
		c.balance.sub(amount)
	}
	of := c.totals.currency(c.account.Account.Currency)
	if debit {
		c.debits.add(amount)
		of.debits.add(amount)
	} else {
		of.credits.add(amount)
	}
	return nil
}

// BalanceSnapshot is as ports.AccountVisitor says.
func (c *accountCheck) BalanceSnapshot(k ports.AuditBalanceSnapshot) error {
	c.report.countChecked(RuleBalanceSnapshots)
	if c.hasAccount && c.account.Number == k.Number {
		c.checkMonthEnds(k.Seq)
		c.changedSinceSnapshot = false
	}
	switch {
	case !c.hasAccount || c.account.Number != k.Number:
		c.report.addFinding(RuleBalanceSnapshots, "a checkpoint on %s is of account %d, which is not there", c.platform.Platform, k.Number)
	case k.Balance != c.balance.String():
		c.report.addFinding(RuleBalanceSnapshots, "the checkpoint of account %d, %s, after posting number %d says %s; its entries say %s",
			k.Number, c.account.Account, k.Seq, k.Balance, &c.balance)
	case k.Debits != "" && k.Debits != c.debits.String():
		c.report.addFinding(RuleBalanceSnapshots, "the checkpoint of account %d, %s, after posting number %d says %s were debited; its entries say %s",
			k.Number, c.account.Account, k.Seq, k.Debits, &c.debits)
	case k.Seq > c.platform.SnapshotSeq:
		c.report.addFinding(RuleBalanceSnapshots, "the checkpoint of account %d, %s, after posting number %d is ahead of the work, which is at %d",
			k.Number, c.account.Account, k.Seq, c.platform.SnapshotSeq)
	case !k.Earliest.Equal(k.TrueEarliest) || !k.Latest.Equal(k.TrueLatest):
		c.report.addFinding(RuleBalanceSnapshots, "the checkpoint of account %d, %s, after posting number %d says effective %s to %s; its entries say %s to %s",
			k.Number, c.account.Account, k.Seq, k.Earliest.Format(time.RFC3339Nano), k.Latest.Format(time.RFC3339Nano),
			k.TrueEarliest.Format(time.RFC3339Nano), k.TrueLatest.Format(time.RFC3339Nano))
	}
	return nil
}

// finishAccount finishes the account at hand.
func (c *accountCheck) finishAccount() {
	if !c.hasAccount {
		return
	}
	c.checkOverdraft()
	c.checkMonthEnds(math.MaxInt64)
	c.hasAccount, c.lastSeq = false, 0
	a := c.account
	if a.NoOverdraft {
		c.report.countChecked(RuleNoOverdraft)
	}
	switch {
	case a.NoOverdraft && !a.HasBalance:
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, is guarded and has no balance stored", a.Number, a.Account)
	case a.NoOverdraft && !c.balance.equals(a.Balance):
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, has a balance of %d stored; its entries say %s", a.Number, a.Account, a.Balance, &c.balance)
	case !a.NoOverdraft && a.HasBalance:
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, is not guarded and has a balance stored", a.Number, a.Account)
	}
}

// checkMonthEnds goes over the months that ended before a posting: where all accounts are said to
// have a checkpoint with the end, nobody looks for entries before it.
func (c *accountCheck) checkMonthEnds(seq int64) {
	ends := c.platform.CompleteMonthEnds
	for ; c.monthEndsPassed < len(ends) && ends[c.monthEndsPassed] < seq; c.monthEndsPassed++ {
		if c.changedSinceSnapshot {
			c.changedSinceSnapshot = false // the months after it miss the same one
			c.report.addFinding(RuleBalanceSnapshots, "account %d, %s, has no checkpoint with the end of the month that ended with posting number %d",
				c.account.Number, c.account.Account, ends[c.monthEndsPassed])
		}
	}
}

func (c *accountCheck) checkOverdraft() {
	if c.hasAccount && c.account.NoOverdraft && c.balance.isNegative() && !c.overdrawn {
		c.overdrawn = true
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, was at %s after posting number %d", c.account.Number, c.account.Account, &c.balance, c.lastSeq)
	}
}

// orphanBalance takes a stored balance of an account that is not there.
func (c *accountCheck) orphanBalance(number, balance int64) error {
	c.report.addFinding(RuleNoOverdraft, "a balance of %d stored on %s is of account %d, which is not there", balance, c.platform.Platform, number)
	return nil
}

// checkSnapshotProgress holds how far the work on checkpoints has come against the clock.
func (c *accountCheck) checkSnapshotProgress() {
	if c.platform.SnapshotSeq > c.platform.Seq {
		c.report.addFinding(RuleBalanceSnapshots, "the work on checkpoints of %s says it is at number %d, and the clock at %d",
			c.platform.Platform, c.platform.SnapshotSeq, c.platform.Seq)
	}
}
