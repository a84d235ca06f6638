package processes

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// SampleInterval is how often each process tries to count queues. Only one does in each minute.
	SampleInterval = 15 * time.Second
	// SamplesShown is how far back samples are shown.
	SamplesShown = 7 * 24 * time.Hour
)

// Series is what samples of a kind say about the intervals of a time, oldest first.
type Series struct {
	Kind ports.SampleKind
	// Name is that of the connection; empty for other kinds.
	Name   string
	Points []Point
}

// IsOfConnection reports whether the series is of a connection, which carries payments of several platforms.
func (s Series) IsOfConnection() bool {
	return s.Kind == ports.RailPaymentSamples || s.Kind == ports.RailCallSamples
}

// Point is what samples say about an interval. A queue is that of the minute in which it was longest; calls are added up.
type Point struct {
	From time.Time
	// Minutes is in how many the queues were counted: 0 if no process ran.
	Minutes int
	// Counts are nil if nothing is known, and At is the minute that they are of; zero if nothing was counted.
	Counts []int64
	At     time.Time
}

// sizes are how many counts a sample has.
var sizes = map[ports.SampleKind]int{ports.JobSamples: 3, ports.WebhookSamples: 2, ports.WebhookAges: 1, ports.RailPaymentSamples: 3,
	ports.RailCallSamples: 5}

// kindsOfAll are the kinds that do not belong to a connection.
var kindsOfAll = []ports.SampleKind{ports.JobSamples, ports.WebhookSamples, ports.WebhookAges}

// LastSamples returns what samples say about the last n intervals of a platform, the present one included: its jobs and webhooks, and then
// each connection of which something was counted, by name.
func (s *Service) LastSamples(ctx context.Context, p ident.Platform, each time.Duration, n int) ([]Series, error) {
	from := s.clock.Now().UTC().Truncate(each).Add(time.Duration(1-n) * each)
	times, err := s.SampleTimes(ctx, from)
	if err != nil {
		return nil, err
	}
	all := seriesOf(times, func(yield func(ports.Sample) bool) { // as they are read: a week has hundreds of thousands
		err = s.EachSample(ctx, p, from, func(sample ports.Sample) { yield(sample) })
	}, from, each, n)
	return all, err
}

// seriesOf is LastSamples of samples that were taken at these times.
func seriesOf(times []time.Time, samples iter.Seq[ports.Sample], from time.Time, each time.Duration, n int) []Series {
	index := func(at time.Time) (int, bool) {
		i := int(at.Sub(from) / each)
		return i, !at.Before(from) && i < n
	}
	minutes := make([]int, n)
	for _, at := range times {
		if i, inside := index(at); inside {
			minutes[i]++
		}
	}
	var all []Series
	find := func(kind ports.SampleKind, name string) []Point {
		for _, s := range all {
			if s.Kind == kind && s.Name == name {
				return s.Points
			}
		}
		points := make([]Point, n)
		for i := range points {
			points[i] = Point{From: from.Add(time.Duration(i) * each), Minutes: minutes[i]}
			if minutes[i] > 0 {
				points[i].Counts = make([]int64, sizes[kind])
			}
		}
		all = append(all, Series{kind, name, points})
		return points
	}
	for _, kind := range kindsOfAll {
		find(kind, "")
	}
	for s := range samples {
		if i, inside := index(s.At); inside && len(s.Counts) == sizes[s.Kind] {
			find(s.Kind, s.Name)[i].add(s)
		}
	}
	slices.SortFunc(all[len(kindsOfAll):], func(a, b Series) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(b.Kind), string(a.Kind)))
	})
	return all
}

// add makes a later sample part of a point.
func (p *Point) add(s ports.Sample) {
	switch {
	case p.Counts != nil && s.Kind == ports.RailCallSamples:
		addCounts(p.Counts, s.Counts)
		p.At = s.At
	case p.Counts == nil || sum(s.Counts) > sum(p.Counts):
		p.Counts, p.At = slices.Clone(s.Counts), s.At
	}
}

func sum(counts []int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// addCounts adds the counts of calls, of which the last is the longest duration.
func addCounts(to, counts []int64) {
	longest := len(counts) - 1
	for i, n := range counts[:longest] {
		to[i] += n
	}
	to[longest] = max(to[longest], counts[longest])
}

// callsKept is how long calls are kept that could not be stored.
const callsKept = time.Hour

// railCalls are the calls of this process to rails that are not stored yet.
type railCalls struct {
	sync.Mutex
	counts map[callKey][]int64
}

type callKey struct {
	platform   ident.Platform
	connection string
	minute     time.Time
}

func (r *railCalls) add(key callKey, counts []int64) {
	r.Lock()
	defer r.Unlock()
	if kept, found := r.counts[key]; found {
		addCounts(kept, counts)
		return
	}
	if r.counts == nil {
		r.counts = map[callKey][]int64{}
	}
	r.counts[key] = counts
}

// take returns and forgets the calls.
func (r *railCalls) take() map[callKey][]int64 {
	r.Lock()
	defer r.Unlock()
	taken := r.counts
	r.counts = nil
	return taken
}

// CountCall counts a call to a connection about payments of a platform.
func (s *Service) CountCall(p ident.Platform, connection string, outcomes []ports.Outcome, took time.Duration) {
	counts := []int64{0, 0, 0, took.Milliseconds() * int64(len(outcomes)), took.Milliseconds()}
	for _, o := range outcomes {
		switch o.Verdict {
		case ports.Unknown:
			counts[2]++
		case ports.Refused, ports.CancelledByUser:
			counts[1]++
		default:
			counts[0]++
		}
	}
	s.calls.add(callKey{p, connection, s.clock.Now().UTC().Truncate(time.Minute)}, counts)
}

// storeCalls stores what was counted. What cannot be stored is kept for the next time; it is counted twice if only the answer of the
// database was lost.
func (s *Service) storeCalls(ctx context.Context) error {
	taken := s.calls.take()
	if len(taken) == 0 {
		return nil
	}
	var samples []ports.Sample
	for key, counts := range taken {
		samples = append(samples, ports.Sample{Platform: key.platform, At: key.minute, Kind: ports.RailCallSamples, Name: key.connection,
			Counts: counts})
	}
	// In one order, so that processes do not lock each other out.
	slices.SortFunc(samples, func(a, b ports.Sample) int {
		return cmp.Or(strings.Compare(a.Platform.String(), b.Platform.String()), a.At.Compare(b.At), strings.Compare(a.Name, b.Name))
	})
	err := s.AddRailCalls(ctx, samples)
	if err != nil {
		for key, counts := range taken {
			if s.clock.Now().Sub(key.minute) < callsKept {
				s.calls.add(key, counts)
			}
		}
	}
	return err
}

// TakeSample stores the calls of this process, and counts the queues of all platforms if no process has in this minute.
func (s *Service) TakeSample(ctx context.Context) error {
	return errors.Join(s.storeCalls(ctx), s.TakeSamples(ctx, s.clock.Now()))
}
