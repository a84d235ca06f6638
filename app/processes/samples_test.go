package processes

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"causeway/ports"
)

func TestSeriesOf(t *testing.T) {
	t.Parallel()
	// A queue is that of the minute in which it was longest, calls are added up, and their longest is kept. An interval in which queues were
	// counted without any has zeros, and one in which nobody counted is not known, but for the calls that are.
	from := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return from.Add(time.Duration(minute) * time.Minute) }
	sample := func(minute int, kind ports.SampleKind, name string, counts ...int64) ports.Sample {
		return ports.Sample{At: at(minute), Kind: kind, Name: name, Counts: counts}
	}
	times := []time.Time{at(-1), at(0), at(59), at(121), at(180)}
	zeros := func(n int) []Point {
		return []Point{{at(0), 2, make([]int64, n), time.Time{}}, {at(60), 0, nil, time.Time{}}, {at(120), 1, make([]int64, n), time.Time{}}}
	}
	with := func(n, i int, counts []int64, minute int) []Point {
		points := zeros(n)
		points[i].Counts, points[i].At = counts, at(minute)
		return points
	}
	none := []Series{{ports.JobSamples, "", zeros(3)}, {ports.WebhookSamples, "", zeros(2)}, {ports.WebhookAges, "", zeros(1)}}
	for name, test := range map[string]struct {
		samples []ports.Sample
		want    []Series
	}{
		"nothing waited": {nil, none},
		"longest queue": {[]ports.Sample{sample(0, ports.JobSamples, "", 1, 0, 2), sample(58, ports.JobSamples, "", 0, 4, 0),
			sample(59, ports.JobSamples, "", 3, 1, 0)},
			[]Series{{ports.JobSamples, "", with(3, 0, []int64{0, 4, 0}, 58)}, none[1], none[2]}},
		"outside of the time": {[]ports.Sample{sample(-1, ports.JobSamples, "", 1, 1, 1), sample(180, ports.JobSamples, "", 1, 1, 1)}, none},
		"of another version":  {[]ports.Sample{sample(0, ports.JobSamples, "", 1), sample(0, "OTHER", "", 1)}, none},
		"calls": {[]ports.Sample{sample(0, ports.RailCallSamples, "a", 1, 2, 3, 400, 90),
			sample(1, ports.RailCallSamples, "a", 1, 0, 0, 10, 10)},
			append(slices.Clone(none), Series{ports.RailCallSamples, "a", with(5, 0, []int64{2, 2, 3, 410, 90}, 1)})},
		"calls in a gap": {[]ports.Sample{sample(60, ports.RailCallSamples, "a", 1, 0, 0, 5, 5),
			sample(61, ports.RailCallSamples, "a", 1, 0, 0, 7, 7)},
			append(slices.Clone(none), Series{ports.RailCallSamples, "a", with(5, 1, []int64{2, 0, 0, 12, 7}, 61)})},
		"connections by name": {[]ports.Sample{sample(0, ports.RailCallSamples, "a", 1, 0, 0, 5, 5),
			sample(0, ports.RailPaymentSamples, "b", 1, 0, 0),
			sample(1, ports.RailPaymentSamples, "a", 1, 0, 0)},
			append(slices.Clone(none), Series{ports.RailPaymentSamples, "a", with(3, 0, []int64{1, 0, 0}, 1)},
				Series{ports.RailCallSamples, "a", with(5, 0, []int64{1, 0, 0, 5, 5}, 0)},
				Series{ports.RailPaymentSamples, "b", with(3, 0, []int64{1, 0, 0}, 0)})},
	} {
		if got := seriesOf(times, slices.Values(test.samples), from, time.Hour, 3); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, test.want)
		}
	}
}
