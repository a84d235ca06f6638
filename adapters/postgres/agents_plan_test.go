package postgres

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/ports"
)

// fillAgents writes many agents of two platforms, with a code and a customer each.
const fillAgents = `
SET session_replication_role = replica;
INSERT INTO agents SELECT p.id, gen_random_uuid(), gen_random_uuid(), '', false, '{}', sha256(uuid_send(gen_random_uuid())), now(), now(), now()
	FROM (VALUES (gen_random_uuid()), (gen_random_uuid())) p(id), generate_series(1, 3000) n;
INSERT INTO agent_device_codes SELECT platform_id, sha256(uuid_send(id)), id, now(), now() - random() * interval '90 days', now() FROM agents;
INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, uma_address, status, details, created_at, updated_at)
	SELECT platform_id, customer_id, id::text, 'INDIVIDUAL', id::text, 'APPROVED', '{}', now(), now() FROM agents;
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
	ident.SetUUID(&p, filled)
	for name, c := range map[string]struct {
		condition string
		read      func(context.Context, ports.Tx) error
	}{
		"code": {`hash = `, func(ctx context.Context, _ ports.Tx) error {
			_, err := db.DeviceCode(ctx, agent.DeviceCodeHash{1})
			return err
		}},
		"locked code": {`hash = `, func(ctx context.Context, tx ports.Tx) error {
			_, err := tx.LockDeviceCode(ctx, p, agent.DeviceCodeHash{1})
			return err
		}},
		"agent": {`platform_id = .*\(id = `, func(ctx context.Context, _ ports.Tx) error { _, err := db.Agent(ctx, p, ident.Agent{}); return err }},
		"locked agent": {`platform_id = .*\(id = `, func(ctx context.Context, tx ports.Tx) error {
			_, err := tx.LockAgent(ctx, p, ident.Agent{})
			return err
		}},
	} {
		trace.statements = nil
		if err := db.Do(ports.ForPlatform(t.Context(), p), c.read); err == nil || !strings.Contains(err.Error(), "There is no") {
			t.Errorf("%s: %v", name, err)
		}
		if len(trace.statements) != 1 {
			t.Fatalf("%s: %d statements", name, len(trace.statements))
		}
		rows, err := plans.conn.Query(t.Context(), "EXPLAIN "+trace.statements[0].SQL, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(name, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(name, err)
		}
		checkAgentPlan(t, name, c.condition, lines)
	}
	for name, c := range map[string]struct {
		condition, statement string
		arguments            int
	}{
		"tokens":        {`token_hash = ANY`, readAgentTokens, 1},
		"of_a_customer": {`platform_id = .*\(customer_id = `, deleteAgentsOf, 2},
		"voided_codes":  {`platform_id = .*\(agent_id = `, voidDeviceCodes, 3},
	} {
		checkAgentPlan(t, name, c.condition, plans.explain(name, c.statement, c.arguments))
	}
	for _, table := range (RetentionCutoffs{}).tables() {
		if table.name == "agent_device_codes" {
			checkAgentPlan(t, "old codes", `platform_id = .*\(expires_at < `, plans.explain(table.name, table.sql, 4))
		}
	}
}

// checkAgentPlan checks that a statement finds its rows by an index.
func checkAgentPlan(t *testing.T, name, condition string, lines []string) {
	t.Helper()
	plan := strings.Join(lines, "\n")
	if strings.Contains(plan, "Seq Scan on agent") || !regexp.MustCompile(`Index Cond: \(.*`+condition).MatchString(plan) {
		t.Errorf("%s:\n%s", name, plan)
	}
}
