package agents_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/agents"
	"causeway/app/internal/apptest"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// pair redeems a code of a new agent.
func (e *env) pair() agents.Paired {
	e.t.Helper()
	paired, err := e.agents.Redeem(e.t.Context(), e.create().Code.Code)
	if err != nil {
		e.t.Fatal(err)
	}
	return paired
}

func TestService_RedeemConnectsOnce(t *testing.T) {
	t.Parallel()
	// A code is redeemed once, as a person types it, for a token that no table contains. The agent is then
	// connected: it has no new codes, and its token authenticates it in every process.
	e := newEnv(t)
	created := e.create()
	p, code := e.Platform.ID, created.Code.Code
	if status, err := e.agents.CodeStatus(t.Context(), p, code); err != nil || status.Redeemed() || status.Code != code {
		t.Errorf("before: %+v, %v", status, err)
	}
	e.Clock.Advance(24*time.Hour - time.Second)

	paired, err := e.agents.Redeem(t.Context(), strings.ToLower(strings.ReplaceAll(code, "-", " ")))
	if err != nil || paired.Agent.ID != created.Agent.ID || paired.Agent.Name != created.Agent.Name || !paired.Agent.Connected() {
		t.Fatalf("redeemed %+v, %v", paired, err)
	}

	e.WantChanges(platform.ConnectedAgent, "(agent): isConnected false → true")
	_, again := e.agents.Redeem(t.Context(), code)
	apptest.WantFault(t, "redeemed again", again, fault.DeviceCodeAlreadyRedeemed)
	if status, err := e.agents.CodeStatus(t.Context(), p, strings.ToLower(code)); err != nil || !status.Redeemed() || status.Code != code ||
		status.Agent != created.Agent.ID {
		t.Errorf("after: %+v, %v", status, err)
	}
	_, issued := e.agents.IssueCode(t.Context(), p, nil, created.Agent.ID)
	apptest.WantFault(t, "a code for a connected agent", issued, fault.Conflict)
	want := platform.Principal{Platform: p, Environment: platform.Sandbox, Agent: created.Agent.ID, Customer: e.Customer.ID,
		Permissions: []platform.Permission{"CREATE_QUOTES"}}
	for name, process := range map[string]*agents.Service{"this process": e.agents,
		"another one": e.newService(e.Store)} {
		got, err := process.Authenticate(ports.ForPlatform(t.Context(), e.NewPlatform().ID), paired.AccessToken)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, row := range e.QueryStrings(`SELECT a::text FROM agents a UNION ALL SELECT c::text FROM agent_device_codes c`) {
		if strings.Contains(row, paired.AccessToken) || strings.Contains(row, strings.TrimPrefix(paired.AccessToken, "agt_")) {
			t.Errorf("the token is stored: %s", row)
		}
	}
}

func TestService_RedeemOnceOfManyAtOnce(t *testing.T) {
	t.Parallel()
	// Of many programs that redeem one code at the same time, one gets a token, and that token works.
	e := newEnv(t)
	code := e.create().Code.Code
	var mu sync.Mutex
	var tokens []string
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			paired, err := e.agents.Redeem(t.Context(), code)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				tokens = append(tokens, paired.AccessToken)
			} else if !fault.Is(err, fault.DeviceCodeAlreadyRedeemed) {
				t.Error(err)
			}
		})
	}
	running.Wait()

	if len(tokens) != 1 {
		t.Fatalf("%d programs were connected", len(tokens))
	}
	if _, err := e.agents.Authenticate(t.Context(), tokens[0]); err != nil {
		t.Error(err)
	}
}

func TestService_CodesThatCannotBeRedeemed(t *testing.T) {
	t.Parallel()
	// A code that is unknown, expired, replaced by a newer one, or of a deleted agent connects nothing.
	e := newEnv(t)
	expired, replaced, deleted := e.create(), e.create(), e.create()
	if err := e.agents.Delete(t.Context(), e.Platform.ID, platform.Service, deleted.Agent.ID); err != nil {
		t.Fatal(err)
	}
	var sent string
	request := apptest.IdempotentRequest(e.Admin, "key",
		func(result any) string { sent = "code:" + result.(agents.IssuedCode).Code; return sent })
	newer, err := e.agents.IssueCode(t.Context(), e.Platform.ID, request, replaced.Agent.ID)
	if err != nil || sent != "code:"+newer.Code || newer.Code == replaced.Code.Code {
		t.Fatalf("issued %+v, sent %q, %v", newer, sent, err)
	}
	_, err = e.agents.IssueCode(t.Context(), e.Platform.ID, request, replaced.Agent.ID)
	if replay := (*ports.Replay)(nil); !errors.As(err, &replay) || string(replay.Body) != "code:" {
		t.Errorf("repeated: %+v, %v", replay, err)
	}

	for text, want := range map[string]fault.Code{
		replaced.Code.Code: fault.DeviceCodeExpired, deleted.Code.Code: fault.DeviceCodeNotFound,
		"AGENT-0000-0000": fault.DeviceCodeNotFound, "": fault.DeviceCodeNotFound, "not a code": fault.DeviceCodeNotFound,
	} {
		_, err := e.agents.Redeem(t.Context(), text)
		apptest.WantFault(t, text, err, want)
	}
	if _, err := e.agents.Redeem(t.Context(), newer.Code); err != nil {
		t.Errorf("the newer code: %v", err)
	}
	e.Clock.Advance(24 * time.Hour)
	_, err = e.agents.Redeem(t.Context(), expired.Code.Code)
	apptest.WantFault(t, "expired", err, fault.DeviceCodeExpired)
	if renewed, err := e.agents.IssueCode(t.Context(), e.Platform.ID, nil, expired.Agent.ID); err != nil ||
		!renewed.ExpiresAt.Equal(e.Clock.Now().Add(24*time.Hour)) {
		t.Errorf("renewed %+v, %v", renewed, err)
	}
}

func TestService_TokenEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	// The token of a deleted agent, and those of the agents of a deleted customer, are refused at once and in
	// every process; that of a paused agent is not. All refusals are the same.
	e := newEnv(t)
	deleted, orphan, paused := e.pair(), e.pair(), e.pair()
	process := e.newService(e.Store)
	if _, err := e.agents.Update(t.Context(), e.Platform.ID, platform.Service, paused.Agent.ID, agent.Change{Paused: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	refused := func(name, token string) string {
		t.Helper()
		var message string
		for _, service := range []*agents.Service{e.agents, process} {
			_, err := service.Authenticate(t.Context(), token)
			apptest.WantFault(t, name, err, fault.Unauthorized)
			message = err.Error()
		}
		return message
	}

	if err := e.agents.Delete(t.Context(), e.Platform.ID, platform.Service, deleted.Agent.ID); err != nil {
		t.Fatal(err)
	}
	first := refused("deleted", deleted.AccessToken)
	if _, err := process.Authenticate(t.Context(), paused.AccessToken); err != nil {
		t.Errorf("paused: %v", err)
	}
	apptest.WantFault(t, "deleted again", e.agents.Delete(t.Context(), e.Platform.ID, platform.Service, deleted.Agent.ID),
		fault.AgentNotFound)
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteAgentsOf(ctx, e.Platform.ID, e.Customer.ID)
	})
	messages := []string{refused("of a deleted customer", orphan.AccessToken), refused("of a deleted customer, paused", paused.AccessToken),
		refused("never issued", agent.FormatToken([32]byte{})), refused("malformed", "agt_"), refused("empty", "")}
	for _, message := range messages {
		if message != first {
			t.Errorf("%q differs from %q", message, first)
		}
	}
	_, err := e.agents.Get(t.Context(), e.Platform.ID, orphan.Agent.ID)
	apptest.WantFault(t, "of a deleted customer", err, fault.AgentNotFound)
	_, err = e.agents.Self(t.Context(), platform.Principal{Platform: e.Platform.ID, Agent: orphan.Agent.ID})
	apptest.WantFault(t, "deleted after its token was checked", err, fault.Unauthorized)
}

// deletingStore deletes an agent between the search for a code and the unit of work that redeems it.
type deletingStore struct {
	agents.Store
	agent agent.Agent
}

func (s deletingStore) DeviceCode(ctx context.Context, hash agent.DeviceCodeHash) (agent.DeviceCode, error) {
	found, err := s.Store.DeviceCode(ctx, hash)
	if err == nil {
		err = ports.Do(ctx, s, func(ctx context.Context, tx agents.Tx) error {
			return tx.DeleteAgent(ctx, s.agent.Platform, s.agent.ID)
		})
	}
	return found, err
}

func TestService_RedeemWhileAgentIsDeleted(t *testing.T) {
	t.Parallel()
	// A code whose agent is deleted meanwhile is as unknown as it is afterwards.
	e := newEnv(t)
	created := e.create()
	_, err := e.newService(deletingStore{e.Store, created.Agent.Agent}).Redeem(t.Context(), created.Code.Code)
	apptest.WantFault(t, "deleted meanwhile", err, fault.DeviceCodeNotFound)
}

// brokenStore cannot read tokens.
type brokenStore struct{ agents.Store }

var errBroken = errors.New("no connection")

func (brokenStore) AgentTokens(context.Context, []agent.TokenHash) (map[agent.TokenHash]ports.AgentToken, error) {
	return nil, errBroken
}

func TestService_AuthenticateWithoutDatabase(t *testing.T) {
	t.Parallel()
	// A token that cannot be looked up is not refused, so that no program takes itself for disconnected.
	e := newEnv(t)
	if _, err := e.newService(brokenStore{e.Store}).Authenticate(t.Context(),
		e.pair().AccessToken); !errors.Is(err, errBroken) {
		t.Errorf("%v, want %v", err, errBroken)
	}
}
