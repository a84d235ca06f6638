package postgres_test

import (
	"context"
	"reflect"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// newPriceProposal returns a proposal of Ana's for a platform, or for all.
func newPriceProposal(p ident.Platform) proposal.Proposal {
	return proposal.New(ident.NewProposal(generator.New, noon), p, books.ActionPrice, "corridors set", []byte(`{"from": "USD"}`),
		platform.Author{Actor: "Ana"}, proposal.People{}, noon)
}

// twoPeople are Ana and Ben, who may approve.
func twoPeople() (people proposal.People) {
	for _, name := range []string{"ana", "ben"} {
		p, err := person.New(ident.NewPerson(generator.New, noon), name+"@people.test", name, []person.Grant{{Role: person.Finance}}, noon)
		if err != nil {
			panic(err)
		}
		p.Status = person.Active
		people.People = append(people.People, p)
	}
	return people
}

// mustChangePricing calls fn in a transaction that changes the pricing.
func (c *env) mustChangePricing(t *testing.T, fn func(context.Context, *postgres.PricingTx) error) {
	t.Helper()
	if err := ports.Do(t.Context(), c.DB.Pricing(), fn); err != nil {
		t.Fatal(err)
	}
}

func TestPriceProposals_RoundTrip(t *testing.T) {
	t.Parallel()
	// Proposals for a platform and for all are read as they were stored, with the error of an approval and with the decision.
	c := newEnv(t)
	own, all := newPriceProposal(c.platform.ID), newPriceProposal(ident.Platform{})
	c.mustChangePricing(t, func(ctx context.Context, tx *postgres.PricingTx) error {
		for _, p := range []proposal.Proposal{own, all} {
			if err := tx.CreateProposal(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	own = own.Fail(fault.New(fault.Conflict, "The terms have changed."), noon)
	rejected, err := all.Reject(platform.Author{Actor: "Ben"}, proposal.People{}, "too low", noon)
	if err != nil {
		t.Fatal(err)
	}
	c.mustChangePricing(t, func(ctx context.Context, tx *postgres.PricingTx) error {
		for _, p := range []proposal.Proposal{own, rejected} {
			if err := tx.UpdateProposal(ctx, p); err != nil {
				return err
			}
		}
		pending, err := tx.CountPendingProposals(ctx, ident.Platform{}, noon)
		expired, err2 := tx.CountPendingProposals(ctx, ident.Platform{}, noon.Add(proposal.Lifetime))
		if err != nil || err2 != nil || pending != 1 || expired != 0 {
			t.Errorf("%d pending, then %d; %v, %v", pending, expired, err, err2)
		}
		if found, err := tx.LockProposal(ctx, ident.Platform{}, own.ID); err != nil || !reflect.DeepEqual(found, own) {
			t.Errorf("in the transaction %+v, %v\nwant %+v", found, err, own)
		}
		return nil
	})

	page, err := c.DB.Pricing().Proposals(t.Context(), ident.Platform{},
		ports.ProposalFilter{Paging: ports.Paging{Limit: 5}, Now: noon})

	if err != nil || !reflect.DeepEqual(page.Items, []proposal.Proposal{rejected, own}) {
		t.Errorf("read %+v, %v\nwant %+v and %+v", page.Items, err, rejected, own)
	}
	if _, err := c.DB.Pricing().Proposal(t.Context(), ident.Platform{},
		newPriceProposal(ident.Platform{}).ID); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("an unknown proposal: %v", err)
	}
	// A session of another platform sees none of them.
	there := openWith(t, postgres.Options{URL: c.url, MaxConnections: 1})
	if _, err := there.Pricing().Proposal(ports.ForPlatform(t.Context(), c.otherPlatform.ID),
		ident.Platform{}, own.ID); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("from another platform: %v", err)
	}
}

func TestPriceProposals_OnlyDecidedOnceByAnother(t *testing.T) {
	t.Parallel()
	// The service's role makes no proposal and changes none, but for its decision. The owner can neither change what was proposed,
	// nor a decided proposal, nor delete one; and no one executes their own.
	c := newEnv(t)
	p, own := newPriceProposal(c.platform.ID), newPriceProposal(c.platform.ID)
	people := twoPeople()
	ben := people.People[1]
	approved, err := p.Approve(platform.Author{Actor: ben.Email, Person: ben.ID}, people, noon)
	if err != nil {
		t.Fatal(err)
	}
	c.mustChangePricing(t, func(ctx context.Context, tx *postgres.PricingTx) error {
		if err := tx.CreateProposal(ctx, own); err != nil {
			return err
		}
		if err := tx.CreateProposal(ctx, p); err != nil {
			return err
		}
		return tx.UpdateProposal(ctx, approved)
	})
	operator := connect(t, c.url)
	for _, statement := range []string{
		"DELETE FROM corridor_proposals", "TRUNCATE corridor_proposals CASCADE",
		"UPDATE corridor_proposals SET request = '{}'", "UPDATE corridor_proposals SET proposer = 'Carl'",
		"UPDATE corridor_proposals SET note = 'again' WHERE status = 'EXECUTED'",
	} {
		_, err := operator.Exec(t.Context(), statement)
		wantCode(t, statement, err, "23001")
	}
	_, err = operator.Exec(t.Context(), "UPDATE corridor_proposals SET status = 'EXECUTED', decider = 'ana', decided_at = now() WHERE "+
		"status = 'PENDING'")
	wantCode(t, "own approval", err, "23514")
	for _, statement := range []string{
		"INSERT INTO corridor_proposals (id, operation, request, status, proposer, created_at, expires_at) VALUES (gen_random_uuid(), '', " +
			"'{}', 'PENDING', 'Ana', now(), now())",
		"UPDATE corridor_proposals SET request = '{}'", "DELETE FROM corridor_proposals",
	} {
		_, err := c.Pool().Exec(t.Context(), statement)
		wantCode(t, statement, err, "42501")
	}
}

func TestSaveOverride_RecordsApproval(t *testing.T) {
	t.Parallel()
	// A change by a proposal has both names in the history, and a second one by the same proposal is refused. The next
	// change without a proposal has one name again.
	c := newEnv(t)
	p := newPriceProposal(ident.Platform{})
	c.mustChangePricing(t, func(ctx context.Context, tx *postgres.PricingTx) error { return tx.CreateProposal(ctx, p) })
	by := ports.CorridorAuthor{By: "Ana", Note: "agreed", Approval: platform.Approval{Proposal: p.ID, By: platform.Author{Actor: "Ben"}}}
	fee := func(minor int64) corridor.Override { return corridor.Override{Fixed: new(minor)} }
	if err := saveOverride(t, c.DB, fee(7), by); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "the same proposal", saveOverride(t, c.DB, fee(8), by), "23505")
	self := by
	self.Approval.By.Actor = "ana"
	wantCode(t, "the same person", saveOverride(t, c.DB, fee(8), self), "23514")
	alone := ports.CorridorAuthor{By: "Carl"}
	if err := saveOverride(t, c.DB, fee(9), alone); err != nil {
		t.Fatal(err)
	}

	changes, err := c.CorridorChanges(t.Context(), ports.CorridorChangeFilter{})

	if err != nil || len(changes) != 2 || changes[0].CorridorAuthor != by || changes[1].CorridorAuthor != alone {
		t.Errorf("the history is %+v, %v", changes, err)
	}
}

func TestFourEyesPlatforms_ReadsLatestSettings(t *testing.T) {
	t.Parallel()
	// A platform counts if the last version of its settings lists the action.
	c := newEnv(t)
	save := func(p platform.Platform, version int, actions ...books.Action) {
		t.Helper()
		v := books.SettingsVersion{Settings: books.DefaultSettings(), Version: version, At: noon, By: platform.Author{Actor: "ops"}}
		v.FourEyes = actions
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveBooksSettings(ctx, p.ID, v) })
	}
	want := func(platforms ...ident.Platform) {
		t.Helper()
		c.mustChangePricing(t, func(ctx context.Context, tx *postgres.PricingTx) error {
			got, err := tx.FourEyesPlatforms(ctx, books.ActionPrice)
			if len(got) != len(platforms) || len(got) > 0 && !reflect.DeepEqual(got, platforms) {
				t.Errorf("got %v, want %v", got, platforms)
			}
			return err
		})
	}
	want()
	save(c.platform, 1, books.ActionPrice, books.ActionClose)
	save(c.otherPlatform, 1, books.ActionClose)
	want(c.platform.ID)
	save(c.platform, 2, books.ActionClose)
	want()
	save(c.otherPlatform, 2, books.ActionPrice)
	want(c.otherPlatform.ID)
}
