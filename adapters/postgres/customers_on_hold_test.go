package postgres_test

import (
	"context"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/customer"
)

func TestCustomer_OnHoldStaysSo(t *testing.T) {
	t.Parallel()
	// The previous version does not know that a person holds a customer. If it approves one, the customer stays on hold, until a person
	// releases it. It goes on approving those whom the screening alone holds.
	c := newRetentionEnv(t)
	held, screened := newCustomer(c.platform, "c-1"), newCustomer(c.platform, "c-2")
	c.createCustomers(t, held, screened)
	held, err := held.PutOnHold(noon)
	if err != nil {
		t.Fatal(err)
	}
	screened = screened.Hold(noon)
	update := func(changed ...customer.Customer) {
		t.Helper()
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			for _, one := range changed {
				if err := tx.UpdateCustomer(ctx, one); err != nil {
					return err
				}
			}
			return nil
		})
	}
	want := func(of customer.Customer, status customer.Status, isHeld bool) {
		t.Helper()
		got, err := c.Customer(t.Context(), c.platform.ID, of.ID)
		if err != nil || got.ShownStatus() != status || got.IsHeldByPerson() != isHeld || got.Held() != (status == customer.OnHold) {
			t.Errorf("%s is %s since %s, held since %s, %v", got.PlatformCustomerID, got.Status, got.OnHoldSince, got.HeldAt, err)
		}
	}
	update(held, screened)

	if _, err := c.owner.Exec(t.Context(), `UPDATE customers SET status = 'APPROVED', held_at = NULL`); err != nil {
		t.Fatal(err)
	}

	want(held, customer.OnHold, true)
	want(screened, customer.Approved, false)
	if held, err = held.TakeOffHold(false, noon); err != nil {
		t.Fatal(err)
	}
	update(held)
	want(held, customer.Approved, false)
}
