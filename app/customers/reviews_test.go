package customers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/identity/manual"
	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/ports"
)

// newReviewEnv returns an environment in which operators decide.
func newReviewEnv(t *testing.T) *verificationEnv {
	t.Helper()
	e := apptest.New(t)
	env := &verificationEnv{Env: e, t: t, remote: new(remoteIdentity)}
	env.verifications = customers.NewVerifications(customers.VerificationsConfig{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs,
		Jobs: e.Store, Log: e.Log,
		Identity: ports.IdentityByEnvironment{platform.Sandbox: manual.Identity{}}})
	return env
}

// submittedBusiness returns a business in review, with its owner.
func (e *verificationEnv) submittedBusiness(registration string) (verification.Verification, customer.BeneficialOwner) {
	e.t.Helper()
	business := e.newBusiness(registration)
	owner := e.newOwner(business.ID, "Lind")
	e.newDocuments(document.Holder{Customer: business.ID}, businessDocuments...)
	v, err := e.verifications.Submit(e.t.Context(), e.Admin, nil, business.ID)
	if err != nil || v.Status != verification.PendingManualReview {
		e.t.Fatalf("%s, %v: %+v", v.Status, err, v.Errors)
	}
	if owner, err = e.Store.BeneficialOwner(e.t.Context(), business.Platform, owner.ID); err != nil {
		e.t.Fatal(err)
	}
	return v, owner
}

func review(application uuid.UUID, verdict verification.Verdict, errors ...customer.CheckError) verification.Decision {
	return verification.Decision{Application: application, By: "ana", Outcome: verification.Outcome{Verdict: verdict,
		Reason: "compared with the passport", Errors: errors}}
}

func TestVerifications_WaitingAreTheOldest(t *testing.T) {
	// What waits is listed oldest first, as many as are asked for. That of a deleted customer does not count.
	t.Parallel()
	e := newReviewEnv(t)
	var ids []ident.Verification
	for n := range 4 {
		v, _ := e.submittedBusiness(fmt.Sprintf("55230%02d", 10+n))
		ids = append(ids, v.ID)
		if n == 0 {
			deleted, err := e.Store.Customer(t.Context(), v.Platform, v.Customer)
			if err != nil {
				t.Fatal(err)
			}
			deleted.DeletedAt = e.Clock.Now()
			e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateCustomer(ctx, deleted) })
		}
		e.Clock.Advance(time.Minute)
	}

	for limit, want := range map[int][]ident.Verification{1: ids[1:2], 3: ids[1:], 100: ids[1:]} {
		waiting, err := e.verifications.Waiting(t.Context(), e.Platform.ID, limit)
		var got []ident.Verification
		for _, v := range waiting {
			got = append(got, v.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("at most %d: %v, %v; want %v", limit, got, err, want)
		}
	}
}

func TestReview_ApprovesBusinessAndOwner(t *testing.T) {
	// A business is approved when an operator approved it and its owner. Both decisions are recorded with
	// who, when and why.
	t.Parallel()
	e := newReviewEnv(t)
	v, owner := e.submittedBusiness("5523041")

	got, err := e.verifications.Review(t.Context(), v.Platform, verification.ReviewSubject{Verification: v.ID},
		review(v.Submitted.ID, verification.Accepted))
	if err != nil || got.Status != verification.InProgress {
		t.Fatalf("%s, %v; want it to wait for the owner", got.Status, err)
	}
	e.Clock.Advance(time.Minute)
	got, err = e.verifications.Review(t.Context(), v.Platform, verification.ReviewSubject{Owner: owner.ID},
		review(owner.Check.Application, verification.Accepted))
	if err != nil || got.Status != verification.Approved {
		t.Fatalf("%s, %v", got.Status, err)
	}

	found, err := e.verifications.ReviewCase(t.Context(), v.Platform, v.ID)
	if err != nil || found.Customer.Status != customer.Approved || len(found.Owners) != 1 || found.Owners[0].Status != customer.Approved ||
		len(found.Reviews) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	first, second := found.Reviews[0], found.Reviews[1]
	if first.Subject.Verification != v.ID || first.By != "ana" || first.Reason != "compared with the passport" ||
		first.Verdict != verification.Accepted ||
		second.Subject.Owner != owner.ID || !second.At.Equal(first.At.Add(time.Minute)) || second.Application != owner.Check.Application {
		t.Errorf("%+v", found.Reviews)
	}
	if rows := e.QueryStrings(`SELECT id::text FROM verification_reviews`); len(rows) != 2 {
		t.Errorf("%d decisions are recorded", len(rows))
	}
}

func TestReview_AsksForCorrections(t *testing.T) {
	// What an operator asks for is what the platform sees; after the correction the review goes on with
	// another application.
	t.Parallel()
	e := newReviewEnv(t)
	v, _ := e.submittedBusiness("5523042")
	wanted := customer.CheckError{Resource: v.Customer.String(), Type: customer.InvalidField, Field: "businessInfo.taxId",
		Reason: "Differs from the excerpt."}

	got, err := e.verifications.Review(t.Context(), v.Platform, verification.ReviewSubject{Verification: v.ID},
		review(v.Submitted.ID, verification.Correctable, wanted))
	if err != nil || got.Status != verification.ResolveErrors || len(got.Errors) != 1 || got.Errors[0].Reason != wanted.Reason {
		t.Fatalf("%+v, %v", got, err)
	}
	again, err := e.verifications.Submit(t.Context(), e.Admin, nil, v.Customer)
	if err != nil || again.ID != v.ID || again.Status != verification.PendingManualReview || again.Submitted.ID == v.Submitted.ID {
		t.Fatalf("%+v, %v", again, err)
	}
}

func TestReview_RejectedOwnerRejectsTheBusiness(t *testing.T) {
	// An owner who is rejected rejects the business.
	t.Parallel()
	e := newReviewEnv(t)
	v, owner := e.submittedBusiness("5523043")
	sanctioned := customer.CheckError{Resource: owner.ID.String(), Type: customer.ApplicantSanctioned, Reason: "is listed"}
	got, err := e.verifications.Review(t.Context(), v.Platform, verification.ReviewSubject{Owner: owner.ID},
		review(owner.Check.Application, verification.Refused, sanctioned))
	if err != nil || got.Status != verification.Rejected || len(got.Errors) != 1 || got.Errors[0].Type != customer.ApplicantSanctioned {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReview_RefusesWhatWasNotShown(t *testing.T) {
	// A decision about an earlier application, on a decided verification, without a reason, or on what
	// does not exist is refused, and nothing is recorded.
	t.Parallel()
	e := newReviewEnv(t)
	v, owner := e.submittedBusiness("5523044")
	subject := verification.ReviewSubject{Verification: v.ID}

	other := e.NewPlatform()
	silent := review(v.Submitted.ID, verification.Accepted)
	silent.Reason = ""
	for name, c := range map[string]struct {
		subject verification.ReviewSubject
		d       verification.Decision
		code    fault.Code
	}{
		"an earlier application":    {subject, review(uuid.New(), verification.Accepted), fault.Conflict},
		"an earlier check of owner": {verification.ReviewSubject{Owner: owner.ID}, review(uuid.New(), verification.Accepted), fault.Conflict},
		"no reason":                 {subject, silent, fault.InvalidInput},
	} {
		if _, err := e.verifications.Review(t.Context(), v.Platform, c.subject, c.d); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := e.verifications.Review(t.Context(), other.ID, subject, review(v.Submitted.ID, verification.Accepted)); !fault.Is(err,
		fault.VerificationNotFound) {
		t.Errorf("of another platform: %v", err)
	}
	if rows := e.QueryStrings(`SELECT id::text FROM verification_reviews`); len(rows) != 0 {
		t.Errorf("%d decisions are recorded", len(rows))
	}

	if _, err := e.verifications.Review(t.Context(), v.Platform, subject, review(v.Submitted.ID, verification.Refused)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.verifications.Review(t.Context(), v.Platform, subject, review(v.Submitted.ID, verification.Accepted)); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("decided: %v, want CONFLICT", err)
	}
}

func TestReview_StaysWithoutReasonWhenTheCustomerIsErased(t *testing.T) {
	// After a customer was erased, who decided and when is still known, but not what was written.
	t.Parallel()
	e := newReviewEnv(t)
	v, _ := e.submittedBusiness("5523045")
	if _, err := e.verifications.Review(t.Context(), v.Platform, verification.ReviewSubject{Verification: v.ID},
		review(v.Submitted.ID, verification.Accepted)); err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.EraseRecordsOf(ctx, v.Platform, v.Customer)
		return err
	})
	reviews, err := e.Store.ReviewsOf(t.Context(), v.Platform, v.Customer)
	if err != nil || len(reviews) != 1 || reviews[0].By != "ana" || reviews[0].Verdict != verification.Accepted || reviews[0].Reason != "" {
		t.Errorf("%+v, %v", reviews, err)
	}
}

func TestReview_NeedsClearanceOfSanctionsEntries(t *testing.T) {
	// An owner whose name resembles an entry is approved only when an operator clears the entry, which is
	// recorded. Neither is needed to reject.
	t.Parallel()
	e := newReviewEnv(t)
	e.verifications.Sanctions = sandboxScreeners(t, e.Env, screening.Entry{List: screening.OFAC, Ref: "9", Kind: screening.Person,
		Names: []screening.EntryName{{Text: "Anna Lindt"}}})
	v, owner := e.submittedBusiness("5523046")
	subject, accepted := verification.ReviewSubject{Owner: owner.ID}, review(owner.Check.Application, verification.Accepted)

	if found, err := e.verifications.ReviewCase(t.Context(), v.Platform, v.ID); err != nil || len(found.Matches) != 1 ||
		found.Matches[0].Entry.Ref != "9" {
		t.Errorf("%+v, %v", found.Matches, err)
	}
	if _, err := e.verifications.Review(t.Context(), v.Platform, subject, accepted); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v, want CONFLICT", err)
	}
	if o, err := e.Store.BeneficialOwner(t.Context(), v.Platform, owner.ID); err != nil || o.Status != customer.Pending {
		t.Errorf("%s, %v: the refused decision was applied", o.Status, err)
	}
	if _, err := e.verifications.Review(t.Context(), v.Platform, subject, accepted, "ofac:9"); err != nil {
		t.Fatal(err)
	}
	reviews, err := e.Store.ReviewsOf(t.Context(), v.Platform, v.Customer)
	if err != nil || len(reviews) != 1 || len(reviews[0].Cleared) != 1 || reviews[0].Cleared[0].Ref != "9" ||
		reviews[0].Cleared[0].EntryVersion == "" {
		t.Errorf("%+v, %v", reviews, err)
	}

	other, rejected := e.submittedBusiness("5523047")
	if _, err := e.verifications.Review(t.Context(), other.Platform, verification.ReviewSubject{Owner: rejected.ID},
		review(rejected.Check.Application, verification.Refused)); err != nil {
		t.Error(err)
	}
}

func TestReview_RefusesOtherResourcesAndDecidedOwners(t *testing.T) {
	// A document of another customer is not named to the platform. After one operator asked for the
	// correction of an owner, another who saw it before cannot approve it, nor ask again.
	t.Parallel()
	e := newReviewEnv(t)
	v, owner := e.submittedBusiness("5523048")
	other, _ := e.submittedBusiness("5523049")
	foreign, err := e.Store.DocumentsOf(t.Context(), other.Platform, document.Holder{Customer: other.Customer})
	if err != nil || len(foreign) == 0 {
		t.Fatal(len(foreign), err)
	}
	expired := customer.CheckError{Resource: foreign[0].ID.String(), Type: customer.ExpiredDocument, Reason: "Is expired."}
	subject := verification.ReviewSubject{Owner: owner.ID}
	if _, err := e.verifications.Review(t.Context(), v.Platform, subject, review(owner.Check.Application, verification.Correctable,
		expired)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a document of another customer: %v", err)
	}
	own, err := e.Store.DocumentsOf(t.Context(), v.Platform, document.Holder{Customer: v.Customer})
	if err != nil {
		t.Fatal(err)
	}
	expired.Resource = own[0].ID.String()
	if _, err := e.verifications.Review(t.Context(), v.Platform, subject, review(owner.Check.Application, verification.Correctable,
		expired)); err != nil {
		t.Fatal(err)
	}
	for verdict, problems := range map[verification.Verdict][]customer.CheckError{verification.Accepted: nil, verification.Refused: nil,
		verification.Correctable: {expired}} {
		if _, err := e.verifications.Review(t.Context(), v.Platform, subject, review(owner.Check.Application, verdict, problems...)); !fault.Is(
			err, fault.Conflict) {
			t.Errorf("%s after the request: %v, want CONFLICT", verdict, err)
		}
	}
	if reviews, err := e.Store.ReviewsOf(t.Context(), v.Platform, v.Customer); err != nil || len(reviews) != 1 {
		t.Errorf("%d decisions are recorded, %v", len(reviews), err)
	}
}

func TestReview_RefusesDeletedCustomers(t *testing.T) {
	// A customer that was deleted while it waited is not decided any more.
	t.Parallel()
	e := newReviewEnv(t)
	v, _ := e.submittedBusiness("5523050")
	service := customers.New(customers.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs})
	if _, err := service.Delete(t.Context(), v.Platform, platform.Service, v.Customer); err != nil {
		t.Fatal(err)
	}
	if _, err := e.verifications.Review(t.Context(), v.Platform, verification.ReviewSubject{Verification: v.ID},
		review(v.Submitted.ID, verification.Accepted)); !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("%v, want CUSTOMER_DELETED", err)
	}
}
