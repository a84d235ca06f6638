package verification

import (
	"causeway/core/customer"
	"causeway/core/fault"
)

// CheckCanChange returns nil if a customer may change what is verified itself: CUSTOMER_DELETED, or
// CONFLICT once it is submitted or decided. v is the last verification of the customer, or zero.
func CheckCanChange(c customer.Customer, v Verification) error {
	switch {
	case c.Deleted():
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted; it cannot be verified.", c.ID)
	case c.Status == customer.Approved || c.Status == customer.Rejected || c.Held() || v.Status.IsSubmitted():
		return &fault.Error{Code: fault.Conflict, Reason: "Submitted", Message: "The data was submitted for verification and cannot be changed " +
			"on these pages any more."}
	}
	return nil
}
