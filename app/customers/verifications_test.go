package customers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/identity/sandbox"
	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/core/wallet"
	"causeway/ports"
)

// remoteIdentity answers as a provider would: nothing immediately, and what answer returns in jobs.
type remoteIdentity struct {
	mu     sync.Mutex
	answer func(verification.Application) (verification.Outcome, error)
	calls  []string
}

func (r *remoteIdentity) Immediate(verification.Application) (verification.Outcome, bool) {
	return verification.Outcome{}, false
}

func (r *remoteIdentity) NewCustomer(customer.Customer) customer.Status { return customer.Pending }

func (r *remoteIdentity) Submit(_ context.Context, a verification.Application,
	documents []document.Document) (verification.Outcome, error) {
	return r.called(fmt.Sprintf("submit %d documents of %s", len(documents), subjectName(a)), a)
}

func (r *remoteIdentity) Status(_ context.Context, a verification.Application) (verification.Outcome, error) {
	return r.called("status of "+subjectName(a), a)
}

func (r *remoteIdentity) called(call string, a verification.Application) (verification.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome, err := r.answer(a)
	r.calls = append(r.calls, call)
	return outcome, err
}

// answers sets what every call returns, and forgets the calls so far.
func (r *remoteIdentity) answers(outcome verification.Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.answer = nil, func(verification.Application) (verification.Outcome, error) { return outcome, err }
}

func subjectName(a verification.Application) string {
	if a.Owner != nil {
		return a.Owner.Person.LastName
	}
	return a.Customer.Name()
}

// verificationEnv is an environment whose customers are verified by identity.
type verificationEnv struct {
	*apptest.Env
	t             *testing.T
	verifications *customers.Verifications
	remote        *remoteIdentity
}

// newVerificationEnv uses the sandbox's identity unless remote is true.
func newVerificationEnv(t *testing.T, remote bool) *verificationEnv {
	t.Helper()
	e := apptest.New(t)
	env := &verificationEnv{Env: e, t: t, remote: new(remoteIdentity)}
	identity := ports.Identity(sandbox.Identity{})
	if remote {
		identity = env.remote
	}
	env.verifications = customers.NewVerifications(customers.VerificationsConfig{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs,
		Jobs: e.Store, Log: e.Log,
		Identity: ports.IdentityByEnvironment{platform.Sandbox: identity}})
	return env
}

var texas = party.Address{Line1: "1 Main St", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}

// newBusiness stores a pending business with complete data.
func (e *verificationEnv) newBusiness(registrationNumber string) customer.Customer {
	return e.NewCustomer("acme"+registrationNumber, func(c *customer.Customer) {
		c.Type, c.Status, c.Address = customer.Business, customer.Pending, &texas
		c.Business = &customer.BusinessInfo{LegalName: "Acme", Country: "US", EntityType: "CORPORATION", RegistrationNumber: registrationNumber,
			TaxID: "12-3456789"}
	})
}

// newOwner adds a control person from the US.
func (e *verificationEnv) newOwner(business ident.Customer, lastName string) customer.BeneficialOwner {
	e.t.Helper()
	o, err := e.verifications.CreateOwner(e.t.Context(), e.Admin, nil, business, ownerRequest(lastName))
	if err != nil {
		e.t.Fatal(err)
	}
	return o
}

func ownerRequest(lastName string) customer.OwnerRequest {
	return customer.OwnerRequest{Roles: []string{"CONTROL_PERSON"}, OwnershipPercentage: 30, Person: customer.PersonalInfo{
		FirstName: "Ana", LastName: lastName, BirthDate: "1980-01-01", Nationality: "US", Address: texas, IDType: "SSN",
		Identifier: "123-45-6789"}}
}

// newDocuments stores documents of a holder.
func (e *verificationEnv) newDocuments(h document.Holder, types ...document.Type) {
	e.t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		for _, kind := range types {
			now := e.Clock.Now()
			d := document.Document{ID: ident.NewDocument(e.IDs.New, now), Platform: e.Platform.ID, Holder: h, CreatedAt: now, UpdatedAt: now,
				Details: document.Details{Type: kind, Country: "US"},
				File:    document.File{Name: "f.pdf", ContentType: document.PDF, Size: 1, Blob: e.IDs.New(now), Key: []byte("k")}}
			if err := tx.CreateDocument(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// businessDocuments are those that a corporation needs.
var businessDocuments = []document.Type{"CERTIFICATE_OF_INCORPORATION", "DIRECTOR_REGISTRY", "SHAREHOLDER_REGISTER", "UTILITY_BILL"}

// newCompleteBusiness stores a business with an owner and all documents.
func (e *verificationEnv) newCompleteBusiness(registrationNumber, ownerName string) customer.Customer {
	business := e.newBusiness(registrationNumber)
	e.newOwner(business.ID, ownerName)
	e.newDocuments(document.Holder{Customer: business.ID}, businessDocuments...)
	return business
}

func (e *verificationEnv) submit(id ident.Customer) verification.Verification {
	e.t.Helper()
	v, err := e.verifications.Submit(e.t.Context(), e.Admin, nil, id)
	if err != nil {
		e.t.Fatal(err)
	}
	return v
}

func (e *verificationEnv) runJobs() {
	e.t.Helper()
	if err := e.verifications.CheckDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// wantStatus compares the status of a verification and its customer with those expected.
func (e *verificationEnv) wantStatus(v verification.Verification, want verification.Status, wantCustomer customer.Status) {
	e.t.Helper()
	stored, err := e.verifications.Verification(e.t.Context(), e.Platform.ID, v.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	c, err := e.Store.Customer(e.t.Context(), e.Platform.ID, v.Customer)
	if err != nil || stored.Status != want || c.Status != wantCustomer {
		e.t.Errorf("verification %s %+v, customer %s, %v; want %s and %s", stored.Status, stored.Errors, c.Status, err, want, wantCustomer)
	}
}

func TestVerifications_SandboxOutcomes(t *testing.T) {
	t.Parallel()
	// The test values of the registration number and of the owner's last name decide, in the commit of
	// the submission, and the platform hears of each status in order.
	env := newVerificationEnv(t, false)
	const ready, progress = "VERIFICATION.READY_FOR_VERIFICATION", "VERIFICATION.IN_PROGRESS"
	for _, c := range []struct {
		number, owner string
		want          verification.Status
		customer      customer.Status
		events        []string
		customerEvent []string
	}{
		{"5523041", "Silva", verification.Approved, customer.Approved, []string{ready, progress, "VERIFICATION.APPROVED"},
			[]string{"CUSTOMER.KYB_APPROVED"}},
		{"5523001", "Silva", verification.PendingManualReview, customer.Pending, []string{ready, progress, "VERIFICATION.PENDING_MANUAL_REVIEW"},
			nil},
		{"5523002", "Silva", verification.Rejected, customer.Rejected, []string{ready, progress, "VERIFICATION.REJECTED"},
			[]string{"CUSTOMER.KYB_REJECTED"}},
		{"5524041", "Silva001", verification.InProgress, customer.Pending, []string{ready, progress}, nil},
		{"5525041", "Silva002", verification.Rejected, customer.Rejected, []string{ready, progress, "VERIFICATION.REJECTED"},
			[]string{"CUSTOMER.KYB_REJECTED"}},
	} {
		v := env.submit(env.newCompleteBusiness(c.number, c.owner).ID)
		if v.Status != c.want || (c.want == verification.Rejected) != (len(v.Errors) > 0) {
			t.Errorf("%s %s: %s %+v, want %s", c.number, c.owner, v.Status, v.Errors, c.want)
		}
		env.wantStatus(v, c.want, c.customer)
		env.Events.Want(v.ID.UUID(), c.events...)
		env.Events.Want(v.Customer.UUID(), c.customerEvent...)
	}
	if n := env.CountJobs(ports.StepCheckIdentity); n != 0 {
		t.Errorf("%d jobs, want none", n)
	}
}

func TestVerifications_SubmitListsWhatIsMissingUntilComplete(t *testing.T) {
	t.Parallel()
	// A business without data, owner and documents is not submitted. Corrections continue the same
	// verification, and its documents are marked as submitted in the commit that submits it.
	env := newVerificationEnv(t, false)
	business := env.newBusiness("5523041")
	first := env.submit(business.ID)
	var types []string
	for _, e := range first.Errors {
		types = append(types, string(e.Type))
	}
	if want := "MISSING_LEGAL_PRESENCE_DOCUMENT MISSING_CONTROL_STRUCTURE_DOCUMENT MISSING_OWNERSHIP_STRUCTURE_DOCUMENT " +
		"MISSING_PROOF_OF_ADDRESS_DOCUMENT MISSING_BENEFICIAL_OWNER"; strings.Join(types, " ") != want {
		t.Errorf("errors %q, want %q", types, want)
	}
	env.wantStatus(first, verification.ResolveErrors, customer.Pending)

	holder := document.Holder{Customer: business.ID}
	env.newDocuments(holder, businessDocuments...)
	second := env.submit(business.ID)
	if second.ID != first.ID || len(second.Errors) != 1 {
		t.Errorf("second: %+v", second)
	}
	env.newOwner(business.ID, "Silva")
	env.Clock.Advance(time.Minute)
	third := env.submit(business.ID)

	if third.ID != first.ID {
		t.Errorf("the verification was not continued")
	}
	env.wantStatus(third, verification.Approved, customer.Approved)
	env.Events.Want(third.ID.UUID(), "VERIFICATION.RESOLVE_ERRORS", "VERIFICATION.READY_FOR_VERIFICATION", "VERIFICATION.IN_PROGRESS",
		"VERIFICATION.APPROVED")
	documents, err := env.Store.DocumentsOf(t.Context(), env.Platform.ID, holder)
	if err != nil || len(documents) != len(businessDocuments) {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for _, d := range documents {
		if !d.SubmittedAt.Equal(env.Clock.Now()) {
			t.Errorf("%s was submitted at %s", d.Type, d.SubmittedAt)
		}
	}
	if _, err := env.verifications.Submit(t.Context(), env.Admin, nil, business.ID); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("an approved customer: %v", err)
	}
}

func TestVerifications_ProviderDecidesInJobs(t *testing.T) {
	t.Parallel()
	// Owner and business are submitted by jobs, and asked for again at the time that the provider
	// names. A business waits for its owner; repeated jobs submit nothing twice.
	env := newVerificationEnv(t, true)
	later := env.Clock.Now().Add(time.Hour)
	env.remote.answers(verification.Outcome{Verdict: verification.Waiting, RetryAt: later}, nil)
	business := env.newCompleteBusiness("5523041", "Silva")
	v := env.submit(business.ID)
	env.runJobs()
	env.wantStatus(v, verification.InProgress, customer.Pending)
	slices.Sort(env.remote.calls)
	if want := []string{"submit 0 documents of Silva", "submit 4 documents of Acme"}; !slices.Equal(env.remote.calls, want) {
		t.Fatalf("calls %q, want %q", env.remote.calls, want)
	}
	if again := env.submit(business.ID); again.ID != v.ID || again.Status != verification.InProgress ||
		env.CountJobs(ports.StepCheckIdentity) != 2 {
		t.Errorf("submitted again: %+v", again)
	}

	env.remote.answers(verification.Outcome{Verdict: verification.Accepted}, nil)
	env.Clock.Advance(time.Hour)
	env.runJobs()

	slices.Sort(env.remote.calls)
	if want := []string{"status of Acme", "status of Silva"}; !slices.Equal(env.remote.calls, want) {
		t.Errorf("calls %q, want %q", env.remote.calls, want)
	}
	env.wantStatus(v, verification.Approved, customer.Approved)
	env.Events.Want(v.ID.UUID(), "VERIFICATION.READY_FOR_VERIFICATION", "VERIFICATION.IN_PROGRESS", "VERIFICATION.APPROVED")
	env.Events.Want(business.ID.UUID(), "CUSTOMER.KYB_APPROVED")
	if n := env.CountJobs(ports.StepCheckIdentity); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestVerifications_ProviderFailureIsRetried(t *testing.T) {
	t.Parallel()
	// A provider that cannot be reached decides nothing: the job is run again.
	env := newVerificationEnv(t, true)
	env.remote.answers(verification.Outcome{}, errors.New("connection refused"))
	v := env.submit(env.newCompleteBusiness("5523041", "Silva").ID)
	env.runJobs()
	env.wantStatus(v, verification.InProgress, customer.Pending)

	env.remote.answers(verification.Outcome{Verdict: verification.Accepted}, nil)
	env.Clock.Advance(time.Hour)
	env.runJobs()

	env.wantStatus(v, verification.Approved, customer.Approved)
	slices.Sort(env.remote.calls)
	if want := []string{"submit 0 documents of Silva", "submit 4 documents of Acme"}; !slices.Equal(env.remote.calls, want) {
		t.Errorf("calls %q, want %q", env.remote.calls, want)
	}
}

func TestVerifications_DecideIsFenced(t *testing.T) {
	t.Parallel()
	// A decision changes something once. One about an application before a correction changes nothing,
	// and neither does one on a customer that was decided otherwise.
	env := newVerificationEnv(t, true)
	business := env.newCompleteBusiness("5523041", "Silva")
	v := env.submit(business.ID)
	decide := func(application uuid.UUID, verdict verification.Verdict) bool {
		t.Helper()
		outcome := verification.Outcome{Verdict: verdict}
		if verdict == verification.Correctable {
			outcome.Errors = []customer.CheckError{{Resource: business.ID.String(), Type: customer.InvalidField, Field: "address", Reason: "wrong"}}
		}
		_, applied, err := env.verifications.Decide(t.Context(), env.Platform.ID, v.ID, verification.Decision{Application: application,
			Outcome: outcome, By: "ana", At: env.Clock.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return applied
	}
	earlier := v.Submitted.ID

	if !decide(earlier, verification.Correctable) || decide(earlier, verification.Accepted) {
		t.Error("a correction was not applied, or a decision after it was")
	}
	v = env.submit(business.ID)
	if v.Submitted.ID == earlier || decide(earlier, verification.Refused) {
		t.Error("a decision about the earlier application was applied")
	}
	env.wantStatus(v, verification.InProgress, customer.Pending)
	if !decide(v.Submitted.ID, verification.Refused) || decide(v.Submitted.ID, verification.Refused) ||
		decide(v.Submitted.ID, verification.Accepted) {
		t.Error("the rejection was not applied once")
	}
	env.wantStatus(v, verification.Rejected, customer.Rejected)
	env.Events.Want(business.ID.UUID(), "CUSTOMER.KYB_REJECTED")

	var unknown ident.Verification
	unknown.SetUUID(uuid.New())
	if _, _, err := env.verifications.Decide(t.Context(), env.Platform.ID, unknown, verification.Decision{}); !fault.Is(err,
		fault.VerificationNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

func TestVerifications_ConcurrentDecisionsApplyOnce(t *testing.T) {
	t.Parallel()
	// Of decisions that arrive at the same time one is applied, and the customer follows it.
	env := newVerificationEnv(t, true)
	business := env.newCompleteBusiness("5523041", "Silva")
	v := env.submit(business.ID)
	owner, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, applied, err := env.verifications.DecideOwner(t.Context(), env.Platform.ID, owner[0].ID,
		verification.Decision{Application: owner[0].Check.Application,
			Outcome: verification.Outcome{Verdict: verification.Accepted}}); err != nil || !applied {
		t.Fatal(applied, err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var statuses []verification.Status
	for i := range 8 {
		running.Go(func() {
			verdict := []verification.Verdict{verification.Accepted, verification.Refused}[i%2]
			decided, applied, err := env.verifications.Decide(t.Context(), env.Platform.ID, v.ID,
				verification.Decision{Application: v.Submitted.ID, Outcome: verification.Outcome{Verdict: verdict}, By: "ana", At: env.Clock.Now()})
			if err != nil {
				t.Error(err)
			}
			if applied {
				mu.Lock()
				defer mu.Unlock()
				statuses = append(statuses, decided.Status)
			}
		})
	}
	running.Wait()

	if len(statuses) != 1 {
		t.Fatalf("applied %v", statuses)
	}
	env.wantStatus(v, statuses[0], customer.Status(statuses[0]))
}

func TestVerifications_PatchDuringReviewIsNotApproved(t *testing.T) {
	t.Parallel()
	// A verification goes on with what was submitted. If the legal name changes meanwhile, the approval
	// of the old one does not count; after another submission it does.
	env := newVerificationEnv(t, false)
	business := env.newCompleteBusiness("5523001", "Silva")
	v := env.submit(business.ID)
	service := customers.New(customers.Config{Store: env.Store, Clock: env.Clock, IDs: env.IDs})
	name := "Acme Holding"
	if _, _, err := service.Update(t.Context(), env.Platform.ID, platform.Service, wallet.Call{}, business.ID,
		customer.Change{Type: "BUSINESS", Business: new(&customer.BusinessChange{LegalName: &name})}); err != nil {
		t.Fatal(err)
	}
	env.wantStatus(v, verification.PendingManualReview, customer.Pending)
	approve := func(v verification.Verification) verification.Verification {
		decided, _, err := env.verifications.Decide(t.Context(), env.Platform.ID, v.ID,
			verification.Decision{Application: v.Submitted.ID, Outcome: verification.Outcome{Verdict: verification.Accepted}, By: "ana",
				At: env.Clock.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return decided
	}

	decided := approve(v)

	if len(decided.Errors) != 1 || decided.Errors[0].Field != "businessInfo.legalName" {
		t.Errorf("errors %+v", decided.Errors)
	}
	env.wantStatus(v, verification.ResolveErrors, customer.Pending)
	again := env.submit(business.ID)
	if again.Submitted.Customer.Business.LegalName != name || approve(again).Status != verification.Approved {
		t.Errorf("again: %+v", again)
	}
	env.wantStatus(v, verification.Approved, customer.Approved)
}

func TestVerifications_DeletedCustomerIsNotApproved(t *testing.T) {
	t.Parallel()
	// A decision about a customer that was deleted meanwhile is recorded, and the customer keeps its
	// status. Nothing else can begin.
	env := newVerificationEnv(t, false)
	business := env.newCompleteBusiness("5523001", "Silva")
	v := env.submit(business.ID)
	if err := env.Exec(`UPDATE customers SET deleted_at = now() WHERE id = '` + business.ID.UUID().String() + `'`); err != nil {
		t.Fatal(err)
	}

	if _, applied, err := env.verifications.Decide(t.Context(), env.Platform.ID, v.ID,
		verification.Decision{Application: v.Submitted.ID, Outcome: verification.Outcome{Verdict: verification.Accepted}}); err != nil ||
		!applied {
		t.Fatal(applied, err)
	}

	env.wantStatus(v, verification.Approved, customer.Pending)
	_, submitting := env.verifications.Submit(t.Context(), env.Admin, nil, business.ID)
	apptest.WantFault(t, "submit", submitting, fault.CustomerDeleted)
	_, adding := env.verifications.CreateOwner(t.Context(), env.Admin, nil, business.ID, ownerRequest("Ek"))
	apptest.WantFault(t, "owner", adding, fault.CustomerDeleted)
}

func TestVerifications_UpdatedOwnerIsCheckedAgain(t *testing.T) {
	t.Parallel()
	// A change of the name begins a new check, whose outcome moves on the business that waits.
	env := newVerificationEnv(t, false)
	business := env.newCompleteBusiness("5523041", "Silva001")
	v := env.submit(business.ID)
	owners, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	if err != nil {
		t.Fatal(err)
	}
	name, email := "Silva", "ana@example.com"

	same, err := env.verifications.UpdateOwner(t.Context(), env.Admin, owners[0].ID,
		customer.OwnerUpdate{Person: customer.PersonUpdate{Email: &email}})
	if err != nil || same.Status != customer.Pending || same.Check.Application != owners[0].Check.Application {
		t.Errorf("new e-mail address: %+v, %v", same, err)
	}
	changed, err := env.verifications.UpdateOwner(t.Context(), env.Admin, owners[0].ID,
		customer.OwnerUpdate{Person: customer.PersonUpdate{LastName: &name}})

	if err != nil || changed.Status != customer.Approved || changed.Person.Email != email ||
		changed.Check.Application == owners[0].Check.Application {
		t.Errorf("new name: %+v, %v", changed, err)
	}
	env.wantStatus(v, verification.Approved, customer.Approved)
}

func TestVerifications_ConcurrentOwnersHaveAtMost100Percent(t *testing.T) {
	t.Parallel()
	// Of owners with 30 percent each that are added at the same time, three fit.
	env := newVerificationEnv(t, false)
	business := env.newBusiness("5523041")
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			_, err := env.verifications.CreateOwner(t.Context(), env.Admin, nil, business.ID, ownerRequest("Silva"+string("abcdefgh"[i])))
			if err != nil && !fault.Is(err, fault.InvalidInput) {
				t.Error(err)
			}
		})
	}
	running.Wait()

	owners, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	if err != nil || len(owners) != 3 {
		t.Errorf("%d owners, %v", len(owners), err)
	}
}

func TestVerifications_ConcurrentRequestsAddOnePersonOnce(t *testing.T) {
	t.Parallel()
	// Of identical requests at the same time one adds the person, and the others are refused.
	env := newVerificationEnv(t, false)
	business := env.newBusiness("5523041")
	var running sync.WaitGroup
	var created atomic.Int32
	for range 8 {
		running.Go(func() {
			request := ownerRequest("Silva")
			request.OwnershipPercentage = 10
			if _, err := env.verifications.CreateOwner(t.Context(), env.Admin, nil, business.ID, request); err == nil {
				created.Add(1)
			} else {
				apptest.WantFault(t, "again", err, fault.Conflict)
			}
		})
	}
	running.Wait()

	owners, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	if err != nil || len(owners) != 1 || created.Load() != 1 {
		t.Errorf("%d owners of %d requests, %v", len(owners), created.Load(), err)
	}
}

func TestVerifications_RequestsAreIdempotent(t *testing.T) {
	t.Parallel()
	// A repeated request gets the first response and adds nothing, also if the first was refused.
	env := newVerificationEnv(t, false)
	business := env.newBusiness("5523041")
	request := ownerRequest("Silva")
	request.OwnershipPercentage = 60
	create := func(key string) error {
		request.Person.MiddleName = map[string]string{"first": "Maria", "second": "Clara"}[key]
		_, err := env.verifications.CreateOwner(t.Context(), env.Admin, apptest.IdempotentRequest(env.Admin, key,
			func(result any) string { return result.(customer.BeneficialOwner).ID.String() }), business.ID, request)
		return err
	}
	submit := func() error {
		_, err := env.verifications.Submit(t.Context(), env.Admin, apptest.IdempotentRequest(env.Admin, "submit",
			func(result any) string { return result.(verification.Verification).ID.String() }), business.ID)
		return err
	}
	if err := create("first"); err != nil {
		t.Fatal(err)
	}
	if err := create("second"); !fault.Is(err, fault.InvalidInput) {
		t.Fatalf("120 percent: %v", err)
	}
	if err := submit(); err != nil {
		t.Fatal(err)
	}

	for name, repeat := range map[string]func() error{"created": func() error { return create("first") },
		"refused": func() error { return create("second") }, "submitted": submit} {
		var replay *ports.Replay
		if err := repeat(); !errors.As(err, &replay) || (replay.Status == 201) != (name != "refused") {
			t.Errorf("%s again: %v", name, err)
		}
	}

	owners, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	page, listErr := env.verifications.List(t.Context(), env.Platform.ID, ports.VerificationFilter{Paging: ports.Paging{Limit: 10},
		Customer: business.ID})
	if err != nil || listErr != nil || len(owners) != 1 || page.Total != 1 {
		t.Errorf("%d owners and %d verifications, %v %v", len(owners), page.Total, err, listErr)
	}
}

func TestVerifications_NumberIsBounded(t *testing.T) {
	t.Parallel()
	// A customer whose rejections are reviewed again and again has a bounded number of verifications.
	env := newVerificationEnv(t, false)
	business := env.newCompleteBusiness("5523002", "Silva")
	for range verification.Max {
		env.wantStatus(env.submit(business.ID), verification.Rejected, customer.Rejected)
		if err := env.Exec(`UPDATE customers SET status = 'PENDING' WHERE id = '` + business.ID.UUID().String() + `'`); err != nil {
			t.Fatal(err)
		}
	}

	_, err := env.verifications.Submit(t.Context(), env.Admin, nil, business.ID)

	apptest.WantFault(t, "one too many", err, fault.Conflict)
}

func TestVerifications_OtherPlatformFindsNothing(t *testing.T) {
	t.Parallel()
	// Customers, owners and verifications of another platform do not exist.
	env := newVerificationEnv(t, false)
	business := env.newCompleteBusiness("5523001", "Silva")
	v := env.submit(business.ID)
	owners, err := env.Store.BeneficialOwnersOf(t.Context(), env.Platform.ID, business.ID)
	if err != nil {
		t.Fatal(err)
	}
	other := env.NewPrincipal(env.NewPlatform())
	_, submitting := env.verifications.Submit(t.Context(), other, nil, business.ID)
	_, adding := env.verifications.CreateOwner(t.Context(), other, nil, business.ID, ownerRequest("Ek"))
	_, updating := env.verifications.UpdateOwner(t.Context(), other, owners[0].ID, customer.OwnerUpdate{})
	_, reading := env.verifications.Owner(t.Context(), other.Platform, owners[0].ID)
	_, listing := env.verifications.Owners(t.Context(), other.Platform, ports.BeneficialOwnerFilter{Paging: ports.Paging{Limit: 10},
		Customer: business.ID})
	_, verificationReading := env.verifications.Verification(t.Context(), other.Platform, v.ID)
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"submit": {submitting, fault.UserNotFound}, "add an owner": {adding, fault.UserNotFound}, "list owners": {listing, fault.UserNotFound},
		"update an owner": {updating, fault.BeneficialOwnerNotFound}, "read an owner": {reading, fault.BeneficialOwnerNotFound},
		"read a verification": {verificationReading, fault.VerificationNotFound},
	} {
		apptest.WantFault(t, name, c.err, c.want)
	}
}

func TestService_BusinessIsShownWithItsOwners(t *testing.T) {
	t.Parallel()
	// A business has its owners wherever it is returned and in its events; others have none.
	env := newVerificationEnv(t, false)
	business, other := env.newCompleteBusiness("5523041", "Silva"), env.newBusiness("5523042")
	env.newOwner(business.ID, "Ek")
	service := customers.New(customers.Config{Store: env.Store, Clock: env.Clock, IDs: env.IDs})
	names := func(c customer.Customer) string {
		var list []string
		for _, o := range c.Owners {
			list = append(list, o.Person.LastName)
		}
		return strings.Join(list, " ")
	}
	read, err := service.Get(t.Context(), env.Platform.ID, business.ID)
	if err != nil || names(read) != "Silva Ek" {
		t.Errorf("read: %q, %v", names(read), err)
	}
	page, err := service.List(t.Context(), env.Platform.ID, ports.CustomerFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 3 {
		t.Fatalf("%d customers, %v", len(page.Items), err)
	}
	for _, c := range page.Items {
		if want := map[ident.Customer]string{business.ID: "Silva Ek"}[c.ID]; names(c) != want {
			t.Errorf("%s is listed with %q, want %q", c.PlatformCustomerID, names(c), want)
		}
	}
	email := "acme@example.com"
	updated, _, err := service.Update(t.Context(), env.Platform.ID, platform.Service, wallet.Call{}, business.ID,
		customer.Change{Type: "BUSINESS", Email: &email})
	if err != nil || names(updated) != "Silva Ek" || updated.Email != email {
		t.Errorf("updated: %q, %v", names(updated), err)
	}

	env.submit(business.ID)

	for _, e := range env.Events.About(business.ID.UUID()) {
		if c, ok := e.Resource.(customer.Customer); !ok || names(c) != "Silva Ek" {
			t.Errorf("%s has %q", e.Name, names(c))
		}
	}
	if deleted, err := service.Delete(t.Context(), env.Platform.ID, platform.Service, other.ID); err != nil || deleted.Owners != nil {
		t.Errorf("deleted: %+v, %v", deleted.Owners, err)
	}
}

func TestOwners_ChangesAreRecordedWithoutValues(t *testing.T) {
	t.Parallel()
	// Who has added or changed an owner is recorded with the fields, whose values nobody could erase. A change of nothing is not.
	env := newVerificationEnv(t, false)
	business := env.newBusiness("HRB 1")
	owner, err := env.verifications.CreateOwner(t.Context(), env.Admin, nil, business.ID, ownerRequest("Ek"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := env.verifications.UpdateOwner(t.Context(), env.Admin, owner.ID,
			customer.OwnerUpdate{OwnershipPercentage: new(31)}); err != nil {
			t.Fatal(err)
		}
	}
	env.WantChanges(platform.UpdatedOwner, env.Admin.Token.String()+": ownershipPercentage changed")
	if got := env.QueryStrings(`SELECT changes::text FROM operator_actions WHERE action = 'CREATE_BENEFICIAL_OWNER' AND subject_id = $1`,
		owner.ID.UUID()); len(got) != 1 || strings.Contains(got[0], "Ek") || !strings.Contains(got[0], "personalInfo.lastName") {
		t.Errorf("recorded %q", got)
	}
}
