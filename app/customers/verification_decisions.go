package customers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
	"causeway/ports"
)

// Decide applies a decision on the customer of a verification, and reports whether it changed
// anything: a repeated or late decision does not, nor does one about an earlier application. Fault:
// VERIFICATION_NOT_FOUND.
func (s *Verifications) Decide(ctx context.Context, p ident.Platform, id ident.Verification,
	d verification.Decision) (decided verification.Verification, applied bool, err error) {
	found, err := s.Store.Verification(ctx, p, id)
	if err != nil {
		return decided, false, err
	}
	return decideLocked(ctx, s, p, found.Customer, func(ctx context.Context, work *customerWork) (verification.Verification, bool, error) {
		return work.decide(ctx, id, d)
	})
}

func (w *customerWork) decide(ctx context.Context, id ident.Verification,
	d verification.Decision) (verification.Verification, bool, error) {
	all, err := w.tx.VerificationsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil {
		return verification.Verification{}, false, err
	}
	i := slices.IndexFunc(all, func(v verification.Verification) bool { return v.ID == id })
	if i < 0 {
		return verification.Verification{}, false, nil // erased meanwhile
	}
	if d, err = w.screenedCustomer(ctx, d); err != nil {
		return verification.Verification{}, false, err
	}
	change := all[i].Decide(d, w.customer, w.owners)
	return change.Verification, change.Applied, w.write(ctx, change, false)
}

// DecideOwner applies a decision on a beneficial owner, and to the verification of the business that
// waits for it. It reports whether anything changed, as Decide does. Fault: BENEFICIAL_OWNER_NOT_FOUND.
func (s *Verifications) DecideOwner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner,
	d verification.Decision) (decided customer.BeneficialOwner, applied bool, err error) {
	found, err := s.Store.BeneficialOwner(ctx, p, id)
	if err != nil {
		return decided, false, err
	}
	return decideLocked(ctx, s, p, found.Customer, func(ctx context.Context, work *customerWork) (customer.BeneficialOwner, bool, error) {
		return work.decideOwner(ctx, id, d)
	})
}

func (w *customerWork) decideOwner(ctx context.Context, id ident.BeneficialOwner,
	d verification.Decision) (o customer.BeneficialOwner, applied bool, err error) {
	i := slices.IndexFunc(w.owners, func(o customer.BeneficialOwner) bool { return o.ID == id })
	if i < 0 {
		return o, false, nil // erased meanwhile
	}
	if d, err = w.screenedOwner(ctx, w.owners[i], d); err != nil {
		return o, false, err
	}
	if w.owners[i], applied = verification.DecideOwner(w.owners[i], d); !applied {
		return w.owners[i], false, nil
	}
	if err := w.tx.UpdateBeneficialOwner(ctx, w.owners[i]); err != nil {
		return o, false, err
	}
	return w.owners[i], true, w.ownersDecided(ctx)
}

// decideLocked locks a customer, applies a decision on a T of it, and returns what apply returned.
func decideLocked[T any](ctx context.Context, s *Verifications, p ident.Platform, of ident.Customer,
	apply func(context.Context, *customerWork) (T, bool, error)) (decided T, applied bool, err error) {
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, nil, p, of)
		if err != nil {
			return err
		}
		decided, applied, err = apply(ctx, work)
		return err
	})
	return decided, applied, err
}

// ownersDecided applies the statuses of the owners to the verification of the business, if one waits.
func (w *customerWork) ownersDecided(ctx context.Context) error {
	all, err := w.tx.VerificationsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil || len(all) == 0 {
		return err
	}
	return w.write(ctx, all[0].OwnerDecided(w.now, w.customer, w.owners), false)
}

// Run submits applications where identities are checked, and asks for their outcomes, until ctx is
// done. Any number of processes may run it on one database.
func (s *Verifications) Run(ctx context.Context) { s.workers.Run(ctx) }

// CheckDue runs jobs until none is due.
func (s *Verifications) CheckDue(ctx context.Context) error { return s.workers.RunDue(ctx) }

func (w *customerWork) enqueue(ctx context.Context, due time.Time, subjects ...uuid.UUID) error {
	return w.tx.AddJobs(ctx, []ports.Job{{ID: w.IDs.New(w.now), Platform: w.customer.Platform, Step: ports.StepCheckIdentity, Due: due,
		Subjects: subjects}})
}

// checkIdentity submits the application of a job, or asks for its outcome if it was submitted, and
// applies the outcome. The application has an id, so a repeated job submits it once.
func (s *Verifications) checkIdentity(ctx context.Context, jobs []ports.Job) error {
	job := jobs[0]
	subject, err := s.subjectOf(ctx, job)
	if err != nil && !isErased(err) {
		return err
	}
	if err != nil || !subject.waits {
		return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error { return tx.FinishJobs(ctx, jobs) })
	}
	outcome, err := s.ask(ctx, job.Platform, subject)
	if err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, nil, job.Platform, subject.application.Customer.ID)
		if err != nil {
			return err
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		if _, err = work.applyOutcome(ctx, subject.application.Subject(), subject.application.ID, outcome); err != nil ||
			outcome.RetryAt.IsZero() || outcome.IsFinal() {
			return err
		}
		return work.enqueue(ctx, outcome.RetryAt, job.Subjects...)
	})
}

// applyOutcome applies the outcome of an application, and reports whether it changed anything. Fault:
// INVALID_INPUT for one that no application has, or with errors about others than the subject's customer.
func (w *customerWork) applyOutcome(ctx context.Context, of verification.ReviewSubject, application uuid.UUID,
	outcome verification.Outcome) (applied bool, err error) {
	if err := verification.CheckOutcome(outcome); err != nil {
		return false, err
	}
	if err := w.checkResources(ctx, outcome.Errors); err != nil {
		return false, err
	}
	decision := w.decision(application, outcome)
	if of.Owner.IsZero() {
		_, applied, err = w.decide(ctx, of.Verification, decision)
	} else {
		_, applied, err = w.decideOwner(ctx, of.Owner, decision)
	}
	return applied, err
}

// ReportedDecision is an outcome that an identity provider reports in a message.
type ReportedDecision struct {
	// Message is the id of the message; each takes effect once. Platform is whose application it is about.
	Message  string
	Platform ident.Platform
	// Subject and Application say what was checked.
	Subject     verification.ReviewSubject
	Application uuid.UUID
	verification.Outcome
}

// Report applies a reported decision, and reports whether it changed anything: a repeated message does
// not, nor does a decision that is late or about an earlier application. Faults: VERIFICATION_NOT_FOUND,
// BENEFICIAL_OWNER_NOT_FOUND; INVALID_INPUT for an outcome that no application has, or with errors about
// others than the subject's customer. After an error the message can be repeated.
func (s *Verifications) Report(ctx context.Context, r ReportedDecision) (applied bool, err error) {
	of, err := s.customerOf(ctx, r.Platform, r.Subject)
	if err != nil {
		return false, err
	}
	_, applied, err = decideLocked(ctx, s, r.Platform, of,
		func(ctx context.Context, work *customerWork) (none struct{}, applied bool, err error) {
			isNew, err := work.tx.SaveDecisionMessage(ctx, r.Platform, r.Message, work.now)
			if err == nil && isNew {
				applied, err = work.applyOutcome(ctx, r.Subject, r.Application, r.Outcome)
			}
			return none, applied, err
		})
	return applied, err
}

// isErased reports whether a job has nothing left to check.
func isErased(err error) bool {
	return fault.Is(err, fault.VerificationNotFound) || fault.Is(err, fault.BeneficialOwnerNotFound)
}

// checkedSubject is what a job is about.
type checkedSubject struct {
	application verification.Application
	// waits: the application has no decision yet. submitted: it was submitted before.
	waits, submitted bool
}

// subjectOf returns the verification or beneficial owner that a job is about.
func (s *Verifications) subjectOf(ctx context.Context, job ports.Job) (subject checkedSubject, err error) {
	if len(job.Subjects) == 1 {
		var id ident.Verification
		id.SetUUID(job.Subjects[0])
		v, err := s.Store.Verification(ctx, job.Platform, id)
		if err != nil || v.Submitted == nil {
			return subject, err
		}
		subject.application, subject.waits = *v.Submitted, v.Status.IsSubmitted()
		subject.submitted = v.LastDecision.Application == v.Submitted.ID
		return subject, nil
	}
	var id ident.BeneficialOwner
	id.SetUUID(job.Subjects[0])
	o, err := s.Store.BeneficialOwner(ctx, job.Platform, id)
	if err != nil {
		return subject, err
	}
	business, err := s.Store.Customer(ctx, job.Platform, o.Customer)
	subject.application, subject.submitted = ownerApplication(o, business), o.Check.Submitted
	subject.waits = o.Status == customer.Pending && len(o.Check.Errors) == 0
	return subject, err
}

// ask submits an application, or asks for its outcome. One that is not known any more is submitted again.
func (s *Verifications) ask(ctx context.Context, p ident.Platform, subject checkedSubject) (outcome verification.Outcome, err error) {
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return outcome, err
	}
	identity, err := s.identityOf(owner.Environment)
	if err != nil {
		return outcome, err
	}
	a := subject.application
	if subject.submitted {
		if outcome, err = identity.Status(ctx, a); !errors.Is(err, ports.ErrUnknownApplication) {
			return outcome, err
		}
	}
	holders := holdersOf(a.Customer.ID, a.Owners)
	if a.Owner != nil {
		holders = []document.Holder{{Owner: a.Owner.ID}}
	}
	documents, err := s.Store.DocumentsOf(ctx, p, holders...)
	if err != nil {
		return outcome, err
	}
	return identity.Submit(ctx, a, verification.SubmittedDocuments(a, documents))
}
