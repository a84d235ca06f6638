package period_test

import (
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/period"
)

func TestCalendar_NeedsConfirmation(t *testing.T) {
	t.Parallel()
	// Only the soft close that begins a calendar needs a confirmation, also after the only
	// soft-closed month was reopened.
	reopened, err := (period.Calendar{First: month("2026-09"), FirstUnclosed: month("2026-09"), FirstOpen: month("2026-10")}).Apply(
		period.Reopen, month("2026-09"), now)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range period.Actions() {
		if got := (period.Calendar{}).NeedsConfirmation(a); got != (a == period.SoftClose) {
			t.Errorf("first %s: %t", a, got)
		}
		if calendar().NeedsConfirmation(a) {
			t.Errorf("%s of a calendar that has begun needs a confirmation", a)
		}
	}
	if !reopened.NeedsConfirmation(period.SoftClose) {
		t.Error("after the reopening of the only month no confirmation is needed")
	}
}

func TestConfirmFirst_NamesEarlierMonths(t *testing.T) {
	t.Parallel()
	// The fault names the month to soft-close first and the months that become opening balances.
	for name, c := range map[string]struct {
		earliest     period.Month
		want, reason string
	}{
		"no postings":           {period.Month{}, "no earlier postings", "Confirmation required"},
		"postings in the month": {month("2026-10"), "no earlier postings", "Confirmation required"},
		"later postings":        {month("2026-11"), "no earlier postings", "Confirmation required"},
		"one earlier month":     {month("2026-09"), "The month 2026-09 is still open. Soft-close 2026-09 first.", "Earlier months are open"},
		"earlier months": {month("2025-12"), "The months 2025-12 to 2026-09 are still open. Soft-close 2025-12 first.",
			"Earlier months are open"},
	} {
		f := period.ConfirmFirst(month("2026-10"), c.earliest)
		if f.Code != fault.Conflict || f.Reason != c.reason || !strings.Contains(f.Message, c.want) ||
			!strings.Contains(f.Message, "repeat with confirmOpeningBalances") {
			t.Errorf("%s: %v", name, f)
		}
		if _, named := f.Details["earliestOpenMonth"]; f.Details["firstPeriod"] != "2026-10" ||
			named != strings.Contains(f.Message, "still open") {
			t.Errorf("%s: details %v", name, f.Details)
		}
	}
}
