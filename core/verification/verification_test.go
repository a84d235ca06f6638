package verification

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newUUID(time.Time) uuid.UUID { return uuid.New() }

// business returns a complete, pending business.
func business() customer.Customer {
	return customer.Customer{
		ID: ident.NewCustomer(newUUID, now), Platform: ident.NewPlatform(newUUID, now), Type: customer.Business,
		Status: customer.Pending, Region: "US",
		Address: &party.Address{Line1: "1 Main St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"},
		Business: &customer.BusinessInfo{LegalName: "Acme Inc", Country: "US", EntityType: "CORPORATION", RegistrationNumber: "5523041",
			TaxID: "12-3456789"},
	}
}

// owner returns an owner of a business with a status.
func owner(c customer.Customer, status customer.Status) customer.BeneficialOwner {
	return customer.BeneficialOwner{ID: ident.NewBeneficialOwner(newUUID, now), Platform: c.Platform, Customer: c.ID, Status: status,
		Roles: []customer.OwnerRole{customer.ControlPerson}, OwnershipPercentage: 25}
}

// submitted returns a verification that is in progress.
func submitted(c customer.Customer) Verification {
	return New(ident.NewVerification(newUUID, now), c, now).Submit(Application{ID: uuid.New(), Platform: c.Platform, Customer: c,
		SubmittedAt: now}, nil).Verification
}

func decision(v Verification, verdict Verdict, errors ...customer.CheckError) Decision {
	return Decision{Application: v.Submitted.ID, Outcome: Outcome{Verdict: verdict, Errors: errors}, By: "reviewer", At: now.Add(time.Minute)}
}

func steps(c Change) string {
	var names []string
	for _, s := range c.Steps {
		names = append(names, string(s.Status))
	}
	return strings.Join(names, " ")
}

var someErrors = []customer.CheckError{{Resource: "Customer:x", Type: customer.InvalidField, Field: "address", Reason: "is wrong"}}

func TestCheckCanBegin(t *testing.T) {
	// Only a customer who is not decided and not deleted can be verified.
	t.Parallel()
	for status, want := range map[customer.Status]fault.Code{
		customer.Unverified: "", customer.Pending: "", customer.Approved: fault.InvalidInput, customer.Rejected: fault.InvalidInput,
	} {
		c := business()
		c.Status = status
		if err := CheckCanBegin(c); want == "" && err != nil || want != "" && !fault.Is(err, want) {
			t.Errorf("%s: %v", status, err)
		}
		c.DeletedAt = now
		if err := CheckCanBegin(c); !fault.Is(err, fault.CustomerDeleted) {
			t.Errorf("deleted: %v", err)
		}
	}
}

func TestVerification_Submit(t *testing.T) {
	// A complete customer is submitted; with errors it waits, keeps its id, and is submitted later.
	// A repeated submission of a submitted or decided verification changes nothing.
	t.Parallel()
	c := business()
	first := New(ident.NewVerification(newUUID, now), c, now).Submit(Application{ID: uuid.New(), Customer: c, SubmittedAt: now}, someErrors)
	if steps(first) != "RESOLVE_ERRORS" || !slices.EqualFunc(first.Verification.Errors, someErrors, equalErrors) ||
		first.Verification.Submitted != nil {
		t.Fatalf("with errors: %s %+v", steps(first), first.Verification)
	}

	again := first.Verification.Submit(Application{ID: uuid.New(), Customer: c, SubmittedAt: now}, someErrors[:1])
	if steps(again) != "" || again.Verification.Status != ResolveErrors {
		t.Errorf("with errors again: %s", steps(again))
	}
	second := again.Verification.Submit(Application{ID: uuid.New(), Customer: c, SubmittedAt: now.Add(time.Hour)}, nil)
	if steps(second) != "READY_FOR_VERIFICATION IN_PROGRESS" || second.Verification.ID != first.Verification.ID ||
		len(second.Verification.Errors) > 0 ||
		!second.Verification.UpdatedAt.Equal(now.Add(time.Hour)) {
		t.Errorf("complete: %s %+v", steps(second), second.Verification)
	}
	if names := eventNames(second); names != "VERIFICATION.READY_FOR_VERIFICATION VERIFICATION.IN_PROGRESS" {
		t.Errorf("events %s", names)
	}
	if third := second.Verification.Submit(Application{ID: uuid.New(), Customer: c, SubmittedAt: now}, someErrors); steps(third) != "" ||
		third.Verification.Submitted != second.Verification.Submitted {
		t.Errorf("submitted again: %s", steps(third))
	}
}

func equalErrors(a, b customer.CheckError) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

var namesOfEvents = []string{event.VerificationResolveErrors, event.VerificationReadyForVerification, event.VerificationInProgress,
	event.VerificationPendingManualReview, event.VerificationApproved, event.VerificationRejected}

func eventNames(c Change) string {
	var names []string
	for _, e := range c.Events(func() ident.Webhook { return ident.NewWebhook(newUUID, now) }) {
		if !slices.Contains(namesOfEvents, e.Name) || e.Type != event.VerificationStatus || e.Subject != c.Verification.ID.UUID() {
			names = append(names, "UNKNOWN")
		}
		names = append(names, e.Name)
	}
	return strings.Join(names, " ")
}

func TestVerification_Decide(t *testing.T) {
	// Each verdict leads to its status, alone and after a manual review, and the customer follows.
	t.Parallel()
	for _, c := range []struct {
		verdict  Verdict
		status   Status
		customer customer.Status
	}{
		{Waiting, InProgress, ""}, {InReview, PendingManualReview, ""}, {Correctable, ResolveErrors, ""},
		{Accepted, Approved, customer.Approved}, {Refused, Rejected, customer.Rejected},
	} {
		present := business()
		v := submitted(present)
		change := v.Decide(decision(v, c.verdict, someErrors...), present, nil)
		if change.Verification.Status != c.status || change.CustomerStatus != c.customer {
			t.Errorf("%s: %s, customer %q", c.verdict, change.Verification.Status, change.CustomerStatus)
		}
		wantErrors := c.status == ResolveErrors || c.status == Rejected
		if (len(change.Verification.Errors) > 0) != wantErrors {
			t.Errorf("%s: errors %v", c.verdict, change.Verification.Errors)
		}

		inReview := v.Decide(decision(v, InReview), present, nil).Verification
		reviewed := inReview.Decide(decision(v, c.verdict, someErrors...), present, nil)
		if want := c.status; c.verdict != Waiting && reviewed.Verification.Status != want || c.verdict == Waiting &&
			reviewed.Verification.Status != PendingManualReview {
			t.Errorf("reviewed, %s: %s", c.verdict, reviewed.Verification.Status)
		}
	}
}

func TestVerification_RefusedWithoutErrorsSaysWho(t *testing.T) {
	// A rejection always says who was rejected.
	t.Parallel()
	c := business()
	v := submitted(c)
	change := v.Decide(decision(v, Refused), c, nil)
	if e := change.Verification.Errors; len(e) != 1 || e[0].Resource != c.ID.String() || e[0].Type != customer.ApplicantRejected {
		t.Errorf("errors %+v", e)
	}
	rejected := owner(c, customer.Rejected)
	change = v.OwnerDecided(now, c, []customer.BeneficialOwner{rejected})
	if e := change.Verification.Errors; len(e) != 1 || e[0].Resource != rejected.ID.String() {
		t.Errorf("errors of the owner %+v", e)
	}
}

func TestVerification_StaleDecisionChangesNothing(t *testing.T) {
	// A decision about an earlier application, a repeated one, and one after the final one change nothing.
	t.Parallel()
	c := business()
	v := submitted(c)
	stale := decision(v, Refused)
	corrected := v.Decide(decision(v, Correctable, someErrors...), c, nil).Verification
	again := corrected.Submit(Application{ID: uuid.New(), Customer: c, SubmittedAt: now}, nil).Verification
	approved := again.Decide(decision(again, Accepted), c, nil).Verification
	for name, change := range map[string]Change{
		"the corrected one": corrected.Decide(stale, c, nil), "an earlier application": again.Decide(stale, c, nil),
		"after the approval":          approved.Decide(decision(approved, Refused), c, nil),
		"repeated":                    approved.Decide(decision(approved, Accepted), c, nil),
		"an owner after the approval": approved.OwnerDecided(now, c, []customer.BeneficialOwner{owner(c, customer.Rejected)}),
		"not submitted":               New(ident.NewVerification(newUUID, now), c, now).Decide(stale, c, nil),
	} {
		if steps(change) != "" || change.CustomerStatus != "" {
			t.Errorf("%s: %s", name, steps(change))
		}
	}
}

func TestVerification_WaitsForOwners(t *testing.T) {
	// A business is approved only when it and all of its owners are, in any order; a rejected owner
	// rejects it, and an owner whose data can be corrected sends it back.
	t.Parallel()
	c := business()
	owners := func(statuses ...customer.Status) []customer.BeneficialOwner {
		var list []customer.BeneficialOwner
		for _, status := range statuses {
			list = append(list, owner(c, status))
		}
		return list
	}
	v := submitted(c)
	waiting := v.Decide(decision(v, Accepted), c, owners(customer.Approved, customer.Pending))
	if steps(waiting) != "" || !waiting.Verification.CustomerApproved || waiting.CustomerStatus != "" {
		t.Fatalf("waiting: %s %+v", steps(waiting), waiting)
	}
	correctable := owners(customer.Approved, customer.Pending)
	correctable[1].Check.Errors = someErrors
	for name, test := range map[string]struct {
		change Change
		want   Status
	}{
		"the last owner approved":   {waiting.Verification.OwnerDecided(now, c, owners(customer.Approved, customer.Approved)), Approved},
		"an owner rejected":         {waiting.Verification.OwnerDecided(now, c, owners(customer.Approved, customer.Rejected)), Rejected},
		"an owner rejected first":   {v.OwnerDecided(now, c, owners(customer.Rejected, customer.Pending)), Rejected},
		"owners approved first":     {v.OwnerDecided(now, c, owners(customer.Approved)), InProgress},
		"an owner can be corrected": {waiting.Verification.OwnerDecided(now, c, correctable), ResolveErrors},
		"reviewed, waiting for owner": {v.Decide(decision(v, InReview), c, nil).Verification.Decide(decision(v, Accepted), c,
			owners(customer.Pending)), InProgress},
	} {
		if got := test.change.Verification.Status; got != test.want || (test.change.CustomerStatus != "") != got.IsFinal() {
			t.Errorf("%s: %s, customer %q; want %s", name, got, test.change.CustomerStatus, test.want)
		}
	}
}

func TestVerification_ChangedDataIsNotApproved(t *testing.T) {
	// Data that was changed after it was submitted is not approved by a decision on the old data: each
	// field that is checked is named. Other fields may change.
	t.Parallel()
	for want, edit := range map[string]func(*customer.Customer){
		"":                                func(c *customer.Customer) { c.Email, c.Address = "new@example.com", nil },
		"businessInfo.legalName":          func(c *customer.Customer) { c.Business.LegalName = "Other Inc" },
		"businessInfo.taxId":              func(c *customer.Customer) { c.Business.TaxID = "98-7654321" },
		"businessInfo.incorporatedOn":     func(c *customer.Customer) { c.Business.IncorporatedOn = "2000-01-01" },
		"businessInfo.registrationNumber": func(c *customer.Customer) { c.Business.RegistrationNumber = "1" },
	} {
		c := business()
		v := submitted(c)
		info := *c.Business
		changed := c
		changed.Business = &info
		edit(&changed)
		change := v.Decide(decision(v, Accepted), changed, nil)
		if want == "" {
			if change.Verification.Status != Approved {
				t.Errorf("other fields: %+v", change.Verification)
			}
			continue
		}
		if e := change.Verification.Errors; change.Verification.Status != ResolveErrors || len(e) != 1 || e[0].Field != want ||
			change.CustomerStatus != "" {
			t.Errorf("%s: %s %+v", want, change.Verification.Status, e)
		}
	}
}

func TestVerification_EverySequenceFollowsTheTransitions(t *testing.T) {
	// Whatever is submitted and decided in whatever order, every step is an allowed transition, a
	// final status stays, and the customer is approved or rejected exactly with the verification.
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := business()
		owners := []customer.BeneficialOwner{owner(c, customer.Pending), owner(c, customer.Pending)}
		v := New(ident.NewVerification(newUUID, now), c, now)
		var applications []uuid.UUID
		for range rapid.IntRange(1, 20).Draw(rt, "events") {
			var change Change
			before := v
			switch rapid.IntRange(0, 3).Draw(rt, "event") {
			case 0:
				id := uuid.New()
				var missing []customer.CheckError
				if rapid.Bool().Draw(rt, "missing") {
					missing = someErrors
				}
				change = v.Submit(Application{ID: id, Customer: c, SubmittedAt: now}, missing)
				if change.Verification.Submitted != nil && change.Verification.Submitted.ID == id {
					applications = append(applications, id)
				}
			case 1:
				if len(applications) == 0 {
					continue
				}
				verdict := rapid.SampledFrom([]Verdict{Waiting, InReview, Correctable, Accepted, Refused}).Draw(rt, "verdict")
				d := Decision{Application: rapid.SampledFrom(applications).Draw(rt, "application"),
					Outcome: Outcome{Verdict: verdict, Errors: someErrors}, At: now}
				change = v.Decide(d, c, owners)
			case 2:
				i := rapid.IntRange(0, 1).Draw(rt, "owner")
				owners[i].Status = rapid.SampledFrom([]customer.Status{customer.Pending, customer.Approved, customer.Approved, customer.Rejected}).Draw(
					rt, "status")
				change = v.OwnerDecided(now, c, owners)
			case 3:
				edited := *c.Business
				edited.LegalName += "x"
				c.Business = &edited
				continue
			}
			from := before.Status
			for _, step := range change.Steps {
				if !slices.Contains(transitions[from], step.Status) {
					rt.Fatalf("%q became %s", from, step.Status)
				}
				from = step.Status
			}
			v = change.Verification
			if v.Status != from || before.Status.IsFinal() && v.Status != before.Status {
				rt.Fatalf("from %s to %s with steps %s", before.Status, v.Status, steps(change))
			}
			want := map[Status]customer.Status{Approved: customer.Approved, Rejected: customer.Rejected}[v.Status]
			if before.Status.IsFinal() {
				want = ""
			}
			if change.CustomerStatus != want {
				rt.Fatalf("%s: customer %q", v.Status, change.CustomerStatus)
			}
			if v.Status == Approved && (!v.CustomerApproved || owners[0].Status != customer.Approved && !before.Status.IsFinal()) {
				rt.Fatalf("approved with %+v", owners)
			}
			if v.Status == ResolveErrors && len(v.Errors) == 0 || v.Status == Approved && len(v.Errors) > 0 {
				rt.Fatalf("%s with errors %v", v.Status, v.Errors)
			}
		}
	})
}
