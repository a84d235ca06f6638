package accounts_test

import (
	"context"
	"slices"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// newAgent returns an agent of the customer that may spend from these accounts; nil for all.
func (e *env) newAgent(t *testing.T, allowed []ident.InternalAccount) platform.Principal {
	t.Helper()
	permissions, mode, currency, limit := []string{"VIEW_TRANSACTIONS"}, "AUTO", "USD", int64(50_00)
	owned, err := e.Store.InternalAccountsOf(t.Context(), e.Platform.ID, []ident.Customer{e.Customer.ID})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Request{Name: "Assistant", Customer: e.Customer.ID, Policy: agent.PolicyChange{
		Permissions: &permissions, DefaultMode: &mode, Limits: &agent.LimitsChange{Currency: &currency, PerTransaction: &limit},
		AllowedAccounts: &allowed,
	}}, e.Customer, owned[e.Customer.ID], ident.NewAgent(e.IDs.New, e.Clock.Now()), e.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, a) })
	return platform.Principal{Platform: e.Platform.ID, Environment: platform.Sandbox, Agent: a.ID, Customer: a.Customer}
}

func TestService_ListInternalForAgentShowsAllowedAccounts(t *testing.T) {
	t.Parallel()
	// An agent lists the accounts of its customer from which it may spend: all, some or none of them, but those of
	// no other customer, whatever it asks for.
	e := newEnv(t)
	dollars, euros := e.NewInternalAccount(e.Customer.ID, "USD", 25_00).ID, e.NewInternalAccount(e.Customer.ID, "EUR", 0).ID
	bob := e.NewCustomer("bob")
	e.NewInternalAccount(bob.ID, "USD", 7_00)
	e.NewInternalAccount(ident.Customer{}, "USD", 9_00)
	limited := e.newAgent(t, []ident.InternalAccount{dollars})

	for name, c := range map[string]struct {
		caller platform.Principal
		filter ports.InternalAccountFilter
		want   []ident.InternalAccount
	}{
		"all":              {e.newAgent(t, nil), ports.InternalAccountFilter{}, []ident.InternalAccount{euros, dollars}},
		"of a currency":    {e.newAgent(t, nil), ports.InternalAccountFilter{Currency: "EUR"}, []ident.InternalAccount{euros}},
		"some":             {limited, ports.InternalAccountFilter{}, []ident.InternalAccount{dollars}},
		"none":             {e.newAgent(t, []ident.InternalAccount{}), ports.InternalAccountFilter{}, nil},
		"another customer": {limited, ports.InternalAccountFilter{Customer: bob.ID}, []ident.InternalAccount{dollars}},
		"of the platform":  {limited, ports.InternalAccountFilter{PlatformOwned: true}, []ident.InternalAccount{dollars}},
	} {
		c.filter.Limit = 10
		page, err := e.accounts.ListInternalForAgent(t.Context(), c.caller, c.filter)
		var got []ident.InternalAccount
		for _, item := range page.Items {
			got = append(got, item.ID)
		}
		if err != nil || !slices.Equal(got, c.want) || page.Total != int64(len(c.want)) {
			t.Errorf("%s: %v of %d, %v, want %v", name, got, page.Total, err, c.want)
		}
	}
	deleted := limited
	deleted.Agent = ident.NewAgent(e.IDs.New, e.Clock.Now())
	_, err := e.accounts.ListInternalForAgent(t.Context(), deleted, ports.InternalAccountFilter{Paging: ports.Paging{Limit: 10}})
	apptest.WantFault(t, "deleted after its token was checked", err, fault.Unauthorized)
	if page, err := e.accounts.ListInternalForAgent(t.Context(), limited,
		ports.InternalAccountFilter{Paging: ports.Paging{Limit: 10}}); err != nil || page.Items[0].Balance != 25_00 {
		t.Errorf("balance %+v, %v", page, err)
	}
}

func TestService_GetForAgentHidesOtherOwners(t *testing.T) {
	t.Parallel()
	// An agent reads the external accounts of its customer; those of another customer or of the platform do not
	// exist for it, in the words for any unknown id.
	e := newEnv(t)
	caller := e.newAgent(t, nil)
	bob := e.NewCustomer("bob")
	create := func(owner ident.Customer, number string) account.External {
		created, err := e.accounts.Create(t.Context(), e.Admin, nil, bankRequest(owner, number))
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	own, bobs, platforms := create(e.Customer.ID, "123456789"), create(bob.ID, "123456780"), create(ident.Customer{}, "123456781")

	if got, err := e.accounts.GetForAgent(t.Context(), caller, own.ID); err != nil || got.ID != own.ID {
		t.Errorf("own: %+v, %v", got, err)
	}
	for _, id := range []ident.ExternalAccount{bobs.ID, platforms.ID, ident.NewExternalAccount(e.IDs.New, e.Clock.Now())} {
		got, err := e.accounts.GetForAgent(t.Context(), caller, id)
		if f, ok := fault.As(err); !ok || f.Code != fault.ExternalAccountNotFound || f.Message != "There is no external account "+id.String()+
			"." || got.ID == id {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
	}
	for _, filter := range []ports.ExternalAccountFilter{{}, {Customer: bob.ID}, {PlatformOwned: true}} {
		filter.Limit = 10
		if page, err := e.accounts.ListForAgent(t.Context(), caller, filter); err != nil || len(page.Items) != 1 || page.Items[0].ID != own.ID {
			t.Errorf("%+v: listed %+v, %v", filter, page, err)
		}
	}
}
