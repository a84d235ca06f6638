package agent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

var (
	now     = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	acme, _ = ident.ParsePlatform("PlatformConfig:019542f5-b3e7-7d02-8000-000000000001")
	anaID   = id[ident.Customer](1)
	ana     = customer.Customer{ID: anaID, Platform: acme}
	agentID = id[ident.Agent](1)
	dollars = account.Internal{ID: id[ident.InternalAccount](1), Platform: acme, Customer: anaID, Currency: "USD"}
	euros   = account.Internal{ID: id[ident.InternalAccount](2), Platform: acme, Customer: anaID, Currency: "EUR"}
	foreign = id[ident.InternalAccount](9)
	owned   = []account.Internal{dollars, euros}
)

// id returns the id with a number.
func id[T interface {
	Parse(string) (T, error)
	Prefix() string
}](n byte) (parsed T) {
	parsed, err := parsed.Parse(parsed.Prefix() + ":" + uuid.UUID{6: 0x70, 15: n}.String())
	if err != nil {
		panic(err)
	}
	return parsed
}

func ptr[T any](value T) *T { return &value }

// valid returns a request with a policy that has every field.
func valid() agent.Request {
	return agent.Request{Name: "Shopping assistant", Customer: anaID, Policy: agent.PolicyChange{
		Permissions: ptr([]string{"VIEW_TRANSACTIONS", "CREATE_QUOTES"}),
		DefaultMode: ptr("AUTO"),
		Limits: &agent.LimitsChange{Currency: ptr("USD"), PerTransaction: ptr(int64(50_00)), Daily: ptr(ptr(int64(200_00))),
			DailyTransactions: ptr(ptr(int64(20))), Monthly: ptr(ptr(int64(1000_00)))},
		AllowedAccounts: ptr([]ident.InternalAccount{dollars.ID, euros.ID}),
		AccountRules: ptr([]agent.AccountRuleRequest{{Account: euros.ID, Mode: "APPROVAL_REQUIRED", PerTransaction: ptr(int64(10_00))},
			{Account: dollars.ID}}),
		Threshold: &agent.ThresholdChange{Currency: ptr("EUR"), Amount: ptr(ptr(int64(0)))},
	}}
}

func create(t rapid.TB, r agent.Request) agent.Agent {
	t.Helper()
	created, err := agent.New(r, ana, owned, agentID, now)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// badFields returns the invalid fields of an INVALID_INPUT.
func badFields(t testing.TB, err error) (fields []string) {
	t.Helper()
	refused, ok := fault.As(err)
	if !ok || refused.Code != fault.InvalidInput {
		t.Fatalf("%v is not INVALID_INPUT", err)
	}
	for _, f := range refused.Fields {
		fields = append(fields, f.Field)
	}
	return fields
}

func TestNew_RefusesEachInvalidField(t *testing.T) {
	t.Parallel()
	// All invalid fields of the agent and of its policy are named in one fault.
	r := valid()
	r.Name, r.Policy.DefaultMode = " ", ptr("SOMETIMES")
	_, err := agent.New(r, ana, owned, agentID, now)
	if got, want := badFields(t, err), []string{"name", "policy.defaultExecutionMode"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for name, accepted := range map[string]bool{
		"a": true, "Ана's assistant <3": true, strings.Repeat("é", 100): true,
		"": false, strings.Repeat("a", 101): false, "two\nlines": false, "\t": false, "a\x00": false, "\xff": false,
	} {
		r := valid()
		r.Name = name
		if _, err := agent.New(r, ana, owned, agentID, now); (err == nil) != accepted {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestNew_OnlyOfExistingCustomer(t *testing.T) {
	t.Parallel()
	// A deleted customer can have no agent; the agent of another customer is a mistake of the program.
	deleted := ana
	deleted.DeletedAt = now
	if _, err := agent.New(valid(), deleted, owned, agentID, now); !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("deleted: %v", err)
	}
	r := valid()
	r.Customer = id[ident.Customer](2)
	if _, err := agent.New(r, ana, owned, agentID, now); err == nil || fault.Is(err, fault.InvalidInput) {
		t.Errorf("another customer: %v", err)
	}
	if _, err := agent.New(valid(), ana, owned, ident.Agent{}, now); err == nil {
		t.Error("without an id")
	}
	created := create(t, valid())
	if created.ID != agentID || created.Platform != acme || created.Customer != anaID || created.Paused || created.Connected() ||
		!created.CreatedAt.Equal(now) || !created.UpdatedAt.Equal(now) {
		t.Errorf("created %+v", created)
	}
}

func TestAgent_UpdateChangesGivenFields(t *testing.T) {
	t.Parallel()
	// Only given fields change, at least one has to be given, and the time of the update increases.
	before := create(t, valid())
	for name, c := range map[string]struct {
		change     agent.Change
		wantName   string
		wantPaused bool
	}{
		"name":  {agent.Change{Name: ptr("Other")}, "Other", false},
		"pause": {agent.Change{Paused: ptr(true)}, before.Name, true},
		"both":  {agent.Change{Name: ptr("Other"), Paused: ptr(true)}, "Other", true},
		"same":  {agent.Change{Paused: ptr(false)}, before.Name, false},
	} {
		after, err := before.Update(c.change, now)
		if err != nil || after.Name != c.wantName || after.Paused != c.wantPaused || !after.UpdatedAt.After(before.UpdatedAt) {
			t.Errorf("%s: %+v, %v", name, after, err)
		}
	}
	if _, err := before.Update(agent.Change{}, now); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := before.Update(agent.Change{Name: ptr("")}, now); !slices.Equal(badFields(t, err), []string{"name"}) {
		t.Errorf("empty name: %v", err)
	}
	later := now.Add(time.Hour)
	if after, err := before.Update(agent.Change{Paused: ptr(true)}, later); err != nil || !after.UpdatedAt.Equal(later) {
		t.Errorf("later: %+v, %v", after, err)
	}
}

func TestAgent_UsageOfUTC(t *testing.T) {
	t.Parallel()
	// The day and the month of the usage are those of UTC, wherever the time was read.
	east := time.Date(2026, 4, 1, 1, 0, 0, 0, time.FixedZone("", 2*60*60))
	got, err := create(t, valid()).UsageAt(nil, east, nil)
	if want := (agent.Usage{Day: "2026-03-31", Month: "2026-03"}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	// Each of the two resources has a code of its own.
	if err := agent.NotFound(agentID); !fault.Is(err, fault.AgentNotFound) || !strings.Contains(err.Error(), agentID.String()) {
		t.Error(err)
	}
	if err := agent.DeviceCodeNotFound(); !fault.Is(err, fault.DeviceCodeNotFound) || errors.Is(err, agent.NotFound(agentID)) {
		t.Error(err)
	}
}
