package verification

import (
	"strings"
	"time"

	"causeway/core/customer"
)

// Screened returns a decision that accepts with what it relied on, or as one for an operator if the
// subject resembles entries of sanctions lists.
func (d Decision) Screened(basis string, open []string) Decision {
	reasons := []string{basis}
	if d.Reason != "" {
		reasons = []string{d.Reason, basis}
	}
	if len(open) > 0 {
		d.Verdict, d.Errors, d.RetryAt = InReview, nil, time.Time{}
		reasons = append(reasons, "resembles the entries "+strings.Join(open, ", "))
	}
	d.Reason = strings.Join(reasons, "; ")
	return d
}

// Sanctioned returns the decision that refuses a customer or an owner who is on a sanctions list.
// resource is its id.
func Sanctioned(resource, by, reason string, at time.Time) Decision {
	return Decision{By: by, At: at, Outcome: Outcome{Verdict: Refused, Reason: reason,
		Errors: []customer.CheckError{{Resource: resource, Type: customer.ApplicantSanctioned, Reason: "The name is on a sanctions list."}}}}
}

// RejectOwner returns a beneficial owner as rejected by a decision, whatever was decided before.
func RejectOwner(o customer.BeneficialOwner, d Decision) customer.BeneficialOwner {
	o.Status, o.UpdatedAt = customer.Rejected, latest(o.UpdatedAt, d.At)
	o.Check.Submitted, o.Check.Errors, o.Check.By, o.Check.At, o.Check.Reason = true, d.Errors, d.By, d.At, d.Reason
	return o
}
