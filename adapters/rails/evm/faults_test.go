package evm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

var errCrash = errors.New("crash")

// crash fails one call, and every later one as after the end of a process.
type crash struct {
	call  int // that fails
	after bool
	calls int
}

// at reports whether the present call fails, before or after it is made.
func (c *crash) at() (before, after bool) {
	c.calls++
	if c.calls == c.call && c.after {
		return false, true
	}
	return c.calls >= c.call, false
}

// node is at for a call of the node. The process does not end after one that changes nothing: that is the same as before it.
func (c *crash) node(methods []string) (before, after bool) {
	if c.after && !slices.Contains(methods, "eth_sendRawTransaction") {
		return c.calls >= c.call, false
	}
	return c.at()
}

// crashingPool is the database as a process has it: what it writes fails before or after the commit, or does not.
type crashingPool struct {
	storage.Pool
	fails func() (before, after bool)
}

func (p crashingPool) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := p.Pool.Begin(ctx)
	return &crashingTx{Tx: tx, fails: p.fails}, err
}

type crashingTx struct {
	pgx.Tx
	fails  func() (before, after bool)
	writes bool
}

func (tx *crashingTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	tx.writes = true
	return tx.Tx.Exec(ctx, sql, args...)
}

func (tx *crashingTx) Commit(ctx context.Context) error {
	if !tx.writes {
		return tx.Tx.Commit(ctx)
	}
	before, after := tx.fails()
	if before {
		return errCrash
	}
	if err := tx.Tx.Commit(ctx); err != nil || !after {
		return err
	}
	return errCrash
}

func TestSend_MovesOnceAfterACrashAtAnyStep(t *testing.T) {
	t.Parallel()
	// A process ends before or after any of its calls of the node and writes to the store. It never refuses, and another
	// process delivers the payout once.
	e := newEnv(t)
	e.fund(1_000_000)
	for _, after := range []bool{false, true} {
		for call := 1; ; call++ {
			c := &crash{call: call, after: after}
			fault := c.node
			e.proxy.fault.Store(&fault)
			to := e.payee()
			p := e.payout(to, 10)
			crashed := e.open(crashingPool{e.db.Pool(), c.at})
			for range 2 {
				if o := e.send(crashed, p); o.Verdict != ports.Unknown && o.Verdict != ports.Waiting {
					t.Fatalf("call %d: %+v", call, o)
				}
			}
			e.chain.Mine(3)
			_, _ = crashed.Poll(t.Context(), e.cursor)
			last := e.send(crashed, p)
			e.proxy.fault.Store(nil)
			other := e.rail()
			e.send(other, p)
			e.mine(other, 3)

			if o := e.send(other, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 10 {
				t.Fatalf("call %d, after %t: %+v; the payee has %d", call, after, o, e.usdc.Balance(to))
			}
			if c.calls < call { // no call was left to fail
				if last.Verdict != ports.Done {
					t.Errorf("without a fault: %+v", last)
				}
				break
			}
			if call > 200 {
				t.Fatal("the calls do not end")
			}
		}
	}
}
