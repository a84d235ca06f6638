package verification

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

// CheckCanBegin returns nil if the identity of a customer can be verified: CUSTOMER_DELETED, or
// INVALID_INPUT if it is decided already.
func CheckCanBegin(c customer.Customer) error {
	switch {
	case c.Deleted():
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted; it cannot be verified.", c.ID)
	case c.Held():
		return fault.Invalid(fault.Field{Field: "customerId", Message: "must be the id of a customer that is not decided yet; this one was " +
			"approved, and the operator of the service reviews it again"})
	case c.Status == customer.Approved || c.Status == customer.Rejected:
		return fault.Invalid(fault.Field{Field: "customerId", Message: "must be the id of a customer that is not decided yet; this one is " +
			string(c.Status)})
	}
	return nil
}

// CheckCount returns CONFLICT if a customer has so many verifications that it can have no other.
func CheckCount(c customer.Customer, count int) error {
	if count < Max {
		return nil
	}
	return fault.New(fault.Conflict, "The customer %s has %d verifications, the maximum. Create another customer.", c.ID, count)
}

// New returns a verification that has not begun.
func New(id ident.Verification, c customer.Customer, now time.Time) Verification {
	return Verification{ID: id, Platform: c.Platform, Customer: c.ID, CreatedAt: now, UpdatedAt: now}
}

// Submit submits an application unless something is missing. A verification that is submitted
// already does not change.
func (v Verification) Submit(a Application, missing []customer.CheckError) Change {
	change := Change{Verification: v}
	if v.Status.IsSubmitted() || v.Status.IsFinal() {
		return change
	}
	change.Applied = true
	change.Verification.UpdatedAt = latest(v.UpdatedAt, a.SubmittedAt)
	change.Verification.Errors = missing
	if len(missing) > 0 {
		change.move(ResolveErrors)
		return change
	}
	change.Verification.Submitted, change.Verification.CustomerApproved = &a, false
	change.move(ReadyForVerification)
	change.move(InProgress)
	return change
}

// CanDecide reports whether a decision on an application of the customer would change anything.
func (v Verification) CanDecide(application uuid.UUID, verdict Verdict) bool {
	if !v.Status.IsSubmitted() || v.Submitted == nil || v.Submitted.ID != application {
		return false
	}
	if v.LastDecision.Application == application && (verdict == v.LastDecision.Verdict || verdict == Waiting) {
		return false
	}
	return !v.CustomerApproved || verdict == Refused || verdict == Correctable // it only waits for its owners
}

// Decide applies a decision on the customer. present and owners are the customer and its beneficial
// owners now. A decision that is repeated, comes after a final one, or is about an earlier
// application, changes nothing.
func (v Verification) Decide(d Decision, present customer.Customer, owners []customer.BeneficialOwner) Change {
	change := Change{Verification: v}
	if !v.CanDecide(d.Application, d.Verdict) {
		return change
	}
	decided := &change.Verification
	change.Applied = true
	decided.record(d)
	switch d.Verdict {
	case Waiting:
	case InReview:
		change.move(PendingManualReview)
	case Correctable:
		change.resolve(d.Errors)
	case Refused:
		decided.Errors = d.Errors
		if len(d.Errors) == 0 {
			decided.Errors = []customer.CheckError{{Resource: v.Customer.String(), Type: customer.ApplicantRejected,
				Reason: "The verification was rejected."}}
		}
		change.move(Rejected)
		change.CustomerStatus = customer.Rejected
	case Accepted:
		decided.CustomerApproved = true
		change.settle(present, owners)
	}
	return change
}

// CanDecideOwner reports whether a decision on a check of a beneficial owner would change anything.
func CanDecideOwner(o customer.BeneficialOwner, application uuid.UUID, verdict Verdict) bool {
	if o.Status != customer.Pending && o.Status != customer.Unverified || len(o.Check.Errors) > 0 || o.Check.Application != application {
		return false
	}
	return !o.Check.Submitted || verdict != Waiting && verdict != InReview
}

// DecideOwner applies a decision on a beneficial owner, and reports whether it changes the owner. A
// decision that comes after a final one, or is about an earlier check, changes nothing.
func DecideOwner(o customer.BeneficialOwner, d Decision) (customer.BeneficialOwner, bool) {
	if !CanDecideOwner(o, d.Application, d.Verdict) {
		return o, false
	}
	switch d.Verdict {
	case Accepted:
		o.Status = customer.Approved
	case Refused:
		o.Status = customer.Rejected
	case Waiting, InReview, Correctable:
	}
	o.UpdatedAt = latest(o.UpdatedAt, d.At)
	o.Check = customer.Check{Application: d.Application, Submitted: true, Errors: d.Errors, By: d.By, At: d.At, Reason: d.Reason}
	return o, true
}

// OwnerDecided applies that the status of an owner of a business was decided.
func (v Verification) OwnerDecided(at time.Time, present customer.Customer, owners []customer.BeneficialOwner) Change {
	change := Change{Verification: v}
	if !v.Status.IsSubmitted() || v.Submitted == nil {
		return change
	}
	change.Verification.UpdatedAt = latest(v.UpdatedAt, at)
	change.settle(present, owners)
	if change.Applied = len(change.Steps) > 0; !change.Applied {
		change.Verification = v
	}
	return change
}

// settle moves a submitted verification to the status that follows from its parts.
func (c *Change) settle(present customer.Customer, owners []customer.BeneficialOwner) {
	v := &c.Verification
	var rejected, correctable []customer.CheckError
	waiting := false
	for _, o := range owners {
		switch {
		case o.Status == customer.Rejected:
			rejected = append(rejected, ownerErrors(o)...)
		case len(o.Check.Errors) > 0:
			correctable = append(correctable, o.Check.Errors...)
		case o.Status != customer.Approved:
			waiting = true
		}
	}
	switch {
	case len(rejected) > 0:
		v.Errors = rejected
		c.move(Rejected)
		c.CustomerStatus = customer.Rejected
	case len(correctable) > 0:
		c.resolve(correctable)
	case !v.CustomerApproved:
	case len(changedFields(v.Submitted.Customer, present)) > 0:
		c.resolve(changedFields(v.Submitted.Customer, present))
	case waiting:
		c.move(InProgress)
	default:
		v.Errors = nil
		c.move(Approved)
		c.CustomerStatus = customer.Approved
	}
}

// resolve asks for the correction of errors.
func (c *Change) resolve(errors []customer.CheckError) {
	c.Verification.Errors = errors
	c.move(ResolveErrors)
}

// ownerErrors returns why an owner was rejected.
func ownerErrors(o customer.BeneficialOwner) []customer.CheckError {
	if len(o.Check.Errors) > 0 {
		return o.Check.Errors
	}
	return []customer.CheckError{{Resource: o.ID.String(), Type: customer.ApplicantRejected, Reason: "The verification of the beneficial " +
		"owner was rejected."}}
}

func (v *Verification) record(d Decision) {
	v.LastDecision, v.UpdatedAt = d, latest(v.UpdatedAt, d.At)
}

// latest keeps times of changes in order if a clock goes back.
func latest(before, now time.Time) time.Time {
	if now.After(before) {
		return now
	}
	return before
}
