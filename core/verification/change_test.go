package verification_test

import (
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/verification"
)

func TestCheckCanChange_UntilSubmittedOrDecided(t *testing.T) {
	t.Parallel()
	// A customer may change its data before it submits it and when errors must be corrected, never
	// while someone checks it or after the decision.
	deleted := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status    customer.Status
		deletedAt time.Time
		last      verification.Status
		want      fault.Code
	}{
		{customer.Pending, time.Time{}, "", ""},
		{customer.Unverified, time.Time{}, "", ""},
		{customer.Pending, time.Time{}, verification.ResolveErrors, ""},
		{customer.Pending, time.Time{}, verification.Approved, ""}, // its identity changed since
		{customer.Pending, time.Time{}, verification.InProgress, fault.Conflict},
		{customer.Pending, time.Time{}, verification.PendingManualReview, fault.Conflict},
		{customer.Approved, time.Time{}, verification.Approved, fault.Conflict},
		{customer.Approved, time.Time{}, "", fault.Conflict},
		{customer.Rejected, time.Time{}, verification.Rejected, fault.Conflict},
		{customer.Pending, deleted, "", fault.CustomerDeleted},
	} {
		err := verification.CheckCanChange(customer.Customer{Status: c.status, DeletedAt: c.deletedAt}, verification.Verification{Status: c.last})
		if (c.want == "") != (err == nil) || err != nil && !fault.Is(err, c.want) {
			t.Errorf("%s customer, verification %q: %v; want %q", c.status, c.last, err, c.want)
		}
	}
}
