package portstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// SandboxPlatform returns a regulated sandbox platform, not stored yet.
func SandboxPlatform(t testing.TB, ids ports.IDs, at time.Time) platform.Platform {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(ids.New, at), "Test", platform.Sandbox, true, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ApprovedCustomer returns an approved customer of a platform who goes by a short name, not stored yet.
func ApprovedCustomer(ids ports.IDs, at time.Time, on ident.Platform, name string) customer.Customer {
	return customer.Customer{ID: ident.NewCustomer(ids.New, at), Platform: on, PlatformCustomerID: name, Type: customer.Individual,
		UMAAddress: "$" + name + "@uma.test", Status: customer.Approved, CreatedAt: at, UpdatedAt: at}
}

// MustDo runs a unit of work that has to succeed.
func MustDo(t testing.TB, store ports.Store, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	if err := store.Do(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// WantTrialBalance compares every balance of a platform that is not zero, by path and currency,
// debits positive, with what should be there.
func WantTrialBalance(t testing.TB, books ports.LedgerReader, on ident.Platform, want map[string]int64) {
	t.Helper()
	got := map[string]int64{}
	err := books.TrialBalance(t.Context(), on, func(line ports.AccountBalance) error {
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
		t.Errorf("the books hold\n%v, want\n%v", got, want)
	}
}

// Wakeup wakes a test that waits for something to be committed.
type Wakeup chan struct{}

// NewWakeup returns one.
func NewWakeup() Wakeup { return make(Wakeup, 1) }

// Notify says that something was committed.
func (b Wakeup) Notify() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// WaitUntil looks now, and whenever the bell has rung, whether something has come about. The
// look says what is missing, and nothing when it has.
func (b Wakeup) WaitUntil(t testing.TB, look func() (missing string)) {
	t.Helper()
	patience := time.NewTimer(30 * time.Second)
	defer patience.Stop()
	for {
		missing := look()
		if missing == "" {
			return
		}
		select {
		case <-b:
		case <-patience.C:
			t.Fatal(missing)
		}
	}
}
