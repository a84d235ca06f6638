package customers_test

import (
	"errors"
	"strings"
	"testing"

	"causeway/app/customers"
	"causeway/app/notes"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	people "causeway/core/person" // a function of the tests has its name
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/ports"
)

func TestHold_LastsUntilAPersonReleases(t *testing.T) {
	t.Parallel()
	// A person holds an approved customer with a reason. It is shown as on hold, is listed first of those who are held longest, and its
	// platform is sent the status. A hit that is found and cleared meanwhile releases it not; neither does a release before that. Each
	// is recorded with the person and what was changed, and the reasons are notes.
	e := newScreeningEnv(t, false)
	ana := e.NewPerson(people.Compliance)
	by := platform.Author{Actor: ana.Email, Person: ana.ID}
	c := e.NewCustomer("held", func(c *customer.Customer) { c.FullName = "Testow Iwan" })
	other := e.NewCustomer("other")
	hold := func(id ident.Customer, reason string) error {
		_, err := e.verifications.Hold(t.Context(), e.Platform.ID, by, id, reason)
		return err
	}
	release := func(id ident.Customer) (customer.Status, error) {
		released, err := e.verifications.Release(t.Context(), e.Platform.ID, by, id, "The papers came")
		return released.ShownStatus(), err
	}
	for want, err := range map[fault.Code]error{fault.InvalidInput: hold(c.ID, " "), fault.UserNotFound: hold(ident.Customer{}, "x")} {
		if !fault.Is(err, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := release(c.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("released before: %v", err)
	}

	if err := errors.Join(hold(c.ID, "Asks for his papers"), hold(other.ID, "x")); err != nil {
		t.Fatal(err)
	}

	e.wantCustomer(c.ID, customer.Pending, true)
	if err := hold(c.ID, "again"); !fault.Is(err, fault.Conflict) {
		t.Errorf("held twice: %v", err)
	}
	if found, err := e.verifications.OnHold(t.Context(), e.Platform.ID, 10); err != nil || len(found) != 2 || found[0].ID != c.ID {
		t.Errorf("held are %+v, %v", found, err)
	}
	e.load(person("1", "Ivan Testov"))
	e.screenDue()
	if status, err := release(c.ID); err != nil || status != customer.OnHold {
		t.Errorf("released with an open hit: %s, %v", status, err)
	}
	if err := hold(c.ID, "Other papers"); err != nil {
		t.Fatal(err)
	}
	if err := e.judge(screening.Cleared, screening.Party{Customer: c.ID}, "eu:1"); err != nil {
		t.Fatal(err)
	}
	e.wantCustomer(c.ID, customer.Pending, true)
	if status, err := release(c.ID); err != nil || status != customer.Approved {
		t.Errorf("released: %s, %v", status, err)
	}
	e.wantCustomer(c.ID, customer.Approved, false)

	written, err := notes.New(e.Store, e.Clock, e.IDs).Notes(t.Context(), e.Platform.ID, c.ID)
	var texts []string
	for _, n := range written {
		texts = append(texts, n.Content)
	}
	if got := strings.Join(texts, "|"); err != nil || got != "Released: The papers came|Put on hold: Other papers|Released: The papers came|"+
		"Put on hold: Asks for his papers" || written[0].Person != ana.ID {
		t.Errorf("notes %s, %v", got, err)
	}
	recorded, err := e.Store.Activities(t.Context(), ports.ActivityFilter{Platform: e.Platform.ID, SubjectID: c.ID.UUID(), Actor: ana.Email,
		Limit: 10})
	var lines []string
	for _, a := range recorded {
		line := a.Action
		for _, f := range a.Changes {
			line += " " + f.String()
		}
		lines = append(lines, line)
	}
	if got := strings.Join(lines, "|"); err != nil || got != "RELEASE_CUSTOMER status: HOLD → APPROVED|HOLD_CUSTOMER|RELEASE_CUSTOMER|"+
		"HOLD_CUSTOMER status: APPROVED → HOLD" {
		t.Errorf("recorded %s, %v", got, err)
	}
}

func TestHold_OutlastsAVerification(t *testing.T) {
	t.Parallel()
	// A held customer who is rejected and then approved by a review is held again, until a person releases it.
	e := newScreeningEnv(t, false)
	c := e.NewCustomer("held")
	by := platform.Author{Actor: "ana"}
	if _, err := e.verifications.Hold(t.Context(), e.Platform.ID, by, c.ID, "x"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []customer.Status{customer.Rejected, customer.Approved, customer.Approved} {
		if _, err := e.customers.SetStatus(t.Context(), customers.StatusChange{Platform: e.Platform.ID, Customer: c.ID,
			Decision: customer.Decision{To: to}}); err != nil {
			t.Fatalf("%s: %v", to, err)
		}
		e.wantCustomer(c.ID, map[customer.Status]customer.Status{customer.Rejected: customer.Rejected, customer.Approved: customer.Pending}[to],
			to == customer.Approved)
	}
	if _, err := e.verifications.Release(t.Context(), e.Platform.ID, by, c.ID, "y"); err != nil {
		t.Fatal(err)
	}
	e.wantCustomer(c.ID, customer.Approved, false)
}
