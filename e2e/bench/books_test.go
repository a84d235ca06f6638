package main

import (
	"strings"
	"testing"
	"time"

	"causeway/core/period"
)

func TestBooksFixture_MonthsOfYear(t *testing.T) {
	// The year is the twelve whole months before the last posting, which are those of the ledger, whatever the month.
	t.Parallel()
	for month := range time.Month(12) {
		until := time.Date(2026, month+1, 21, 12, 0, 0, 0, time.UTC)
		f := &booksFixture{year: yearOf(until)}

		months := f.months()

		from := period.MonthOf(until).Start().AddDate(0, -largeMonths, 0)
		if len(months) != largeMonths || !months[0].Start().Equal(from) || months[largeMonths-1].Next() != period.MonthOf(until) {
			t.Errorf("until %s the months are %v", until, months)
		}
		// All days with a report are over, and of the year.
		if last := from.AddDate(0, 0, 7*(reportedDays-1)+6); !last.Before(f.year.Last().End()) {
			t.Errorf("a report of %s, after the year %s", last, f.year)
		}
	}
}

func TestBooksStep_MedianAndSlowest(t *testing.T) {
	// A row has how often a step was done, its median and its slowest time, and the rate of the median.
	t.Parallel()
	r := report{}
	s := booksStep{name: "Close", durations: []time.Duration{30 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond},
		memory: memoryGrowth{90_000_000, 95_000_000}}

	s.addTo(r, 1000)

	if want := "| Close | 3 | 20.0 ms | 30.0 ms | 50000 | 95 MB, before 90 MB |\n"; !strings.HasSuffix(r[booksOfYear], want) {
		t.Errorf("%q; want %q", r[booksOfYear], want)
	}
}
