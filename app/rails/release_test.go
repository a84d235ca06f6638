package rails_test

import (
	"context"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/internal/audittest"
	"causeway/app/proposals"
	"causeway/app/rails"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/rail"
)

// people creates people who may approve, and returns them as authors who have signed in.
func (e *env) people(t *testing.T, emails ...string) []rails.Author {
	t.Helper()
	var by []rails.Author
	for _, email := range emails {
		p, err := person.New(ident.NewPerson(e.IDs.New, e.Clock.Now()), email, "Ana Silva", []person.Grant{{Role: person.Administrator}},
			e.Clock.Now())
		if err == nil {
			p, err = p.Activate(e.Clock.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePerson(ctx, p) })
		by = append(by, rails.Author{Actor: email, Person: p.ID, Note: "confirmed by phone"})
	}
	return by
}

func TestRelease_ByTwoPersonsWhereThePlatformNeedsThem(t *testing.T) {
	t.Parallel()
	// On a production platform whose settings list RELEASE, one person proposes that a payment is released, and it stays in review until
	// another one approves. The first cannot; nor can a name. The decision has both, and the ledger check pairs it with its proposal.
	e := newEnv(t)
	ctx := t.Context()
	pgtest.ExecAsSuperuser(t, e.URL, "UPDATE platforms SET environment = 'PRODUCTION'")
	by := e.people(t, "ana@example.com", "ben@example.com")
	payment := e.handOver(t, 5_00, false)
	if _, err := e.Withdraw(ctx, payment.ID, by[0]); err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		current, err := tx.LockBooksSettings(ctx, e.Platform.ID)
		if err != nil {
			return err
		}
		current.FourEyes, current.Version = []books.Action{books.ActionRelease}, current.Version+1
		current.By, current.At = platform.Author{Actor: "root"}, e.Clock.Now()
		return tx.SaveBooksSettings(ctx, e.Platform.ID, current)
	})

	done, err := e.Release(ctx, payment.ID, by[0])
	if err != nil || done.Proposal == nil || done.Proposal.Action != books.ActionRelease {
		t.Fatalf("%+v, %v", done, err)
	}
	if kept := e.only(t, payment.ID); kept.State != rail.InReview {
		t.Errorf("before the approval it is %s", kept.State)
	}
	if found, err := e.InReview(t.Context(), e.Platform.ID, 10); err != nil || len(found) != 1 || found[0].ID != payment.ID {
		t.Errorf("in review: %+v, %v", found, err)
	}
	if found, err := e.InReview(t.Context(), e.NewPlatform().ID, 10); err != nil || len(found) != 0 {
		t.Errorf("in review on another platform: %+v, %v", found, err)
	}
	second := proposals.New(proposals.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs, Executors: e.Executors()})
	approve := func(a platform.Author) error {
		_, err := second.Approve(ctx, e.Platform.ID, a, nil, done.Proposal.ID)
		return err
	}
	for name, a := range map[string]platform.Author{"the proposer": {Actor: by[0].Actor, Person: by[0].Person}, "a name": {Actor: "zoe"}} {
		if err := approve(a); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := approve(platform.Author{Actor: by[1].Actor, Person: by[1].Person}); err != nil {
		t.Fatal(err)
	}
	kept := e.only(t, payment.ID)
	d := kept.Decisions[len(kept.Decisions)-1]
	if kept.State != rail.Queued || d.Actor != by[0].Actor || d.Person != by[0].Person || d.Approval.By.Actor != by[1].Actor ||
		d.Approval.Proposal != done.Proposal.ID {
		t.Errorf("%s, %+v", kept.State, d)
	}
	if err := approve(platform.Author{Actor: by[1].Actor, Person: by[1].Person}); err == nil ||
		!strings.Contains(err.Error(), "decided") && !fault.Is(err, fault.Conflict) {
		t.Errorf("approved twice: %v", err)
	}
	audittest.Check(t, e.Env)
}
