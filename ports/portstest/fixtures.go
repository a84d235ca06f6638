package portstest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// SandboxPlatform returns a regulated sandbox platform that is not stored.
func SandboxPlatform(t testing.TB, ids ports.IDs, at time.Time) platform.Platform {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(ids.New, at), "Test", platform.Sandbox, true, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ApprovedCustomer returns an approved customer with a short name that is not stored.
func ApprovedCustomer(ids ports.IDs, at time.Time, platformID ident.Platform, name string) customer.Customer {
	return customer.Customer{ID: ident.NewCustomer(ids.New, at), Platform: platformID, PlatformCustomerID: name, Type: customer.Individual,
		FullName:   "Ben Stone",
		UMAAddress: "$" + name + "@uma.test", Status: customer.Approved, CreatedAt: at, UpdatedAt: at}
}

// MustDo runs a unit of work that must succeed.
func MustDo[Tx any](t testing.TB, store interface {
	Do(ctx context.Context, fn func(context.Context, Tx) error) error
}, fn func(context.Context, Tx) error) {
	t.Helper()
	if err := store.Do(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// WantTrialBalance compares the balances of a platform that are not zero, by path and currency,
// as debits less credits.
func WantTrialBalance(t testing.TB, reader ports.LedgerReader, platformID ident.Platform, want map[string]int64) {
	t.Helper()
	got := map[string]int64{}
	err := reader.TrialBalance(t.Context(), platformID, func(line ports.AccountBalance) error {
		balance := line.Balance
		if !line.Class.IsDebitNormal() {
			balance = -balance
		}
		if balance != 0 {
			got[line.Account.Path+" "+string(line.Account.Currency)] = balance
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want == nil {
		want = map[string]int64{}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the trial balance is\n%v, want\n%v", got, want)
	}
}

// Wakeup wakes a test that waits for a commit.
type Wakeup chan struct{}

// NewWakeup returns a Wakeup.
func NewWakeup() Wakeup { return make(Wakeup, 1) }

// Notify reports a commit.
func (w Wakeup) Notify() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// WaitUntil calls check now and after each Notify until it returns the empty string; check
// returns what is missing.
func (w Wakeup) WaitUntil(t testing.TB, check func() (missing string)) {
	t.Helper()
	timeout := time.NewTimer(30 * time.Second)
	defer timeout.Stop()
	for {
		missing := check()
		if missing == "" {
			return
		}
		select {
		case <-w:
		case <-timeout.C:
			t.Fatal(missing)
		}
	}
}

// OffsetClock is the clock of the machine, ahead by a duration that a test sets.
type OffsetClock struct{ ahead atomic.Int64 }

var _ ports.Clock = (*OffsetClock)(nil)

// Now returns the time of the clock.
func (c *OffsetClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Set makes the clock ahead, or behind by a negative duration.
func (c *OffsetClock) Set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// FakeClock is a clock that a test sets.
type FakeClock struct {
	mu  sync.Mutex
	now time.Time
}

var _ ports.Clock = (*FakeClock)(nil)

// NewFakeClock returns a clock with a time.
func NewFakeClock(now time.Time) *FakeClock { return &FakeClock{now: now} }

// Now returns the time of the clock.
func (c *FakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *FakeClock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}
