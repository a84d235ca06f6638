package console

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestHome_WaitsByRole(t *testing.T) {
	t.Parallel()
	// A person sees what it can decide: reviews and approvals for compliance, changes of others, breaks and months for finance, payouts in
	// review for operators, and connections for those of all platforms. Each leads to where it is done.
	for _, test := range []struct {
		role       person.Role
		wants, not []string
	}{
		{person.Compliance, []string{"1 verification waits", "1 hit of the screening waits", base + "/reviews", "1 customer is on hold",
			"1 payment of an agent waits", base + "/agent-approvals", "1 incoming payment waits", base + "/reviews?kind=incoming"},
			[]string{"break is open", "payout or refund waits", "change waits", "webhook failed"}},
		{person.Administrator, []string{"1 verification waits", "1 payment waits"}, []string{"payout or refund waits"}},
		{person.Finance, []string{"1 change waits", "1 break is open", "1 month is over and not closed", base + "/months/2026-02",
			"ended 13 days ago", "1 day with a shortfall is"}, []string{"verification waits", "incoming payment waits"}},
		{person.Operator, []string{"1 connection carries", "1 payment waits", root + "/rail-payments", "for money: bank-eur",
			"to say what is new: bank-usd", "stopped job"}, []string{"break is open", "change waits"}},
		{person.Support, []string{"webhook failed"}, []string{"change waits", "stopped job"}},
		{person.Viewer, []string{"Nothing waits"}, []string{"change waits", "verification waits", "break is open", "webhook failed",
			"connection carries"}},
	} {
		s := newSite(t).fill()
		s.rails.listed[0].Untested = true
		own := s.proposals.all[0]
		own.ByPerson = newPerson().ID
		asked, unseen := newIncoming(), s.finance.reports[0]
		asked.State, asked.Approval, unseen.Acknowledgements = transaction.State{Status: transaction.Pending}, &transaction.Approval{}, nil
		s.proposals.all, s.payments.all = append(s.proposals.all, own), append(s.payments.all, asked)
		s.finance.reports = append(s.finance.reports, unseen)
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
	if got := own.get(base); strings.Contains(got.body, "connection carries") || !strings.Contains(got.body, "1 payout or refund waits") {
		t.Errorf("an operator of one platform sees connections: %s", got.body)
	}
}

func TestChart_Draws(t *testing.T) {
	t.Parallel()
	// A day has a bar for each group of statuses, one on the other, the highest as high as the chart; few payments are still seen, and
	// none have no bar. The numbers are beside it, and say where counting stopped.
	days := []payments.TimeCount{{From: now, Counts: map[transaction.Status]int64{transaction.Completed: ports.MaxTotal + 1,
		transaction.Failed: 1}},
		{From: now.AddDate(0, 0, 1), Counts: map[transaction.Status]int64{transaction.Pending: 2, transaction.Processing: 2}},
		{From: now.AddDate(0, 0, 2)}}
	c := newChart(days, false, time.UTC)
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
	if !slices.Equal(c.Days[0].Counts, []string{"10000 or more", "0", "1"}) || !slices.Equal(c.Days[1].Counts, []string{"0", "4", "0"}) {
		t.Errorf("numbers %+v", c.Days)
	}
	if got := successRate(days[:1]); got != "99.9 %" {
		t.Errorf("success rate %s", got)
	}
	if got := successRate(days[1:]); got != "" {
		t.Errorf("success rate of nothing: %s", got)
	}
	if got := newChart(nil, true, time.UTC); len(got.Bars) > 0 {
		t.Errorf("no days: %+v", got)
	}
}

func TestHome_Balances(t *testing.T) {
	t.Parallel()
	// What is held for customers stands beside what is owed to them, on a scale of each currency, and a shortfall is seen. Currencies of
	// own accounts alone have a row. Who may see connections sees what they hold and have paid out, of a production platform.
	figures := []safeguarding.Figures{{Currency: "USD", Requirement: money.TotalOf(9_00), Resource: money.TotalOf(6_00)},
		{Currency: "EUR", Requirement: money.TotalOf(1_00), Resource: money.TotalOf(4_00)}, {Currency: "JPY"}}
	b := newBalances(figures, []account.WithBalance{{Internal: account.Internal{Currency: "USD"}, Balance: 2_00},
		{Internal: account.Internal{Currency: "BTC"}, Balance: 5}, {Internal: account.Internal{Currency: "USD"}, Balance: 1_50}})
	if l := b.Levels; len(l) != 3 || l[0].Class != "lost" || l[0].Bar != 200 || l[0].Line != levelWidth || l[1].Class != "done" ||
		l[1].Bar != levelWidth || l[1].Line != levelWidth/4 || l[2].Bar != 0 || l[2].Class != "done" ||
		l[0].Label != "USD: 6.00 USD, owed to customers 9.00" {
		t.Errorf("%+v", l)
	}
	if rows := b.Table.Rows; len(rows) != 4 || rows[0][3].Text != "-3.00" || rows[0][4].Text != "3.50" || rows[3][0].Text != "BTC" {
		t.Errorf("%+v", rows)
	}
	for role, shows := range map[person.Role]bool{person.Operator: true, person.Viewer: false} {
		s := newSite(t).fill().as(person.Grant{Role: role})
		s.platforms.all[0].Environment = platform.Production
		got := s.get(base)
		if strings.Contains(got.body, "Paid out today") != shows || !strings.Contains(got.body, "Held for customers") {
			t.Errorf("%s: %s", role, got.body)
		}
		s.platforms.all[0].Environment = platform.Sandbox
		if strings.Contains(s.get(base).body, "Paid out today") {
			t.Errorf("%s sees connections of a sandbox", role)
		}
	}
}

func TestMonthText_CountsDays(t *testing.T) {
	t.Parallel()
	// The last day of a month ends it; the others say how many follow.
	for day, want := range map[int]string{1: "2026-02 ends in 27 days, and can be closed then.",
		27: "2026-02 ends in 1 day, and can be closed then.",
		28: "2026-02 ends today, and can be closed from tomorrow on."} {
		if got := monthText(time.Date(2026, 2, day, 23, 59, 0, 0, time.UTC)); got != want {
			t.Errorf("day %d: %s, want %s", day, got, want)
		}
	}
}

func TestPlatforms_WhatHappensOnEach(t *testing.T) {
	t.Parallel()
	// Who sees several platforms sees the payments of the last 24 hours of each by status, and what waits for an approval there; of a
	// closed one nothing is counted.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	s.platforms.all[1].ClosedAt = now
	got := s.get(root + "?all")
	for _, want := range []string{base + "/payments?status=", base + "/proposals?status=PENDING"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if strings.Contains(got.body, basePath(foreignPlatform)+"/payments") {
		t.Errorf("a closed platform is counted: %s", got.body)
	}
}
