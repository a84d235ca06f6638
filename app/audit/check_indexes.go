package audit

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// checkIndexes compares the indexes by which postings are found, by id and by time, with the
// postings: a posting that an index lacks would be missing from reads.
func checkIndexes(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) error {
	indexes, err := view.IndexMismatches(ctx, platform)
	if err != nil {
		return err
	}
	report.rule(RuleIndexes).Checked += indexes.Postings
	for _, found := range []struct {
		ports.Mismatches
		what string
	}{
		{indexes.UnindexedPostings, "%d postings on %s are missing from the index of ids or have wrong values there; the first is number %d"},
		{indexes.DanglingIDs, "%d ids on %s belong to no posting; the first has number %d"},
		{indexes.BackdatedMismatches, "%d postings on %s are missing from the list of backdated entries or have wrong values there; the first " +
			"is number %d"},
		{indexes.RecordedTimeMismatches, "%d entries on %s have another recorded time than their posting; the first is of number %d"},
	} {
		if found.Count > 0 {
			report.addFinding(RuleIndexes, found.what, found.Count, platform, found.First)
		}
	}
	checkMonthRanges(report, platform, indexes)
	return nil
}

// checkMonthRanges compares the stored first number of each month with the numbers of the
// postings in it. A month without postings may have a first number.
func checkMonthRanges(report *Report, platform ident.Platform, indexes ports.AuditIndexMismatches) {
	var last ports.AuditMonthRange // the last one with a stored first number
	highest := int64(0)            // highest number so far
	for _, m := range indexes.Months {
		switch {
		case m.First == 0:
			report.addFinding(RuleIndexes, "%s on %s, with postings number %d to %d, has no stored first number", m.Month, platform,
				m.Lowest, m.Highest)
		case m.First <= highest || m.First < last.First || m.Highest > 0 && m.First > m.Lowest:
			report.addFinding(RuleIndexes, "%s on %s has the first number %d; its postings have numbers %d to %d, and the month before ends with %d",
				m.Month, platform, m.First, m.Lowest, m.Highest, highest)
		}
		if m.First > 0 {
			last = m
		}
		highest = max(highest, m.Highest)
	}
	if ends := period.MonthOf(indexes.MonthEnd); !indexes.MonthEnd.IsZero() && ends.Previous() != last.Month {
		report.addFinding(RuleIndexes, "the clock of %s has a month that ends at %s, but the last month with a first number is %s",
			platform, indexes.MonthEnd.Format(time.RFC3339), last.Month)
	}
}
