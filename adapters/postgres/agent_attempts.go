package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/ports"
)

// agentAttemptReason is an element of the column reasons.
type agentAttemptReason struct {
	Code    agent.ReasonCode `json:"code"`
	Message string           `json:"message"`
}

// agentAttempts is the table agent_attempts.
var agentAttempts = schema.New("agent_attempts", keyOfPlatform, func(a *agent.Attempt) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "id", Field: &a.ID}, {Name: "agent_id", Field: &a.Agent},
		{Name: "customer_id", Field: &a.Customer},
		{Name: "operation", Field: &a.Operation}, {Name: "decision", Field: &a.Decision},
		{Name: "reasons", Type: "jsonb", Field: jsonList(&a.Reasons,
			func(r agent.Reason) agentAttemptReason { return agentAttemptReason(r) },
			func(c agentAttemptReason) agent.Reason { return agent.Reason(c) })},
		{Name: "error", Field: &a.Error}, {Name: "currency", Field: &a.Amount.Currency}, {Name: "amount", Field: &a.Amount.Minor},
		{Name: "internal_account_id", Field: &a.Internal}, {Name: "external_account_id", Field: &a.External}, {Name: "quote_id", Field: &a.Quote},
		{Name: "transaction_id", Field: &a.Transaction}, {Name: "action_id", Field: &a.Action}, {Name: "token_id", Field: &a.Token},
		{Name: "attempted_at", Field: &a.At},
	}
})

var insertAgentAttempts = agentAttempts.InsertAll("ON CONFLICT (platform_id, id) DO NOTHING")

// SaveAgentAttempts implements accounts.Tx.
func (u *Unit) SaveAgentAttempts(ctx context.Context, attempts []agent.Attempt) error {
	return writeAll(ctx, u, insertAgentAttempts, attempts)
}

// AgentAttempts uses agent_attempts_by_agent, agent_attempts_by_transaction, agent_attempts_by_action or the primary key.
func (db *DB) AgentAttempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error) {
	l := newList("agent_attempts", p)
	if !f.Agent.IsZero() {
		l.byIndex("agent_id = ?", f.Agent)
	}
	if !f.Transaction.IsZero() {
		l.byIndex("transaction_id = ?", f.Transaction)
	}
	if !f.Action.IsZero() {
		l.byIndex("action_id = ? AND transaction_id IS NULL", f.Action)
	}
	l.whereEqual("decision", string(f.Decision))
	l.inIntervalByID("attempted_at", f.At)
	return selectPage(ctx, db, l, f.Paging, agentAttempts)
}

// reasonsOfAttempts is what is read of the first entry about an action.
var reasonsOfAttempts = agentAttempts.Only("action_id", "reasons")

// ApprovalReasons implements agents.Store. It uses agent_attempts_by_action or, for the execution of a quote, whose payment exists
// before it is allowed, agent_attempts_by_transaction, once for each action.
func (db *DB) ApprovalReasons(ctx context.Context, p ident.Platform, actions []ident.AgentAction) (map[ident.AgentAction][]agent.Reason,
	error) {
	found := make(map[ident.AgentAction][]agent.Reason, len(actions))
	attempts, err := queryTable(ctx, db, db.read, reasonsOfAttempts, `
		SELECT `+reasonsOfAttempts.Names("f")+` FROM unnest($2::uuid[]) AS a(id) CROSS JOIN LATERAL (
			(SELECT * FROM agent_attempts t WHERE t.platform_id = $1 AND t.action_id = a.id AND t.transaction_id IS NULL ORDER BY t.id LIMIT 1)
			UNION ALL
			(SELECT t.* FROM agent_actions x
				JOIN quotes q ON q.platform_id = x.platform_id AND q.id = x.quote_id
				JOIN agent_attempts t ON t.platform_id = q.platform_id AND t.transaction_id = q.transaction_id AND t.action_id = x.id
				WHERE x.platform_id = $1 AND x.id = a.id ORDER BY t.id LIMIT 1)
			ORDER BY id LIMIT 1) f`,
		p, actions)
	for _, a := range attempts {
		found[a.Action] = a.Reasons
	}
	return found, err
}
