package customer_test

import (
	"testing"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

func TestCustomer_DeleteOnlyWithoutMoney(t *testing.T) {
	// A customer without money is deleted; one with a balance or an unsettled payment is not, and
	// neither is one that is deleted already.
	t.Parallel()
	payment, err := ident.ParseTransaction("Transaction:019542f5-b3e7-7d02-8000-000000000005")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		edit   func(*customer.Customer)
		left   customer.Funds
		want   fault.Code
		reason string
	}{
		"nothing left":        {func(*customer.Customer) {}, customer.Funds{}, "", ""},
		"a rejected customer": {func(c *customer.Customer) { c.Status = customer.Rejected }, customer.Funds{}, "", ""},
		"a balance": {func(*customer.Customer) {}, customer.Funds{Balances: []money.Amount{{Minor: 1, Currency: "USD"}}, Unsettled: payment},
			fault.Conflict, "Balance left"},
		"an unsettled payment": {func(*customer.Customer) {}, customer.Funds{Unsettled: payment}, fault.Conflict, "Payment not settled"},
		"deleted":              {func(c *customer.Customer) { c.DeletedAt = now }, customer.Funds{}, fault.CustomerDeleted, ""},
	}
	for name, test := range tests {
		c := approved(t, individualRequest())
		test.edit(&c)

		got, err := c.Delete(test.left, later)

		if test.want == "" {
			if err != nil || !got.Deleted() || !got.DeletedAt.Equal(later) || !got.UpdatedAt.Equal(later) || got.Status != c.Status {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			continue
		}
		f, ok := fault.As(err)
		if !ok || f.Code != test.want || f.Reason != test.reason || got.Deleted() != c.Deleted() {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
