package customer

import (
	"causeway/core/fault"
	"causeway/core/platform"
)

// initialStatus returns the status at creation. A regulated platform has verified its
// customers itself; in the sandbox people are approved at once, and businesses are
// verified as everywhere.
func initialStatus(of Type, on platform.Platform) Status {
	switch {
	case on.Regulated:
		return Approved
	case on.Environment == platform.Sandbox && of == Individual:
		return Approved
	default:
		return Pending
	}
}

// CheckReady returns nil if money may be moved for the customer. Otherwise it is
// CUSTOMER_DELETED, or USER_NOT_READY with what to do about it.
func (c Customer) CheckReady() error {
	if c.Deleted() {
		return fault.New(fault.CustomerDeleted, "The customer %s was deleted; money no longer moves for it.", c.ID)
	}
	if c.Status == Approved {
		return nil
	}
	message := "Send the customer through the link of POST /customers/{customerId}/kyc-link and wait for the approval."
	if c.Type == Business {
		message = "Submit what is known of the business with POST /verifications, or send it through the link of POST /customers/{customerId}/kyc-link, and wait for the approval."
	}
	if c.Status == Rejected {
		message = "The verification was rejected; money cannot be moved for this customer."
	}
	return &fault.Error{
		Code:    fault.UserNotReady,
		Message: "The customer is not verified. " + message,
		Reason:  "Customer not verified",
		Details: map[string]any{"customerId": c.ID.String(), c.statusField(): string(c.Status)},
	}
}

// statusField returns what the interface calls the status of this type of customer.
func (c Customer) statusField() string {
	if c.Type == Business {
		return "kybStatus"
	}
	return "kycStatus"
}
