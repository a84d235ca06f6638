package audit

import (
	"bytes"
	"context"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ports"
)

// checkClosedMonths holds the closed months of a platform against what was kept of them, and
// the others against what they took.
func checkClosedMonths(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) error {
	months, err := view.Months(ctx, platform)
	if err != nil {
		return err
	}
	c := &monthCheck{report: report, platform: platform, months: months}
	c.checkClosings()
	if err := view.MonthLines(ctx, platform, months, c.checkLine); err != nil {
		return err
	}
	c.finishAccount()
	return checkSoftClosed(ctx, view, report, platform, months)
}

// monthCheck goes through what months came to, account by account and in each month by
// month.
type monthCheck struct {
	report   *Report
	platform ident.Platform
	months   ports.AuditMonths

	hasCurrent bool // there is an account at hand
	current    ports.AuditMonthLine
	balance    money.Total  // of the account at hand after the months so far, as its entries say
	nextMonth  period.Month // the month its next line must be of
}

// checkClosings looks at the months themselves: in their order without a gap, closed still,
// at a posting that is as it was, and with nothing posted into them since.
func (c *monthCheck) checkClosings() {
	var before period.Month
	for _, k := range c.months.Closings {
		switch {
		case !before.IsZero() && k.Month != before.Next():
			c.addFinding("%s is closed on %s and %s, the month before it, is not", k.Month, c.platform, k.Month.Previous())
		case !k.Month.Before(c.months.FirstUnclosed):
			c.addFinding("%s was closed on %s at %s and takes postings again", k.Month, c.platform, k.At.Format("2006-01-02 15:04:05"))
		}
		if !bytes.Equal(k.Digest, k.TrueDigest) {
			c.addFinding("%s was closed on %s at posting number %d, which is not what it was then, or is missing", k.Month, c.platform, k.Seq)
		}
		if k.LatePostings > 0 {
			c.addFinding("%d postings on %s are effective in %s or before and came after it was closed at number %d; the first is number %d",
				k.LatePostings, c.platform, k.Month, k.Seq, k.FirstLatePosting)
		}
		before = k.Month
	}
	if n := len(c.months.Closings); n > 0 && c.months.Closings[n-1].Month.Next().Before(c.months.FirstUnclosed) {
		c.addFinding("%s is closed on %s and nothing was kept of it", c.months.FirstUnclosed.Previous(), c.platform)
	}
}

func (c *monthCheck) checkLine(l ports.AuditMonthLine) error {
	if !c.hasCurrent || c.current.Number != l.Number {
		c.finishAccount()
		c.hasCurrent, c.balance, c.nextMonth = true, money.Total{}, period.Month{}
	}
	c.current = l
	first, last := c.closedRange()
	switch {
	case first.IsZero() || last.Before(l.Month) || l.Month.Before(first) && l.Stored:
		c.addFinding("account %d, %s, has a line for %s, which is not closed", l.Number, l.Account, l.Month)
		return nil
	case l.Month.Before(first):
		c.nextMonth = first
	default:
		c.compareLine(l)
		c.nextMonth = l.Month.Next()
	}
	c.balance = period.Line{Class: l.Class, Opening: c.balance, Debits: l.TrueDebits, Credits: l.TrueCredits}.ExpectedClosing()
	return nil
}

// compareLine holds a line against the entries: an account has one for every closed month
// from its first entry on.
func (c *monthCheck) compareLine(l ports.AuditMonthLine) {
	if !c.nextMonth.IsZero() && c.nextMonth != l.Month {
		c.addFinding("account %d, %s, has no line for %s", l.Number, l.Account, c.nextMonth)
	}
	c.report.countChecked(RuleClosedMonths)
	switch {
	case !l.Stored:
		c.addFinding("account %d, %s, has no line for %s; its entries say %s debited and %s credited", l.Number, l.Account, l.Month, l.TrueDebits, l.TrueCredits)
	case !l.Line.Opening.Equal(c.balance):
		c.addFinding("account %d, %s, is said to open %s with %s; its entries say %s", l.Number, l.Account, l.Month, l.Line.Opening, c.balance)
	case !l.Line.Debits.Equal(l.TrueDebits) || !l.Line.Credits.Equal(l.TrueCredits):
		c.addFinding("account %d, %s, is said to have been debited %s and credited %s in %s; its entries say %s and %s",
			l.Number, l.Account, l.Line.Debits, l.Line.Credits, l.Month, l.TrueDebits, l.TrueCredits)
	case !l.Line.Closing.Equal(l.Line.ExpectedClosing()):
		c.addFinding("account %d, %s, is said to close %s with %s; its line comes to %s", l.Number, l.Account, l.Month, l.Line.Closing, l.Line.ExpectedClosing())
	}
}

// finishAccount finishes the account at hand: its lines must reach to the last closed month.
func (c *monthCheck) finishAccount() {
	if _, last := c.closedRange(); c.hasCurrent && !c.nextMonth.IsZero() && !last.Before(c.nextMonth) {
		c.addFinding("account %d, %s, has no line for %s", c.current.Number, c.current.Account, c.nextMonth)
	}
	c.hasCurrent = false
}

// closedRange is the first and the last closed month; zero when there is none.
func (c *monthCheck) closedRange() (first, last period.Month) {
	if n := len(c.months.Closings); n > 0 {
		return c.months.Closings[0].Month, c.months.Closings[n-1].Month
	}
	return first, last
}

func (c *monthCheck) addFinding(format string, args ...any) {
	c.report.addFinding(RuleClosedMonths, format, args...)
}
