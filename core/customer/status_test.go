package customer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
)

func TestCustomer_DecidedEveryPair(t *testing.T) {
	// Every pair of statuses either changes, stays as it is, or is a conflict. A changed status has
	// the event of its type and a later time of change.
	t.Parallel()
	allowed := map[customer.Status][]customer.Status{
		customer.Unverified: {customer.Pending, customer.Approved, customer.Rejected},
		customer.Pending:    {customer.Approved, customer.Rejected},
		customer.Approved:   {customer.Pending, customer.Rejected},
		customer.Rejected:   {customer.Pending, customer.Approved},
	}
	eventNames := map[customer.Status]string{customer.Pending: event.CustomerKYBPending, customer.Approved: event.CustomerKYBApproved,
		customer.Rejected: event.CustomerKYBRejected}
	for from, targets := range allowed {
		for to := range allowed {
			before := customer.Customer{ID: customerID, Platform: platformID, Type: customer.Business, Status: from, UpdatedAt: now}

			after, err := before.Decided(customer.Decision{From: from, To: to}, now.Add(-time.Hour))

			switch {
			case from == to:
				if err != nil || !reflect.DeepEqual(after, before) {
					t.Errorf("%s again: %+v, %v", from, after, err)
				}
			case !slices.Contains(targets, to):
				if !fault.Is(err, fault.Conflict) || !reflect.DeepEqual(after, before) {
					t.Errorf("%s to %s: %+v, %v", from, to, after, err)
				}
			default:
				if err != nil || after.Status != to || !after.UpdatedAt.After(before.UpdatedAt) {
					t.Errorf("%s to %s: %+v, %v", from, to, after, err)
				}
				if e := after.StatusEvent(testEventID); e.Type != event.CustomerStatus || e.Name != eventNames[to] {
					t.Errorf("%s to %s has the event %s %q", from, to, e.Type, e.Name)
				}
			}
			if from != to {
				if _, err := before.Decided(customer.Decision{From: to, To: to}, now); slices.Contains(targets, to) && !fault.Is(err, fault.Conflict) {
					t.Errorf("%s to %s, decided on %s: %v", from, to, to, err)
				}
			}
		}
	}
}

func TestCustomer_DecidedRefusesDeleted(t *testing.T) {
	// The status of a deleted customer does not change, nor is the same status accepted.
	t.Parallel()
	gone := customer.Customer{ID: customerID, Status: customer.Approved, DeletedAt: now}
	for _, to := range []customer.Status{customer.Approved, customer.Rejected} {
		if _, err := gone.Decided(customer.Decision{To: to}, now); !fault.Is(err, fault.CustomerDeleted) {
			t.Errorf("to %s: %v", to, err)
		}
	}
}

func TestCustomer_DecidedOnOlderIdentity(t *testing.T) {
	// An approval of data that has changed since is refused; a rejection of it is not.
	t.Parallel()
	changed := customer.Customer{ID: customerID, Type: customer.Individual, Status: customer.Pending, IdentityChangedAt: now}
	for _, c := range []struct {
		to       customer.Status
		readAt   time.Time
		accepted bool
	}{
		{customer.Approved, now.Add(-time.Second), false},
		{customer.Approved, now, true},
		{customer.Approved, time.Time{}, true},
		{customer.Rejected, now.Add(-time.Second), true},
	} {
		after, err := changed.Decided(customer.Decision{To: c.to, ReadAt: c.readAt}, now)
		if c.accepted && (err != nil || after.Status != c.to) || !c.accepted && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s of the data of %s: %s, %v", c.to, c.readAt, after.Status, err)
		}
	}
}

func TestCustomer_HeldIsShownOnHold(t *testing.T) {
	t.Parallel()
	// A customer who is held is shown as on hold, also in the fault that refuses payments, and as before when released.
	approved := customer.Customer{Type: customer.Individual, Status: customer.Approved}
	held := approved.Hold(time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC))

	refused, _ := fault.As(held.CheckReady())
	if held.ShownStatus() != customer.OnHold || held.Status != customer.Pending || refused == nil || refused.Details["kycStatus"] != "HOLD" {
		t.Errorf("%s, %+v", held.ShownStatus(), refused)
	}
	if released := held.Release(held.HeldAt); released.ShownStatus() != customer.Approved || released.CheckReady() != nil {
		t.Errorf("released: %s", released.ShownStatus())
	}
}

func TestCustomer_HoldOfAPersonEndsByAPersonAlone(t *testing.T) {
	t.Parallel()
	// Whatever is decided about a customer, in any order: it is approved only while no person holds it and no hit is open, and a hold of
	// a person ends by a release of a person alone. The times of changes never go back, and what is refused changes nothing.
	rapid.Check(t, func(t *rapid.T) {
		c := customer.Customer{ID: customerID, Type: customer.Individual, Status: customer.Approved, UpdatedAt: now}
		isHeld, hasHits := false, false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			before, err := c, error(nil)
			step := rapid.SampledFrom([]string{"hold", "release", "hit", "cleared", "approve", "reject", "pending"}).Draw(t, "step")
			switch step {
			case "hold":
				if c, err = c.PutOnHold(now); err == nil {
					isHeld = true
				}
			case "release":
				if c, err = c.TakeOffHold(hasHits, now); err == nil {
					isHeld = false
				}
			case "hit":
				c, hasHits = c.Hold(now), true
			case "cleared":
				c, hasHits = c.Release(now), false
			case "approve":
				if c, err = c.Decided(customer.Decision{To: customer.Approved}, now); hasHits {
					c = c.Hold(now)
				}
			case "reject":
				c, err = c.Decided(customer.Decision{To: customer.Rejected}, now)
			case "pending":
				c, err = c.Decided(customer.Decision{To: customer.Pending}, now)
			}
			if err != nil && (!fault.Is(err, fault.Conflict) || !reflect.DeepEqual(c, before)) {
				t.Fatalf("%s: %v, %+v", step, err, c)
			}
			if c.IsHeldByPerson() != isHeld || c.UpdatedAt.Before(before.UpdatedAt) {
				t.Fatalf("%s: held %t, want %t; changed at %s after %s", step, c.IsHeldByPerson(), isHeld, c.UpdatedAt, before.UpdatedAt)
			}
			if ready := c.CheckReady() == nil; ready && (isHeld || hasHits) || ready != (c.ShownStatus() == customer.Approved) {
				t.Fatalf("%s: %s moves money, held %t, hits %t", step, c.ShownStatus(), isHeld, hasHits)
			}
		}
	})
}

func TestCustomer_PutOnHoldIsRefused(t *testing.T) {
	t.Parallel()
	// Nobody is held who moves no money anyway, who is held by a person already, or who is deleted; nobody is released whom no person holds.
	held, err := customer.Customer{Status: customer.Approved}.PutOnHold(now)
	if err != nil || held.ShownStatus() != customer.OnHold {
		t.Fatalf("%s, %v", held.ShownStatus(), err)
	}
	for name, c := range map[string]struct {
		of   customer.Customer
		code fault.Code
	}{
		"pending": {customer.Customer{Status: customer.Pending}, fault.Conflict}, "rejected": {customer.Customer{Status: customer.Rejected},
			fault.Conflict}, "held": {held, fault.Conflict}, "deleted": {customer.Customer{Status: customer.Approved, DeletedAt: now},
			fault.CustomerDeleted},
	} {
		if _, err := c.of.PutOnHold(now); !fault.Is(err, c.code) {
			t.Errorf("%s: held, %v", name, err)
		}
		if _, err := c.of.TakeOffHold(false, now); name != "held" && !fault.Is(err, c.code) {
			t.Errorf("%s: released, %v", name, err)
		}
	}
	if again, err := (customer.Customer{Status: customer.Approved, OnHoldSince: now}).PutOnHold(now); err != nil || !again.Held() {
		t.Errorf("approved in spite of the hold, %+v, %v", again, err)
	}
	screened := customer.Customer{Status: customer.Approved}.Hold(now)
	if _, err := screened.TakeOffHold(false, now); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "hits") {
		t.Errorf("held by the screening: %v", err)
	}
	for text, valid := range map[string]bool{" ": false, " x ": true, strings.Repeat("ä", 1950): true, strings.Repeat("ä", 1951): false} {
		if _, err := customer.HoldReason(text); (err == nil) != valid {
			t.Errorf("%.5q of %d: %v", text, len(text), err)
		}
	}
}
