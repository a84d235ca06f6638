package audit

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// checkIndexes holds what the postings of a platform are found by against where they are:
// whoever asks for one by its id, or for those of a time, is not told of what lies elsewhere.
func checkIndexes(ctx context.Context, view ports.AuditView, report *Report, platform ident.Platform) error {
	places, err := view.IndexMismatches(ctx, platform)
	if err != nil {
		return err
	}
	report.rule(RuleIndexes).Checked += places.Postings
	for _, found := range []struct {
		ports.Mismatches
		what string
	}{
		{places.UnindexedPostings, "%d postings on %s are not where their ids lead; the first is number %d"},
		{places.DanglingIDs, "%d ids on %s lead to no posting; the first says it has number %d"},
		{places.BackdatedMismatches, "%d postings on %s are listed as taking effect at another time than they do, or should be listed; the first is number %d"},
		{places.RecordedTimeMismatches, "%d entries on %s lie in another time than their posting; the first is of number %d"},
	} {
		if found.Count > 0 {
			report.addFinding(RuleIndexes, found.what, found.Count, platform, found.First)
		}
	}
	checkMonthRanges(report, platform, places)
	return nil
}

// checkMonthRanges holds the numbers that months are said to begin with against those of
// the postings in them. A month may be said to begin where nothing was posted in it.
func checkMonthRanges(report *Report, platform ident.Platform, places ports.AuditIndexMismatches) {
	var last ports.AuditMonthRange // that is said to begin
	highest := int64(0)            // number so far
	for _, m := range places.Months {
		switch {
		case m.First == 0:
			report.addFinding(RuleIndexes, "of %s on %s, with postings number %d to %d, nothing says where it begins", m.Month, platform, m.Lowest, m.Highest)
		case m.First <= highest || m.First < last.First || m.Highest > 0 && m.First > m.Lowest:
			report.addFinding(RuleIndexes, "%s on %s is said to begin with number %d; its postings have numbers %d to %d, and those before it end with %d",
				m.Month, platform, m.First, m.Lowest, m.Highest, highest)
		}
		if m.First > 0 {
			last = m
		}
		highest = max(highest, m.Highest)
	}
	if ends := period.MonthOf(places.MonthEnd); !places.MonthEnd.IsZero() && ends.Previous() != last.Month {
		report.addFinding(RuleIndexes, "the month of the clock of %s ends at %s, and the last that is said to begin is %s",
			platform, places.MonthEnd.Format(time.RFC3339), last.Month)
	}
}
