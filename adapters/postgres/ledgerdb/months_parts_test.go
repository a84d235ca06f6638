package ledgerdb

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/period"
	"causeway/ports"
)

func TestView_PartsOfAnInterval(t *testing.T) {
	t.Parallel()
	// The parts follow each other from the beginning of the interval to its end. None reaches over the end of a month, and only
	// the last is shorter than a day, but for the first, which may begin within one. Months with many postings have short parts.
	first := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		v := &ledgerView{months: months{}}
		seq := int64(1)
		for i := range rapid.IntRange(0, 24).Draw(t, "months") {
			v.months.starts = append(v.months.starts, monthStart{at: first.AddDate(0, i, 0), firstSeq: seq})
			seq += rapid.Int64Range(0, 3_000_000).Draw(t, "postings")
		}
		v.last = ports.LedgerPosition{Seq: seq - 1}
		days := v.months.daysAtOnce(v.last.Seq)
		from := first.Add(time.Duration(rapid.Int64Range(-1e17, 5e16).Draw(t, "from")))
		i := period.Interval{From: from, To: from.Add(time.Duration(rapid.Int64Range(0, 5e16).Draw(t, "length")))}
		end := i.From
		err := v.inParts(i, func(part period.Interval) error {
			length := part.To.Sub(part.From)
			whole := part.From.Truncate(24*time.Hour).Equal(part.From) && part.To.Before(i.To)
			if !part.From.Equal(end) || length <= 0 || whole && length < 24*time.Hour || length > time.Duration(days)*24*time.Hour ||
				part.To.After(period.MonthOf(part.From).End()) {
				t.Fatalf("part %v after %v, of %d days", part, end, days)
			}
			end = part.To
			return nil
		})
		if err != nil || !end.Equal(i.To) {
			t.Fatalf("the last part ends %v, not %v: %v", end, i.To, err)
		}
	})
	million := months{starts: []monthStart{{first, 1}, {first.AddDate(0, 1, 0), 101}, {first.AddDate(0, 2, 0), 1_000_101}}}
	if few, many := million.daysAtOnce(1_000_101), (months{}).daysAtOnce(0); few != 1 || many != 31 {
		t.Errorf("%d and %d days", few, many)
	}
}
