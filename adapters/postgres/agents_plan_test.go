package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/ports"
)

// fillAgents writes many agents of two platforms, with a code, a customer, usage and actions each.
const fillAgents = `
SET session_replication_role = replica;
INSERT INTO agents SELECT p.id, gen_random_uuid(), gen_random_uuid(), '', false, '{}', sha256(uuid_send(gen_random_uuid())), now(), now(), now()
	FROM (VALUES (gen_random_uuid()), (gen_random_uuid())) p(id), generate_series(1, 3000) n;
INSERT INTO agent_device_codes SELECT platform_id, sha256(uuid_send(id)), id, now(), now() - random() * interval '90 days', now() FROM agents;
INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, uma_address, status, details, created_at, updated_at)
	SELECT platform_id, customer_id, id::text, 'INDIVIDUAL', id::text, 'APPROVED', '{}', now(), now() FROM agents;
INSERT INTO agent_usage SELECT platform_id, id, date '2026-03-01' + n, 'USD', 1, 1 FROM agents, generate_series(1, 10) n;
INSERT INTO agent_actions (platform_id, id, agent_id, customer_id, action_type, status, quote_id, transaction_id, signature, reason, failure_code, created_at, updated_at)
	SELECT platform_id, gen_random_uuid(), id, customer_id, 'EXECUTE_QUOTE', CASE WHEN n = 1 THEN 'PENDING_APPROVAL' ELSE 'APPROVED' END, id, CASE WHEN n > 1 THEN gen_random_uuid() END, '', '', '', now(), now()
	FROM agents, generate_series(1, 3) n;
ANALYZE;`

func TestAgentPlans_ReadsUseIndexes(t *testing.T) {
	t.Parallel()
	// Tokens and codes are found by an index on their hash, also under row-level security; the rest by one that
	// begins with the platform.
	plans := newPlanEnv(t)
	pgtest.ExecAsSuperuser(t, plans.conn.Config().ConnString(), fillAgents)
	db, trace := newTracedEnv(t, plans.conn.Config().ConnString())
	var filled uuid.UUID
	if err := plans.conn.QueryRow(t.Context(), "SELECT platform_id FROM agents LIMIT 1").Scan((*[16]byte)(&filled)); err != nil {
		t.Fatal(err)
	}
	plans.becomeService()
	var p ident.Platform
	p.SetUUID(filled)
	for name, c := range map[string]struct {
		condition string
		read      func(context.Context, *Unit) error
	}{
		"code": {`hash = `, func(ctx context.Context, _ *Unit) error {
			_, err := db.DeviceCode(ctx, agent.DeviceCodeHash{1})
			return err
		}},
		"locked code": {`hash = `, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockDeviceCode(ctx, p, agent.DeviceCodeHash{1})
			return err
		}},
		"agent": {`platform_id = .*\(id = `, func(ctx context.Context, _ *Unit) error {
			_,
				err := db.Agent(ctx, p, ident.Agent{})
			return err
		}},
		"locked agent": {`platform_id = .*\(id = `, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockAgent(ctx, p, ident.Agent{})
			return err
		}},
		"action": {`platform_id = .*\(id = `, func(ctx context.Context, _ *Unit) error {
			_, err := db.AgentAction(ctx, p, ident.AgentAction{})
			return err
		}},
		"locked actions": {`platform_id = .*\(id = ANY`, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockAgentActions(ctx, p, []ident.AgentAction{{}, {}})
			return errors.Join(err, agent.ActionNotFound(ident.AgentAction{}))
		}},
		"action that waits for a quote": {`platform_id = .*\(quote_id = ANY`, func(ctx context.Context, tx *Unit) error {
			_, err := tx.LockWaitingAgentActions(ctx, p, []ident.Quote{{}, {}})
			return errors.Join(err, agent.ActionNotFound(ident.AgentAction{}))
		}},
		"waiting actions": {`platform_id = .*\(agent_id = ANY`, func(ctx context.Context, tx *Unit) error {
			return errors.Join(tx.rejectActionsOf(ctx, p, []ident.Agent{{}, {}}), agent.ActionNotFound(ident.AgentAction{}))
		}},
	} {
		trace.statements = nil
		if err := db.Do(ports.ForPlatform(t.Context(), p), c.read); err == nil || !strings.Contains(err.Error(), "There is no") {
			t.Errorf("%s: %v", name, err)
		}
		if len(trace.statements) != 1 {
			t.Fatalf("%s: %d statements", name, len(trace.statements))
		}
		checkAgentPlan(t, name, c.condition, plans.explain(`"`+name+`"`, trace.statements[0].SQL, countArguments(trace.statements[0].SQL)))
	}
	for name, c := range map[string]struct {
		condition, statement string
		arguments            int
	}{
		"tokens":        {`token_hash = ANY`, readAgentTokens, 1},
		"of_a_customer": {`platform_id = .*\(customer_id = `, lockAgentsOf, 2},
		"one":           {`platform_id = .*\(id = `, lockOneAgent, 2},
		"deleted":       {`platform_id = .*\(id = ANY`, deleteAgents, 2},
		"audited_usage": {`platform_id = .*\(agent_id = `, readAuditedUsage, 3},
		"approved":      {`ROW\(platform_id, id\) > `, readApprovedActions, 4},
		"started":       {`ROW\(platform_id, agent_id, id\) > `, readStartedTransactions, 5},
		"voided_codes":  {`platform_id = .*\(agent_id = `, voidDeviceCodes, 3},
		"locked":        {`platform_id = .*\(id = ANY`, lockAgents, 2},
		"waiting":       {`platform_id = .*\(agent_id = `, countWaitingActions, 3},
		"usage":         {`platform_id = .*\(agent_id = ANY.*\(day >= `, readAgentUsage, 4},
		"given_back":    {`platform_id = .*\(agent_id = .*\(day = .*\(currency = `, giveBackAgentUsage, 2},
		"updated":       {`platform_id = .*\(id = `, updateAgentActions.SQL, 9},
	} {
		checkAgentPlan(t, name, c.condition, plans.explain(name, c.statement, c.arguments))
	}
	for i, statement := range []string{eventsOfCustomer, eraseActions} {
		name := fmt.Sprintf("erased_%d", i)
		if lines := strings.Join(plans.explain(name, statement, []int{4, 2}[i]), "\n"); !strings.Contains(lines, "using agent_actions_asked") {
			t.Errorf("%s:\n%s", name, lines)
		}
	}
	for _, table := range (RetentionCutoffs{}).tables() {
		if condition := map[string]string{"agent_device_codes": `\(expires_at < `, "agent_usage": `\(day < `}[table.name]; condition != "" {
			checkAgentPlan(t, table.name, `platform_id = .*`+condition, plans.explain(table.name, table.sql, 4))
		}
	}
}

// checkAgentPlan checks that a statement finds its rows by an index.
func checkAgentPlan(t *testing.T, name, condition string, lines []string) {
	t.Helper()
	plan := strings.Join(lines, "\n")
	if strings.Contains(plan, "Seq Scan on agent") || strings.Contains(plan, "Seq Scan on transactions") ||
		!regexp.MustCompile(`Index Cond: \(.*`+condition).MatchString(plan) {
		t.Errorf("%s:\n%s", name, plan)
	}
}
