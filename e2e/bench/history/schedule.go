package history

import (
	"time"

	"causeway/core/period"
)

// commitSchedule returns the times of n commits, from the start of a month in the past until a
// time: more by day than by night, more on working days than at weekends, and in every month
// more than in the one before.
func commitSchedule(until time.Time, months, n int) (from time.Time, times []time.Time) {
	first := period.MonthOf(until)
	for range months {
		first = first.Previous()
	}
	from = first.Start()
	var weights []int64
	var total int64
	for hour := from; hour.Before(until); hour = hour.Add(time.Hour) {
		month := 12*(hour.Year()-from.Year()) + int(hour.Month()-from.Month())
		weight := int64(months+month) * hourWeight(hour)
		weights, total = append(weights, weight), total+weight
	}
	// The last hour may be incomplete.
	last := from.Add(time.Duration(len(weights)-1) * time.Hour)

	times = make([]time.Time, 0, n)
	var hour int
	var before int64
	for i := range int64(n) {
		// In the middle of the nth part of the total weight.
		place := (2*i + 1) * total / int64(2*n)
		for place >= before+weights[hour] {
			before, hour = before+weights[hour], hour+1
		}
		length := time.Hour
		if hour == len(weights)-1 {
			length = until.Sub(last)
		}
		into := time.Duration(int64(length) / weights[hour] * (place - before))
		times = append(times, from.Add(time.Duration(hour)*time.Hour+into).Truncate(time.Millisecond))
	}
	return from, times
}

// hourWeight is the relative activity in an hour.
func hourWeight(hour time.Time) int64 {
	weight := int64(4)
	switch h := hour.Hour(); {
	case h < 6:
		weight = 1
	case h >= 12 && h < 20:
		weight = 8
	}
	if day := hour.Weekday(); day == time.Saturday || day == time.Sunday {
		return weight
	}
	return 2 * weight
}
