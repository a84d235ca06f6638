package customers_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
	"causeway/ports"
)

// reported is a message with a decision on the last application of a verification.
func (e *verificationEnv) reported(message string, v verification.Verification, verdict verification.Verdict,
	errs ...customer.CheckError) customers.ReportedDecision {
	return customers.ReportedDecision{Message: message, Platform: e.Platform.ID, Subject: verification.ReviewSubject{Verification: v.ID},
		Application: v.Submitted.ID, Outcome: verification.Outcome{Verdict: verdict, Errors: errs}}
}

// report reports a decision, and fails the test unless it changes something as wanted.
func (e *verificationEnv) report(r customers.ReportedDecision, want bool) {
	e.t.Helper()
	if applied, err := e.verifications.Report(e.t.Context(), r); err != nil || applied != want {
		e.t.Fatalf("message %s, %s: applied %v, %v; want %v", r.Message, r.Verdict, applied, err, want)
	}
}

// newAwaitedBusiness returns the verification of a business that the provider has, and its owner.
func newAwaitedBusiness(t *testing.T) (*verificationEnv, verification.Verification, customer.BeneficialOwner) {
	t.Helper()
	env := newVerificationEnv(t, true)
	env.remote.answers(verification.Outcome{Verdict: verification.Waiting, RetryAt: env.Clock.Now().Add(time.Hour)}, nil)
	business := env.newCompleteBusiness("5523041", "Silva")
	v := env.submit(business.ID)
	env.runJobs()
	owners, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	if err != nil || len(owners) != 1 {
		t.Fatalf("owners %+v, %v", owners, err)
	}
	return env, v, owners[0]
}

func TestVerifications_ReportDecidesOnce(t *testing.T) {
	t.Parallel()
	// Decisions on the owner and the business arrive in messages, in any order. A message that arrives
	// again, and decisions after the final one, change nothing; neither does the job that asks later.
	env, v, owner := newAwaitedBusiness(t)
	ofOwner := env.reported("owner-1", v, verification.Accepted)
	ofOwner.Subject, ofOwner.Application = verification.ReviewSubject{Owner: owner.ID}, owner.Check.Application

	env.report(env.reported("business-1", v, verification.InReview), true)
	env.report(env.reported("business-1", v, verification.Refused), false)
	env.report(env.reported("business-2", v, verification.Waiting), false)
	env.report(env.reported("business-3", v, verification.Accepted), true)
	env.wantStatus(v, verification.InProgress, customer.Pending)
	env.report(ofOwner, true)
	env.report(ofOwner, false)
	ofOwner.Message, ofOwner.Verdict = "owner-2", verification.Refused
	env.report(ofOwner, false)
	env.report(env.reported("business-4", v, verification.Refused), false)

	env.wantStatus(v, verification.Approved, customer.Approved)
	env.Events.Want(v.Customer.UUID(), "CUSTOMER.KYB_APPROVED")
	env.remote.answers(verification.Outcome{Verdict: verification.Refused}, nil)
	env.Clock.Advance(2 * time.Hour)
	env.runJobs()
	env.wantStatus(v, verification.Approved, customer.Approved)
	if n := env.CountJobs(ports.StepCheckIdentity); n != 0 || len(env.remote.calls) != 0 {
		t.Errorf("%d jobs are left, calls %q", n, env.remote.calls)
	}
}

func TestVerifications_ReportBeforeTheSubmissionEnds(t *testing.T) {
	t.Parallel()
	// A provider may decide before its response to the submission is recorded. The decision stays.
	env := newVerificationEnv(t, true)
	v := env.submit(env.newCompleteBusiness("5523041", "Silva").ID)
	env.remote.answer = func(a verification.Application) (verification.Outcome, error) {
		r := env.reported("m-"+a.ID.String(), v, verification.Accepted)
		if a.Owner != nil {
			r.Subject, r.Application = verification.ReviewSubject{Owner: a.Owner.ID}, a.ID
		}
		if applied, err := env.verifications.Report(t.Context(), r); err != nil || !applied {
			t.Errorf("applied %v, %v", applied, err)
		}
		return verification.Outcome{Verdict: verification.Waiting, RetryAt: env.Clock.Now().Add(time.Minute)}, nil
	}

	env.runJobs()

	env.wantStatus(v, verification.Approved, customer.Approved)
}

func TestVerifications_ReportOfAnEarlierApplication(t *testing.T) {
	t.Parallel()
	// After a correction was asked for, the decision on what was submitted before changes nothing, and the
	// one on what is submitted again does.
	env, v, owner := newAwaitedBusiness(t)
	env.report(env.reported("1", v, verification.Correctable, customer.CheckError{Resource: v.Customer.String(), Type: customer.InvalidField,
		Field: "address", Reason: "It differs."}), true)
	env.wantStatus(v, verification.ResolveErrors, customer.Pending)
	env.report(env.reported("2", v, verification.Accepted), false)

	again := env.submit(v.Customer)
	env.report(env.reported("3", v, verification.Refused), false)
	env.report(env.reported("4", again, verification.Accepted), true)
	ofOwner := customers.ReportedDecision{Message: "5", Platform: env.Platform.ID, Subject: verification.ReviewSubject{Owner: owner.ID},
		Application: owner.Check.Application, Outcome: verification.Outcome{Verdict: verification.Accepted}}
	env.report(ofOwner, true)

	env.wantStatus(again, verification.Approved, customer.Approved)
}

func TestVerifications_ReportRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	// A decision on what does not exist, with a status or error that is not known, or about somebody else,
	// is refused and changes nothing; the message can be sent again, corrected.
	env, v, _ := newAwaitedBusiness(t)
	newID := func(time.Time) uuid.UUID { return uuid.New() }
	good := customer.CheckError{Resource: v.Customer.String(), Type: customer.ApplicantRejected, Reason: "No."}
	for name, c := range map[string]struct {
		edit func(*customers.ReportedDecision)
		want fault.Code
	}{
		"verification": {func(r *customers.ReportedDecision) {
			r.Subject.Verification = ident.NewVerification(newID, env.Clock.Now())
		}, fault.VerificationNotFound},
		"owner": {func(r *customers.ReportedDecision) {
			r.Subject.Owner = ident.NewBeneficialOwner(newID, env.Clock.Now())
		}, fault.BeneficialOwnerNotFound},
		"platform":  {func(r *customers.ReportedDecision) { r.Platform = ident.NewPlatform(newID, env.Clock.Now()) }, fault.VerificationNotFound},
		"status":    {func(r *customers.ReportedDecision) { r.Verdict = "FINE" }, fault.InvalidInput},
		"no errors": {func(r *customers.ReportedDecision) { r.Verdict = verification.Correctable; r.Errors = nil }, fault.InvalidInput},
		"errors":    {func(r *customers.ReportedDecision) { r.Verdict = verification.Accepted }, fault.InvalidInput},
		"type":      {func(r *customers.ReportedDecision) { r.Errors[0].Type = "SMUDGED" }, fault.InvalidInput},
		"resource": {func(r *customers.ReportedDecision) {
			r.Errors[0].Resource = ident.NewCustomer(newID, env.Clock.Now()).String()
		}, fault.InvalidInput},
	} {
		r := env.reported("m", v, verification.Refused, good)
		c.edit(&r)
		if applied, err := env.verifications.Report(t.Context(), r); applied || !fault.Is(err, c.want) {
			t.Errorf("%s: applied %v, %v; want %s", name, applied, err, c.want)
		}
		env.wantStatus(v, verification.InProgress, customer.Pending)
	}

	env.report(env.reported("m", v, verification.Refused, good), true)
	env.wantStatus(v, verification.Rejected, customer.Rejected)
}

func TestVerifications_ReportConcurrently(t *testing.T) {
	t.Parallel()
	// Of many deliveries of a message at the same time, one is applied.
	env, v, _ := newAwaitedBusiness(t)
	var applied atomic.Int32
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			changed, err := env.verifications.Report(t.Context(), env.reported("m", v, verification.InReview))
			if err != nil {
				t.Error(err)
			}
			if changed {
				applied.Add(1)
			}
		})
	}
	running.Wait()
	if applied.Load() != 1 {
		t.Errorf("applied %d times", applied.Load())
	}
}

func TestVerifications_ForgottenApplicationIsSubmittedAgain(t *testing.T) {
	t.Parallel()
	// A provider that has lost an application gets it again, and nonsense is asked for again.
	env, v, _ := newAwaitedBusiness(t)
	env.remote.answers(verification.Outcome{}, ports.ErrUnknownApplication)
	env.Clock.Advance(time.Hour)
	env.runJobs()
	submits := 0
	for _, call := range env.remote.calls {
		if call == "submit 4 documents of Acme" || call == "submit 0 documents of Silva" {
			submits++
		}
	}
	if submits != 2 {
		t.Errorf("calls %q", env.remote.calls)
	}
	env.remote.answers(verification.Outcome{Verdict: "FINE"}, nil)
	env.Clock.Advance(time.Hour)
	env.runJobs()
	env.wantStatus(v, verification.InProgress, customer.Pending)

	env.remote.answers(verification.Outcome{Verdict: verification.Accepted}, nil)
	env.Clock.Advance(time.Hour)
	env.runJobs()

	env.wantStatus(v, verification.Approved, customer.Approved)
}
