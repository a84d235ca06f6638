package main

import (
	"strings"
	"testing"
)

// newFundedBench returns a bench whose customers have money at a fake service.
func newFundedBench(t *testing.T, service *fakeService, customers int) *bench {
	t.Helper()
	r := newFakeEnv(t, service)
	b := &bench{env: *r}
	var err error
	if b.customers, err = r.createCustomers(t.Context(), customers); err != nil {
		t.Fatal(err)
	}
	if err := r.fundCustomers(t.Context(), b.customers); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRunWorkers_PayoutsAndTransfers(t *testing.T) {
	// Each piece of work ends with its webhook, whether that is received before or after the
	// response, and every step is measured; the balances are then what they must be.
	t.Parallel()
	for _, early := range []bool{false, true} {
		service := newFakeService(t)
		service.deliverBeforeResponse = early
		b := newFundedBench(t, service, 7)

		for do, quoted := range map[kind]bool{payouts: true, transfersOut: false, transfersIn: false} {
			all, err := b.runWorkers(t.Context(), phase{inFlight: 4, kind: do}, limitedTo(50+10*int64(do)))
			if err != nil || len(all) != 50+10*int(do) {
				t.Fatalf("%d pieces of work of kind %d, %v", len(all), do, err)
			}
			for _, m := range all {
				if m.quoted.IsZero() == quoted || !m.due.Before(m.paid) || !m.due.Before(m.completed) || quoted && !m.quoted.Before(m.paid) {
					t.Fatalf("kind %d: times out of order: %+v", do, m)
				}
			}
		}
		service.sending.Wait()

		if s := &service.counts; s.executed.Load() != 70 || s.out.Load() != 80 || s.in.Load() != 90 || s.accounts.Load() != 14 {
			t.Errorf("the service received %d executions, %d transfers out, %d in and %d accounts", s.executed.Load(), s.out.Load(), s.in.Load(), s.accounts.Load())
		}
		r := b.env.receiver
		if r.completed.Load() != 150 || r.incoming.Load() != 97 || r.unclaimed.Load() != 7 || r.balances.Load() != 247 {
			t.Errorf("%d outgoing and %d incoming ends, %d unclaimed, %d balances; want 150, 97, 7, 247",
				r.completed.Load(), r.incoming.Load(), r.unclaimed.Load(), r.balances.Load())
		}
		if n, err := b.checkAccountBalances(t.Context()); n != 7 || err != nil {
			t.Errorf("%d accounts checked, %v", n, err)
		}
	}
}

func TestRunWorkers_FewCustomers(t *testing.T) {
	// Work limited to few customers uses no others.
	t.Parallel()
	service := newFakeService(t)
	b := newFundedBench(t, service, 5)

	if _, err := b.runWorkers(t.Context(), phase{inFlight: 3, kind: payouts, maxCustomers: 1}, limitedTo(20)); err != nil {
		t.Fatal(err)
	}

	for i, c := range b.customers {
		if want := map[bool]int64{true: -20 * rampAmount}[i == 0]; c.netMoved.Load() != want {
			t.Errorf("customer %d paid %d; want %d", i, c.netMoved.Load(), want)
		}
	}
}

func TestCheckAccountBalances(t *testing.T) {
	// A difference of one cent on one account is an error that names the account.
	t.Parallel()
	service := newFakeService(t)
	b := newFundedBench(t, service, 4)
	for _, by := range []int64{-1, 1} {
		service.accounts[2].Balance.Amount += by
		if _, err := b.checkAccountBalances(t.Context()); err == nil || !strings.Contains(err.Error(), service.accounts[2].ID) {
			t.Errorf("a difference of %d cents: %v", by, err)
		}
		service.accounts[2].Balance.Amount -= by
	}
}

func TestRunWorkers_RefusedPayoutStopsRun(t *testing.T) {
	// A payout or transfer that is refused ends the workers, with the reason.
	t.Parallel()
	for do, refuse := range map[kind]string{payouts: "/quotes", transfersOut: "/transfer-out", transfersIn: "/transfer-in"} {
		service := newFakeService(t)
		b := newFundedBench(t, service, 1)
		service.failPath = refuse
		if _, err := b.runWorkers(t.Context(), phase{inFlight: 2, kind: do}, newSchedule(0, nil)); err == nil || !strings.Contains(err.Error(), "POST "+refuse+" was refused: 500") {
			t.Errorf("kind %d: %v", do, err)
		}
	}
}
