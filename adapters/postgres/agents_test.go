package postgres_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

func newAgent(owner customer.Customer) agent.Agent {
	return agent.Agent{ID: ident.NewAgent(generator.New, noon), Platform: owner.Platform, Customer: owner.ID, Name: "Ana's assistant",
		CreatedAt: noon, UpdatedAt: noon,
		Policy: agent.Policy{Permissions: []agent.Permission{agent.CreateQuotes}, DefaultMode: agent.Auto,
			Limits: agent.SpendingLimits{Currency: "USD", PerTransaction: 1}}}
}

func newDeviceCode(a agent.Agent, n byte, at time.Time) agent.DeviceCode {
	return agent.DeviceCode{Platform: a.Platform, Agent: a.ID, Hash: agent.DeviceCodeHash{n}, CreatedAt: at,
		ExpiresAt: at.Add(agent.DeviceCodeLifetime)}
}

func TestAgents_ReadAsStored(t *testing.T) {
	t.Parallel()
	// Every field of an agent and its policy is read as it was stored last. The name, which can be that of a
	// person, is stored encrypted.
	c := newEnv(t)
	db := openEncrypting(t, c)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	small, zero := newAgent(ana), int64(0)
	dollars, euros := ident.NewInternalAccount(generator.New, noon), ident.NewInternalAccount(generator.New, noon)
	full := small
	full.Name, full.Paused, full.TokenHash, full.ConnectedAt, full.UpdatedAt = "Other", true, agent.TokenHash{1, 2}, noon.Add(time.Minute),
		noon.Add(time.Hour)
	full.Policy = agent.Policy{
		Permissions: agent.Permissions, DefaultMode: agent.ApprovalRequired,
		Limits: agent.SpendingLimits{Currency: "EUR", PerTransaction: money.MaxMinor, Daily: money.MaxMinor,
			DailyTransactions: 7, Monthly: 8},
		AllowedAccounts: []ident.InternalAccount{dollars, euros},
		AccountRules:    []agent.AccountRule{{Account: euros, Mode: agent.Auto, PerTransaction: 9}, {Account: dollars}},
		Threshold:       agent.ApprovalThreshold{Currency: "JPY", Amount: &zero},
	}
	none := full
	none.Policy.AllowedAccounts, none.Policy.AccountRules, none.Policy.Threshold.Amount = []ident.InternalAccount{}, nil, nil

	for i, want := range []agent.Agent{small, full, none} {
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			if i == 0 {
				return tx.CreateAgent(ctx, want)
			}
			if _, err := tx.LockAgent(ctx, want.Platform, want.ID); err != nil {
				return err
			}
			return tx.UpdateAgent(ctx, want)
		}); err != nil {
			t.Fatal(err)
		}
		if got, err := db.Agent(t.Context(), want.Platform, want.ID); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v\nwant %+v", got, err, want)
		}
		if page, err := db.Agents(t.Context(), want.Platform, ports.AgentFilter{Paging: ports.Paging{Limit: 2}}); err != nil ||
			!reflect.DeepEqual(page.Items, []agent.Agent{want}) {
			t.Errorf("listed %+v, %v\nwant %+v", page, err, want)
		}
	}
	var name string
	if err := connect(t, c.url).QueryRow(t.Context(), "SELECT name FROM agents").Scan(&name); err != nil || name == "" ||
		strings.Contains(name, "Other") {
		t.Errorf("stored %q, %v", name, err)
	}
}

func TestAgents_TokensAcrossPlatforms(t *testing.T) {
	t.Parallel()
	// A worker finds agents by the hashes of their tokens; a session of another platform does not. An agent
	// without a token has none to find, nor has that of a deleted customer, and two agents do not share one.
	c := newEnv(t)
	ana, bob, gone := newCustomer(c.platform, "ana"), newCustomer(c.otherPlatform, "bob"), newCustomer(c.platform, "gone")
	gone.DeletedAt = noon
	c.createCustomers(t, ana, bob, gone)
	here, there, idle, orphan := newAgent(ana), newAgent(bob), newAgent(ana), newAgent(gone)
	orphan.TokenHash, orphan.ConnectedAt = agent.TokenHash{3}, noon
	here.TokenHash, here.ConnectedAt, there.TokenHash, there.ConnectedAt = agent.TokenHash{1}, noon, agent.TokenHash{2}, noon
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, a := range []agent.Agent{here, there, idle, orphan} {
			if err := tx.CreateAgent(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
	db := openWith(t, postgres.Options{URL: c.url, MaxConnections: 2, Clock: portstest.NewFakeClock(noon), IDs: generator})
	asked := []agent.TokenHash{{}, {1}, {2}, {3}}
	hereToken := ports.AgentToken{Platform: c.platform.ID, Environment: platform.Sandbox, Agent: here.ID, Customer: ana.ID,
		Permissions: here.Policy.Permissions, Hash: agent.TokenHash{1}}
	thereToken := ports.AgentToken{Platform: c.otherPlatform.ID, Environment: platform.Sandbox, Agent: there.ID, Customer: bob.ID,
		Permissions: there.Policy.Permissions, Hash: agent.TokenHash{2}}

	for name, test := range map[string]struct {
		ctx  context.Context
		want map[agent.TokenHash]ports.AgentToken
	}{
		"worker":       {ports.ForAllPlatforms(t.Context()), map[agent.TokenHash]ports.AgentToken{{1}: hereToken, {2}: thereToken}},
		"one platform": {ports.ForPlatform(t.Context(), c.platform.ID), map[agent.TokenHash]ports.AgentToken{{1}: hereToken}},
		"no scope":     {t.Context(), map[agent.TokenHash]ports.AgentToken{}},
	} {
		if got, err := db.AgentTokens(test.ctx, asked); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	idle.TokenHash, idle.ConnectedAt = here.TokenHash, noon
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateAgent(ctx, idle) }); err == nil {
		t.Error("two agents have one token")
	}
}

func TestDeviceCodes_LatestCanBeRedeemed(t *testing.T) {
	t.Parallel()
	// Another code voids the one before, but not a redeemed one. A code is found by its hash, in the scope of
	// its platform, and is deleted with its agent.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	a := newAgent(ana)
	first, second, third := newDeviceCode(a, 1, noon), newDeviceCode(a, 2, noon.Add(time.Minute)), newDeviceCode(a, 3, noon.Add(time.Hour))
	replace := func(code agent.DeviceCode) func(context.Context, *postgres.Unit) error {
		return func(ctx context.Context, tx *postgres.Unit) error { return tx.ReplaceDeviceCode(ctx, code) }
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateAgent(ctx, a); err != nil {
			return err
		}
		return tx.ReplaceDeviceCode(ctx, first)
	})
	c.mustDo(t, replace(second))
	second.RedeemedAt = noon.Add(30 * time.Minute)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockDeviceCode(ctx, c.otherPlatform.ID, second.Hash); !fault.Is(err, fault.DeviceCodeNotFound) {
			t.Errorf("locked by another platform: %v", err)
		}
		locked, err := tx.LockDeviceCode(ctx, a.Platform, second.Hash)
		if locked.Redeemed() || locked.Agent != a.ID {
			t.Errorf("locked %+v", locked)
		}
		if err != nil {
			return err
		}
		return tx.RedeemDeviceCode(ctx, second)
	})
	c.mustDo(t, replace(third))
	first.VoidedAt = second.CreatedAt
	for _, want := range []agent.DeviceCode{first, second, third} {
		if got, err := c.DeviceCode(t.Context(), want.Hash); err != nil || got != want {
			t.Errorf("read %+v, %v\nwant %+v", got, err, want)
		}
	}
	if _, err := c.DeviceCode(ports.ForPlatform(t.Context(), c.otherPlatform.ID), third.Hash); !fault.Is(err, fault.DeviceCodeNotFound) {
		t.Errorf("in the scope of another platform: %v", err)
	}
	if err := c.Do(t.Context(), replace(third)); err == nil {
		t.Error("two codes have one hash")
	}

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteAgent(ctx, a.Platform, a.ID) })
	for _, code := range []agent.DeviceCode{first, second, third} {
		if _, err := c.DeviceCode(t.Context(), code.Hash); !fault.Is(err, fault.DeviceCodeNotFound) {
			t.Errorf("of a deleted agent: %v", err)
		}
	}
}

func TestDeviceCodes_HashIsKeyed(t *testing.T) {
	t.Parallel()
	// The hash of a code depends on a key that is not in the database, so that codes cannot be tried against a
	// copy of it, and is the same in every process.
	c := newEnv(t)
	db := openEncrypting(t, c)
	other, _ := openWithCipher(t, c)
	const code = "AGENT-K7QF-M2XP"
	plain, err := c.DeviceCodeHash(t.Context(), code)
	keyed, keyedErr := db.DeviceCodeHash(t.Context(), code)
	again, againErr := other.DeviceCodeHash(t.Context(), code)
	if err != nil || keyedErr != nil || againErr != nil || keyed == plain || keyed != again {
		t.Errorf("%x %v, keyed %x %v, again %x %v", plain, err, keyed, keyedErr, again, againErr)
	}
	if another, err := db.DeviceCodeHash(t.Context(), "AGENT-K7QF-M2XQ"); err != nil || another == keyed {
		t.Errorf("another code: %x, %v", another, err)
	}
}

func TestDeleteOld_DeviceCodes(t *testing.T) {
	t.Parallel()
	// Codes that expired before the time are deleted, whether or not they were redeemed; others stay, and so
	// do the agents.
	c := newRetentionEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	for i, age := range []time.Duration{-longBefore, -justBefore, 0, -time.Hour} {
		a := newAgent(ana)
		code := newDeviceCode(a, byte(i), noon.Add(-age-agent.DeviceCodeLifetime))
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if err := tx.CreateAgent(ctx, a); err != nil {
				return err
			}
			if err := tx.ReplaceDeviceCode(ctx, code); err != nil || i == 0 {
				return err
			}
			code.RedeemedAt = code.CreatedAt
			return tx.RedeemDeviceCode(ctx, code)
		})
	}

	c.wantDeleted(t, "agent_device_codes", 2)
	c.wantDeleted(t, "agent_device_codes", 0)
	if n := c.count(t, "agents"); n != 4 {
		t.Errorf("%d agents are left", n)
	}
}
