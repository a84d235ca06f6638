package console

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/app/processes"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// LastSamples returns samples of the last two intervals of three kinds; before, nobody counted, but in a test without any.
func (f *fakeJobs) LastSamples(ctx context.Context, p ident.Platform, each time.Duration, n int) ([]processes.Series, error) {
	series := func(kind ports.SampleKind, name string, counts ...int64) processes.Series {
		s := processes.Series{Kind: kind, Name: name, Points: make([]processes.Point, n)}
		for i := range s.Points {
			s.Points[i].From = now.Truncate(each).Add(time.Duration(i-n+1) * each)
		}
		if !f.neverSampled {
			s.Points[n-2].Minutes, s.Points[n-2].Counts, s.Points[n-2].At = 52, counts, now.Add(-34*time.Minute)
			s.Points[n-1].Minutes, s.Points[n-1].Counts = 4, make([]int64, len(counts))
		}
		return s
	}
	return []processes.Series{series(ports.JobSamples, "", 11, 12, 13), series(ports.WebhookSamples, "", 14, 0),
			series(ports.WebhookAges, "", 3661), series(ports.RailPaymentSamples, "bank-eur", 15, 16, 17),
			series(ports.RailPaymentSamples, "", 0, 18, 0), series(ports.RailCallSamples, "bank-eur", 2, 1, 1, 4400, 3000)},
		f.read(ctx, p, "%d samples of %s", n, each)
}

func TestState_ShowsQueuesOverTime(t *testing.T) {
	t.Parallel()
	// What has waited is drawn for each hour, or for six hours of a week, with the numbers; where nobody counted nothing is known, which is
	// not zero. An operator of one platform sees no connections. Before anything was counted, the page says when figures appear.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	for path, wants := range map[string][]string{
		"/state": {"Due and dead jobs in the last 24 hours, at most 36;", `>13</td>`, `<rect class="gap"`, ">not counted</td>", ">52</td>", ">0</td>",
			"Not counted", "Webhooks that wait", ">1h1m1s</td>", "Payments that wait at bank-eur",
			"Payments that wait at no connection",
			"Calls to bank-eur", ">1.1s</td>", ">3s</td>", "?last=7d", "2026-03-14 08:56",
			"the highest is 36.", "the highest bar is 4."},
		"/state?last=7d": {"State of the last 7 days", "Due and dead jobs in the last 7 days", ">Mar 14</text>", ">06:00</text>", `/state"`},
	} {
		got := s.get(base + path)
		s.checkStructure(path, got)
		for _, want := range wants {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %q in %s", path, want, got.body)
			}
		}
	}
	own := newSite(t).fill().as(person.Grant{Role: person.Operator, Platform: ownPlatform})
	if got := own.get(base + "/state"); strings.Contains(got.body, "bank-eur") || !strings.Contains(got.body, "Due and dead jobs") {
		t.Errorf("an operator of one platform: %s", got.body)
	}
	s.jobs.neverSampled = true
	if got := s.get(base + "/state"); strings.Contains(got.body, "Due and dead jobs") ||
		!strings.Contains(got.body, "a minute after the start of a process with workers") {
		t.Errorf("before the first sample: %s", got.body)
	}
}
