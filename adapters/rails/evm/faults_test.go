package evm_test

import (
	"context"
	"errors"
	"testing"

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

// crashingStore fails the writes of a store.
type crashingStore struct {
	ports.EVMChainStore
	crash *crash
}

func crashing[T any](c *crash, call func() (T, error)) (result T, err error) {
	before, after := c.at()
	if before {
		return result, errCrash
	}
	if result, err = call(); after {
		return *new(T), errCrash
	}
	return result, err
}

func (s crashingStore) NextEVMNonce(ctx context.Context, w ports.EVMWallet, atLeast uint64) (uint64, error) {
	return crashing(s.crash, func() (uint64, error) { return s.EVMChainStore.NextEVMNonce(ctx, w, atLeast) })
}

func (s crashingStore) AddEVMTransaction(ctx context.Context, w ports.EVMWallet, t ports.EVMTransaction,
	l *ports.EVMSpendingLimit) (stored ports.EVMTransaction, added ports.EVMAddition, err error) {
	added, err = crashing(s.crash, func() (a ports.EVMAddition, err error) {
		stored, a, err = s.EVMChainStore.AddEVMTransaction(ctx, w, t, l)
		return a, err
	})
	return stored, added, err
}

func (s crashingStore) ConcludeEVMTransaction(ctx context.Context, t ports.EVMTransaction, c ports.EVMConclusion) (bool, error) {
	return crashing(s.crash, func() (bool, error) { return s.EVMChainStore.ConcludeEVMTransaction(ctx, t, c) })
}

func (s crashingStore) AdvanceEVMChain(ctx context.Context, a ports.EVMAdvance) (bool, error) {
	return crashing(s.crash, func() (bool, error) { return s.EVMChainStore.AdvanceEVMChain(ctx, a) })
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
			fault := func([]string) (bool, bool) { return c.at() }
			e.proxy.fault.Store(&fault)
			to := e.payee()
			p := e.payout(to, 10)
			crashed := e.open(crashingStore{e.db, c})
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
			e.chain.Mine(3)
			e.poll(other)

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
