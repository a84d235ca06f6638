package postgres_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/ports"
)

func TestDeleteAgent_RejectsItsWaitingActions(t *testing.T) {
	t.Parallel()
	// With an agent, or all agents of a customer, what waits for approval is rejected; what was decided, and what
	// other agents asked for, stays as it is. All actions and attempts stay.
	for name, remove := range map[string]func(context.Context, *postgres.Unit, agent.Agent) error{
		"agent": func(ctx context.Context, tx *postgres.Unit, a agent.Agent) error {
			return tx.DeleteAgent(ctx, a.Platform, a.ID)
		},
		"agents of the customer": func(ctx context.Context, tx *postgres.Unit, a agent.Agent) error {
			return tx.DeleteAgentsOf(ctx, a.Platform, a.Customer)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newEnv(t)
			_, a := c.newAgentOf(t, "ana")
			_, other := c.newAgentOf(t, "bob")
			approved, others := newAction(a), newTransferAction(other)
			approved.Status, approved.Transaction = agent.ActionApproved, ident.NewTransaction(generator.New, noon)
			others.PlatformCustomerID = "bob"
			actions := []agent.Action{approved, others, newTransferAction(a)}
			for range 501 {
				actions = append(actions, newAction(a))
			}
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				if err := tx.SaveAgentAttempts(ctx, []agent.Attempt{newAttempt(a)}); err != nil {
					return err
				}
				return tx.CreateAgentActions(ctx, actions)
			})

			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return remove(ctx, tx, a) })

			for i, want := range actions {
				if i > 1 {
					want.Status, want.RejectionReason, want.DecidedAt = agent.ActionRejected, "The agent was deleted.", noon
				}
				if got, err := c.AgentAction(t.Context(), a.Platform, want.ID); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("action %d is %+v, %v\nwant %+v", i, got, err, want)
				}
			}
			page, err := c.AgentAttempts(t.Context(), a.Platform, ports.AgentAttemptFilter{Agent: a.ID, Paging: ports.Paging{Limit: 10}})
			if err != nil || len(page.Items) != 1 {
				t.Errorf("%d attempts, %v", len(page.Items), err)
			}
		})
	}
}

func TestDeleteAgent_RejectsWhatItWaitedFor(t *testing.T) {
	t.Parallel()
	// An action that is created while the agent is deleted is rejected too, and after the deletion the agent is
	// not found.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	action := newAction(a)
	watch := connect(t, c.url)
	deleted := make(chan error, 1)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockAgents(ctx, a.Platform, []ident.Agent{a.ID}, "2026-03"); err != nil {
			return err
		}
		go func() {
			deleted <- c.Do(ctx, func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteAgent(ctx, a.Platform, a.ID) })
		}()
		awaitBlockedStatement(t, watch)
		return tx.CreateAgentActions(ctx, []agent.Action{action})
	})
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if got, err := c.AgentAction(t.Context(), a.Platform, action.ID); err != nil || got.Status != agent.ActionRejected {
		t.Errorf("the action is %s, %v", got.Status, err)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if locked, err := tx.LockAgents(ctx, a.Platform, []ident.Agent{a.ID}, "2026-03"); err != nil || len(locked) != 0 {
			t.Errorf("locked %+v, %v", locked, err)
		}
		return nil
	})
}

func TestEraseRecords_ReasonsOfActions(t *testing.T) {
	t.Parallel()
	// What the platform wrote about the payments of an erased customer is erased, and that of others is not.
	c := newEnv(t)
	ana, a := c.newAgentOf(t, "ana")
	_, b := c.newAgentOf(t, "bob")
	mine, others := newAction(a), newAction(b)
	for _, action := range []*agent.Action{&mine, &others} {
		action.Status, action.RejectionReason, action.DecidedAt = agent.ActionRejected, "Not to Bo Berg", noon
	}
	waiting := newAction(a)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateAgentActions(ctx, []agent.Action{mine, others, waiting}); err != nil {
			return err
		}
		_, err := tx.EraseRecordsOf(ctx, a.Platform, ana.ID)
		return err
	})
	for id, want := range map[ident.AgentAction]string{mine.ID: "", others.ID: "Not to Bo Berg", waiting.ID: ""} {
		if got, err := c.AgentAction(t.Context(), a.Platform, id); err != nil || got.Status != agent.ActionRejected ||
			got.RejectionReason != want {
			t.Errorf("the action is %s for %q, %v; want %q", got.Status, got.RejectionReason, err, want)
		}
	}
}

func TestDeleteOld_AgentAttempts(t *testing.T) {
	t.Parallel()
	// Attempts before the time are deleted; others stay, and none that is younger than a month is ever deleted.
	c := newRetentionEnv(t)
	_, a := c.newAgentOf(t, "ana")
	now := time.Now()
	for _, at := range []time.Time{noon.Add(longBefore), noon.Add(justBefore), noon, now} {
		attempt := newAttempt(a)
		attempt.At = at
		attempt.ID.SetUUID(newIDAt(at))
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			return tx.SaveAgentAttempts(ctx, []agent.Attempt{attempt})
		})
	}

	c.wantDeleted(t, "agent_attempts", 2)
	c.wantDeleted(t, "agent_attempts", 0)
	cutoffs := allCutoffs
	cutoffs.AgentAttempts = now.Add(time.Hour)
	if err := c.DeleteOld(t.Context(), cutoffs, func(string, int) {}); err != nil {
		t.Fatal(err)
	}
	if n := c.count(t, "agent_attempts WHERE attempted_at > now() - interval '1 day'"); n != 1 {
		t.Errorf("%d recent attempts are left", n)
	}
}

func TestDeleteOld_AgentUsage(t *testing.T) {
	t.Parallel()
	// What was spent before the month of the time is deleted, on every platform, and nothing of that month.
	c := newRetentionEnv(t)
	_, a := c.newAgentOf(t, "ana")
	for _, day := range []string{"2025-12-31", "2026-02-28", "2026-03-01", today, "2026-04-01"} {
		for _, p := range []ident.Platform{c.platform.ID, c.otherPlatform.ID} {
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				return tx.AddAgentUsage(ctx, p, []ports.AgentCount{{Agent: a.ID, Counter: agent.Counter{Day: day, Currency: "USD",
					Transactions: 1, Spent: 1}}})
			})
		}
	}

	c.wantDeleted(t, "agent_usage", 4)
	c.wantDeleted(t, "agent_usage", 0)
	if n := c.count(t, fmt.Sprintf("agent_usage WHERE day >= '%s-01'", today[:7])); n != 6 {
		t.Errorf("%d counters are left", n)
	}
}
