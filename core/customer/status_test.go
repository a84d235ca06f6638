package customer_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

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
