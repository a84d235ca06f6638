package console

import (
	"strings"
	"testing"

	"causeway/app/payments"
	"causeway/core/person"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestHome_WaitsByRole(t *testing.T) {
	t.Parallel()
	// A person sees what it can do something about: reviews for compliance, breaks and months for finance, connections for operators of
	// all platforms. Each leads to where it is done.
	for _, test := range []struct {
		role       person.Role
		wants, not []string
	}{
		{person.Compliance, []string{"1 verification waits", "1 hit of the screening waits", base + "/reviews"}, []string{"break is open"}},
		{person.Finance, []string{"1 break is open", "1 month is over and not closed", base + "/months/2026-02", "ended 13 days ago"},
			[]string{"verification waits"}},
		{person.Operator, []string{"1 connection carries", "1 payment waits", root + "/rail-payments"}, []string{"break is open"}},
		{person.Viewer, []string{"1 change waits"}, []string{"verification waits", "break is open", "connection carries"}},
	} {
		s := newSite(t).fill()
		s.rails.listed[0].Untested = true
		got := s.as(person.Grant{Role: test.role}).get(base)
		for _, want := range test.wants {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in %s", test.role, want, got.body)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got.body, not) {
				t.Errorf("%s: %q in %s", test.role, not, got.body)
			}
		}
	}
	own := newSite(t).fill().as(person.Grant{Role: person.Operator, Platform: ownPlatform})
	own.rails.listed[0].Untested = true
	if got := own.get(base); strings.Contains(got.body, "connection carries") {
		t.Errorf("an operator of one platform sees connections: %s", got.body)
	}
}

func TestChart_Draws(t *testing.T) {
	t.Parallel()
	// A day has a bar for each group of statuses, one on the other, the highest as high as the chart; few payments are still seen, and
	// none have no bar. The numbers are beside it, and say where counting stopped.
	days := []payments.DayCount{{Day: now, Counts: map[transaction.Status]int64{transaction.Completed: ports.MaxTotal + 1,
		transaction.Failed: 1}},
		{Day: now.AddDate(0, 0, 1), Counts: map[transaction.Status]int64{transaction.Pending: 2, transaction.Processing: 2}},
		{Day: now.AddDate(0, 0, 2)}}
	c := newChart(days)
	if len(c.Bars) != 3 || c.Bars[0].Class != "done" || c.Bars[0].Height != chartHeight-1 || c.Bars[1] != (bar{"lost", c.Bars[0].X, 0,
		barWidth, 1}) &&
		c.Bars[1].Height != 1 || c.Bars[2].Class != "open" || c.Bars[2].Height != 1 {
		t.Errorf("bars %+v", c.Bars)
	}
	for _, b := range c.Bars {
		if b.Y < 0 || b.Y+b.Height > chartHeight || b.X < 0 || b.X+b.Width > c.Width {
			t.Errorf("%+v is outside of the chart", b)
		}
	}
	if c.Days[0].Counts != [...]string{"10000 or more", "0", "1"} || c.Days[1].Counts != [...]string{"0", "4", "0"} {
		t.Errorf("numbers %+v", c.Days)
	}
	if got := successRate(days[:1]); got != "99.9 %" {
		t.Errorf("success rate %s", got)
	}
	if got := successRate(days[1:]); got != "" {
		t.Errorf("success rate of nothing: %s", got)
	}
	if got := newChart(nil); len(got.Bars) > 0 {
		t.Errorf("no days: %+v", got)
	}
}
