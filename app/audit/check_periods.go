package audit

import (
	"bytes"
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// checkClosedMonths compares the closed months of a platform with their stored trial balances,
// and checks the postings in soft-closed months.
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

// monthCheck checks the lines of the trial balances, by account and month.
type monthCheck struct {
	report   *Report
	platform ident.Platform
	months   ports.AuditMonths

	hasCurrent bool // there is a current account
	current    ports.AuditMonthLine
	balance    money.Total  // of the current account after the months so far, from its entries
	nextMonth  period.Month // the month of its next line
}

// checkClosings checks the months themselves: they are consecutive and still closed, the last
// posting before each closing is unchanged, and nothing was posted into them since.
func (c *monthCheck) checkClosings() {
	var before period.Month
	for _, k := range c.months.Closings {
		switch {
		case !before.IsZero() && k.Month != before.Next():
			c.addFinding("%s is closed on %s and %s, the month before it, is not", k.Month, c.platform, k.Month.Previous())
		case !k.Month.Before(c.months.FirstUnclosed):
			c.addFinding("%s was closed on %s at %s and accepts postings again", k.Month, c.platform, k.At.Format("2006-01-02 15:04:05"))
		}
		if !bytes.Equal(k.Digest, k.TrueDigest) {
			c.addFinding("%s was closed on %s at posting number %d, which has been changed or is missing", k.Month, c.platform, k.Seq)
		}
		if k.LatePostings > 0 {
			c.addFinding("%d postings on %s are effective in %s or before and were posted after it was closed at number %d; the first is number %d",
				k.LatePostings, c.platform, k.Month, k.Seq, k.FirstLatePosting)
		}
		before = k.Month
	}
	if n := len(c.months.Closings); n > 0 && c.months.Closings[n-1].Month.Next().Before(c.months.FirstUnclosed) {
		c.addFinding("%s is closed on %s and has no trial balance", c.months.FirstUnclosed.Previous(), c.platform)
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

// compareLine compares a line with the entries. An account has a line for every closed month
// from its first entry on.
func (c *monthCheck) compareLine(l ports.AuditMonthLine) {
	if !c.nextMonth.IsZero() && c.nextMonth != l.Month {
		c.addFinding("account %d, %s, has no line for %s", l.Number, l.Account, c.nextMonth)
	}
	c.report.countChecked(RuleClosedMonths)
	switch {
	case !l.Stored:
		c.addFinding("account %d, %s, has no line for %s; its entries have debits of %s and credits of %s", l.Number, l.Account, l.Month,
			l.TrueDebits, l.TrueCredits)
	case !l.Line.Opening.Equal(c.balance):
		c.addFinding("account %d, %s, opens %s with %s; its entries add up to %s", l.Number, l.Account, l.Month, l.Line.Opening, c.balance)
	case !l.Line.Debits.Equal(l.TrueDebits) || !l.Line.Credits.Equal(l.TrueCredits):
		c.addFinding("account %d, %s, has debits of %s and credits of %s in %s; its entries add up to %s and %s",
			l.Number, l.Account, l.Line.Debits, l.Line.Credits, l.Month, l.TrueDebits, l.TrueCredits)
	case !l.Line.Closing.Equal(l.Line.ExpectedClosing()):
		c.addFinding("account %d, %s, closes %s with %s; the other columns of the line come to %s", l.Number, l.Account, l.Month, l.Line.Closing,
			l.Line.ExpectedClosing())
	}
}

// finishAccount finishes the current account: its lines must go on to the last closed month.
func (c *monthCheck) finishAccount() {
	if _, last := c.closedRange(); c.hasCurrent && !c.nextMonth.IsZero() && !last.Before(c.nextMonth) {
		c.addFinding("account %d, %s, has no line for %s", c.current.Number, c.current.Account, c.nextMonth)
	}
	c.hasCurrent = false
}

// closedRange returns the first and the last closed month, zero if there is none.
func (c *monthCheck) closedRange() (first, last period.Month) {
	if n := len(c.months.Closings); n > 0 {
		return c.months.Closings[0].Month, c.months.Closings[n-1].Month
	}
	return first, last
}

func (c *monthCheck) addFinding(format string, args ...any) {
	c.report.addFinding(RuleClosedMonths, format, args...)
}

// checkSoftClosed replays the changes of a platform's months. Between each change and the next
// it looks for postings that the months did not accept then: without authorisation in a
// soft-closed month, or before the first month. Postings into a closed month are found by
// checkClosings.
func checkSoftClosed(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform, months ports.AuditMonths) error {
	changes, err := view.MonthChanges(ctx, platform)
	if err != nil {
		return err
	}
	var calendar period.Calendar
	for i, change := range changes {
		report.countChecked(RuleSoftClosedMonths)
		next, err := calendar.Apply(change.Action, change.Month, change.At)
		if err != nil {
			report.addFinding(RuleSoftClosedMonths, "on %s, %s has the action %s at %s, which is not possible: %s",
				platform, change.Month, change.Action, change.At.Format(time.DateTime), err)
			return nil
		}
		if calendar = next; !calendar.Started() {
			continue
		}
		many, first, err := view.Unauthorised(ctx, platform, newCalendarInForce(calendar, changes[i:]))
		if err != nil {
			return err
		}
		if many > 0 {
			report.addFinding(RuleSoftClosedMonths, "%d postings on %s are effective before %s, the first open month from %s on, and are not "+
				"authorised; the first is number %d",
				many, platform, calendar.FirstOpen, change.At.Format(time.DateTime), first)
		}
	}
	if calendar.FirstUnclosed != months.FirstUnclosed || calendar.FirstOpen != months.FirstOpen {
		report.addFinding(RuleSoftClosedMonths, "by their changes the months of %s are %s; the clock has them %s",
			platform, describeCalendar(calendar), describeCalendar(period.Calendar{FirstUnclosed: months.FirstUnclosed,
				FirstOpen: months.FirstOpen}))
	}
	return nil
}

// newCalendarInForce is the calendar from the first of the changes to the one after it. A
// posting recorded at the very time of a change was recorded before it.
func newCalendarInForce(c period.Calendar, changes []period.Change) ports.AuditCalendar {
	inForce := ports.AuditCalendar{Recorded: period.Interval{From: changes[0].At.Add(time.Microsecond)},
		AuthorisedFrom: c.FirstUnclosed.Start(), OpenFrom: c.FirstOpen.Start()}
	if len(changes) > 1 {
		inForce.Recorded.To = changes[1].At.Add(time.Microsecond)
	}
	if c.First.Before(c.FirstUnclosed) {
		inForce.After = c.FirstUnclosed.Start()
	}
	return inForce
}

func describeCalendar(c period.Calendar) string {
	if c.FirstOpen.IsZero() {
		return "all open"
	}
	return "closed before " + c.FirstUnclosed.String() + " and soft-closed before " + c.FirstOpen.String()
}

// checkAdjustments checks that every adjustment has the authorisation with which it was posted.
func checkAdjustments(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) error {
	return view.Adjustments(ctx, platform, func(a ports.AuditAdjustment) error {
		if a.Kind == ledger.KindOpeningBalances {
			if !a.Authorised {
				report.addFinding(RuleOpeningBalances, "posting %s (number %d on %s) has opening balances that nobody has authorised",
					a.Posting, a.Seq, platform)
			}
			return nil
		}
		report.countChecked(RuleAdjustments)
		switch {
		case !a.Authorised:
			report.addFinding(RuleAdjustments, "posting %s (number %d on %s) is an adjustment that nobody has authorised",
				a.Posting, a.Seq, platform)
		case !a.Authorisation.Authorises(a.Memo):
			report.addFinding(RuleAdjustments, "posting %s (number %d on %s) has the memo %q, which does not begin its authorisation %q", a.Posting,
				a.Seq, platform, a.Memo, a.Authorisation.Note)
		}
		return nil
	})
}
