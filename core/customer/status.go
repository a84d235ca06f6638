package customer

import (
	"slices"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// Status is the status of a customer's verification.
type Status string

// The statuses of verification.
const (
	// Unverified customers have not begun.
	Unverified Status = "UNVERIFIED"
	// Pending customers wait for the data, the documents or the decision.
	Pending Status = "PENDING"
	// Approved customers may move money.
	Approved Status = "APPROVED"
	// Rejected customers may not. A review can still approve them.
	Rejected Status = "REJECTED"
)

// statusChanges lists what a status can change to. An approval ends when sanctions or fraud are found
// later, or when the verified data changes; a rejection ends when the decision is reviewed.
var statusChanges = map[Status][]Status{
	Unverified: {Pending, Approved, Rejected},
	Pending:    {Approved, Rejected},
	Approved:   {Pending, Rejected},
	Rejected:   {Pending, Approved},
}

// initialStatus returns the status of a new customer. A regulated platform has verified its
// customers itself.
func initialStatus(p platform.Platform) Status {
	if p.Regulated {
		return Approved
	}
	return Pending
}

// Decision is a decision about a customer's verification.
type Decision struct {
	// From is the status that the decision was made on; empty for any.
	From Status
	To   Status
	// ReadAt is when the data was read that the decision was made on; zero if it does not matter.
	ReadAt time.Time
}

// Decided returns the customer with the status that a decision gives it; the customer itself if it
// has that status already. Faults: CUSTOMER_DELETED; CONFLICT if the status is another one meanwhile,
// or cannot change so, or if the identity to approve has changed since it was read.
func (c Customer) Decided(d Decision, now time.Time) (Customer, error) {
	switch {
	case c.Deleted():
		return c, c.errDeleted("its status cannot change")
	case c.Status == d.To:
		return c, nil
	case d.To == Approved && c.Held() && c.IsHeldByPerson():
		return c, nil // until a person releases it
	case d.From != "" && d.From != c.Status, !slices.Contains(statusChanges[c.Status], d.To):
		return c, c.errNotDecided("Status changed meanwhile", "is "+string(c.Status)+" and cannot become "+string(d.To)+" by this decision")
	case d.To == Approved && !d.ReadAt.IsZero() && c.IdentityChangedAt.After(d.ReadAt):
		return c, c.errNotDecided("Identity changed meanwhile", "has other data than the decision was made on")
	}
	c.Status, c.HeldAt, c.UpdatedAt = d.To, time.Time{}, c.nextUpdateTime(now)
	if c.IsHeldByPerson() {
		c = c.Hold(now)
	}
	return c, nil
}

func (c Customer) errNotDecided(reason, message string) error {
	return &fault.Error{
		Code: fault.Conflict, Reason: reason,
		Message: "The customer " + c.ID.String() + " " + message + ". Get the customer and decide again.",
		Details: map[string]any{"customerId": c.ID.String(), c.statusField(): string(c.ShownStatus())},
	}
}

// nextUpdateTime returns now, or a time after the last change if the clock went back.
func (c Customer) nextUpdateTime(now time.Time) time.Time {
	if now.After(c.UpdatedAt) {
		return now
	}
	return c.UpdatedAt.Add(time.Microsecond)
}

// StatusEvent returns the event that tells the platform the customer's new status.
func (c Customer) StatusEvent(id ident.Webhook) event.Event {
	name := "CUSTOMER.KYC_" + string(c.Status)
	if c.Type == Business {
		name = "CUSTOMER.KYB_" + string(c.Status)
	}
	return event.Event{ID: id, Platform: c.Platform, Type: event.CustomerStatus, Name: name, Subject: c.ID.UUID(),
		OccurredAt: c.UpdatedAt, Resource: c}
}

// CheckReady returns nil if money may be moved for the customer, else CUSTOMER_DELETED or
// USER_NOT_READY.
func (c Customer) CheckReady() error {
	if c.Deleted() {
		return c.errDeleted("no money can be moved for it")
	}
	if c.Status == Approved {
		return nil
	}
	message := "Send the customer through the link of POST /customers/{customerId}/kyc-link and wait for the approval."
	if c.Type == Business {
		message = "Submit the data of the business with POST /verifications, or send the customer through the link of POST " +
			"/customers/{customerId}/kyc-link, and wait for the approval."
	}
	if c.Status == Rejected {
		message = "The verification was rejected; money cannot be moved for this customer."
	}
	if c.Held() {
		message = "The operator of the service reviews it; wait for the event of its status."
	}
	return &fault.Error{
		Code:    fault.UserNotReady,
		Message: "The customer is not verified. " + message,
		Reason:  "Customer not verified",
		Details: map[string]any{"customerId": c.ID.String(), c.statusField(): string(c.ShownStatus())},
	}
}

func (c Customer) errDeleted(consequence string) error {
	return fault.New(fault.CustomerDeleted, "The customer %s is deleted; %s.", c.ID, consequence)
}

// statusField returns the name of the status in the API.
func (c Customer) statusField() string {
	if c.Type == Business {
		return "kybStatus"
	}
	return "kycStatus"
}
