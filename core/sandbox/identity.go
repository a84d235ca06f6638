package sandbox

import (
	"time"

	"causeway/core/customer"
	"causeway/core/sca"
	"causeway/core/verification"
)

// identityVerdicts are the verdicts on individuals, by the suffix of their name. Businesses and
// beneficial owners have the first two.
var identityVerdicts = map[string]verification.Verdict{
	"001": verification.InReview,
	"002": verification.Refused,
	"003": verification.Correctable,
}

// IdentityOutcome returns the simulated outcome of an application: by the suffix of the last name of a
// beneficial owner, of the registration number of a business, or of the full name of an individual.
func IdentityOutcome(a verification.Application) verification.Outcome {
	resource, field, value := a.Customer.ID.String(), "fullName", a.Customer.FullName
	switch {
	case a.Owner != nil:
		resource, field, value = a.Owner.ID.String(), "personalInfo.lastName", a.Owner.Person.LastName
	case a.Customer.Business != nil:
		field, value = "businessInfo.registrationNumber", a.Customer.Business.RegistrationNumber
	}
	verdict := identityVerdicts[lastDigits(value)]
	switch {
	case verdict == verification.InReview:
		return verification.Outcome{Verdict: verdict}
	case verdict == verification.Refused:
		return verification.Outcome{Verdict: verdict, Errors: []customer.CheckError{
			{Resource: resource, Type: customer.ApplicantRejected, Reason: "Rejected, as the test value of " + field + " asks for."},
		}}
	case verdict == verification.Correctable && field == "fullName":
		return verification.Outcome{Verdict: verdict, Errors: []customer.CheckError{
			{Resource: resource, Type: customer.InvalidField, Field: field, Reason: "Not valid, as the test value asks for. Use a name that does " +
				"not end in 003."},
		}}
	}
	return verification.Outcome{Verdict: verification.Accepted}
}

// LivenessTime is how long a customer takes to pass the check of a reset.
const LivenessTime = 5 * time.Second

// ResetStatus returns the simulated status of the reset of a factor: the customer passes the check after LivenessTime, unless the test
// value of its identity asks for a review or a refusal.
func ResetStatus(r sca.Reset, c customer.Customer, now time.Time) sca.ResetStatus {
	if now.Sub(r.CreatedAt) < LivenessTime {
		return sca.ResetInitiated
	}
	switch IdentityOutcome(verification.Application{Customer: c}).Verdict {
	case verification.InReview:
		return sca.ResetPendingReview
	case verification.Refused:
		return sca.ResetRejected
	default:
		return sca.ResetLivenessPassed
	}
}

// NewCustomerStatus returns the simulated status of a new customer: a business is submitted first, an
// individual is decided by its full name at once, unless the test value asks for a submission.
func NewCustomerStatus(c customer.Customer) customer.Status {
	if c.Type != customer.Individual {
		return customer.Pending
	}
	switch IdentityOutcome(verification.Application{Customer: c}).Verdict {
	case verification.Accepted:
		return customer.Approved
	case verification.Refused:
		return customer.Rejected
	default:
		return customer.Pending
	}
}
