package payments

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ports"
)

// payoutsRead are payouts that a unit of work has made due, as it has read them with its last statements.
type payoutsRead struct {
	payouts []ports.Payout
	readAt  time.Time // or before
}

// read reads those of the jobs that this process runs at once.
func (d *payoutsRead) read(ctx context.Context, tx Tx, jobs []ports.Job) error {
	keys := uow.TransactionKeys(slices.DeleteFunc(jobs, func(j ports.Job) bool { return j.Step != transaction.StepDeliver }))
	if len(keys) == 0 {
		return nil
	}
	d.readAt = time.Now()
	return tx.QueuePayouts(ctx, keys, &d.payouts)
}

const (
	// maxPayoutAge is how old what was read of a payout may be when its rail is called. A call may take longer, so whatever happens
	// to the payment meanwhile is also possible during the call.
	maxPayoutAge = time.Second
	// maxCommittedPayouts bounds their memory. Others are read when they are due.
	maxCommittedPayouts = 2048
)

// committedPayouts are payouts of committed jobs that have not run yet.
type committedPayouts struct {
	mu        sync.Mutex
	payouts   map[ports.TransactionKey]committedPayout
	forgotten time.Time // what was read before it is not used
	dropping  bool      // dropOld is due
}

type committedPayout struct {
	ports.Payout
	readAt time.Time
}

func (c *committedPayouts) add(d *payoutsRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(d.payouts) == 0 || d.readAt.Before(c.forgotten) {
		return
	}
	if c.payouts == nil {
		c.payouts = map[ports.TransactionKey]committedPayout{}
	}
	for _, p := range d.payouts {
		if len(c.payouts) < maxCommittedPayouts {
			c.payouts[transactionKey(p.Transaction)] = committedPayout{p, d.readAt}
		}
	}
	if !c.dropping {
		c.dropping = true
		time.AfterFunc(maxPayoutAge, c.dropOld)
	}
}

// dropOld drops what is too old to be used: that of jobs that another process runs.
func (c *committedPayouts) dropOld() {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.payouts, func(_ ports.TransactionKey, p committedPayout) bool { return time.Since(p.readAt) >= maxPayoutAge })
	if c.dropping = len(c.payouts) > 0; c.dropping {
		time.AfterFunc(maxPayoutAge, c.dropOld)
	}
}

func (c *committedPayouts) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.payouts, c.forgotten = nil, time.Now()
}

// take returns payouts, each once, and the keys of those that have to be read.
func (c *committedPayouts) take(keys []ports.TransactionKey) (taken []ports.Payout, others []ports.TransactionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if p := c.payouts[key]; time.Since(p.readAt) < maxPayoutAge {
			taken = append(taken, p.Payout)
		} else {
			others = append(others, key)
		}
		delete(c.payouts, key)
	}
	return taken, others
}
