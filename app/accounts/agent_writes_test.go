package accounts_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// manager returns an agent of the customer that may manage external accounts.
func (e *env) manager(t *testing.T) platform.Principal {
	t.Helper()
	caller := e.newAgent(t, nil)
	e.setPolicy(t, caller.Agent, func(a *agent.Agent) { a.Policy.Permissions = []agent.Permission{agent.ManageExternalAccounts} })
	return caller
}

func (e *env) setPolicy(t *testing.T, id ident.Agent, edit func(*agent.Agent)) {
	t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		a, err := tx.LockAgent(ctx, e.Platform.ID, id)
		if err != nil {
			return err
		}
		edit(&a)
		return tx.UpdateAgent(ctx, a)
	})
}

// wantTrail compares the trail of an agent, oldest first, each entry as "operation decision error".
func (e *env) wantTrail(t *testing.T, id ident.Agent, want ...string) []agent.Attempt {
	t.Helper()
	page, err := e.Store.AgentAttempts(t.Context(), e.Platform.ID,
		ports.AgentAttemptFilter{Agent: id, Paging: ports.Paging{Limit: 100, Ascending: true}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range page.Items {
		line := string(a.Operation) + " " + string(a.Decision)
		if a.Error != "" {
			line += " " + string(a.Error)
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the trail is %q, want %q", got, want)
	}
	return page.Items
}

func TestService_AgentManagesAccounts(t *testing.T) {
	t.Parallel()
	// An agent registers and deletes accounts of its customer, and each is in its trail. A repeated request
	// changes and records nothing more; what the request cannot name is not recorded. An agent cannot choose the
	// account that payments to the customer are sent on to.
	e := newEnv(t)
	caller := e.manager(t)
	request := apptest.IdempotentRequest(caller, "key", nil)
	request.Agent = caller.Agent

	created, err := e.accounts.CreateForAgent(t.Context(), caller, request, bankRequest(ident.Customer{}, "123456789"))
	if err != nil || created.Customer != e.Customer.ID {
		t.Fatalf("created %+v, %v", created, err)
	}

	_, err = e.accounts.CreateForAgent(t.Context(), caller, request, bankRequest(ident.Customer{}, "123456789"))
	if replay := (*ports.Replay)(nil); !errors.As(err, &replay) {
		t.Errorf("repeated: %v", err)
	}
	_, err = e.accounts.CreateForAgent(t.Context(), caller, nil, bankRequest(e.Customer.ID, "123456789"))
	apptest.WantFault(t, "registered already", err, fault.Conflict)
	_, err = e.accounts.CreateForAgent(t.Context(), caller, nil, bankRequest(e.NewCustomer("bob").ID, "123456789"))
	apptest.WantFault(t, "of another customer", err, fault.UserNotFound)
	deposits := walletRequest(e.Customer.ID, "spark1agent")
	deposits.DefaultUMADeposit = true
	_, err = e.accounts.CreateForAgent(t.Context(), caller, nil, deposits)
	apptest.WantFault(t, "for deposits", err, fault.InvalidInput, "defaultUmaDepositAccount")
	if err := e.accounts.DeleteForAgent(t.Context(), caller, created.ID); err != nil {
		t.Fatal(err)
	}
	apptest.WantFault(t, "deleted again", e.accounts.DeleteForAgent(t.Context(), caller, created.ID), fault.ExternalAccountNotFound)
	platforms, err := e.accounts.Create(t.Context(), e.Admin, nil, walletRequest(ident.Customer{}, "spark1ana"))
	if err != nil {
		t.Fatal(err)
	}
	apptest.WantFault(t, "of the platform", e.accounts.DeleteForAgent(t.Context(), caller, platforms.ID), fault.ExternalAccountNotFound)

	entries := e.wantTrail(t, caller.Agent, "CREATE_EXTERNAL_ACCOUNT ALLOWED", "CREATE_EXTERNAL_ACCOUNT ALLOWED CONFLICT",
		"DELETE_EXTERNAL_ACCOUNT ALLOWED")
	if entries[0].External != created.ID || !entries[1].External.IsZero() || entries[2].External != created.ID ||
		entries[0].Customer != e.Customer.ID {
		t.Errorf("recorded %+v", entries)
	}
}

func TestService_PolicyRefusesAccounts(t *testing.T) {
	t.Parallel()
	// Without the permission, or while it is paused, an agent changes no account, and that is in its trail. A
	// deleted agent is refused like a wrong token.
	e := newEnv(t)
	caller := e.manager(t)
	kept, err := e.accounts.CreateForAgent(t.Context(), caller, nil, bankRequest(ident.Customer{}, "123456789"))
	if err != nil {
		t.Fatal(err)
	}
	create := func() error {
		_, err := e.accounts.CreateForAgent(t.Context(), caller, nil, bankRequest(ident.Customer{}, "987654321"))
		return err
	}
	remove := func() error { return e.accounts.DeleteForAgent(t.Context(), caller, kept.ID) }

	e.setPolicy(t, caller.Agent, func(a *agent.Agent) { a.Paused = true })
	apptest.WantFault(t, "create while paused", create(), fault.Forbidden)
	apptest.WantFault(t, "delete while paused", remove(), fault.Forbidden)
	e.setPolicy(t, caller.Agent, func(a *agent.Agent) { a.Paused, a.Policy.Permissions = false, []agent.Permission{agent.CreateQuotes} })
	apptest.WantFault(t, "create without permission", create(), fault.Forbidden)
	apptest.WantFault(t, "delete without permission", remove(), fault.Forbidden)

	e.wantTrail(t, caller.Agent, "CREATE_EXTERNAL_ACCOUNT ALLOWED", "CREATE_EXTERNAL_ACCOUNT REFUSED", "DELETE_EXTERNAL_ACCOUNT REFUSED",
		"CREATE_EXTERNAL_ACCOUNT REFUSED", "DELETE_EXTERNAL_ACCOUNT REFUSED")
	if page, err := e.accounts.ListForAgent(t.Context(), caller, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
		len(page.Items) != 1 || page.Items[0].ID != kept.ID {
		t.Errorf("listed %+v, %v", page.Items, err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteAgent(ctx, e.Platform.ID, caller.Agent)
	})
	apptest.WantFault(t, "create after deletion", create(), fault.Unauthorized)
	apptest.WantFault(t, "delete after deletion", remove(), fault.Unauthorized)
}

func TestService_AgentsAccountIsVerified(t *testing.T) {
	t.Parallel()
	// An account that does not exist is refused, which is in the trail of the agent.
	e := newEnv(t)
	caller := e.manager(t)
	_, err := e.accounts.CreateForAgent(t.Context(), caller, nil, bankRequest(ident.Customer{}, "123456105"))
	apptest.WantFault(t, "an unknown account", err, fault.InvalidBankAccount)
	e.wantTrail(t, caller.Agent, "CREATE_EXTERNAL_ACCOUNT ALLOWED INVALID_BANK_ACCOUNT")
}
