package console

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"causeway/app/processes"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// sampleCharts say how samples of each kind are drawn. Those of connections have the name of theirs.
var sampleCharts = map[ports.SampleKind]struct {
	name   string
	groups []chartGroup
	text   func(int64) string
}{
	ports.JobSamples: {"due and dead jobs", []chartGroup{{"done", "Due"}, {"open", "Due for more than 15 minutes"},
		{"lost", "Dead"}}, countText},
	ports.WebhookSamples: {"webhooks that wait", []chartGroup{{"open", "Wait to be sent"}, {"lost", "Not accepted yet"}}, countText},
	ports.WebhookAges:    {"age of the oldest webhook that waits", []chartGroup{{"open", "Age"}}, secondsText},
	ports.RailPaymentSamples: {"payments that wait at %s", []chartGroup{{"done", "Handed over, not sent yet"}, {"open", "Queued"},
		{"lost", "In review"}}, countText},
	ports.RailCallSamples: {"calls to %s", []chartGroup{{"done", "Answered"}, {"open", "Refused"}, {"lost", "No answer"}}, exactText},
}

func exactText(n int64) string { return fmt.Sprint(n) }

func secondsText(n int64) string { return (time.Duration(n) * time.Second).String() }

// addSamples adds charts of what was counted in the last n intervals. Connections are seen by who sees those of all platforms.
func (c *Console) addSamples(r *request, v *view, each time.Duration, n int) error {
	all, err := c.Operations.LastSamples(r.Context(), r.platform.ID, each, n)
	if err != nil {
		return err
	}
	counted := slices.ContainsFunc(all[0].Points, func(p processes.Point) bool { return p.Minutes > 0 })
	if !counted {
		v.Sections = append(v.Sections, section{Heading: "Queues over time", Text: "What waits was not counted in this time. The first " +
			"figures appear a minute after the start of a process with workers: `causeway serve` without `--no-workers`."})
		return nil
	}
	for _, s := range all {
		if !s.IsOfConnection() || v.Person.May(person.ViewConnections, ident.Platform{}) {
			v.Charts = append(v.Charts, newSamples(s, each, r.zone().location))
		}
	}
	return nil
}

// newSamples draws samples of intervals: of queues the longest of each, and of calls to rails all.
func newSamples(s processes.Series, each time.Duration, in *time.Location) chart {
	kind := sampleCharts[s.Kind]
	name := kind.name
	isCalls := s.Kind == ports.RailCallSamples
	if s.IsOfConnection() {
		name = fmt.Sprintf(name, cmp.Or(s.Name, "no connection"))
	}
	c := chart{IsHours: true, Name: name, Heading: capital(name), Groups: kind.groups, More: []string{"Minute", "Minutes counted"}}
	if isCalls {
		c.More = []string{"Mean time", "Longest", "Minutes counted"}
	}
	counted, highest, gaps := make([][]int64, len(s.Points)), int64(0), false
	for i, p := range s.Points {
		day := chartDay{Day: moment(p.From), Short: shortIn(in, each)(p.From)}
		if p.Counts != nil {
			counted[i] = p.Counts[:len(kind.groups)]
			highest = max(highest, sumOf(counted[i]))
		}
		gaps = gaps || p.Counts == nil
		switch {
		case !isCalls:
			day.More = []string{moment(p.At)}
		case sumOf(counted[i]) > 0:
			mean := time.Duration(p.Counts[3]/sumOf(counted[i])) * time.Millisecond
			day.More = []string{mean.String(), (time.Duration(p.Counts[4]) * time.Millisecond).String()}
		default:
			day.More = []string{"", ""}
		}
		day.More = append(day.More, itoa(p.Minutes))
		c.Days = append(c.Days, day)
	}
	c.Label = fmt.Sprintf("%s in the last %s, at most %s; the table below has the numbers", capital(name),
		ageOf(each*time.Duration(len(s.Points))), kind.text(highest))
	c.Note = "A bar is the minute in which it was most; the highest is " + kind.text(highest) + "."
	if isCalls {
		c.Note = "Each payment that was asked about is counted; the highest bar is " + kind.text(highest) + "."
	}
	if gaps {
		c.Gap = "Not counted"
	}
	return c.draw(counted, kind.text)
}

// shortIn names a bar by its hour, or the first of a day by the day.
func shortIn(in *time.Location, each time.Duration) func(time.Time) string {
	return func(t time.Time) string {
		if local := t.In(in); each > time.Hour && time.Duration(local.Hour())*time.Hour < each {
			return local.Format("Jan 2")
		}
		return hourIn(in)(t)
	}
}
