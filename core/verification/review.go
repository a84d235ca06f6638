package verification

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
)

// Review is the record of a decision that an operator made. It never changes.
type Review struct {
	ID       uuid.UUID
	Platform ident.Platform
	Customer ident.Customer
	// Subject is who was reviewed.
	Subject ReviewSubject
	Decision
	// Cleared are the entries of sanctions lists that resemble the subject, and are about somebody else.
	Cleared []screening.Clearance
}

// ReviewSubject is who is reviewed: the customer of a verification, or a beneficial owner.
type ReviewSubject struct {
	Verification ident.Verification
	Owner        ident.BeneficialOwner
}

// ParseReviewSubject parses the id of a verification or a beneficial owner.
func ParseReviewSubject(id string) (ReviewSubject, error) {
	if owner, err := ident.ParseBeneficialOwner(id); err == nil {
		return ReviewSubject{Owner: owner}, nil
	}
	if v, err := ident.ParseVerification(id); err == nil {
		return ReviewSubject{Verification: v}, nil
	}
	return ReviewSubject{}, fault.New(fault.InvalidInput, "%q is not the id of a verification or a beneficial owner, such as Verification:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11.", id)
}

// String returns the id.
func (s ReviewSubject) String() string {
	if !s.Owner.IsZero() {
		return s.Owner.String()
	}
	return s.Verification.String()
}

const (
	maxReasonLength = 2000 // characters
	maxErrors       = 50
)

// CheckReview returns INVALID_INPUT unless a decision is one that an operator can make: it accepts,
// refuses or asks for corrections, and says who decided and why.
func CheckReview(d Decision) error {
	var bad []fault.Field
	add := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	if _, err := platform.ParseActor(d.By); err != nil {
		add("actor", "must name who decides, in 1 to 200 characters")
	}
	if !isText(d.Reason) {
		add("reason", fmt.Sprintf("must say why, in 1 to %d characters", maxReasonLength))
	}
	if !d.IsFinal() {
		add("verdict", "must accept, refuse or ask for corrections")
	}
	switch {
	case d.Verdict == Accepted && len(d.Errors) > 0:
		add("problem", "must be empty to accept")
	case d.Verdict == Correctable && len(d.Errors) == 0:
		add("problem", "must say what is to be corrected")
	case len(d.Errors) > maxErrors:
		add("problem", fmt.Sprintf("must be at most %d", maxErrors))
	}
	for _, e := range d.Errors {
		switch {
		case !slices.Contains(customer.CheckErrorTypes, e.Type):
			add("problem", fmt.Sprintf("must not have the type %q", e.Type))
		case !isText(e.Reason):
			add("problem", fmt.Sprintf("must say what is wrong, in 1 to %d characters: %s", maxReasonLength, e.Type))
		case (e.Type == customer.MissingField || e.Type == customer.InvalidField) != (e.Field != ""):
			add("problem", "must name a field for MISSING_FIELD and INVALID_FIELD only")
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

func isText(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0) && utf8.RuneCountInString(text) <= maxReasonLength
}
