package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// readAgentTokens uses agent_token_hash_unique and the primary keys of platforms and customers. It runs for
// every request of an agent, in batches. An earlier version that runs beside this one deletes a customer and
// leaves its agents.
const readAgentTokens = `
	SELECT a.platform_id, a.id, a.customer_id, a.policy->'permissions', a.token_hash, p.environment
	FROM agents a JOIN platforms p ON p.id = a.platform_id AND p.closed_at IS NULL
	JOIN customers c ON c.platform_id = a.platform_id AND c.id = a.customer_id AND c.deleted_at IS NULL
	WHERE a.token_hash = ANY($1)`

// AgentTokens finds agents by the hashes of their access tokens.
func (db *DB) AgentTokens(ctx context.Context, hashes []agent.TokenHash) (map[agent.TokenHash]ports.AgentToken, error) {
	wanted := make([][]byte, len(hashes))
	for i := range hashes {
		wanted[i] = hashes[i][:]
	}
	rows, err := db.pool.Query(ctx, readAgentTokens, pgx.QueryExecModeCacheStatement, wanted)
	if err != nil {
		return nil, err
	}
	found := make(map[agent.TokenHash]ports.AgentToken, len(hashes))
	return found, storage.ForEachRow(rows, func(rows pgx.Rows) error {
		var hash []byte
		var token ports.AgentToken
		if err := rows.Scan(&token.Platform, &token.Agent, &token.Customer, &token.Permissions, &hash, &token.Environment); err != nil {
			return err
		}
		copy(token.Hash[:], hash)
		found[token.Hash] = token
		return nil
	})
}

// agents is the table agents.
var agents = schema.New("agents", keyOfPlatform, func(a *agent.Agent) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "id", Field: &a.ID}, {Name: "customer_id", Field: &a.Customer},
		sealed.Text(sealed.AgentsName, &a.Name), {Name: "paused", Field: &a.Paused},
		{Name: "policy", Type: "jsonb", Field: schema.JSON(
			func() agentPolicyColumn { return newAgentPolicyColumn(a.Policy) },
			func(c agentPolicyColumn) { a.Policy = c.policy() })},
		{Name: "token_hash", Field: schema.Converted(
			func() []byte {
				if !a.Connected() {
					return nil
				}
				return a.TokenHash[:]
			},
			func(hash []byte) error {
				copy(a.TokenHash[:], hash)
				return nil
			})},
		{Name: "connected_at", Field: &a.ConnectedAt}, {Name: "created_at", Field: &a.CreatedAt}, {Name: "updated_at", Field: &a.UpdatedAt},
	}
})

var (
	insertAgent = agents.Insert("")
	updateAgent = agents.Update("name", "paused", "policy", "token_hash", "connected_at", "updated_at")
)

// agentPolicyColumn is the column policy.
type agentPolicyColumn struct {
	Permissions       []agent.Permission  `json:"permissions"`
	DefaultMode       agent.ExecutionMode `json:"defaultMode"`
	Currency          money.Currency      `json:"currency"`
	PerTransaction    int64               `json:"perTransaction"`
	Daily             int64               `json:"daily,omitempty"`
	DailyTransactions int64               `json:"dailyTransactions,omitempty"`
	Monthly           int64               `json:"monthly,omitempty"`
	AllowedAccounts   []uuid.UUID         `json:"allowedAccounts"` // null: all
	AccountRules      []agentAccountRule  `json:"accountRules,omitempty"`
	ThresholdCurrency money.Currency      `json:"thresholdCurrency,omitempty"`
	ThresholdAmount   *int64              `json:"thresholdAmount,omitempty"`
}

type agentAccountRule struct {
	Account        uuid.UUID           `json:"account"`
	Mode           agent.ExecutionMode `json:"mode,omitempty"`
	PerTransaction int64               `json:"perTransaction,omitempty"`
}

// CreateAgent inserts one agent.
func (u *Unit) CreateAgent(ctx context.Context, a agent.Agent) error {
	return writeNow(ctx, u, insertAgent, a, nil)
}

// LockAgent uses the primary key.
func (u *Unit) LockAgent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error) {
	return lockByID(ctx, u, agents, agent.NotFound(id), p, id)
}

// UpdateAgent uses the primary key.
func (u *Unit) UpdateAgent(ctx context.Context, a agent.Agent) error {
	return writeNow(ctx, u, updateAgent, a, agent.NotFound(a.ID))
}

const (
	// lockAgentsOf uses agents_by_customer. The order is that of lockAgents.
	lockAgentsOf = `SELECT id FROM agents WHERE platform_id = $1 AND customer_id = $2 ORDER BY id FOR UPDATE`

	// lockOneAgent and deleteAgents use the primary key. The device codes are deleted by their foreign key.
	lockOneAgent = `SELECT id FROM agents WHERE platform_id = $1 AND id = $2 FOR UPDATE`
	deleteAgents = `DELETE FROM agents WHERE platform_id = $1 AND id = ANY($2::uuid[])`
)

// DeleteAgent implements agents.Tx.
func (u *Unit) DeleteAgent(ctx context.Context, p ident.Platform, id ident.Agent) error {
	deleted, err := u.deleteAgents(ctx, lockOneAgent, p, id)
	if err == nil && deleted == 0 {
		err = agent.NotFound(id)
	}
	return err
}

// DeleteAgentsOf implements customers.Tx.
func (u *Unit) DeleteAgentsOf(ctx context.Context, p ident.Platform, id ident.Customer) error {
	_, err := u.deleteAgents(ctx, lockAgentsOf, p, id)
	return err
}

// deleteAgents deletes the agents that a query locks. That waits for payments that have locked them, so their
// actions are found and rejected too.
func (u *Unit) deleteAgents(ctx context.Context, lock string, p ident.Platform, owner any) (deleted int, err error) {
	ids, err := queryValues[ident.Agent](ctx, u.query, lock, p, owner)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := u.rejectActionsOf(ctx, p, ids); err != nil {
		return 0, err
	}
	u.queueExec(deleteAgents, p, ids)
	return len(ids), nil
}

// Agent uses the primary key.
func (db *DB) Agent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error) {
	return readByID(ctx, db, agents, agent.NotFound(id), p, id)
}

// Agents uses the primary key or agents_by_customer.
func (db *DB) Agents(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[agent.Agent], error) {
	l := newList("agents", p)
	if !f.Customer.IsZero() {
		l.byIndex("customer_id = ?", f.Customer)
	}
	if f.Paused != nil {
		l.where("paused = ?", *f.Paused)
	}
	if f.Connected != nil {
		l.where("(connected_at IS NOT NULL) = ?", *f.Connected)
	}
	l.createdIn(f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectPage(ctx, db, l, f.Paging, agents)
}

func newAgentPolicyColumn(policy agent.Policy) agentPolicyColumn {
	limits := policy.Limits
	c := agentPolicyColumn{
		Permissions: policy.Permissions, DefaultMode: policy.DefaultMode, Currency: limits.Currency, PerTransaction: limits.PerTransaction,
		Daily: limits.Daily, DailyTransactions: limits.DailyTransactions, Monthly: limits.Monthly,
		ThresholdCurrency: policy.Threshold.Currency, ThresholdAmount: policy.Threshold.Amount,
	}
	if policy.AllowedAccounts != nil {
		c.AllowedAccounts = []uuid.UUID{}
	}
	for _, id := range policy.AllowedAccounts {
		c.AllowedAccounts = append(c.AllowedAccounts, id.UUID())
	}
	for _, rule := range policy.AccountRules {
		c.AccountRules = append(c.AccountRules, agentAccountRule{rule.Account.UUID(), rule.Mode, rule.PerTransaction})
	}
	return c
}

func (c agentPolicyColumn) policy() agent.Policy {
	p := agent.Policy{
		Permissions: c.Permissions, DefaultMode: c.DefaultMode, Threshold: agent.ApprovalThreshold{Currency: c.ThresholdCurrency,
			Amount: c.ThresholdAmount},
		Limits: agent.SpendingLimits{Currency: c.Currency, PerTransaction: c.PerTransaction, Daily: c.Daily,
			DailyTransactions: c.DailyTransactions, Monthly: c.Monthly},
	}
	if c.AllowedAccounts != nil {
		p.AllowedAccounts = make([]ident.InternalAccount, len(c.AllowedAccounts))
	}
	for i, id := range c.AllowedAccounts {
		p.AllowedAccounts[i].SetUUID(id)
	}
	for _, rule := range c.AccountRules {
		r := agent.AccountRule{Mode: rule.Mode, PerTransaction: rule.PerTransaction}
		r.Account.SetUUID(rule.Account)
		p.AccountRules = append(p.AccountRules, r)
	}
	return p
}
