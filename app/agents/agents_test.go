package agents_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rates/market"
	"causeway/app/agents"
	"causeway/app/internal/apptest"
	"causeway/app/internal/prices"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type env struct {
	*apptest.Env
	t       *testing.T
	agents  *agents.Service
	dollars account.Internal
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), t: t}
	e.agents = e.newService(e.Store)
	e.dollars = e.NewInternalAccount(e.Customer.ID, "USD", 0)
	return e
}

func (e *env) newService(store agents.Store) *agents.Service {
	return agents.New(agents.Config{Store: store, Prices: prices.New(e.Store, market.New("test"), e.Clock), Clock: e.Clock, IDs: e.IDs})
}

func ptr[T any](value T) *T { return &value }

// request is a valid request for an agent of the customer of the environment.
func (e *env) request(edits ...func(*agent.Request)) agent.Request {
	r := agent.Request{Name: "Shopping assistant", Customer: e.Customer.ID, Policy: agent.PolicyChange{
		Permissions: ptr([]string{"CREATE_QUOTES"}), DefaultMode: ptr("AUTO"), Limits: &agent.LimitsChange{Currency: ptr("USD"),
			PerTransaction: ptr(int64(50_00))},
		AllowedAccounts: ptr([]ident.InternalAccount{e.dollars.ID}),
	}}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func (e *env) create(edits ...func(*agent.Request)) agents.Created {
	e.t.Helper()
	created, err := e.agents.Create(e.t.Context(), e.Platform.ID, platform.Service, nil, e.request(edits...))
	if err != nil {
		e.t.Fatal(err)
	}
	return created
}

func TestService_CreateShowsCodeOnce(t *testing.T) {
	t.Parallel()
	// The first response has the code. Neither the stored response for a repeated request nor the database
	// contains it, nor the name of the agent in a list of the other platform.
	e := newEnv(t)
	var sent string
	request := apptest.IdempotentRequest(e.Admin, "key",
		func(result any) string { sent = "code:" + result.(agents.Created).Code.Code; return sent })

	created, err := e.agents.Create(t.Context(), e.Platform.ID, platform.Service, request, e.request())
	if err != nil {
		t.Fatal(err)
	}

	if code, ok := agent.ParseDeviceCode(created.Code.Code); !ok || code != created.Code.Code || sent != "code:"+code ||
		!created.Code.ExpiresAt.Equal(e.Clock.Now().Add(24*time.Hour)) {
		t.Errorf("created %+v, sent %q", created.Code, sent)
	}
	want := agent.Usage{Day: "2026-03-14", Month: "2026-03"}
	if read, err := e.agents.Get(t.Context(), e.Platform.ID, created.Agent.ID); err != nil || !reflect.DeepEqual(read, created.Agent) ||
		read.Usage != want || read.Connected() || read.Name != "Shopping assistant" {
		t.Errorf("read %+v, %v, created %+v", read, err, created.Agent)
	}
	_, err = e.agents.Create(t.Context(), e.Platform.ID, platform.Service, request, e.request())
	if replay := (*ports.Replay)(nil); !errors.As(err, &replay) || string(replay.Body) != "code:" {
		t.Errorf("repeated: %+v, %v", replay, err)
	}
	for _, query := range []string{`SELECT encode(hash, 'escape') FROM agent_device_codes`,
		`SELECT encode(body, 'escape') FROM idempotency_keys`, `SELECT a::text FROM agents a`} {
		rows := e.QueryStrings(query)
		if len(rows) != 1 || strings.Contains(rows[0], created.Code.Code) {
			t.Errorf("%s: %q", query, rows)
		}
	}
}

func TestService_CreateRefusesOtherCustomersAndAccounts(t *testing.T) {
	t.Parallel()
	// The customer must exist on the platform and not be deleted, and the accounts of the policy must be its own.
	e := newEnv(t)
	gone := e.NewCustomer("gone", func(c *customer.Customer) { c.DeletedAt = e.Clock.Now() })
	bob := e.NewCustomer("bob")
	bobs := e.NewInternalAccount(bob.ID, "USD", 0)
	own := e.NewInternalAccount(ident.Customer{}, "USD", 0)
	other := e.NewPlatform()
	theirs := e.NewCustomer("theirs", func(c *customer.Customer) { c.Platform = other.ID })
	theirAccount := e.NewInternalAccountOn(other.ID, theirs.ID, "USD", 0)

	for name, c := range map[string]struct {
		customer ident.Customer
		accounts []ident.InternalAccount
		want     fault.Code
		fields   []string
	}{
		"unknown":           {ident.NewCustomer(e.IDs.New, e.Clock.Now()), nil, fault.UserNotFound, nil},
		"of other platform": {theirs.ID, []ident.InternalAccount{theirAccount.ID}, fault.UserNotFound, nil},
		"deleted":           {gone.ID, nil, fault.CustomerDeleted, nil},
		"foreign accounts": {e.Customer.ID, []ident.InternalAccount{e.dollars.ID, bobs.ID, own.ID, theirAccount.ID}, fault.InvalidInput,
			[]string{"policy.accountRestrictions.allowedAccountIds[1]", "policy.accountRestrictions.allowedAccountIds[2]",
				"policy.accountRestrictions.allowedAccountIds[3]"}},
	} {
		_, err := e.agents.Create(t.Context(), e.Platform.ID, platform.Service, nil,
			e.request(func(r *agent.Request) { r.Customer, r.Policy.AllowedAccounts = c.customer, &c.accounts }))
		apptest.WantFault(t, name, err, c.want, c.fields...)
	}
	if page, err := e.agents.List(t.Context(), e.Platform.ID, ports.AgentFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
		len(page.Items) != 0 {
		t.Errorf("listed %+v, %v", page, err)
	}
}

func TestService_UpdateIsEffectiveInEveryProcess(t *testing.T) {
	t.Parallel()
	// A change of the name, the pause or the policy is read by another process at once. What a refused one
	// would have changed stays.
	e := newEnv(t)
	created := e.create()
	process := e.newService(e.Store)
	e.Clock.Advance(time.Minute)

	paused, err := e.agents.Update(t.Context(), e.Platform.ID, platform.Service, created.Agent.ID, agent.Change{Name: ptr("Other"),
		Paused: ptr(true)})
	if err != nil || !paused.Paused || paused.Name != "Other" || !paused.UpdatedAt.Equal(e.Clock.Now()) {
		t.Fatalf("updated %+v, %v", paused, err)
	}
	changed, err := e.agents.UpdatePolicy(t.Context(), e.Platform.ID, platform.Service, created.Agent.ID, agent.PolicyChange{
		Permissions: ptr([]string{"VIEW_TRANSACTIONS"}), Limits: &agent.LimitsChange{Currency: ptr("EUR"), Daily: ptr(ptr(int64(7)))},
		AccountRules: ptr([]agent.AccountRuleRequest{{Account: e.dollars.ID, Mode: "APPROVAL_REQUIRED"}}),
		Threshold:    &agent.ThresholdChange{Currency: ptr("USD"), Amount: ptr(ptr(int64(0)))}})
	want := created.Agent.Policy
	want.Permissions, want.Limits.Currency, want.Limits.Daily = []agent.Permission{agent.ViewTransactions}, "EUR", 7
	want.AccountRules, want.Threshold = []agent.AccountRule{{Account: e.dollars.ID, Mode: agent.ApprovalRequired}},
		agent.ApprovalThreshold{Currency: "USD", Amount: ptr(int64(0))}
	if err != nil || !reflect.DeepEqual(changed.Policy, want) || changed.Name != "Other" || !changed.Paused {
		t.Fatalf("updated %+v, %v", changed, err)
	}
	_, refused := e.agents.UpdatePolicy(t.Context(), e.Platform.ID, platform.Service, created.Agent.ID,
		agent.PolicyChange{Permissions: ptr([]string{}),
			DefaultMode:     ptr("APPROVAL_REQUIRED"),
			AllowedAccounts: ptr([]ident.InternalAccount{e.NewInternalAccount(ident.Customer{}, "EUR", 0).ID})})
	apptest.WantFault(t, "invalid policy", refused, fault.InvalidInput, "permissions", "accountRestrictions.allowedAccountIds[0]")
	_, refused = e.agents.Update(t.Context(), e.Platform.ID, platform.Service, created.Agent.ID, agent.Change{Name: ptr(""),
		Paused: ptr(false)})
	apptest.WantFault(t, "invalid name", refused, fault.InvalidInput, "name")

	if read, err := process.Get(t.Context(), e.Platform.ID, created.Agent.ID); err != nil || !reflect.DeepEqual(read, changed) {
		t.Errorf("read %+v, %v\nwant %+v", read, err, changed)
	}
	recorded := e.QueryStrings(`SELECT actor || ' ' || (f ->> 'field') || ' ' || (f ->> 'after') FROM operator_actions, jsonb_array_elements(changes) f
		WHERE action = 'UPDATE_AGENT' AND subject_id = $1 AND f ->> 'field' IN ('isPaused', 'permissions', 'spendingLimits.dailyLimit') ORDER BY id, 1`, created.Agent.ID.UUID())
	if want := []string{"(service) isPaused true", "(service) permissions VIEW_TRANSACTIONS",
		"(service) spendingLimits.dailyLimit 0.07 EUR"}; !slices.Equal(
		recorded, want) {
		t.Errorf("recorded %q, want %q", recorded, want)
	}
}

func TestService_OtherPlatformsAgentsAreNotFound(t *testing.T) {
	t.Parallel()
	// For another platform, the agent and its code do not exist, and nothing changes them.
	e := newEnv(t)
	created := e.create()
	there := e.NewPlatform().ID

	for name, call := range map[string]func() error{
		"get": func() error { _, err := e.agents.Get(t.Context(), there, created.Agent.ID); return err },
		"update": func() error {
			_, err := e.agents.Update(t.Context(), there, platform.Service, created.Agent.ID, agent.Change{Paused: ptr(true)})
			return err
		},
		"policy": func() error {
			_, err := e.agents.UpdatePolicy(t.Context(), there, platform.Service, created.Agent.ID,
				agent.PolicyChange{DefaultMode: ptr("APPROVAL_REQUIRED")})
			return err
		},
		"issue":  func() error { _, err := e.agents.IssueCode(t.Context(), there, nil, created.Agent.ID); return err },
		"delete": func() error { return e.agents.Delete(t.Context(), there, platform.Service, created.Agent.ID) },
	} {
		apptest.WantFault(t, name, call(), fault.AgentNotFound)
	}
	for name, ctx := range map[string]context.Context{"their scope": ports.ForPlatform(t.Context(), there),
		"all platforms": ports.ForAllPlatforms(t.Context())} {
		_, err := e.agents.CodeStatus(ctx, there, created.Code.Code)
		apptest.WantFault(t, name, err, fault.DeviceCodeNotFound)
	}
	if read, err := e.agents.Get(t.Context(), e.Platform.ID, created.Agent.ID); err != nil || !reflect.DeepEqual(read, created.Agent) {
		t.Errorf("read %+v, %v", read, err)
	}
}

func TestService_ListFilters(t *testing.T) {
	t.Parallel()
	// Agents are listed newest first, by customer, pause, connection, and times.
	e := newEnv(t)
	bob := e.NewCustomer("bob")
	first := e.create()
	e.Clock.Advance(time.Hour)
	second := e.create(func(r *agent.Request) { r.Customer, r.Policy.AllowedAccounts = bob.ID, nil })
	e.Clock.Advance(time.Hour)
	third := e.create()
	if _, err := e.agents.Redeem(t.Context(), first.Code.Code); err != nil {
		t.Fatal(err)
	}
	if _, err := e.agents.Update(t.Context(), e.Platform.ID, platform.Service, second.Agent.ID, agent.Change{Paused: ptr(true)}); err != nil {
		t.Fatal(err)
	}

	a, b, c := first.Agent.ID, second.Agent.ID, third.Agent.ID
	for name, test := range map[string]struct {
		filter ports.AgentFilter
		want   []ident.Agent
	}{
		"all":           {ports.AgentFilter{}, []ident.Agent{c, b, a}},
		"customer":      {ports.AgentFilter{Customer: e.Customer.ID}, []ident.Agent{c, a}},
		"paused":        {ports.AgentFilter{Paused: ptr(true)}, []ident.Agent{b}},
		"not paused":    {ports.AgentFilter{Paused: ptr(false)}, []ident.Agent{c, a}},
		"connected":     {ports.AgentFilter{Connected: ptr(true)}, []ident.Agent{a}},
		"not connected": {ports.AgentFilter{Connected: ptr(false), Customer: e.Customer.ID}, []ident.Agent{c}},
		"next page":     {ports.AgentFilter{Paging: ports.Paging{After: c.UUID()}}, []ident.Agent{b, a}},
	} {
		test.filter.Limit = 10
		page, err := e.agents.List(t.Context(), e.Platform.ID, test.filter)
		var got []ident.Agent
		for _, item := range page.Items {
			got = append(got, item.ID)
		}
		if err != nil || !reflect.DeepEqual(got, test.want) || page.More {
			t.Errorf("%s: %v, %v, want %v", name, got, err, test.want)
		}
	}
	later := ports.AgentFilter{Paging: ports.Paging{Limit: 1}}
	later.Created.From = second.Agent.CreatedAt
	if page, err := e.agents.List(t.Context(), e.Platform.ID, later); err != nil || len(page.Items) != 1 || !page.More || page.Total != 2 {
		t.Errorf("created later: %+v, %v", page, err)
	}
	later = ports.AgentFilter{Paging: ports.Paging{Limit: 10}}
	later.Updated.To = third.Agent.UpdatedAt
	if page, err := e.agents.List(t.Context(), e.Platform.ID, later); err != nil || len(page.Items) != 0 {
		t.Errorf("updated before: %+v, %v", page, err)
	}
}
