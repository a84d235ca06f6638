package console

import (
	"fmt"
	"slices"
	"time"

	"causeway/app/payments"
	"causeway/core/transaction"
	"causeway/ports"
)

// chart is a chart of bars, one for each day or hour, that the server draws.
type chart struct {
	Width, Height int
	IsHours       bool
	// Name is what it counts, Heading stands above it, and Label describes it.
	Name, Heading, Label string
	Groups               []chartGroup
	Bars                 []bar
	Days                 []chartDay
	// More are columns of the table after those of the groups. Note says what is counted.
	More []string
	Note string
	// Gap is shown in the legend for days of which nothing was counted; empty if there are none.
	Gap string
}

// chartGroup is a part of each bar, from its foot, whose class is its colour.
type chartGroup struct{ Class, Name string }

// bar is a rectangle of a day for a group; or, of the class "gap", for all if nothing was counted.
type bar struct {
	Class               string
	X, Y, Width, Height int
}

// chartDay is a day under its bars, and in the table beside the chart.
type chartDay struct {
	Day, Short string
	X          int
	Counts     []string
	More       []string
}

var (
	paymentGroups = []chartGroup{{"done", "Completed"}, {"open", "Pending or processing"}, {"lost", "Failed or expired"}}
	requestGroups = []chartGroup{{"done", "Answered"}, {"open", "Refused (4xx)"}, {"lost", "Failed (5xx)"}}
	attemptGroups = []chartGroup{{"done", "Accepted"}, {"open", "Refused"}, {"lost", "No answer"}}

	// groupedStatuses are the statuses of payments in each of their groups.
	groupedStatuses = [][]transaction.Status{{transaction.Completed},
		{transaction.Pending, transaction.PendingAuthorization, transaction.Processing}, {transaction.Failed, transaction.Expired}}
)

const (
	chartHeight = 120 // of the highest bar
	dayWidth    = 44
	barWidth    = 32
	chartFoot   = 20
)

// newChart draws the payments of days, or of hours.
func newChart(days []payments.TimeCount, isHours bool, in *time.Location) chart {
	what, long, brief := "days", dayText, func(t time.Time) string { return t.Format("Jan 2") }
	if isHours {
		what, long, brief = "hours", moment, hourIn(in)
	}
	c := chart{IsHours: isHours, Name: "payments", Heading: "Payments an hour", Groups: paymentGroups}
	counted, sum := make([][]int64, len(days)), int64(0)
	for i, d := range days {
		counted[i] = make([]int64, len(groupedStatuses))
		for g, statuses := range groupedStatuses {
			for _, s := range statuses {
				counted[i][g] += d.Counts[s]
				sum += d.Counts[s]
			}
		}
		c.Days = append(c.Days, chartDay{Day: long(d.From), Short: brief(d.From)})
	}
	c.Label = fmt.Sprintf("Payments of each of the last %d %s, %s in all; the table below has the numbers", len(days), what,
		countText(sum))
	return c.draw(counted, countText)
}

// newFigures draws figures of hours, which are made among the latest of each.
func newFigures(name string, groups []chartGroup, hours []ports.HourFigures, of func(ports.HourFigures) ports.Figures,
	in *time.Location) chart {
	c := chart{IsHours: true, Name: name, Heading: capital(name) + " an hour", Groups: groups, More: []string{"95 % within"}}
	counted := make([][]int64, len(hours))
	for i, h := range hours {
		f, within := of(h), ""
		counted[i] = []int64{f.Done, f.Refused, f.Failed}
		if f != (ports.Figures{}) {
			within = spanOf(f.P95)
		}
		c.Days = append(c.Days, chartDay{Day: moment(h.From), Short: hourIn(in)(h.From), More: []string{within}})
	}
	c.Label = fmt.Sprintf("%s of each of the last %d hours; the table below has the numbers", capital(name), len(hours))
	c.Note = fmt.Sprintf("Of a busy hour, only the latest %d are counted.", ports.MaxSampled)
	return c.draw(counted, countText)
}

func hourIn(in *time.Location) func(time.Time) string {
	return func(t time.Time) string { return t.In(in).Format("15:04") }
}

// draw adds the bars, and the texts of the counts of each day, which are nil if nothing was counted.
func (c chart) draw(counted [][]int64, text func(int64) string) chart {
	c.Width, c.Height = dayWidth*len(counted), chartHeight+chartFoot
	highest := int64(1)
	for _, counts := range counted {
		highest = max(highest, sumOf(counts))
	}
	for i, counts := range counted {
		day := &c.Days[i]
		day.X = i*dayWidth + dayWidth/2
		day.Counts = slices.Repeat([]string{"not counted"}, len(c.Groups))
		y := chartHeight
		if counts == nil {
			c.Bars = append(c.Bars, bar{"gap", i * dayWidth, 0, dayWidth, chartHeight})
		}
		for g, n := range counts {
			day.Counts[g] = text(n)
			height := int(n * chartHeight / highest)
			if n > 0 {
				height = max(height, 1)
			}
			height = min(height, y)
			if y -= height; height > 0 {
				c.Bars = append(c.Bars, bar{c.Groups[g].Class, i*dayWidth + (dayWidth-barWidth)/2, y, barWidth, height})
			}
		}
	}
	return c
}

func sumOf(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// countText returns a count, which stops at ports.MaxTotal for each status.
func countText(n int64) string {
	if n > ports.MaxTotal {
		return fmt.Sprintf("%d or more", ports.MaxTotal)
	}
	return fmt.Sprint(n)
}

// successRate returns the part of the ended payments of days that are completed, in percent; empty if none has ended.
func successRate(days []payments.TimeCount) string {
	var done, lost int64
	for _, d := range days {
		done, lost = done+d.Counts[transaction.Completed], lost+d.Counts[transaction.Failed]
	}
	if done+lost == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d %%", done*100/(done+lost), done*1000/(done+lost)%10)
}
