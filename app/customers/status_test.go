package customers_test

import (
	"reflect"
	"sync"
	"testing"

	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
)

func TestSetStatus_ChangesOnceWithEvent(t *testing.T) {
	t.Parallel()
	// A decision changes the status and emits one event with the customer; repeated, it does nothing.
	env := newEnv(t)
	for _, c := range []struct {
		kind  customer.Type
		names []string
	}{
		{customer.Individual, []string{event.CustomerKYCApproved, event.CustomerKYCRejected, event.CustomerKYCPending}},
		{customer.Business, []string{event.CustomerKYBApproved, event.CustomerKYBRejected, event.CustomerKYBPending}},
	} {
		created := env.NewCustomer(string(c.kind), func(n *customer.Customer) {
			n.Type, n.Status = c.kind, customer.Pending
			if c.kind == customer.Business {
				n.Business = &customer.BusinessInfo{LegalName: "Acme"}
			}
		})
		for _, to := range []customer.Status{customer.Approved, customer.Approved, customer.Rejected, customer.Pending} {
			changed, err := env.customers.SetStatus(t.Context(), customers.StatusChange{Platform: env.Platform.ID, Customer: created.ID,
				Decision: customer.Decision{To: to}})
			if err != nil || changed.Status != to {
				t.Fatalf("%s to %s: %+v, %v", c.kind, to, changed, err)
			}
			if read, err := env.customers.Get(t.Context(), env.Platform.ID, created.ID); err != nil || !reflect.DeepEqual(read, changed) {
				t.Errorf("read %+v, %v\nchanged %+v", read, err, changed)
			}
		}
		env.Events.Want(created.ID.UUID(), c.names...)
	}
}

func TestSetStatus_RefusedChangesNothing(t *testing.T) {
	t.Parallel()
	// A decision about another status, one that the status cannot take and one about a deleted or
	// unknown customer are refused; nothing changes and no event is emitted.
	env := newEnv(t)
	gone := env.NewCustomer("gone", func(c *customer.Customer) { c.DeletedAt = apptest.Noon })
	for name, c := range map[string]struct {
		change customers.StatusChange
		want   fault.Code
	}{
		"decided on another status": {customers.StatusChange{Platform: env.Platform.ID, Customer: env.Customer.ID,
			Decision: customer.Decision{From: customer.Pending, To: customer.Rejected}}, fault.Conflict},
		"impossible": {customers.StatusChange{Platform: env.Platform.ID, Customer: env.Customer.ID,
			Decision: customer.Decision{To: customer.Unverified}}, fault.Conflict},
		"deleted": {customers.StatusChange{Platform: env.Platform.ID, Customer: gone.ID,
			Decision: customer.Decision{To: customer.Rejected}}, fault.CustomerDeleted},
		"of another platform": {customers.StatusChange{Platform: env.NewPlatform().ID, Customer: env.Customer.ID,
			Decision: customer.Decision{To: customer.Rejected}}, fault.UserNotFound},
	} {
		_, err := env.customers.SetStatus(t.Context(), c.change)
		apptest.WantFault(t, name, err, c.want)
	}

	if read, err := env.customers.Get(t.Context(), env.Platform.ID, env.Customer.ID); err != nil || !reflect.DeepEqual(read, env.Customer) {
		t.Errorf("changed to %+v, %v", read, err)
	}
	if n := len(env.Events.All()); n != 0 {
		t.Errorf("%d events", n)
	}
}

func TestSetStatus_ConcurrentDecisionsOneWins(t *testing.T) {
	t.Parallel()
	// Of decisions that are made on the same status one takes effect, and the other is refused.
	env := newEnv(t)
	pending := env.NewCustomer("bo", func(c *customer.Customer) { c.Status = customer.Pending })
	var decisions sync.WaitGroup
	errs := make([]error, 2)
	for i, to := range []customer.Status{customer.Approved, customer.Rejected} {
		decisions.Go(func() {
			_, errs[i] = env.customers.SetStatus(t.Context(), customers.StatusChange{Platform: env.Platform.ID, Customer: pending.ID,
				Decision: customer.Decision{From: customer.Pending, To: to}})
		})
	}
	decisions.Wait()

	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("decided %v and %v", errs[0], errs[1])
	}
	for _, err := range errs {
		if err != nil {
			apptest.WantFault(t, "the second", err, fault.Conflict)
		}
	}
	if n := len(env.Events.All()); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}
