package agents_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/agents"
	"causeway/app/internal/apptest"
	"causeway/app/internal/prices"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// count counts one payment of an agent at a day.
func (e *env) count(id ident.Agent, day string, currency money.Currency, spent int64) {
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AddAgentUsage(ctx, e.Platform.ID,
			[]ports.AgentCount{{Agent: id, Counter: agent.Counter{Day: day, Currency: currency, Transactions: 1, Spent: spent}}})
	})
}

// fixedRate is a market in which a euro is a dollar and a half, if there is a rate.
type fixedRate struct{ missing error }

func (m fixedRate) Rate(_ context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if from != "EUR" || to != "USD" || m.missing != nil {
		return ports.MarketRate{}, m.missing
	}
	return ports.MarketRate{Rate: money.MustRate("1.5"), At: now}, nil
}

func (e *env) withMarket(m ports.Rates) *agents.Service {
	return agents.New(agents.Config{
		Store: e.Store, Prices: prices.New(e.Store, m, e.Clock), Clock: e.Clock, IDs: e.IDs})
}

func TestService_ShowsUsage(t *testing.T) {
	t.Parallel()
	// The usage is that of the day and the month in the currency of the limits, in every response with the agent.
	e := newEnv(t)
	service := e.withMarket(fixedRate{})
	spender, other := e.create().Agent.ID, e.create().Agent.ID
	e.count(spender, "2026-03-14", "USD", 10_00)
	e.count(spender, "2026-03-14", "EUR", 1)
	e.count(spender, "2026-03-13", "USD", 5_00)
	e.count(spender, "2026-02-28", "USD", 7_00)
	want := agent.Usage{DailyTransactionCount: 2, DailySpend: 10_02, Day: "2026-03-14", MonthlySpend: 15_02, Month: "2026-03"}

	read, err := service.Get(t.Context(), e.Platform.ID, spender)
	if err != nil || read.Usage != want {
		t.Errorf("read %+v, %v, want %+v", read.Usage, err, want)
	}
	page, err := service.List(t.Context(), e.Platform.ID, ports.AgentFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 2 || page.Items[0].ID != other ||
		page.Items[0].Usage != (agent.Usage{Day: want.Day, Month: want.Month}) || page.Items[1].Usage != want {
		t.Errorf("listed %+v, %v", page.Items, err)
	}
	if updated, err := service.Update(t.Context(), e.Platform.ID, platform.Service, spender, agent.Change{Paused: ptr(true)}); err != nil ||
		updated.Usage != want {
		t.Errorf("updated %+v, %v", updated.Usage, err)
	}
}

func TestService_UsageWithoutRate(t *testing.T) {
	t.Parallel()
	// Usage that cannot be converted is not shown as less than it is. The agent can be paused all the same, and operators see what
	// it has sent in each currency.
	e := newEnv(t)
	service := e.withMarket(fixedRate{fault.New(fault.QuoteRequestFailed, "too old")})
	spender := e.create().Agent.ID
	e.count(spender, "2026-03-14", "EUR", 10_00)

	_, err := service.Get(t.Context(), e.Platform.ID, spender)
	apptest.WantFault(t, "read", err, fault.ServiceUnavailable)
	_, err = service.Update(t.Context(), e.Platform.ID, platform.Service, spender, agent.Change{Paused: ptr(true)})
	apptest.WantFault(t, "paused", err, fault.ServiceUnavailable)
	if !strings.Contains(err.Error(), "was changed") {
		t.Error(err)
	}
	if stored, err := e.Store.Agent(t.Context(), e.Platform.ID, spender); err != nil || !stored.Paused {
		t.Errorf("stored %+v, %v", stored, err)
	}
	shown, err := service.Activity(t.Context(), e.Platform.ID, spender)
	if err != nil || shown.ID != spender || shown.Counters.Transactions("2026-03-14") != 1 || shown.Waiting.Total != 0 {
		t.Errorf("operators see %+v, %v", shown, err)
	}
	_, err = service.Activity(t.Context(), e.NewPlatform().ID, spender)
	apptest.WantFault(t, "of another platform", err, fault.AgentNotFound)
}

func TestService_AttemptsOfDeletedAgent(t *testing.T) {
	t.Parallel()
	// The trail of an agent can be read after it was deleted. One that never existed is not found, nor one of
	// another platform.
	e := newEnv(t)
	busy, idle := e.create().Agent.ID, e.create().Agent.ID
	now := e.Clock.Now()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveAgentAttempts(ctx, []agent.Attempt{{ID: ident.NewAgentAttempt(e.IDs.New, now), Platform: e.Platform.ID, Agent: busy,
			Customer: e.Customer.ID, At: now,
			Operation: agent.OpTransferIn, Decision: agent.Refused,
			Reasons: []agent.Reason{{Code: agent.AgentPaused, Message: "The agent is paused."}}}})
	})
	if err := e.agents.Delete(t.Context(), e.Platform.ID, platform.Service, busy); err != nil {
		t.Fatal(err)
	}
	list := func(p ident.Platform, id ident.Agent, decision agent.Decision) ([]agent.Operation, error) {
		page, err := e.agents.Attempts(t.Context(), p, ports.AgentAttemptFilter{Agent: id, Decision: decision, Paging: ports.Paging{Limit: 10}})
		var found []agent.Operation
		for _, a := range page.Items {
			found = append(found, a.Operation)
		}
		return found, err
	}

	for name, c := range map[string]struct {
		agent    ident.Agent
		decision agent.Decision
		want     []agent.Operation
	}{
		"deleted":                 {busy, "", []agent.Operation{agent.OpTransferIn}},
		"deleted, other decision": {busy, agent.Allowed, nil},
		"without entries":         {idle, "", nil},
	} {
		if got, err := list(e.Platform.ID, c.agent, c.decision); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	_, err := list(e.Platform.ID, ident.NewAgent(e.IDs.New, now), "")
	apptest.WantFault(t, "unknown", err, fault.AgentNotFound)
	_, err = list(e.NewPlatform().ID, busy, "")
	apptest.WantFault(t, "of another platform", err, fault.AgentNotFound)
}
