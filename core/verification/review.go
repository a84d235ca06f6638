package verification

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/document"
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
	// Screened says which versions of the sanctions lists an acceptance relied on, and the threshold.
	Screened string
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
	return ReviewSubject{}, fault.New(fault.InvalidInput, "%q is not the id of a verification or a beneficial owner, such as "+
		"Verification:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11.", id)
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
	}
	for _, message := range wrongErrors(d.Errors) {
		add("problem", message)
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

// CheckOutcome returns INVALID_INPUT unless an outcome is one that an application can have. Whether its
// errors are about the customer is checked where the customer is known.
func CheckOutcome(o Outcome) error {
	var bad []fault.Field
	add := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	switch o.Verdict {
	case Waiting, InReview, Accepted:
		if len(o.Errors) > 0 {
			add("errors", "must be empty unless corrections are needed or the application is refused")
		}
	case Correctable:
		if len(o.Errors) == 0 {
			add("errors", "must say what is to be corrected")
		}
	case Refused:
	default:
		add("status", "must be one of those that are documented")
	}
	if o.Reason != "" && !isText(o.Reason) {
		add("reason", fmt.Sprintf("must have 1 to %d characters", maxReasonLength))
	}
	for _, message := range wrongErrors(o.Errors) {
		add("errors", message)
	}
	if slices.ContainsFunc(o.Errors, func(e customer.CheckError) bool { return !isResource(e.Resource) }) {
		add("errors", "must each be about a customer, a beneficial owner or a document, by its id")
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

// isResource reports whether an error can be about what has the id.
func isResource(id string) bool {
	_, notHolder := document.ParseHolder(id)
	_, notDocument := ident.ParseDocument(id)
	return notHolder == nil || notDocument == nil
}

// maxFieldLength is more than the path of any field has.
const maxFieldLength = 100

// wrongErrors returns what errors must be that are not valid.
func wrongErrors(errors []customer.CheckError) (wrong []string) {
	if len(errors) > maxErrors {
		return []string{fmt.Sprintf("must be at most %d", maxErrors)}
	}
	for _, e := range errors {
		switch {
		case !slices.Contains(customer.CheckErrorTypes, e.Type):
			wrong = append(wrong, fmt.Sprintf("must not have the type %.40q", e.Type))
		case !isText(e.Reason):
			wrong = append(wrong, fmt.Sprintf("must say what is wrong, in 1 to %d characters: %s", maxReasonLength, e.Type))
		case (e.Type == customer.MissingField || e.Type == customer.InvalidField) != (e.Field != ""):
			wrong = append(wrong, "must name a field for MISSING_FIELD and INVALID_FIELD only")
		case e.Field != "" && !isText(e.Field) || len(e.Field) > maxFieldLength:
			wrong = append(wrong, fmt.Sprintf("must name a field in at most %d characters", maxFieldLength))
		case slices.ContainsFunc(e.AcceptedDocuments, func(name string) bool { return !document.Type(name).IsKnown() }):
			wrong = append(wrong, "must name known types of documents only")
		}
	}
	return wrong
}

func isText(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0) &&
		utf8.RuneCountInString(text) <= maxReasonLength
}
