package connections

import (
	"context"
	"errors"
	"fmt"

	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

// maxQueueBatch is the maximum number of payments of an account that one unit of work looks at.
const maxQueueBatch = 500

// SendQueued hands over what can be sent of the queues of all accounts, each in its order, and makes the calls about it
// due. Running it in several processes is harmless.
func (r *Rail) SendQueued(ctx context.Context) error {
	ctx = ports.ForAllPlatforms(ctx)
	queues, err := r.payments.RailQueues(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, key := range queues {
		var last rail.Payment
		for more := true; more && ctx.Err() == nil; {
			if last, more, err = r.sendQueue(ctx, key, last); err != nil {
				failures = append(failures, fmt.Errorf("queue of %s in %s: %w", key.Connection, key.Currency, err))
				break
			}
		}
	}
	return errors.Join(failures...)
}

// sendQueue hands over what can be sent of the payments of one queue that follow a payment. It returns the last one that it has
// looked at, and reports whether more can follow: what waits for something else than money holds up no other.
func (r *Rail) sendQueue(ctx context.Context, key rail.AccountKey, after rail.Payment) (last rail.Payment, more bool, err error) {
	err = ports.Do(ctx, r.payments, func(ctx context.Context, tx Tx) error {
		more = false
		state, err := r.lock(ctx, tx, []rail.Payment{{Connection: key.Connection, Route: rail.Route{Currency: key.Currency}}})
		if err != nil || key.Connection != "" && state.paused[key.Connection] {
			return err
		}
		queue, err := tx.LockRailQueue(ctx, key, ports.RailQueueExcept{Stopped: state.pausedRails(), Closed: state.closedRails(key.Connection)},
			after, maxQueueBatch)
		if err != nil {
			return err
		}
		var changed []rail.Payment
		if key.Connection == "" {
			changed = rerouted(queue, r.routes())
		} else {
			state.accounts[key].Waiting = false // the oldest comes first
			for _, p := range queue {
				if next := state.decide(p); next != p {
					changed = append(changed, next)
				}
			}
		}
		sent := handedOver(changed)
		if more = len(queue) == maxQueueBatch; more {
			last = queue[len(queue)-1]
			more = key.Connection == "" || !state.accounts[key].Waiting
		}
		if err := tx.UpdateRailPayments(ctx, changed); err != nil {
			return err
		}
		if err := AddCalls(ctx, tx, sent, state.now, r.IDs); err != nil {
			return err
		}
		return tx.SaveRailAccounts(ctx, state.accounts, sent, state.now)
	})
	return last, more, err
}

func (d decisions) pausedRails() []corridor.Rail {
	var rails []corridor.Rail
	for _, r := range corridor.Rails() {
		if d.paused[string(r)] {
			rails = append(rails, r)
		}
	}
	return rails
}

// closedRails returns the rails that a connection holds payments back of.
func (d decisions) closedRails(connection string) []corridor.Rail {
	l, known := d.named(connection)
	if !known {
		return nil
	}
	var rails []corridor.Rail
	for _, s := range l.Schedules {
		if _, closed := l.opens(s.Rail, d.now); closed {
			rails = append(rails, s.Rail)
		}
	}
	return rails
}

// rerouted returns the payments that a connection serves now; they are then in its queue.
func rerouted(queue []rail.Payment, connections routes) []rail.Payment {
	var changed []rail.Payment
	for _, p := range queue {
		if next := route(p, connections, p.RecordedAt); next.Connection != "" {
			next.Wait, next.Reason = rail.WaitsForFunds, "a connection serves it now"
			changed = append(changed, next)
		}
	}
	return changed
}
