package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

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
	FROM agents a JOIN platforms p ON p.id = a.platform_id
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
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		var platformID, id, customerID uuid.UUID
		var hash []byte
		var token ports.AgentToken
		if err := rows.Scan(&platformID, &id, &customerID, &token.Permissions, &hash, (*string)(&token.Environment)); err != nil {
			return err
		}
		ident.SetUUID(&token.Platform, platformID)
		ident.SetUUID(&token.Agent, id)
		ident.SetUUID(&token.Customer, customerID)
		copy(token.Hash[:], hash)
		found[token.Hash] = token
		return nil
	})
}

// agentRow is a row of agents.
type agentRow struct {
	bun.BaseModel `bun:"table:agents"`

	PlatformID  uuid.UUID         `bun:"platform_id,pk"`
	ID          uuid.UUID         `bun:"id,pk"`
	CustomerID  uuid.UUID         `bun:"customer_id"`
	Name        string            `bun:"name"`
	Paused      bool              `bun:"paused"`
	Policy      agentPolicyColumn `bun:"policy,type:jsonb"`
	TokenHash   []byte            `bun:"token_hash"`
	ConnectedAt *time.Time        `bun:"connected_at"`
	CreatedAt   time.Time         `bun:"created_at"`
	UpdatedAt   time.Time         `bun:"updated_at"`
}

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
func (u *unit) CreateAgent(ctx context.Context, a agent.Agent) error {
	row, err := u.db.newAgentRow(ctx, a)
	if err != nil {
		return err
	}
	return u.insert(ctx, row)
}

// LockAgent uses the primary key.
func (u *unit) LockAgent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error) {
	if err := u.flush(ctx); err != nil {
		return agent.Agent{}, err
	}
	query := u.db.bun.NewSelect().Conn(u.sqlConn).Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()).For("UPDATE")
	found, err := selectOne(ctx, u.db, query, (*agentRow).agent, agent.NotFound(id))
	return found, translate(err)
}

// UpdateAgent uses the primary key.
func (u *unit) UpdateAgent(ctx context.Context, a agent.Agent) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	row, err := u.db.newAgentRow(ctx, a)
	if err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).
		Column("name", "paused", "policy", "token_hash", "connected_at", "updated_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, agent.NotFound(a.ID))
}

const (
	// lockAgentsOf uses agents_by_customer. The order is that of lockAgents.
	lockAgentsOf = `SELECT id FROM agents WHERE platform_id = $1 AND customer_id = $2 ORDER BY id FOR UPDATE`

	// lockOneAgent and deleteAgents use the primary key. The device codes are deleted by their foreign key.
	lockOneAgent = `SELECT id FROM agents WHERE platform_id = $1 AND id = $2 FOR UPDATE`
	deleteAgents = `DELETE FROM agents WHERE platform_id = $1 AND id = ANY($2::uuid[])`
)

// DeleteAgent implements ports.AgentWriter.
func (u *unit) DeleteAgent(ctx context.Context, p ident.Platform, id ident.Agent) error {
	deleted, err := u.deleteAgents(ctx, lockOneAgent, p, id.UUID())
	if err == nil && deleted == 0 {
		err = agent.NotFound(id)
	}
	return err
}

// DeleteAgentsOf implements ports.AgentWriter.
func (u *unit) DeleteAgentsOf(ctx context.Context, p ident.Platform, id ident.Customer) error {
	_, err := u.deleteAgents(ctx, lockAgentsOf, p, id.UUID())
	return err
}

// deleteAgents deletes the agents that a query locks. That waits for payments that have locked them, so their
// actions are found and rejected too.
func (u *unit) deleteAgents(ctx context.Context, lock string, p ident.Platform, id uuid.UUID) (deleted int, err error) {
	var ids []uuid.UUID
	if err := u.query(ctx, lock, []any{pgID(p.UUID()), pgID(id)}, func(rows pgx.Rows) error {
		var found uuid.UUID
		err := rows.Scan((*[16]byte)(&found))
		ids = append(ids, found)
		return err
	}); err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := u.rejectActionsOf(ctx, p, ids); err != nil {
		return 0, err
	}
	u.queueExec(deleteAgents, pgID(p.UUID()), pgIDs(ids))
	return len(ids), nil
}

// Agent uses the primary key.
func (db *DB) Agent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error) {
	return selectOne(ctx, db, db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()), (*agentRow).agent, agent.NotFound(id))
}

// Agents uses the primary key or agents_by_customer.
func (db *DB) Agents(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[agent.Agent], error) {
	l := list{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	if !f.Customer.IsZero() {
		l.query = l.query.Where("customer_id = ?", f.Customer.UUID())
	}
	if f.Paused != nil {
		l.where("paused = ?", *f.Paused)
	}
	if f.Connected != nil {
		l.where("(connected_at IS NOT NULL) = ?", *f.Connected)
	}
	l.createdIn(f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectPage(ctx, db, l, f.Paging, (*agentRow).agent)
}

func (row *agentRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

func (row *agentRow) open(ctx context.Context, db *DB) (err error) {
	row.Name, err = db.openText(ctx, row.sealedRow(), agentsName, row.Name)
	return err
}

func (db *DB) newAgentRow(ctx context.Context, a agent.Agent) (row *agentRow, err error) {
	row = &agentRow{
		PlatformID: a.Platform.UUID(), ID: a.ID.UUID(), CustomerID: a.Customer.UUID(), Paused: a.Paused,
		ConnectedAt: nullTime(a.ConnectedAt), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
	if a.Connected() {
		row.TokenHash = a.TokenHash[:]
	}
	policy, limits := a.Policy, a.Policy.Limits
	row.Policy = agentPolicyColumn{
		Permissions: policy.Permissions, DefaultMode: policy.DefaultMode, Currency: limits.Currency, PerTransaction: limits.PerTransaction,
		Daily: limits.Daily, DailyTransactions: limits.DailyTransactions, Monthly: limits.Monthly,
		ThresholdCurrency: policy.Threshold.Currency, ThresholdAmount: policy.Threshold.Amount,
	}
	if policy.AllowedAccounts != nil {
		row.Policy.AllowedAccounts = []uuid.UUID{}
	}
	for _, id := range policy.AllowedAccounts {
		row.Policy.AllowedAccounts = append(row.Policy.AllowedAccounts, id.UUID())
	}
	for _, rule := range policy.AccountRules {
		row.Policy.AccountRules = append(row.Policy.AccountRules, agentAccountRule{rule.Account.UUID(), rule.Mode, rule.PerTransaction})
	}
	row.Name, err = db.sealText(ctx, row.sealedRow(), agentsName, a.Name)
	return row, err
}

func (row *agentRow) agent() agent.Agent {
	a := agent.Agent{Name: row.Name, Paused: row.Paused, Policy: row.Policy.policy(), ConnectedAt: timeOrZero(row.ConnectedAt), CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC()}
	ident.SetUUID(&a.Platform, row.PlatformID)
	ident.SetUUID(&a.ID, row.ID)
	ident.SetUUID(&a.Customer, row.CustomerID)
	copy(a.TokenHash[:], row.TokenHash)
	return a
}

func (c agentPolicyColumn) policy() agent.Policy {
	p := agent.Policy{
		Permissions: c.Permissions, DefaultMode: c.DefaultMode, Threshold: agent.ApprovalThreshold{Currency: c.ThresholdCurrency, Amount: c.ThresholdAmount},
		Limits: agent.SpendingLimits{Currency: c.Currency, PerTransaction: c.PerTransaction, Daily: c.Daily, DailyTransactions: c.DailyTransactions, Monthly: c.Monthly},
	}
	if c.AllowedAccounts != nil {
		p.AllowedAccounts = make([]ident.InternalAccount, len(c.AllowedAccounts))
	}
	for i, id := range c.AllowedAccounts {
		ident.SetUUID(&p.AllowedAccounts[i], id)
	}
	for _, rule := range c.AccountRules {
		r := agent.AccountRule{Mode: rule.Mode, PerTransaction: rule.PerTransaction}
		ident.SetUUID(&r.Account, rule.Account)
		p.AccountRules = append(p.AccountRules, r)
	}
	return p
}
