package yearend_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/yearend"
	"causeway/ledger"
)

func month(text string) period.Month {
	m, err := period.ParseMonth(text)
	if err != nil {
		panic(err)
	}
	return m
}

func calendar(first, unclosed, open string) period.Calendar {
	return period.Calendar{First: month(first), FirstUnclosed: month(unclosed), FirstOpen: month(open)}
}

func TestYear_OfMonth(t *testing.T) {
	t.Parallel()
	// A year has twelve months, is named by the calendar year of its last one, and every month belongs to one year.
	rapid.Check(t, func(t *rapid.T) {
		end := time.Month(rapid.IntRange(1, 12).Draw(t, "end"))
		m := period.MonthOf(time.Date(rapid.IntRange(2001, 2100).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 1, 0,
			0, 0, 0, time.UTC))

		y := yearend.OfMonth(m, end)

		if m.Before(y.First()) || y.Last().Before(m) || y.Last().Start().Month() != end || y.Number() != y.Last().Start().Year() {
			t.Errorf("%s belongs to %s to %s (%s)", m, y.First(), y.Last(), y)
		}
		if y.First().Start().AddDate(1, 0, 0) != y.Last().End() || y.Next().First() != y.Last().Next() || y.Next().Previous() != y {
			t.Errorf("%s to %s, then %s", y.First(), y.Last(), y.Next().First())
		}
	})
}

func TestCheckClose(t *testing.T) {
	t.Parallel()
	// A year is closed while its last month is soft-closed and all others are closed, once unless that was reversed.
	year := yearend.OfNumber(2025, time.December)
	closed := yearend.Closing{Year: year, Number: 1}
	reversed := closed
	reversed.Reversal = &yearend.Reversal{}
	for name, c := range map[string]struct {
		calendar period.Calendar
		closings []yearend.Closing
		reason   string
	}{
		"ready":                         {calendar("2025-01", "2025-12", "2026-01"), nil, ""},
		"ready, begun within the year":  {calendar("2025-12", "2025-12", "2026-01"), nil, ""},
		"ready, a later month is too":   {calendar("2025-01", "2025-12", "2026-02"), nil, ""},
		"closed":                        {calendar("2025-01", "2025-12", "2026-01"), []yearend.Closing{closed}, "Year is closed"},
		"reversed":                      {calendar("2025-01", "2025-12", "2026-01"), []yearend.Closing{reversed}, ""},
		"last month is open":            {calendar("2025-01", "2025-12", "2025-12"), nil, "Wrong state"},
		"last month is closed":          {calendar("2025-01", "2026-01", "2026-01"), nil, "Wrong state"},
		"an earlier month is not":       {calendar("2025-01", "2025-11", "2026-01"), nil, "Wrong state"},
		"another year was closed":       {calendar("2024-01", "2025-12", "2026-01"), []yearend.Closing{{Year: year.Previous(), Number: 1}}, ""},
		"the year before was not":       {calendar("2024-01", "2025-12", "2026-01"), nil, ""},
		"everything is closed and open": {calendar("2025-01", "2025-01", "2025-01"), nil, "Wrong state"},
	} {
		err := yearend.CheckClose(c.calendar, period.Month{}, year, c.closings)
		f, _ := fault.As(err)
		if (err == nil) != (c.reason == "") || f != nil && (f.Code != fault.Conflict || f.Reason != c.reason) {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
}

func TestCheckClose_CalendarNotStarted(t *testing.T) {
	t.Parallel()
	// Before any month is soft-closed, the fault says which one to begin with: that of the first posting. A year before
	// it has nothing to close. A year that is closed says so.
	year := yearend.OfNumber(2025, time.December)
	for name, c := range map[string]struct {
		firstPosted     string
		closings        []yearend.Closing
		reason, message string
	}{
		"no postings": {"", nil, "Nothing to close", "The platform has no postings, so the year 2025 has no income and " +
			"expense to close."},
		"first posting after the year": {"2026-01", nil, "Nothing to close", "The year 2025 has no postings, so it has no income and " +
			"expense to close. The month of the first posting is 2026-01."},
		"first posting in the last month": {"2025-12", nil, "Wrong state", "No month is soft-closed yet. Soft-close 2025-12 first, the last " +
			"month of the year 2025: it is the month of the first posting."},
		"first posting in the year": {"2025-11", nil, "Wrong state",
			"No month is soft-closed yet. Begin with 2025-11, the month of the first posting: soft-close and close it and every later month " +
				"before 2025-12, the last of the year 2025, and soft-close that one."},
		"first posting before the year": {"2024-03", nil, "Wrong state",
			"No month is soft-closed yet. Begin with 2024-03, the month of the first posting: soft-close and close it and every later month " +
				"before 2025-12, the last of the year 2025, and soft-close that one."},
		"closed before": {"2025-12", []yearend.Closing{{Year: year, Number: 1}}, "Year is closed",
			"The year 2025 is closed. Reverse its closing before you close it again: causeway ledger reverse-year 2025."},
	} {
		var firstPosted period.Month
		if c.firstPosted != "" {
			firstPosted = month(c.firstPosted)
		}

		err := yearend.CheckClose(period.Calendar{}, firstPosted, year, c.closings)

		if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != c.reason || f.Message != c.message {
			t.Errorf("%s: %v, want %s: %s", name, err, c.reason, c.message)
		}
	}
}

// closing is a closing of 2025 that is not computed yet.
func closing() yearend.Closing {
	c := yearend.Closing{Year: yearend.OfNumber(2025, time.December), At: time.Date(2026, 1, 20, 9, 0, 0, 0, time.UTC),
		By:       platform.Author{Actor: "Ana"},
		Approval: platform.Approval{By: platform.Author{Actor: "Ben"}}, Note: "Audited"}
	c.Platform.SetUUID(uuid.UUID{2, 8: 7})
	return c
}

func balances() []ledger.NetBalance {
	return []ledger.NetBalance{
		{Path: ledger.ExpenseRails, Currency: money.USD, Net: money.TotalOf(2000)},
		{Path: ledger.IncomeFees, Currency: money.USD, Net: money.TotalOf(-12000)},
		{Path: ledger.IncomeRounding, Currency: money.USD},
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	// The posting is effective at the last stored time of the year and authorised; the record has the results.
	c, postings, authorisations := yearend.Close(closing(), balances(), nil)

	if len(postings) != 1 || postings[0].ID != c.Posting || !postings[0].Effective.Equal(month("2025-12").End().Add(-time.Microsecond)) {
		t.Fatalf("%v", postings)
	}
	if err := postings[0].Validate(); err != nil {
		t.Error(err)
	}
	if len(authorisations) != 1 || authorisations[0] != (period.Authorisation{Platform: c.Platform, Posting: c.Posting, By: c.By,
		Approval: c.Approval, Note: "Audited", At: c.At}) {
		t.Errorf("%v", authorisations)
	}
	if c.Number != 1 || len(c.Results) != 1 || c.Results[0].Net().String() != "10000" {
		t.Errorf("%+v", c)
	}
	if problems := c.CheckRecord(postings[0], ledger.Posting{}, balances()); problems != nil {
		t.Errorf("%q", problems)
	}

	// The next closing of the year, after a reversal, has another number and posting.
	c.Reversal = &yearend.Reversal{}
	again, _, _ := yearend.Close(closing(), balances(), []yearend.Closing{c})
	if again.Number != 2 || again.Posting == c.Posting {
		t.Errorf("%+v", again)
	}

	// Without income and expense there is no posting.
	if c, postings, authorisations := yearend.Close(closing(), balances()[2:], nil); c.Posting != uuid.Nil || postings != nil ||
		authorisations != nil || c.Results != nil {
		t.Errorf("%+v %v %v", c, postings, authorisations)
	}
}

func TestCheckRecord_Differences(t *testing.T) {
	t.Parallel()
	// A record that does not match its postings or the income and expense of the year is found.
	c, postings, _ := yearend.Close(closing(), balances(), nil)
	reversed := c
	r, reversals, _ := yearend.Reverse(c, calendar("2025-01", "2025-12", "2026-01"), postings[0], yearend.Reversal{})
	reversed.Reversal = &r
	if problems := reversed.CheckRecord(postings[0], reversals[0], balances()); problems != nil {
		t.Errorf("%q", problems)
	}
	later := slices.Clone(balances())
	later[0].Net = money.TotalOf(2001)
	wrongResult, noPosting := c, c
	wrongResult.Results = []yearend.Result{{Currency: money.USD, Income: money.TotalOf(12000)}}
	noPosting.Posting = uuid.Nil
	for name, problems := range map[string][]string{
		"posting is missing":  c.CheckRecord(ledger.Posting{}, ledger.Posting{}, balances()),
		"other balances":      c.CheckRecord(postings[0], ledger.Posting{}, later),
		"other results":       wrongResult.CheckRecord(postings[0], ledger.Posting{}, balances()),
		"no posting named":    noPosting.CheckRecord(ledger.Posting{}, ledger.Posting{}, balances()),
		"reversal is missing": reversed.CheckRecord(postings[0], ledger.Posting{}, balances()),
		"another kind":        c.CheckRecord(reversals[0], ledger.Posting{}, balances()),
	} {
		if len(problems) == 0 {
			t.Errorf("%s: no problem", name)
		}
	}
}

func TestReverse_EffectiveTime(t *testing.T) {
	t.Parallel()
	// While the last month is soft-closed a reversal is effective at the year's end, later at the start of the first
	// month that is not closed.
	c, postings, _ := yearend.Close(closing(), balances(), nil)
	for name, want := range map[string]struct {
		calendar  period.Calendar
		effective time.Time
	}{
		"soft-closed": {calendar("2025-01", "2025-12", "2026-01"), c.Year.End()},
		"closed":      {calendar("2025-01", "2026-02", "2026-02"), month("2026-02").Start()},
	} {
		r, reversals, authorisations := yearend.Reverse(c, want.calendar, postings[0], yearend.Reversal{Note: "Late invoice", At: c.At,
			Approval: c.Approval})
		if !r.Effective.Equal(want.effective) || len(reversals) != 1 || !reversals[0].Effective.Equal(want.effective) ||
			!reversals[0].IsReversalOf(postings[0]) {
			t.Errorf("%s: %v %v", name, r, reversals)
		}
		if r.Posting != reversals[0].ID || len(authorisations) != 1 || authorisations[0].Posting != r.Posting ||
			authorisations[0].Approval != r.Approval {
			t.Errorf("%s: %v %v", name, r, authorisations)
		}
	}
}

func TestCheckReverse(t *testing.T) {
	t.Parallel()
	// Only the last closed year is reversed.
	first, second := closing(), closing()
	second.Year = first.Year.Next()
	if _, err := yearend.CheckReverse(first.Year, nil); err == nil {
		t.Error("a year that is not closed is reversed")
	}
	if _, err := yearend.CheckReverse(first.Year, []yearend.Closing{first, second}); err == nil {
		t.Error("a year before a closed one is reversed")
	}
	second.Reversal = &yearend.Reversal{}
	if _, err := yearend.CheckReverse(first.Year, []yearend.Closing{first, second}); err != nil {
		t.Error(err)
	}
}

func TestCheckMonthClose(t *testing.T) {
	t.Parallel()
	// The last month of a year is closed if nothing is left on income and expense.
	c := closing()
	zero := balances()[2:]
	for name, want := range map[string]struct {
		closings []yearend.Closing
		balances []ledger.NetBalance
		reason   string
	}{
		"not closed":            {nil, balances(), "Year is not closed"},
		"closed":                {[]yearend.Closing{c}, zero, ""},
		"closed, then changed":  {[]yearend.Closing{c}, balances(), "Year end out of date"},
		"nothing to close":      {nil, zero, ""},
		"another year's closed": {[]yearend.Closing{{Year: c.Year.Previous()}}, balances(), "Year is not closed"},
	} {
		err := yearend.CheckMonthClose(c.Year, want.closings, want.balances)
		f, _ := fault.As(err)
		if (err == nil) != (want.reason == "") || f != nil && f.Reason != want.reason {
			t.Errorf("%s: %v, want %q", name, err, want.reason)
		}
	}
	if yearend.ClosesYears("", nil) || !yearend.ClosesYears("USD", nil) || !yearend.ClosesYears("", []yearend.Closing{c}) {
		t.Error("the wrong platforms close years")
	}
}
