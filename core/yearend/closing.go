package yearend

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

// Closing records that a year was closed. It never changes.
type Closing struct {
	Platform ident.Platform
	Year     Year
	// Number counts the closings of the year, from 1: a year whose closing was reversed can be closed again.
	Number int
	At     time.Time
	By     platform.Author
	// Approval is that of four eyes; zero without.
	Approval platform.Approval
	Note     string
	// Posting closes income and expense; zero if there were none.
	Posting uuid.UUID
	// Seq is the number of the last posting before it.
	Seq int64
	// Results are what was closed, by currency.
	Results []Result
	// Reversal is nil unless the closing was reversed.
	Reversal *Reversal
}

// Result is the result of a year in one currency, in minor units: income credit-positive, expense debit-positive.
type Result struct {
	Currency        money.Currency
	Income, Expense money.Total
}

// Net returns the income less the expense.
func (r Result) Net() money.Total { return r.Income.Sub(r.Expense) }

// Reversal records that the closing of a year was reversed.
type Reversal struct {
	At       time.Time
	By       platform.Author
	Approval platform.Approval // of four eyes; zero without
	Note     string
	Posting  uuid.UUID // zero if the closing has none
	// Effective is the year's end, or the start of the first month that was not closed.
	Effective time.Time
}

// Current returns the closing of a year that is in force, or false if there is none.
func Current(closings []Closing, y Year) (Closing, bool) {
	i := slices.IndexFunc(closings, func(c Closing) bool { return c.Year == y && c.Reversal == nil })
	if i < 0 {
		return Closing{}, false
	}
	return closings[i], true
}

// CheckClose returns CONFLICT if a year cannot be closed: it is closed, or a month of it is in the wrong state.
// firstPosted is the first month with a posting; zero if there is none.
func CheckClose(c period.Calendar, firstPosted period.Month, y Year, closings []Closing) error {
	if _, closed := Current(closings, y); closed {
		return conflict(
			"Year is closed", "The year %s is closed. Reverse its closing before you close it again: causeway ledger reverse-year %s.", y, y)
	}
	if !c.Started() {
		return notStarted(firstPosted, y)
	}
	if before := y.Last().Previous(); c.State(before) != period.Closed {
		first := y.First()
		for c.State(first) == period.Closed {
			first = first.Next()
		}
		return conflict("Wrong state", "%s is %s. Close all months of the year %s but the last, %s, and soft-close that one.", first,
			c.State(first), y, y.Last())
	}
	switch c.State(y.Last()) {
	case period.Open:
		return conflict("Wrong state", "%s is OPEN. Soft-close it first: then its income and expense are final, but for authorised postings.",
			y.Last())
	case period.SoftClosed:
		return nil
	default:
		return conflict("Wrong state", "%s is CLOSED and accepts no postings. The income and expense of the year %s are closed with those of "+
			"the next year that is closed.", y.Last(), y)
	}
}

// notStarted returns the fault of a year of a platform that has not soft-closed any month, with the month to begin with.
func notStarted(firstPosted period.Month, y Year) error {
	switch {
	case firstPosted.IsZero():
		return conflict("Nothing to close", "The platform has no postings, so the year %s has no income and expense to close.", y)
	case y.Last().Before(firstPosted):
		return conflict("Nothing to close", "The year %s has no postings, so it has no income and expense to close. The month of the first "+
			"posting is %s.", y, firstPosted)
	case y.Last() == firstPosted:
		return conflict("Wrong state", "No month is soft-closed yet. Soft-close %s first, the last month of the year %s: it is the month of "+
			"the first posting.", firstPosted, y)
	default:
		return conflict("Wrong state", "No month is soft-closed yet. Begin with %s, the month of the first posting: soft-close and close it "+
			"and every later month before %s, the last of the year %s, and soft-close that one.",
			firstPosted, y.Last(), y)
	}
}

// Close returns the closing of a year and the posting of it with its authorisation, none if all balances are
// zero. The balances are those of income and expense at the year's end; closings are those of the platform.
func Close(closing Closing, balances []ledger.NetBalance, closings []Closing) (Closing, []ledger.Posting, []period.Authorisation) {
	closing.Number, closing.Results = 1, results(balances)
	for _, c := range closings {
		if c.Year == closing.Year {
			closing.Number = max(closing.Number, c.Number+1)
		}
	}
	posting := ledger.YearEnd(ledger.Header{ID: closing.postingID(ledger.KindYearEnd), Platform: closing.Platform,
		Effective: closing.Year.End(),
		Memo:      fmt.Sprintf("Closing of the year %s", closing.Year)}, balances)
	if len(posting.Entries) == 0 {
		return closing, nil, nil
	}
	closing.Posting = posting.ID
	return closing, []ledger.Posting{posting}, []period.Authorisation{{Platform: closing.Platform, Posting: posting.ID, By: closing.By,
		Approval: closing.Approval, Note: closing.Note, At: closing.At}}
}

// postingID returns the id of the posting of a kind that belongs to the closing. Repeated work derives the same.
func (c Closing) postingID(kind ledger.Kind) uuid.UUID {
	subject := c.Platform.UUID()
	subject[6], subject[7] = byte(c.Year.number>>8), byte(c.Year.number)
	return ledger.DerivedID(subject, kind, c.Number)
}

func results(balances []ledger.NetBalance) []Result {
	var results []Result
	for _, b := range balances {
		if b.Net.Sign() == 0 {
			continue
		}
		i := slices.IndexFunc(results, func(r Result) bool { return r.Currency == b.Currency })
		if i < 0 {
			i, results = len(results), append(results, Result{Currency: b.Currency})
		}
		if line, err := ledger.FindChartLine(b.Path); err == nil && line.Class == ledger.Income {
			results[i].Income = results[i].Income.Sub(b.Net)
		} else {
			results[i].Expense = results[i].Expense.Add(b.Net)
		}
	}
	return results
}

// CheckReverse returns the closing of a year that a reversal would undo, or CONFLICT: the year is not closed, or
// a later one is.
func CheckReverse(y Year, closings []Closing) (Closing, error) {
	current, closed := Current(closings, y)
	if !closed {
		return Closing{}, conflict("Year is not closed", "The year %s is not closed.", y)
	}
	for _, c := range closings {
		if c.Reversal == nil && c.Year.number > y.number {
			return Closing{}, conflict("Out of order", "Years are reversed in reverse order: reverse %s first.", c.Year)
		}
	}
	return current, nil
}

// Reverse returns the reversal of a closing, with its posting and authorisation if the closing has a posting.
// posted is that one. While the last month of the year is soft-closed, the reversal is effective at the year's
// end as well: the year is as if it had never been closed. Later it is effective at the start of the first month
// that is not closed: the income and expense of the year count there, until the next year is closed.
func Reverse(closing Closing, calendar period.Calendar, posted ledger.Posting,
	r Reversal) (Reversal, []ledger.Posting, []period.Authorisation) {
	r.Effective = closing.Year.End()
	if earliest := calendar.EarliestEffective(true); r.Effective.Before(earliest) {
		r.Effective = earliest
	}
	if closing.Posting == uuid.Nil {
		return r, nil, nil
	}
	posting := ledger.Reverse(posted, closing.postingID(ledger.KindReversal), r.Effective,
		fmt.Sprintf("Closing of the year %s is reversed", closing.Year))
	r.Posting = posting.ID
	return r, []ledger.Posting{posting}, []period.Authorisation{{Platform: closing.Platform, Posting: posting.ID, By: r.By,
		Approval: r.Approval, Note: r.Note, At: r.At}}
}

// ClosesYears reports whether a platform closes its years: it has closed one, or has a functional currency. Others
// are not asked to.
func ClosesYears(functional money.Currency, closings []Closing) bool {
	return functional != "" || len(closings) > 0
}

// CheckMonthClose returns CONFLICT if the last month of a year must not be closed yet, on a platform that closes
// years. balances are those of income and expense at the end of the month; they are zero after the year was closed.
func CheckMonthClose(y Year, closings []Closing, balances []ledger.NetBalance) error {
	_, closed := Current(closings, y)
	switch {
	case !slices.ContainsFunc(balances, func(b ledger.NetBalance) bool { return b.Net.Sign() != 0 }):
		return nil
	case closed:
		return conflict("Year end out of date", "Income or expense of the year %s was posted after the year was closed. Reverse the closing "+
			"(causeway ledger reverse-year %s) and close the year again, or confirm with withoutYearEnd to close the month as it is.", y, y)
	}
	return conflict("Year is not closed", "%s is the last month of the year %s, whose income and expense are not closed into retained "+
		"earnings yet. Close the year first (causeway ledger close-year %s), or confirm with withoutYearEnd to close the month without it.",
		y.Last(), y, y)
}

// CheckRecord returns what differs between a closing and its postings: posting and reversal are those that it and
// its reversal name, and balances those of income and expense at the year's end, before it.
func (c Closing) CheckRecord(posting, reversal ledger.Posting, balances []ledger.NetBalance) (problems []string) {
	want := ledger.YearEnd(ledger.Header{ID: c.Posting, Platform: c.Platform, Effective: c.Year.End()}, balances)
	switch {
	case c.Posting == uuid.Nil && len(want.Entries) > 0:
		problems = append(problems, "it has no posting although there was income or expense")
	case c.Posting == uuid.Nil:
	case posting.ID == uuid.Nil:
		problems = append(problems, "its posting is missing")
	case posting.Kind != ledger.KindYearEnd || !posting.Effective.Equal(want.Effective) || !slices.Equal(posting.Entries, want.Entries):
		problems = append(problems, "its posting is not the income and expense of the year at that time")
	}
	if !slices.EqualFunc(c.Results, results(balances), func(a, b Result) bool {
		return a.Currency == b.Currency && a.Income.Equal(b.Income) && a.Expense.Equal(b.Expense)
	}) {
		problems = append(problems, "its results are not the income and expense of the year at that time")
	}
	if c.Reversal != nil && c.Posting != uuid.Nil && (!reversal.IsReversalOf(posting) || !reversal.Effective.Equal(c.Reversal.Effective)) {
		problems = append(problems, "its reversal does not reverse its posting")
	}
	return problems
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}
