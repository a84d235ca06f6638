// Package requestlogs writes the log of API requests, and reads it.
//
// Requests never wait for it: entries are queued, and written in batches of their own. What a full queue does not take, or cannot be
// written, is lost and counted, so that a reader sees the gap.
package requestlogs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/requestlog"
	"causeway/ports"
)

// Store reads the log.
type Store interface {
	ports.UnitsOfWork
	// RequestLog returns entries without their bodies.
	RequestLog(ctx context.Context, p ident.Platform, f ports.RequestLogFilter) (ports.Page[requestlog.Entry], error)
	// RequestLogEntry returns an entry, or NOT_FOUND.
	RequestLogEntry(ctx context.Context, p ident.Platform, id ident.RequestLog) (requestlog.Entry, error)
	// ClockOffset returns how far the clock of this process is ahead of the database's.
	ClockOffset() time.Duration
}

// Tx writes the log.
type Tx interface {
	// SaveRequestLog adds entries. One whose id exists already is skipped.
	SaveRequestLog(ctx context.Context, entries []requestlog.Entry) error
}

// Metrics counts what is written, and what is not. It must not block.
type Metrics interface {
	Written(entries int)
	Lost(entries int)
}

// Config holds what the use cases need.
type Config struct {
	Store   Store
	Clock   ports.Clock
	IDs     ports.IDs
	Log     *logrus.Entry
	Metrics Metrics // may be nil
	// Bodies says of which requests the bodies are kept.
	Bodies requestlog.Bodies
	// FlushInterval is the longest time that an entry waits for others; half a second if zero.
	FlushInterval time.Duration
	// RetryInterval is the time between attempts to write; a second if zero.
	RetryInterval time.Duration
}

const (
	// maxWaiting and maxWaitingBytes bound the queue.
	maxWaiting      = 20_000
	maxWaitingBytes = 32 << 20
	// maxWaitingOfOne is how many entries of one platform may wait, so that it leaves room for others.
	maxWaitingOfOne = maxWaiting / 2
	// maxRateLimited is how many requests beyond a rate limit are written between two flushes: a caller may send any number.
	maxRateLimited = 100
	maxBatch       = 1000
	writeTimeout   = 10 * time.Second
	// maxAttempts is how often a batch is written if the database does not respond, and maxRefusals how often if it refuses it.
	maxAttempts = 30
	maxRefusals = 3
	// maxBodies is of how many successful requests the bodies are kept between two flushes, so that under load the log costs
	// payments little. Those of failed requests are always kept.
	maxBodies = 25
	// flushTimeout is how long a process that stops writes what waits.
	flushTimeout = 2 * time.Second
)

// Service implements the use cases.
type Service struct {
	Config

	mu      sync.Mutex
	waiting []requestlog.Entry
	bytes   int
	waitOf  map[ident.Platform]int
	// bodies of successful requests, and requests beyond a rate limit, since the last flush
	bodies, rateLimited int
	// lost counts the entries of platforms that are lost since the last one that was taken.
	lost map[ident.Platform]int64
	full chan struct{} // has an element when a batch waits
}

// New returns a Service. Run writes what Record takes.
func New(c Config) *Service {
	if c.FlushInterval == 0 {
		c.FlushInterval = 500 * time.Millisecond
	}
	if c.RetryInterval == 0 {
		c.RetryInterval = time.Second
	}
	return &Service{Config: c, lost: map[ident.Platform]int64{}, waitOf: map[ident.Platform]int{}, full: make(chan struct{}, 1)}
}

// KeepsBodies reports whether the bodies of a request of an environment with a status are kept.
func (s *Service) KeepsBodies(of platform.Environment, status int) bool {
	if keep := s.Bodies.Keep(of, status); !keep || status >= http.StatusBadRequest {
		return keep
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies++
	return s.bodies <= maxBodies
}

// Record queues an entry, unless the queue is full. It does not block.
func (s *Service) Record(entry requestlog.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry.Status == http.StatusTooManyRequests {
		s.rateLimited++
	}
	size, limited := entry.Bytes(), entry.Status == http.StatusTooManyRequests && s.rateLimited > maxRateLimited
	if limited || len(s.waiting) >= maxWaiting || s.bytes+size > maxWaitingBytes || s.waitOf[entry.Platform] >= maxWaitingOfOne {
		s.lost[entry.Platform]++
		s.count(0, 1)
		return
	}
	if lost := s.lost[entry.Platform]; lost > 0 {
		entry.LostBefore = lost
		delete(s.lost, entry.Platform)
	}
	s.waiting = append(s.waiting, entry)
	s.bytes += size
	s.waitOf[entry.Platform]++
	if len(s.waiting) >= maxBatch {
		select {
		case s.full <- struct{}{}:
		default: // it is known already
		}
	}
}

func (s *Service) count(written, lost int) {
	if s.Metrics != nil {
		s.Metrics.Written(written)
		s.Metrics.Lost(lost)
	}
}

// Run writes entries until ctx ends, and then what waits, as far as it can be written in a moment.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(s.FlushInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			s.mu.Lock()
			s.bodies, s.rateLimited = 0, 0
			s.mu.Unlock()
		case <-s.full:
		}
		s.flush(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	s.flush(last)
	if n := len(s.take()); n > 0 {
		s.count(0, n)
		s.Log.WithField("entries", n).Warn("entries of the log of requests are lost, because the process stops")
	}
}

// flush writes all that waits, unless ctx ends.
func (s *Service) flush(ctx context.Context) {
	for ctx.Err() == nil {
		batch := s.take()
		if len(batch) == 0 {
			return
		}
		if err := s.write(ctx, batch); err != nil {
			if ctx.Err() != nil && s.putBack(batch) {
				return
			}
			s.lose(batch)
			s.Log.WithError(err).WithField("entries", len(batch)).Warn("entries of the log of requests are lost")
			continue
		}
		s.count(len(batch), 0)
	}
}

// take removes the next entries from the queue.
func (s *Service) take() []requestlog.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.waiting), maxBatch)
	batch := s.waiting[:n:n]
	if s.waiting = s.waiting[n:]; len(s.waiting) == 0 {
		s.waiting = nil
	}
	for i := range batch {
		s.bytes -= batch[i].Bytes()
		if p := batch[i].Platform; s.waitOf[p] > 1 {
			s.waitOf[p]--
		} else {
			delete(s.waitOf, p)
		}
	}
	return batch
}

// putBack returns a batch to the front of the queue, if there is room for it.
func (s *Service) putBack(batch []requestlog.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting)+len(batch) > maxWaiting {
		return false
	}
	s.waiting = append(batch, s.waiting...)
	for i := range batch {
		s.bytes += batch[i].Bytes()
		s.waitOf[batch[i].Platform]++
	}
	return true
}

// lose counts entries that could not be written.
func (s *Service) lose(batch []requestlog.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch {
		s.lost[batch[i].Platform] += 1 + batch[i].LostBefore
	}
	s.count(0, len(batch))
}

// write writes a batch, and tries again while the database does not take it.
func (s *Service) write(ctx context.Context, batch []requestlog.Entry) error {
	offset, now := s.Store.ClockOffset(), s.Clock.Now()
	for i := range batch {
		if e := &batch[i]; e.ID.IsZero() { // it was not tried before
			e.ArrivedAt = e.ArrivedAt.Add(-offset)
			e.ID = ident.NewRequestLog(s.IDs.New, now.Add(-offset))
		}
	}
	for attempt := 1; ; attempt++ {
		err := s.tryWrite(ctx, batch)
		if err == nil || attempt == maxAttempts || attempt >= maxRefusals && !errors.Is(err, ports.ErrStoreUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(s.RetryInterval):
		}
	}
}

// tryWrite writes a batch in one transaction, and returns a panic as an error.
func (s *Service) tryWrite(ctx context.Context, batch []requestlog.Entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error { return tx.SaveRequestLog(ctx, batch) })
}

// List returns entries of a platform without their bodies, the last written first unless the filter says otherwise.
func (s *Service) List(ctx context.Context, p ident.Platform, f ports.RequestLogFilter) (ports.Page[requestlog.Entry], error) {
	return s.Store.RequestLog(ctx, p, f)
}

// Entry returns an entry with its bodies, or NOT_FOUND.
func (s *Service) Entry(ctx context.Context, p ident.Platform, id ident.RequestLog) (requestlog.Entry, error) {
	return s.Store.RequestLogEntry(ctx, p, id)
}
