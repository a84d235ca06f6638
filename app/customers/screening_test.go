package customers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// sandboxScreeners screen the customers of the environment, whose platform is one of the sandbox.
func sandboxScreeners(t *testing.T, e *apptest.Env, entries ...screening.Entry) customers.Screeners {
	t.Helper()
	if len(entries) > 0 {
		list := screening.LoadedList{ID: e.IDs.New(e.Clock.Now()), List: entries[0].List, SHA256: "00", Entries: len(entries),
			LoadedAt: e.Clock.Now(), Actor: "ana"}
		if err := e.Store.ReplaceSanctionsList(t.Context(), list, entries, nil); err != nil {
			t.Fatal(err)
		}
	}
	return customers.Screeners{platform.Sandbox: customers.NewScreener(e.Store, screening.DefaultThreshold)}
}

// screeningEnv is an environment whose customers are screened.
type screeningEnv struct {
	*verificationEnv
	screening *customers.Screening
	customers *customers.Service
	loads     int
}

func newScreeningEnv(t *testing.T, remote bool) *screeningEnv {
	t.Helper()
	e := &screeningEnv{verificationEnv: newVerificationEnv(t, remote)}
	e.verifications.Sanctions = sandboxScreeners(t, e.Env)
	e.screening = customers.NewScreening(e.verifications, e.Store)
	e.customers = customers.New(customers.Config{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs, Jobs: e.Store, Log: e.Log,
		Sanctions: e.verifications.Sanctions})
	return e
}

func person(ref string, names ...string) screening.Entry {
	entry := screening.Entry{List: screening.EU, Ref: ref, Kind: screening.Person}
	for _, name := range names {
		entry.Names = append(entry.Names, screening.EntryName{Text: name})
	}
	return entry
}

// load loads a list and begins to screen the platform.
func (e *screeningEnv) load(entries ...screening.Entry) {
	e.t.Helper()
	e.loads++
	now := e.Clock.Now()
	list := screening.LoadedList{ID: e.IDs.New(now), List: screening.EU, SHA256: fmt.Sprint(e.loads), Entries: len(entries),
		LoadedAt: now, Actor: "ana"}
	if err := e.screening.Load(e.t.Context(), list, entries, []ident.Platform{e.Platform.ID}, true); err != nil {
		e.t.Fatal(err)
	}
}

func (e *screeningEnv) screenDue() {
	e.t.Helper()
	if err := e.screening.ScreenDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

func (e *screeningEnv) wantCustomer(id ident.Customer, status customer.Status, held bool) {
	e.t.Helper()
	c, err := e.Store.Customer(e.t.Context(), e.Platform.ID, id)
	if err != nil || c.Status != status || c.Held() != held || (c.CheckReady() == nil) != (status == customer.Approved) {
		e.t.Errorf("%s, held %t, %v; want %s, %t", c.Status, c.Held(), err, status, held)
	}
}

// wantOpen checks the hits that wait, as the entry and who resembles it.
func (e *screeningEnv) wantOpen(want ...string) {
	e.t.Helper()
	hits, err := e.screening.Hits(e.t.Context(), e.Platform.ID, 10)
	var got []string
	for _, h := range hits {
		got = append(got, h.EntryID()+" "+h.Of())
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		e.t.Errorf("open hits %q, %v; want %q", got, err, want)
	}
}

func (e *screeningEnv) judge(status screening.HitStatus, subject screening.Party, entries ...string) error {
	_, err := e.screening.Judge(e.t.Context(), e.Platform.ID, subject, entries, screening.Verdict{Status: status, By: "ana",
		Reason: "ticket 17"})
	return err
}

func TestScreening_RenewedListHoldsCustomersUntilTheyAreJudged(t *testing.T) {
	t.Parallel()
	// An approved customer of a regulated platform who resembles a new entry may not pay until an operator
	// cleared it; it stays cleared until the entry or the name changes. A confirmed one is rejected.
	e := newScreeningEnv(t, false)
	named := func(name string) customer.Customer {
		return e.NewCustomer(name, func(c *customer.Customer) { c.FullName = name })
	}
	cleared, confirmed, other := named("Testow Iwan"), named("Maksim Sokolov"), named("Rosa Diaz")
	deleted := e.NewCustomer("gone", func(c *customer.Customer) { c.FullName, c.DeletedAt = "Ivan Testov", e.Clock.Now() })
	list := []screening.Entry{person("1", "Ivan Testov"), person("2", "Maxim Sokolov")}
	e.load(list...)
	e.wantOpen()

	e.screenDue()

	e.wantOpen("eu:1 "+cleared.ID.String(), "eu:2 "+confirmed.ID.String())
	e.wantCustomer(cleared.ID, customer.Pending, true)
	e.wantCustomer(other.ID, customer.Approved, false)
	e.Events.Want(cleared.ID.UUID(), "CUSTOMER.KYC_PENDING")
	if hits, err := e.Store.CustomerScreeningHits(t.Context(), e.Platform.ID, deleted.ID); err != nil || len(hits) != 0 {
		t.Errorf("of a deleted customer: %+v, %v", hits, err)
	}

	if err := errors.Join(e.judge(screening.Cleared, screening.Party{Customer: cleared.ID}, "eu:1"),
		e.judge(screening.Confirmed, screening.Party{Customer: confirmed.ID}, "eu:2")); err != nil {
		t.Fatal(err)
	}
	e.wantOpen()
	e.wantCustomer(cleared.ID, customer.Approved, false)
	e.wantCustomer(confirmed.ID, customer.Rejected, false)
	e.Events.Want(cleared.ID.UUID(), "CUSTOMER.KYC_PENDING", "CUSTOMER.KYC_APPROVED")
	e.Events.Want(confirmed.ID.UUID(), "CUSTOMER.KYC_PENDING", "CUSTOMER.KYC_REJECTED")
	if actions := e.QueryStrings(`SELECT action || ' ' || subject || ' ' || actor FROM operator_actions ORDER BY action`); !slices.Equal(
		actions,
		[]string{"CLEAR_SCREENING_HIT " + cleared.ID.String() + " eu:1 ana", "CONFIRM_SCREENING_HIT " + confirmed.ID.String() + " eu:2 ana"}) {
		t.Errorf("actions %q", actions)
	}
	if err := e.judge(screening.Cleared, screening.Party{Customer: cleared.ID}, "eu:1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("decided again: %v, want CONFLICT", err)
	}
	if err := e.judge(screening.Cleared, screening.Party{Customer: confirmed.ID}, "eu:2"); !fault.Is(err, fault.Conflict) {
		t.Errorf("cleared after it was confirmed: %v, want CONFLICT", err)
	}

	e.load(list...)
	e.screenDue()
	e.wantOpen()
	e.wantCustomer(cleared.ID, customer.Approved, false)

	e.load(person("1", "Ivan Testov", "Vanya"))
	e.screenDue()
	e.wantOpen("eu:1 " + cleared.ID.String())
	e.wantCustomer(cleared.ID, customer.Pending, true)
	if rows := e.QueryStrings(`SELECT id::text FROM screening_hits`); len(rows) != 2 {
		t.Errorf("%d hits are recorded, want 2", len(rows))
	}
}

func TestScreening_NewAndRenamedCustomersAreScreened(t *testing.T) {
	t.Parallel()
	// A customer is screened when it is created and when its name changes, and not when other data does.
	e := newScreeningEnv(t, false)
	e.load(person("1", "Ivan Testov"))
	e.screenDue()
	create := func(name string) customer.Customer {
		created, err := e.customers.Create(t.Context(), e.Platform.ID, nil, customer.Request{Type: "INDIVIDUAL", FullName: name})
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	update := func(c customer.Customer, change customer.Change) {
		change.Type = string(c.Type)
		if _, _, err := e.customers.Update(t.Context(), e.Platform.ID, platform.Service, wallet.Call{}, c.ID, change); err != nil {
			t.Fatal(err)
		}
	}

	listed, renamed := create("Testov Ivan"), create("Rosa Diaz")
	e.screenDue()
	e.wantOpen("eu:1 " + listed.ID.String())
	update(renamed, customer.Change{Email: new("rosa@example.com")})
	if n := e.CountJobs(ports.StepScreenCustomers); n != 0 {
		t.Errorf("%d jobs after a change of the email", n)
	}
	update(renamed, customer.Change{FullName: new("Ivan Testoff")})
	e.screenDue()
	e.wantOpen("eu:1 "+listed.ID.String(), "eu:1 "+renamed.ID.String())
	e.wantCustomer(renamed.ID, customer.Pending, true)

	// Another name does not release a held customer: an operator decides.
	update(renamed, customer.Change{FullName: new("Rosa Diaz")})
	e.screenDue()
	e.wantCustomer(renamed.ID, customer.Pending, true)
}

func TestScreening_ConfirmedOwnerRejectsTheBusiness(t *testing.T) {
	t.Parallel()
	// The business of an owner on a list is held, and with a confirmation both are rejected.
	e := newScreeningEnv(t, false)
	business := e.NewCustomer("acme", func(c *customer.Customer) {
		c.Type, c.Business = customer.Business, &customer.BusinessInfo{LegalName: "Acme"}
	})
	owner := customer.BeneficialOwner{ID: ident.NewBeneficialOwner(e.IDs.New, e.Clock.Now()), Platform: e.Platform.ID, Customer: business.ID,
		Roles:  []customer.OwnerRole{customer.Director},
		Person: ownerRequest("Testow").Person, Status: customer.Approved, CreatedAt: e.Clock.Now(), UpdatedAt: e.Clock.Now()}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateBeneficialOwner(ctx, owner) })
	e.load(person("1", owner.Person.FullName()))
	e.screenDue()

	e.wantOpen("eu:1 " + owner.ID.String())
	e.wantCustomer(business.ID, customer.Pending, true)
	if err := e.judge(screening.Confirmed, screening.Party{Owner: owner.ID}, "eu:1"); err != nil {
		t.Fatal(err)
	}

	e.wantCustomer(business.ID, customer.Rejected, false)
	e.Events.Want(business.ID.UUID(), "CUSTOMER.KYB_PENDING", "CUSTOMER.KYB_REJECTED")
	found, err := e.Store.BeneficialOwner(t.Context(), e.Platform.ID, owner.ID)
	if err != nil || found.Status != customer.Rejected || len(found.Check.Errors) != 1 ||
		found.Check.Errors[0].Type != customer.ApplicantSanctioned {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestScreening_MatchStopsAnAutomaticApproval(t *testing.T) {
	t.Parallel()
	// A provider's approval of a business whose owner resembles an entry leaves the owner to an operator;
	// an approval of others says which lists it relied on. The operator clears the entry with the approval.
	e := newScreeningEnv(t, true)
	e.load(person("1", "Anna Lindt"))
	e.remote.answers(verification.Outcome{Verdict: verification.Accepted}, nil)
	business := e.newCompleteBusiness("5523041", "Lind")
	v := e.submit(business.ID)
	e.runJobs()

	e.wantStatus(v, verification.InProgress, customer.Pending)
	owners, err := e.Store.BeneficialOwnersOf(t.Context(), e.Platform.ID, business.ID)
	if err != nil || len(owners) != 1 || owners[0].Status != customer.Pending {
		t.Fatalf("%+v, %v", owners, err)
	}
	e.wantOpen("eu:1 " + owners[0].ID.String())
	approve := func(cleared ...string) error {
		_, err := e.verifications.Review(t.Context(), e.Platform.ID, verification.ReviewSubject{Owner: owners[0].ID},
			review(owners[0].Check.Application, verification.Accepted), cleared...)
		return err
	}
	if err := approve(); !fault.Is(err, fault.Conflict) {
		t.Errorf("not cleared: %v", err)
	}
	if err := approve("eu:1"); err != nil {
		t.Fatal(err)
	}

	e.wantStatus(v, verification.Approved, customer.Approved)
	e.wantOpen()
	e.screenDue()
	e.wantCustomer(business.ID, customer.Approved, false)
	found, err := e.verifications.ReviewCase(t.Context(), e.Platform.ID, v.ID)
	if err != nil || len(found.Reviews) != 1 || !containsThreshold(found.Reviews[0].Screened) ||
		!containsThreshold(found.Verification.LastDecision.Reason) || !found.Matches[0].Cleared {
		t.Errorf("%+v, %v", found, err)
	}
}

func containsThreshold(text string) bool {
	return len(text) > 0 && text[len(text)-len("threshold 80"):] == "threshold 80"
}

func TestScreening_ApprovalAfterAHitHoldsTheCustomer(t *testing.T) {
	t.Parallel()
	// A hit that is recorded while a customer is verified counts for the approval, also if the list has the
	// entry no more.
	e := newScreeningEnv(t, true)
	e.remote.answers(verification.Outcome{Verdict: verification.Waiting}, nil)
	business := e.newCompleteBusiness("5523041", "Silva")
	v := e.submit(business.ID)
	e.runJobs()
	e.load(screening.Entry{List: screening.EU, Ref: "5", Kind: screening.Organization, Names: []screening.EntryName{{Text: "Acme"}}})
	e.screenDue()
	e.wantOpen("eu:5 " + business.ID.String())
	e.load(person("1", "Ivan Testov"))

	d := verification.Decision{Application: v.Submitted.ID, By: "provider", At: e.Clock.Now(),
		Outcome: verification.Outcome{Verdict: verification.Accepted}}
	decided, _, err := e.verifications.Decide(t.Context(), e.Platform.ID, v.ID, d)
	if err != nil || decided.Status != verification.PendingManualReview {
		t.Errorf("%s, %v; want a review", decided.Status, err)
	}
	if err := e.judge(screening.Confirmed, screening.Party{Customer: business.ID}, "eu:5"); err != nil {
		t.Fatal(err)
	}
	e.wantStatus(v, verification.Rejected, customer.Rejected)
	found, err := e.verifications.Verification(t.Context(), e.Platform.ID, v.ID)
	if err != nil || len(found.Errors) != 1 || found.Errors[0].Type != customer.ApplicantSanctioned {
		t.Errorf("%+v, %v", found.Errors, err)
	}
}

func TestScreening_ApprovalOfAnOwnerReleasesTheBusiness(t *testing.T) {
	t.Parallel()
	// A new owner who resembles an entry stops the payments of an approved business. When an operator clears
	// the entry with the approval of the owner, the business may pay again, unless another entry is open.
	for _, other := range []bool{false, true} {
		e := newScreeningEnv(t, true)
		e.remote.answers(verification.Outcome{Verdict: verification.InReview}, nil)
		business := e.NewCustomer("acme", func(c *customer.Customer) {
			c.Type, c.Business = customer.Business, &customer.BusinessInfo{LegalName: "Acme"}
		})
		owner := e.newOwner(business.ID, "Lind")
		list := []screening.Entry{person("1", "Anna Lindt")}
		if other {
			list = append(list, screening.Entry{List: screening.EU, Ref: "5", Kind: screening.Organization,
				Names: []screening.EntryName{{Text: "Acme"}}})
		}
		e.load(list...)
		e.screenDue()
		e.wantCustomer(business.ID, customer.Pending, true)

		if _, err := e.verifications.Review(t.Context(), e.Platform.ID, verification.ReviewSubject{Owner: owner.ID},
			review(owner.Check.Application, verification.Accepted), "eu:1"); err != nil {
			t.Fatal(err)
		}

		if other {
			e.wantOpen("eu:5 " + business.ID.String())
			e.wantCustomer(business.ID, customer.Pending, true)
			continue
		}
		e.wantOpen()
		e.wantCustomer(business.ID, customer.Approved, false)
		e.Events.Want(business.ID.UUID(), "CUSTOMER.KYB_PENDING", "CUSTOMER.KYB_APPROVED")
	}
}

func TestScreening_MistakenClearanceIsCorrected(t *testing.T) {
	t.Parallel()
	// An operator who learns later that a cleared entry is about the customer after all confirms it: the
	// customer, who is approved again meanwhile, is rejected.
	e := newScreeningEnv(t, false)
	listed := e.NewCustomer("listed", func(c *customer.Customer) { c.FullName = "Testow Iwan" })
	e.load(person("1", "Ivan Testov"))
	e.screenDue()
	if err := e.judge(screening.Cleared, screening.Party{Customer: listed.ID}, "eu:1"); err != nil {
		t.Fatal(err)
	}
	e.wantCustomer(listed.ID, customer.Approved, false)

	if err := e.judge(screening.Confirmed, screening.Party{Customer: listed.ID}, "eu:1"); err != nil {
		t.Fatal(err)
	}

	e.wantCustomer(listed.ID, customer.Rejected, false)
	e.Events.Want(listed.ID.UUID(), "CUSTOMER.KYC_PENDING", "CUSTOMER.KYC_APPROVED", "CUSTOMER.KYC_REJECTED")
}

func TestScreening_RunIsCountedOnceAndReplaced(t *testing.T) {
	t.Parallel()
	// Each customer is counted once, also if a job is repeated; a list that is loaded before the end begins
	// again, and the job of the earlier run does nothing.
	e := newScreeningEnv(t, false)
	named := make([]customer.Customer, 1200)
	for i := range named {
		named[i] = portstest.ApprovedCustomer(e.IDs, e.Clock.Now(), e.Platform.ID, fmt.Sprintf("c%d", i))
		named[i].FullName = "Rosa Diaz"
	}
	sealed, err := e.Store.SealCustomers(t.Context(), named, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.CreateCustomers(ctx, sealed)
		return err
	})
	e.load(person("1", "Ivan Testov"))
	e.load(person("1", "Rosa Dias"))
	e.screenDue()

	runs, err := e.Store.LastScreeningRuns(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Status != screening.RunCompleted || runs[0].Customers != 1201 || runs[0].Total != 1201 ||
		runs[0].Hits != 1200 {
		t.Errorf("%+v, %v", runs, err)
	}
	if states := e.QueryStrings(`SELECT status FROM screening_runs ORDER BY id`); !slices.Equal(states, []string{"REPLACED", "COMPLETED"}) {
		t.Errorf("states %q", states)
	}
	if n := e.CountJobs(ports.StepScreenPlatform); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestScreening_LoadRefusesAListThatShrinks(t *testing.T) {
	t.Parallel()
	// A list with far fewer entries changes nothing, unless the operator allows it.
	e := newScreeningEnv(t, false)
	e.load(person("1", "Ivan Testov"), person("2", "Maxim Sokolov"))
	list := screening.LoadedList{ID: uuid.New(), List: screening.EU, SHA256: "x", Entries: 1, LoadedAt: e.Clock.Now(), Actor: "ana"}
	if err := e.screening.Load(t.Context(), list, []screening.Entry{person("1", "Ivan Testov")}, nil, false); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v, want CONFLICT", err)
	}
	if entries, err := e.Store.SanctionsEntries(t.Context()); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if err := e.screening.Load(t.Context(), list, []screening.Entry{person("1", "Ivan Testov")}, nil, true); err != nil {
		t.Error(err)
	}
}
