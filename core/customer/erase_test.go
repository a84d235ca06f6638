package customer_test

import (
	"reflect"
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestCustomer_CheckErasable(t *testing.T) {
	// A deleted customer without money can be erased after five years, and earlier if the operator says so.
	t.Parallel()
	deleted := func(c *customer.Customer) { c.DeletedAt = now }
	money := customer.Funds{Balances: []money.Amount{{Minor: 1, Currency: "USD"}}}
	tests := map[string]struct {
		edit   func(*customer.Customer)
		left   customer.Funds
		early  bool
		at     time.Time
		reason string
	}{
		"after five years":     {deleted, customer.Funds{}, false, now.AddDate(5, 0, 0), ""},
		"a moment before":      {deleted, customer.Funds{}, false, now.AddDate(5, 0, 0).Add(-1), "Kept by law"},
		"at once":              {deleted, customer.Funds{}, true, now, ""},
		"not deleted":          {func(*customer.Customer) {}, customer.Funds{}, true, now.AddDate(9, 0, 0), "Not deleted"},
		"money that came back": {deleted, money, true, now.AddDate(9, 0, 0), "Balance left"},
		"erased before": {func(c *customer.Customer) { c.DeletedAt, c.ErasedAt = now, now }, customer.Funds{}, true,
			now.AddDate(9, 0, 0), "Already erased"},
		"money and kept, not at once": {deleted, money, false, now, "Balance left"},
	}
	for name, test := range tests {
		c := approved(t, individualRequest())
		test.edit(&c)

		err := c.CheckErasable(test.left, test.early, test.at)

		refusal, refused := fault.As(err)
		if refused != (test.reason != "") || refused && (refusal.Code != fault.Conflict || refusal.Reason != test.reason) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
	}
}

func TestCustomer_EraseLeavesNoPersonalData(t *testing.T) {
	// What remains of a person or a business is the id, type, region, currencies, status and times.
	t.Parallel()
	for _, request := range []customer.Request{individualRequest(), businessRequest()} {
		c := approved(t, request)
		c.DeletedAt, c.IdentityChangedAt = now, now

		got := c.Erase(later)

		want := customer.Customer{ID: c.ID, Platform: c.Platform, PlatformCustomerID: "019542f5-b3e7-7d02-8000-000000000002", Type: c.Type,
			Region: c.Region, Currencies: c.Currencies,
			UMAAddress: "$019542f5b3e77d028000000000000002@uma.acme.test", Status: c.Status, CreatedAt: c.CreatedAt, UpdatedAt: later,
			DeletedAt: now, ErasedAt: later}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}
