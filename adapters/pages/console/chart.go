package console

import (
	"fmt"
	"time"

	"causeway/app/payments"
	"causeway/core/transaction"
	"causeway/ports"
)

// chart is a chart of bars, one for each day, that the server draws.
type chart struct {
	Width, Height int
	IsHours       bool
	Label         string
	Bars          []bar
	Days          []chartDay
}

// bar is a rectangle of a day for a group of statuses, whose name is its class.
type bar struct {
	Class               string
	X, Y, Width, Height int
}

// chartDay is a day under its bars, and in the table beside the chart.
type chartDay struct {
	Day, Short string
	X          int
	Counts     [len(chartGroups)]string
}

// chartGroups are the groups of statuses of a bar, from its foot.
var chartGroups = [...]struct {
	Class, Name string
	statuses    []transaction.Status
}{{"done", "Completed", []transaction.Status{transaction.Completed}},
	{"open", "Pending or processing", []transaction.Status{transaction.Pending, transaction.PendingAuthorization, transaction.Processing}},
	{"lost", "Failed or expired", []transaction.Status{transaction.Failed, transaction.Expired}}}

// ChartGroups returns the names of the groups, for the legend.
func (chart) ChartGroups() any { return chartGroups }

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
		what, long, brief = "hours", moment, func(t time.Time) string { return t.In(in).Format("15:04") }
	}
	c := chart{IsHours: isHours, Width: dayWidth * len(days), Height: chartHeight + chartFoot}
	counted, highest, sum := make([][len(chartGroups)]int64, len(days)), int64(1), int64(0)
	for i, d := range days {
		total := int64(0)
		for g, group := range chartGroups {
			for _, s := range group.statuses {
				counted[i][g] += d.Counts[s]
			}
			total += counted[i][g]
		}
		highest, sum = max(highest, total), sum+total
	}
	for i, d := range days {
		day := chartDay{Day: long(d.From), Short: brief(d.From), X: i*dayWidth + dayWidth/2}
		y := chartHeight
		for g, group := range chartGroups {
			day.Counts[g] = countText(counted[i][g])
			height := int(counted[i][g] * chartHeight / highest)
			if counted[i][g] > 0 {
				height = max(height, 1)
			}
			height = min(height, y)
			if y -= height; height > 0 {
				c.Bars = append(c.Bars, bar{group.Class, i*dayWidth + (dayWidth-barWidth)/2, y, barWidth, height})
			}
		}
		c.Days = append(c.Days, day)
	}
	c.Label = fmt.Sprintf("Payments of each of the last %d %s, %s in all; the table below has the numbers", len(days), what,
		countText(sum))
	return c
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
