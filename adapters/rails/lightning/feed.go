package lightning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"causeway/adapters/rails/feed"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// maxFollowed is how many payments are asked about for one piece.
const maxFollowed = 500

// Poll implements ports.RailFeed. It asks about payments that are not final, reads the invoices that were paid and what others have paid
// with the node, and returns what it finds.
func (r *Rail) Poll(ctx context.Context, cursor string) (ports.RailReport, error) {
	return feed.Poll(ctx, r.Connection.Name, cursor, feed.MaxEvents, func(ctx context.Context) (more bool, err error) {
		_, more, err = r.work(ctx)
		return more, err
	}, r.Store.Events, add)
}

// add adds an event to a report. A receipt of nothing is known, and not reported.
func add(report *ports.RailReport, e feed.Event) int64 {
	if e.Kind == feed.Fee {
		e.Text = cmp.Or(e.Reference, "routing")
	} else if e.Kind == feed.Unknown {
		e.Text = "an invoice"
	}
	if e.Kind != feed.Receipt || e.Satoshis != 0 {
		e.AddTo(report, corridor.Lightning)
	}
	return e.Number
}

// work asks the node for all news. It reports whether there were any, and whether there are more at once.
func (r *Rail) work(ctx context.Context) (news, more bool, err error) {
	ended, err := r.followAll(ctx)
	settled, moreSettled, errSettled := r.readSettled(ctx)
	morePayments, errPayments := r.lookAtPayments(ctx)
	return ended || settled, moreSettled || morePayments, errors.Join(err, errSettled, errPayments)
}

// followAll asks about the payments that were sent, and reports whether one has ended.
func (r *Rail) followAll(ctx context.Context) (ended bool, err error) {
	sent, err := r.Store.SentPayments(ctx, r.Connection.Name, maxFollowed)
	if err != nil || len(sent) == 0 {
		return false, err
	}
	failures := make([]error, len(sent))
	slots := make(chan struct{}, maxParallel)
	var running sync.WaitGroup
	for i, p := range sent {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			defer func() {
				if failure := recover(); failure != nil {
					failures[i] = fmt.Errorf("panic: %v", failure)
				}
			}()
			if failures[i] = r.follow(ctx, p, nil, false); errors.Is(failures[i], ErrChanged) {
				failures[i] = nil
			}
		})
	}
	running.Wait()
	left, err := r.Store.SentPayments(ctx, r.Connection.Name, maxFollowed)
	ended = slices.ContainsFunc(sent, func(p Payment) bool {
		return !slices.ContainsFunc(left, func(l Payment) bool { return l.RailPaymentKey == p.RailPaymentKey })
	})
	return ended, errors.Join(first(failures), err)
}

// first returns the first error; nil if there is none.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// beginFeed keeps from where on invoices are reported: what was paid before belongs to what the node held at first.
func (r *Rail) beginFeed(ctx context.Context) error {
	last, err := r.node.last(ctx)
	if err != nil {
		return err
	}
	return r.Store.Begin(ctx, r.Connection.Name, last)
}

// readSettled keeps the invoices that were paid since. It reports whether there were any, and whether there may be more.
func (r *Rail) readSettled(ctx context.Context) (found, more bool, err error) {
	position, known, err := r.Store.Position(ctx, r.Connection.Name)
	if err != nil {
		return false, false, err
	}
	if !known {
		return false, true, r.beginFeed(ctx)
	}
	settled, err := r.node.settled(ctx, r.from(position.Settled, position.BeganSettled))
	if r.node.lag() > 0 && err == nil {
		settled, err = unreported(ctx, r, feed.Receipt, settled, func(s Settlement) Hash { return s.Hash })
	}
	if len(settled) == 0 {
		return false, false, err
	}
	kept, errKeep := r.Store.Settle(ctx, r.Connection.Name, position.Settled, settled)
	return kept, len(settled) >= maxSettled, errors.Join(err, errKeep)
}

// from returns the index after which a node is asked for what it has not reported yet.
func (r *Rail) from(last, began uint64) uint64 {
	return max(last-min(last, r.node.lag()), began)
}

// unreported returns those of some payments of which there are no events of a kind.
func unreported[T any](ctx context.Context, r *Rail, kind feed.Kind, all []T, hashOf func(T) Hash) ([]T, error) {
	ids := make([]string, len(all))
	for i, item := range all {
		ids[i] = hashOf(item).String()
	}
	known, err := r.Store.Reported(ctx, r.Connection.Name, kind, ids)
	return slices.DeleteFunc(all, func(item T) bool { return err != nil || known[hashOf(item).String()] }), err
}

// lookAtPayments keeps what the node has paid and no record has: somebody pays by hand or has the macaroon, or the database has lost
// commits. It waits for the first unknown payment that has not ended. It reports whether there may be more.
func (r *Rail) lookAtPayments(ctx context.Context) (more bool, err error) {
	position, known, err := r.Store.Position(ctx, r.Connection.Name)
	if err != nil || !known {
		return false, err
	}
	list, err := r.node.payments(ctx, r.from(position.Paid, position.BeganPaid))
	if r.node.lag() > 0 && err == nil {
		list, err = unreported(ctx, r, feed.Unknown, list, func(l listed) Hash { return l.Hash })
	}
	if err != nil || len(list) == 0 {
		return false, err
	}
	hashes := make([]Hash, len(list))
	for i, p := range list {
		hashes[i] = p.Hash
	}
	own, err := r.Store.SentHashes(ctx, r.Connection.Name, hashes)
	if err != nil {
		return false, err
	}
	upTo := position.Paid
	var unknown []Departure
	for _, p := range list {
		if !own[p.Hash] && p.stage == inFlight {
			break
		}
		if !own[p.Hash] && p.stage == succeeded {
			unknown = append(unknown, p.Departure)
		}
		upTo = max(upTo, p.index)
	}
	if upTo == position.Paid && len(unknown) == 0 {
		return false, nil
	}
	kept, err := r.Store.LookedAt(ctx, r.Connection.Name, position.Paid, upTo, unknown)
	return kept && len(list) >= maxPayments, err
}

const (
	// balanceAttempts is how often the balance is read until nothing changes meanwhile.
	balanceAttempts = 5
	// movingPause is how long what is final is waited for to be in the balance.
	movingPause = 200 * time.Millisecond
)

// Balances implements ports.RailBalances: what the channels hold, as the ledger has it. Payments count when they are final, and fees with
// the fraction of a satoshi that is carried to the next one.
func (r *Rail) Balances(ctx context.Context) ([]ports.RailBalance, error) {
	for attempt := range balanceAttempts {
		held, moving, err := r.node.balance(ctx)
		if err != nil {
			return nil, err
		}
		news, more, err := r.work(ctx)
		if err != nil {
			return nil, err
		}
		onTheWay, changed, err := r.onTheWay(ctx, held)
		if err != nil {
			return nil, err
		}
		news = news || changed
		if last := attempt == balanceAttempts-1; news || more || moving && !last {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(movingPause):
			}
			continue
		}
		rest, err := r.Store.FeeRest(ctx, r.Connection.Name)
		if err != nil {
			return nil, err
		}
		return []ports.RailBalance{{Amount: money.Amount{Minor: (held + onTheWay + rest) / milli, Currency: money.BTC}, At: r.Clock.Now()}}, nil
	}
	return nil, errors.New("payments came while the balance was read; ask again")
}

// onTheWay returns what a balance of the node lacks of payments that are on their way, and reports whether it has changed meanwhile.
func (r *Rail) onTheWay(ctx context.Context, held int64) (total int64, changed bool, err error) {
	if r.node.onTheWay(1) == 0 {
		return 0, false, nil
	}
	sent, err := r.Store.SentPayments(ctx, r.Connection.Name, maxFollowed)
	if err != nil || len(sent) == 0 {
		return 0, false, err
	}
	for _, p := range sent {
		became, err := r.node.track(ctx, p.Hash)
		if err != nil {
			return 0, false, err
		}
		if became.stage == inFlight {
			total += r.node.onTheWay(p.Satoshis)
		}
	}
	now, _, err := r.node.balance(ctx)
	return total, now != held, err
}
