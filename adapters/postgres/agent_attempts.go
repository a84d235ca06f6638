package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// agentAttemptRow is a row of agent_attempts.
type agentAttemptRow struct {
	bun.BaseModel `bun:"table:agent_attempts"`

	PlatformID        uuid.UUID            `bun:"platform_id,pk"`
	ID                uuid.UUID            `bun:"id,pk"`
	AgentID           uuid.UUID            `bun:"agent_id"`
	CustomerID        uuid.UUID            `bun:"customer_id"`
	Operation         string               `bun:"operation"`
	Decision          string               `bun:"decision"`
	Reasons           []agentAttemptReason `bun:"reasons,type:jsonb"`
	Error             string               `bun:"error"`
	Currency          string               `bun:"currency"`
	Amount            int64                `bun:"amount"`
	InternalAccountID uuid.NullUUID        `bun:"internal_account_id"`
	ExternalAccountID uuid.NullUUID        `bun:"external_account_id"`
	QuoteID           uuid.NullUUID        `bun:"quote_id"`
	TransactionID     uuid.NullUUID        `bun:"transaction_id"`
	ActionID          uuid.NullUUID        `bun:"action_id"`
	TokenID           uuid.NullUUID        `bun:"token_id"`
	AttemptedAt       time.Time            `bun:"attempted_at"`
}

// agentAttemptReason is an element of the column reasons.
type agentAttemptReason struct {
	Code    agent.ReasonCode `json:"code"`
	Message string           `json:"message"`
}

const insertAgentAttempts = `
	INSERT INTO agent_attempts (platform_id, id, agent_id, customer_id, operation, decision, reasons, error, currency, amount,
		internal_account_id, external_account_id, quote_id, transaction_id, action_id, token_id, attempted_at)
	SELECT n.platform_id, n.id, n.agent_id, n.customer_id, n.operation, n.decision, n.reasons::jsonb, n.error, n.currency, n.amount,
		n.internal_account_id, n.external_account_id, n.quote_id, n.transaction_id, n.action_id, n.token_id, n.attempted_at
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[],
		$11::uuid[], $12::uuid[], $13::uuid[], $14::uuid[], $15::uuid[], $16::uuid[], $17::timestamptz[])
		AS n(platform_id, id, agent_id, customer_id, operation, decision, reasons, error, currency, amount,
			internal_account_id, external_account_id, quote_id, transaction_id, action_id, token_id, attempted_at)
	ON CONFLICT (platform_id, id) DO NOTHING`

// SaveAgentAttempts implements ports.AgentPaymentWriter.
func (u *unit) SaveAgentAttempts(_ context.Context, attempts []agent.Attempt) error {
	n := len(attempts)
	if n == 0 {
		return nil
	}
	platforms, ids, agents, customers := make(idArray, n), make(idArray, n), make(idArray, n), make(idArray, n)
	operations, decisions, reasons, errors := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	currencies, amounts := make([]string, n), make([]int64, n)
	internals, externals, quotes := make(idArray, n), make(idArray, n), make(idArray, n)
	transactions, actions, tokens, times := make(idArray, n), make(idArray, n), make(idArray, n), make(timeArray, n)
	for i := range attempts {
		a := &attempts[i]
		platforms[i], ids[i], agents[i], customers[i] = pgID(a.Platform.UUID()), pgID(a.ID.UUID()), pgID(a.Agent.UUID()), pgID(a.Customer.UUID())
		operations[i], decisions[i], errors[i] = string(a.Operation), string(a.Decision), string(a.Error)
		list := make([]agentAttemptReason, len(a.Reasons))
		for j, r := range a.Reasons {
			list[j] = agentAttemptReason(r)
		}
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		reasons[i], currencies[i], amounts[i] = string(text), string(a.Amount.Currency), a.Amount.Minor
		internals[i], externals[i], quotes[i] = pgID(a.Internal.UUID()), pgID(a.External.UUID()), pgID(a.Quote.UUID())
		transactions[i], actions[i], tokens[i], times[i] = pgID(a.Transaction.UUID()), pgID(a.Action.UUID()), pgID(a.Token.UUID()), pgTime(a.At)
	}
	u.queueExec(insertAgentAttempts, platforms, ids, agents, customers, operations, decisions, reasons, errors, currencies, amounts,
		internals, externals, quotes, transactions, actions, tokens, times)
	return nil
}

// AgentAttempts uses agent_attempts_by_agent, agent_attempts_by_transaction, agent_attempts_by_action or the primary key.
func (db *DB) AgentAttempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	if !f.Agent.IsZero() {
		l.query = l.query.Where("agent_id = ?", f.Agent.UUID())
	}
	if !f.Transaction.IsZero() {
		l.query = l.query.Where("transaction_id = ?", f.Transaction.UUID())
	}
	if !f.Action.IsZero() {
		l.query = l.query.Where("action_id = ? AND transaction_id IS NULL", f.Action.UUID())
	}
	l.whereEqual("decision", string(f.Decision))
	l.inIntervalByID("attempted_at", f.At)
	return selectBunPage(ctx, db, l, f.Paging, (*agentAttemptRow).attempt)
}

func (row *agentAttemptRow) attempt() agent.Attempt {
	a := agent.Attempt{At: row.AttemptedAt.UTC(), Operation: agent.Operation(row.Operation), Decision: agent.Decision(row.Decision),
		Error: fault.Code(row.Error), Amount: money.Amount{Minor: row.Amount, Currency: money.Currency(row.Currency)}}
	for _, r := range row.Reasons {
		a.Reasons = append(a.Reasons, agent.Reason(r))
	}
	a.Platform.SetUUID(row.PlatformID)
	a.ID.SetUUID(row.ID)
	a.Agent.SetUUID(row.AgentID)
	a.Customer.SetUUID(row.CustomerID)
	a.Internal.SetUUID(row.InternalAccountID.UUID)
	a.External.SetUUID(row.ExternalAccountID.UUID)
	a.Quote.SetUUID(row.QuoteID.UUID)
	a.Transaction.SetUUID(row.TransactionID.UUID)
	a.Action.SetUUID(row.ActionID.UUID)
	a.Token.SetUUID(row.TokenID.UUID)
	return a
}
