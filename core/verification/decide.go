package verification

import (
	"time"

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
	case c.Status == customer.Approved || c.Status == customer.Rejected:
		return fault.Invalid(fault.Field{Field: "customerId", Message: "must be the id of a customer that is not decided yet; this one is " + string(c.Status)})
	}
	return nil
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

// Decide applies a decision on the customer. present and owners are the customer and its beneficial
// owners now. A decision that is repeated, comes after a final one, or is about an earlier
// application, changes nothing.
func (v Verification) Decide(d Decision, present customer.Customer, owners []customer.BeneficialOwner) Change {
	change := Change{Verification: v}
	if !v.Status.IsSubmitted() || v.Submitted == nil || v.Submitted.ID != d.Application {
		return change
	}
	decided := &change.Verification
	switch d.Verdict {
	case InReview:
		if v.Status == InProgress && !v.CustomerApproved {
			decided.record(d)
			change.move(PendingManualReview)
		}
		return change
	case Correctable:
		decided.record(d)
		change.resolve(d.Errors)
		return change
	case Refused:
		decided.record(d)
		decided.Errors = d.Errors
		if len(d.Errors) == 0 {
			decided.Errors = []customer.CheckError{{Resource: v.Customer.String(), Type: customer.ApplicantRejected, Reason: "The verification was rejected."}}
		}
		change.move(Rejected)
		change.CustomerStatus = customer.Rejected
		return change
	case Accepted:
		if v.CustomerApproved {
			return change
		}
		decided.record(d)
		decided.CustomerApproved = true
		change.settle(present, owners)
		return change
	case Waiting:
	}
	return change
}

// OwnerDecided applies that the status of an owner of a business was decided.
func (v Verification) OwnerDecided(at time.Time, present customer.Customer, owners []customer.BeneficialOwner) Change {
	change := Change{Verification: v}
	if !v.Status.IsSubmitted() || v.Submitted == nil {
		return change
	}
	change.Verification.UpdatedAt = latest(v.UpdatedAt, at)
	change.settle(present, owners)
	if len(change.Steps) == 0 {
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
		case len(o.Errors) > 0:
			correctable = append(correctable, o.Errors...)
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
	if len(o.Errors) > 0 {
		return o.Errors
	}
	return []customer.CheckError{{Resource: o.ID.String(), Type: customer.ApplicantRejected, Reason: "The verification of the beneficial owner was rejected."}}
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
