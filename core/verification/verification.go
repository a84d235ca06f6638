package verification

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/event"
	"causeway/core/ident"
)

// Verification is the check of a customer's identity.
type Verification struct {
	ID       ident.Verification
	Platform ident.Platform
	Customer ident.Customer
	Status   Status
	// Errors are what must be corrected, or why it was rejected.
	Errors []customer.CheckError
	// Submitted is the last application; nil before the first one.
	Submitted *Application
	// CustomerApproved: the customer itself is approved. A business may wait for its owners.
	CustomerApproved bool
	// LastDecision is the last outcome of Submitted, or of the application before it; zero before the
	// first one.
	LastDecision Decision

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Max is how many verifications a customer can have. A further one begins only after a rejection
// was reviewed.
const Max = 20

// Application is what is submitted to be checked: the data as it was at that time.
type Application struct {
	// ID makes repeated submissions harmless. Each submission after a correction has another.
	ID       uuid.UUID
	Platform ident.Platform
	// Verification is that of the customer; zero if a beneficial owner is checked.
	Verification ident.Verification
	// Owner is the person to check, of the business Customer; nil to check the customer.
	Owner *customer.BeneficialOwner
	// Customer is the individual or business, and Owners are the owners of the business.
	Customer customer.Customer
	Owners   []customer.BeneficialOwner
	// Files are the stored files of the documents that were submitted, by document.File.Blob.
	Files []uuid.UUID
	// SubmittedAt is when it was submitted first.
	SubmittedAt time.Time
}

// Subject returns who is checked.
func (a Application) Subject() ReviewSubject {
	if a.Owner != nil {
		return ReviewSubject{Owner: a.Owner.ID}
	}
	return ReviewSubject{Verification: a.Verification}
}

// SubmittedDocuments returns those documents of the holders that were submitted with an application:
// of a beneficial owner alone, all that were submitted.
func SubmittedDocuments(a Application, documents []document.Document) []document.Document {
	return slices.DeleteFunc(slices.Clone(documents), func(d document.Document) bool {
		if a.Owner != nil {
			return d.SubmittedAt.IsZero() || !d.SupersededBy.IsZero()
		}
		return !slices.Contains(a.Files, d.File.Blob)
	})
}

// Verdict is what is decided on an application.
type Verdict string

// The verdicts.
const (
	// Waiting: there is no decision yet.
	Waiting Verdict = "WAITING"
	// InReview: a person will decide.
	InReview Verdict = "IN_REVIEW"
	// Correctable: the errors must be corrected.
	Correctable Verdict = "CORRECTABLE"
	Accepted    Verdict = "ACCEPTED"
	Refused     Verdict = "REFUSED"
)

// Outcome is the state of an application where it is checked.
type Outcome struct {
	Verdict Verdict
	// Errors has at least one error if Correctable, and may have some if Refused.
	Errors []customer.CheckError
	// Reason is for operators, not for the platform.
	Reason string
	// RetryAt is when to ask again if Waiting or InReview; zero if the decision is reported.
	RetryAt time.Time
}

// IsFinal reports whether the outcome of an application never changes.
func (o Outcome) IsFinal() bool { return o.Verdict != Waiting && o.Verdict != InReview }

// Decision is an outcome with its author.
type Decision struct {
	// Application is what the decision is about; a decision on an earlier one changes nothing.
	Application uuid.UUID
	Outcome
	// By is the operator or the provider who decided.
	By string
	// Person is the operator, if it has signed in.
	Person ident.Person
	At     time.Time
}

// Change is what a submission or a decision changes.
type Change struct {
	// Verification is the verification after the change.
	Verification Verification
	// Applied: something changes, if only what is recorded.
	Applied bool
	// Steps are the verification after each change of its status.
	Steps []Verification
	// CustomerStatus is the status that the customer gets; empty if it does not change.
	CustomerStatus customer.Status
}

// Then returns both changes as one.
func (c Change) Then(next Change) Change {
	return Change{Verification: next.Verification, Applied: c.Applied || next.Applied, Steps: append(c.Steps, next.Steps...),
		CustomerStatus: cmp.Or(next.CustomerStatus, c.CustomerStatus)}
}

// Events returns the events of the steps; newID returns their ids.
func (c Change) Events(newID func() ident.Webhook) []event.Event {
	events := make([]event.Event, len(c.Steps))
	for i, v := range c.Steps {
		events[i] = event.Event{ID: newID(), Platform: v.Platform, Type: event.VerificationStatus, Name: "VERIFICATION." + string(v.Status),
			Subject: v.ID.UUID(), OccurredAt: v.UpdatedAt, Resource: v}
	}
	return events
}
