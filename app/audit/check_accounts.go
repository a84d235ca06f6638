package audit

import (
	"context"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// checkAccounts checks the accounts of a platform, and the totals of its entries and accounts.
func (c *platformRun) checkAccounts(ctx context.Context) error {
	accounts := &accountCheck{report: c.report, platform: c.platform, totals: c.totals}
	if err := c.view.Accounts(ctx, c.platform.Platform, accounts); err != nil {
		return err
	}
	accounts.finishAccount()
	if err := c.view.OrphanBalances(ctx, c.platform.Platform, accounts.orphanBalance); err != nil {
		return err
	}
	accounts.checkSnapshotProgress()
	c.totals.check(c.report, c.platform.Platform)
	return nil
}

// accountCheck checks the accounts of one platform, each with its entries and balance
// snapshots in the order of postings.
type accountCheck struct {
	report   *Report
	platform ports.AuditPlatform
	totals   totals

	// The current account, and what its entries so far come to.
	account              ports.AuditAccount
	hasAccount           bool
	balance              sum
	debits               sum
	lastSeq              int64 // number of the posting of its last entry
	overdrawn            bool  // it has been negative already
	changedSinceSnapshot bool  // it has entries since its last balance snapshot
	monthEndsPassed      int   // number of month ends before lastSeq
}

// Account implements ports.AccountVisitor.
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
		c.report.addFinding(RuleChart, "account %d, %s, may not be overdrawn: %t and not %t", a.Number, a.Account,
			a.NoOverdraft, line.NoOverdraft)
	case ledger.IsAdded(a.Account.Path) && !a.Added:
		c.report.addFinding(RuleChart, "account %d, %s, was posted to and is not in the chart of the platform", a.Number, a.Account)
	case !a.Account.Currency.Known():
		c.report.addFinding(RuleChart, "account %d, %s, has an unknown currency", a.Number, a.Account)
	}
	return nil
}

// Movement implements ports.AccountVisitor.
func (c *accountCheck) Movement(number, seq int64, debit bool, amount int64) error {
	if !c.hasAccount || c.account.Number != number {
		// The account does not exist. That has been reported with its entries, and their
		// amounts are missing from the totals.
		return nil
	}
	if seq != c.lastSeq {
		c.checkOverdraft() // the entries of a posting are netted
		c.lastSeq = seq
	}
	c.checkMonthEnds(seq)
	c.changedSinceSnapshot = true
	if debit == c.account.Class.IsDebitNormal() {
		c.balance.add(amount)
	} else {
		c.balance.sub(amount)
	}
	total := c.totals.currency(c.account.Account.Currency)
	if debit {
		c.debits.add(amount)
		total.debits.add(amount)
	} else {
		total.credits.add(amount)
	}
	return nil
}

// BalanceSnapshot implements ports.AccountVisitor.
func (c *accountCheck) BalanceSnapshot(k ports.AuditBalanceSnapshot) error {
	c.report.countChecked(RuleBalanceSnapshots)
	if c.hasAccount && c.account.Number == k.Number {
		c.checkMonthEnds(k.Seq)
		c.changedSinceSnapshot = false
	}
	switch {
	case !c.hasAccount || c.account.Number != k.Number:
		c.report.addFinding(RuleBalanceSnapshots, "a balance snapshot on %s is of account %d, which does not exist",
			c.platform.Platform, k.Number)
	case k.Balance != c.balance.String():
		c.report.addFinding(RuleBalanceSnapshots, "the balance snapshot of account %d, %s, after posting number %d is %s; its entries add up "+
			"to %s",
			k.Number, c.account.Account, k.Seq, k.Balance, &c.balance)
	case k.Debits != "" && k.Debits != c.debits.String():
		c.report.addFinding(RuleBalanceSnapshots, "the balance snapshot of account %d, %s, after posting number %d has debits of %s; its "+
			"entries add up to %s",
			k.Number, c.account.Account, k.Seq, k.Debits, &c.debits)
	case k.Seq > c.platform.SnapshotSeq:
		c.report.addFinding(RuleBalanceSnapshots, "the balance snapshot of account %d, %s, after posting number %d is later than the progress "+
			"of snapshots, which is at %d",
			k.Number, c.account.Account, k.Seq, c.platform.SnapshotSeq)
	case !k.Earliest.Equal(k.TrueEarliest) || !k.Latest.Equal(k.TrueLatest):
		c.report.addFinding(RuleBalanceSnapshots, "the balance snapshot of account %d, %s, after posting number %d has effective times %s to "+
			"%s; its entries have %s to %s",
			k.Number, c.account.Account, k.Seq, k.Earliest.Format(time.RFC3339Nano), k.Latest.Format(time.RFC3339Nano),
			k.TrueEarliest.Format(time.RFC3339Nano), k.TrueLatest.Format(time.RFC3339Nano))
	}
	return nil
}

// finishAccount finishes the current account.
func (c *accountCheck) finishAccount() {
	if !c.hasAccount {
		return
	}
	c.checkOverdraft()
	c.checkMonthEnds(math.MaxInt64)
	c.hasAccount, c.lastSeq = false, 0
	a := c.account
	if a.Account.Path == ledger.TransitInternal {
		c.report.countChecked(RuleInternalPayments)
		if !c.balance.equals(0) {
			c.report.addFinding(RuleInternalPayments, "account %d, %s, has a balance of %s and not zero", a.Number, a.Account, &c.balance)
		}
	}
	if a.NoOverdraft {
		c.report.countChecked(RuleNoOverdraft)
	}
	switch {
	case a.NoOverdraft && !a.HasBalance:
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, may not be overdrawn and has no stored balance", a.Number, a.Account)
	case a.NoOverdraft && !c.balance.equals(a.Balance):
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, has a stored balance of %d; its entries add up to %s", a.Number, a.Account,
			a.Balance, &c.balance)
	case !a.NoOverdraft && a.HasBalance:
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, may be overdrawn and has a stored balance", a.Number, a.Account)
	}
}

// checkMonthEnds checks the month ends before a posting. Where every account must have a balance
// snapshot at a month's end, balances are read without the entries before it.
func (c *accountCheck) checkMonthEnds(seq int64) {
	ends := c.platform.CompleteMonthEnds
	for ; c.monthEndsPassed < len(ends) && ends[c.monthEndsPassed] < seq; c.monthEndsPassed++ {
		if c.changedSinceSnapshot {
			c.changedSinceSnapshot = false // later months lack the same snapshot
			c.report.addFinding(RuleBalanceSnapshots, "account %d, %s, has no balance snapshot at the end of the month that ended with posting "+
				"number %d",
				c.account.Number, c.account.Account, ends[c.monthEndsPassed])
		}
	}
}

func (c *accountCheck) checkOverdraft() {
	if c.hasAccount && c.account.NoOverdraft && c.balance.isNegative() && !c.overdrawn {
		c.overdrawn = true
		c.report.addFinding(RuleNoOverdraft, "account %d, %s, had a balance of %s after posting number %d", c.account.Number, c.account.Account,
			&c.balance, c.lastSeq)
	}
}

// orphanBalance reports a stored balance of an account that does not exist.
func (c *accountCheck) orphanBalance(number, balance int64) error {
	c.report.addFinding(RuleNoOverdraft, "a stored balance of %d on %s is of account %d, which does not exist", balance,
		c.platform.Platform, number)
	return nil
}

// checkSnapshotProgress compares the progress of balance snapshots with the clock.
func (c *accountCheck) checkSnapshotProgress() {
	if c.platform.SnapshotSeq > c.platform.Seq {
		c.report.addFinding(RuleBalanceSnapshots, "the balance snapshots of %s have progressed to number %d, but the clock is at %d",
			c.platform.Platform, c.platform.SnapshotSeq, c.platform.Seq)
	}
}

// totals adds up each currency of one platform in three ways: by entries, and by the debits and
// the credits of the accounts in the currency.
type totals map[money.Currency]*total

type total struct{ entries, debits, credits sum }

func (t totals) currency(c money.Currency) *total {
	if t[c] == nil {
		t[c] = &total{}
	}
	return t[c]
}

// check reports every currency in which the three totals differ.
func (t totals) check(report *Report, platform ident.Platform) {
	for _, currency := range slices.Sorted(maps.Keys(t)) {
		total := t[currency]
		report.countChecked(RuleBalanced)
		if total.debits.cmp(&total.credits) != 0 || total.debits.cmp(&total.entries) != 0 {
			report.addFinding(RuleBalanced, "%s on %s: the debits of its accounts add up to %s, the credits to %s and the entries to %s",
				currency, platform, &total.debits, &total.credits, &total.entries)
		}
	}
}

// sum is a sum that cannot overflow.
type sum struct{ total, addend big.Int }

func (s *sum) add(amount int64)         { s.total.Add(&s.total, s.addend.SetInt64(amount)) }
func (s *sum) sub(amount int64)         { s.total.Sub(&s.total, s.addend.SetInt64(amount)) }
func (s *sum) reset()                   { s.total.SetInt64(0) }
func (s *sum) cmp(other *sum) int       { return s.total.Cmp(&other.total) }
func (s *sum) isNegative() bool         { return s.total.Sign() < 0 }
func (s *sum) equals(amount int64) bool { return s.total.IsInt64() && s.total.Int64() == amount }
func (s *sum) String() string           { return s.total.String() }
