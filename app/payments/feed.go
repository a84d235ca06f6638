package payments

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// feedInterval is the time between two readings of a feed that has no more.
	feedInterval = 5 * time.Second
	// feedLease is how soon another process continues after one that stopped.
	feedLease = 90 * time.Second
	// feedPollTimeout bounds one call of an adapter, and feedTakeTimeout the work for what it returned.
	feedPollTimeout = time.Minute
	feedTakeTimeout = 5 * time.Minute
	// balanceInterval is the time between two questions about the balances of a connection.
	balanceInterval = time.Minute
	// maxFeedPieces bounds the pieces of one reading, so that the lease changes hands.
	maxFeedPieces = 100
	// maxFeedDelay is the longest delay before a feed that failed is read again.
	maxFeedDelay = 5 * time.Minute
	// maxRetryTime is after how long no further item that was kept aside is tried again in one reading.
	maxRetryTime = 15 * time.Second
	// feedStoreTimeout bounds what is stored at the end of a reading, also while the process stops.
	feedStoreTimeout = 10 * time.Second
)

// FeedConfig is what reading feeds needs beside the use cases.
type FeedConfig struct {
	Connections ports.ConnectedRails
	Feeds       RailFeedStore
	Receipts    PartnerReceipts
	Balances    RailBalanceStore
	Statements  RailStatementStore
	// Received keeps over which connection money was received.
	Received RailReceiptStore
	// Ledger reads the fees that are posted.
	Ledger interface {
		RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.RecordedPosting, bool, error)
	}
	// CallAgain makes calls about payments due of which there is news. It may be nil: then they are made when they
	// are due anyway.
	CallAgain func(context.Context, []ports.RailSubject) error
}

// Feeds reads what partners and chains report by themselves, and passes it on. Each feed is read by one process at a
// time. The cursor is stored after what it stands for, and everything in a piece is recognised by the partner's id, so
// a piece that is read again changes nothing.
type Feeds struct {
	FeedConfig
	service *Service

	mu   sync.Mutex
	next map[string]time.Time // when a feed is read again; those being read have none
	busy map[string]bool
	// askedAt is when a connection was last asked about its balances.
	askedAt map[string]time.Time
}

// NewFeeds returns the reader of the feeds of a process.
func (s *Service) NewFeeds(c FeedConfig) *Feeds {
	return &Feeds{FeedConfig: c, service: s, next: map[string]time.Time{}, busy: map[string]bool{},
		askedAt: map[string]time.Time{}}
}

// Run reads the feeds of all connections until ctx ends.
func (f *Feeds) Run(ctx context.Context) {
	var reading sync.WaitGroup
	defer reading.Wait()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for _, c := range f.due(f.service.Clock.Now()) {
			reading.Go(func() {
				defer f.done(c.Name)
				if err := f.Read(ctx, c); err != nil && ctx.Err() == nil {
					f.service.Log.WithError(err).WithField("connection", c.Name).Warn("cannot read what a partner reports; will retry")
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// due returns the connections whose feeds are to be read now, and marks them.
func (f *Feeds) due(now time.Time) []ports.LiveConnection {
	f.mu.Lock()
	defer f.mu.Unlock()
	var due []ports.LiveConnection
	for _, c := range f.Connections.ConnectedRails() {
		if _, isFeed := c.Adapter.(ports.RailFeed); isFeed && !f.busy[c.Name] && !now.Before(f.next[c.Name]) {
			f.busy[c.Name] = true
			due = append(due, c)
		}
	}
	return due
}

func (f *Feeds) done(connection string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, connection)
	f.next[connection] = f.service.Clock.Now().Add(feedInterval)
}

// Read reads the feed of a connection until there is no more, unless another process reads it. A failure is recorded.
func (f *Feeds) Read(ctx context.Context, c ports.LiveConnection) (err error) {
	feed, isFeed := c.Adapter.(ports.RailFeed)
	if !isFeed {
		return nil
	}
	ctx = ports.ForAllPlatforms(ctx)
	lease, taken, err := f.Feeds.TakeRailFeed(ctx, c.Name, feedLease)
	if err != nil || !taken {
		return err
	}
	held, release := f.holdLease(ctx, lease)
	problem, err := f.readPieces(held, c, feed, &lease)
	if err == nil {
		if err = f.retryItems(held, c); err == nil {
			f.askBalances(held, c)
		}
	}
	release()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), feedStoreTimeout)
	defer cancel()
	switch {
	case errors.Is(err, ports.ErrLeaseLost) || errors.Is(context.Cause(held), ports.ErrLeaseLost):
		return nil // the process that has it continues
	case err != nil && ctx.Err() == nil:
		err = errors.Join(problem, err)
		return errors.Join(err, f.Feeds.FailRailFeed(ending, lease, err.Error(), feedDelay(lease.Failures)))
	case problem != nil && ctx.Err() == nil: // the rest works, and is not delayed
		return errors.Join(problem, f.Feeds.FailRailFeed(ending, lease, problem.Error(), feedInterval))
	default:
		if err := f.Feeds.ReleaseRailFeed(ending, lease); !errors.Is(err, ports.ErrLeaseLost) {
			return err
		}
		return nil
	}
}

// feedDelay is the delay after a failure that followed some others.
func feedDelay(failures int) time.Duration {
	return min(time.Second<<min(failures, 16), maxFeedDelay)
}

// holdLease renews a lease until release is called. The context ends if the lease is lost.
func (f *Feeds) holdLease(ctx context.Context, lease ports.RailFeedLease) (held context.Context, release func()) {
	held, lose := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(feedLease / 3)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-tick.C:
				renewal, cancel := context.WithTimeout(held, feedStoreTimeout)
				err := f.Feeds.RenewRailFeed(renewal, lease, feedLease)
				cancel()
				if errors.Is(err, ports.ErrLeaseLost) {
					lose(err)
				}
			}
		}
	})
	return held, func() {
		lose(nil)
		renewing.Wait()
	}
}

// readPieces passes on one piece after the other, and stores the cursor after each. It returns what does not work beside
// them.
func (f *Feeds) readPieces(ctx context.Context, c ports.LiveConnection, feed ports.RailFeed,
	lease *ports.RailFeedLease) (problem, err error) {
	for range maxFeedPieces {
		report, err := poll(ctx, feed, lease.Cursor)
		if err != nil {
			return problem, err
		}
		if err := f.take(ctx, c, report, lease.Failures); err != nil {
			return report.Problem, err
		}
		if problem = report.Problem; problem != nil {
			err = f.Feeds.MoveRailFeed(ctx, *lease, report.Cursor)
		} else {
			err = f.Feeds.AdvanceRailFeed(ctx, *lease, report.Cursor, f.service.Clock.Now())
			lease.Failures = 0
		}
		if err != nil {
			return problem, err
		}
		stays := report.Cursor == lease.Cursor
		if lease.Cursor = report.Cursor; !report.More || stays {
			return problem, nil
		}
	}
	return problem, nil
}

// poll calls an adapter.
func poll(ctx context.Context, feed ports.RailFeed, cursor string) (ports.RailReport, error) {
	return callAdapter(ctx, func(ctx context.Context) (ports.RailReport, error) { return feed.Poll(ctx, cursor) })
}

// callAdapter makes a call within a time. It returns a panic as an error.
func callAdapter[T any](ctx context.Context, call func(context.Context) (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, feedPollTimeout)
	defer cancel()
	return call(ctx)
}

// askBalances stores what a partner or chain says that it holds, once in a while. Without an answer the last balance
// stays, and the feed goes on.
func (f *Feeds) askBalances(ctx context.Context, c ports.LiveConnection) {
	partner, answers := c.Adapter.(ports.RailBalances)
	if !answers || !f.isBalanceDue(c.Name) {
		return
	}
	balances, err := callAdapter(ctx, partner.Balances)
	if err == nil {
		storing, cancel := context.WithTimeout(ctx, feedStoreTimeout)
		defer cancel()
		err = f.takeBalances(storing, &piece{LiveConnection: c}, balances)
	}
	if err != nil && ctx.Err() == nil {
		f.service.Log.WithError(err).WithField("connection", c.Name).Warn("cannot ask for the balances of a connection; will retry")
	}
}

// isBalanceDue reports whether the balances of a connection are to be asked for now, and counts it as done.
func (f *Feeds) isBalanceDue(connection string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.service.Clock.Now()
	if last, asked := f.askedAt[connection]; asked && now.Before(last.Add(balanceInterval)) {
		return false
	}
	f.askedAt[connection] = now
	return true
}

// platformsOf returns the platforms that a connection serves: those that it names, or all in production.
func (f *Feeds) platformsOf(ctx context.Context, c ports.LiveConnection) ([]ident.Platform, error) {
	if len(c.Platforms) > 0 {
		return c.Platforms, nil
	}
	return f.service.productionPlatforms(ctx)
}
