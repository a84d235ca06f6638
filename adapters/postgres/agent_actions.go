package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/agent"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// agentActionRow is a row of agent_actions, with the platform's own id of the customer.
type agentActionRow struct {
	bun.BaseModel `bun:"table:agent_actions"`

	PlatformID        uuid.UUID     `bun:"platform_id,pk"`
	ID                uuid.UUID     `bun:"id,pk"`
	AgentID           uuid.UUID     `bun:"agent_id"`
	CustomerID        uuid.UUID     `bun:"customer_id"`
	Type              string        `bun:"action_type"`
	Status            string        `bun:"status"`
	QuoteID           uuid.NullUUID `bun:"quote_id"`
	InternalAccountID uuid.NullUUID `bun:"internal_account_id"`
	ExternalAccountID uuid.NullUUID `bun:"external_account_id"`
	Currency          string        `bun:"currency"`
	Amount            int64         `bun:"amount"`
	Rail              string        `bun:"rail"`
	Signature         string        `bun:"signature"`
	TransactionID     uuid.NullUUID `bun:"transaction_id"`
	Reason            string        `bun:"reason"`
	FailureCode       string        `bun:"failure_code"`
	DecidedBy         uuid.NullUUID `bun:"decided_by"`
	DecidedAt         *time.Time    `bun:"decided_at"`
	CreatedAt         time.Time     `bun:"created_at"`
	UpdatedAt         time.Time     `bun:"updated_at"`

	PlatformCustomerID string `bun:"platform_customer_id,scanonly"`
}

// selectAgentActions returns a query for agentActionRow. It uses the primary key of customers.
func selectAgentActions(db bun.IDB) *bun.SelectQuery {
	return db.NewSelect().ColumnExpr("?TableColumns").ColumnExpr(`coalesce((SELECT c.platform_customer_id FROM customers c
		WHERE c.platform_id = ?TableAlias.platform_id AND c.id = ?TableAlias.customer_id), '') AS platform_customer_id`)
}

const (
	insertAgentActions = `
	INSERT INTO agent_actions (platform_id, id, agent_id, customer_id, action_type, status, quote_id, internal_account_id, external_account_id,
		currency, amount, rail, signature, transaction_id, reason, failure_code, decided_by, decided_at, created_at, updated_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[],
		$10::text[], $11::bigint[], $12::text[], $13::text[], $14::uuid[], $15::text[], $16::text[], $17::uuid[], $18::timestamptz[], $19::timestamptz[], $20::timestamptz[])
	ON CONFLICT (platform_id, id) DO NOTHING`

	// updateAgentActions uses the primary key.
	updateAgentActions = `
	UPDATE agent_actions a SET status = n.status, transaction_id = n.transaction_id, reason = n.reason, failure_code = n.failure_code,
		decided_by = n.decided_by, decided_at = n.decided_at, updated_at = n.updated_at
	FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::timestamptz[], $9::timestamptz[])
		AS n(platform_id, id, status, transaction_id, reason, failure_code, decided_by, decided_at, updated_at)
	WHERE a.platform_id = n.platform_id AND a.id = n.id`
)

// agentActionColumns are the arguments of insertAgentActions and updateAgentActions.
type agentActionColumns struct {
	platforms, ids, agents, customers, quotes, internals, externals, transactions, deciders idArray
	types, statuses, signatures, reasons, failures                                          []string
	currencies, rails                                                                       []*string
	amounts                                                                                 []*int64
	decided, created, updated                                                               timeArray
}

func (db *DB) agentActionColumns(ctx context.Context, actions []agent.Action) (c agentActionColumns, err error) {
	for i := range actions {
		a := &actions[i]
		c.platforms, c.ids = append(c.platforms, pgID(a.Platform.UUID())), append(c.ids, pgID(a.ID.UUID()))
		c.agents, c.customers = append(c.agents, pgID(a.Agent.UUID())), append(c.customers, pgID(a.Customer.UUID()))
		c.types, c.statuses = append(c.types, string(a.Type)), append(c.statuses, string(a.Status))
		c.quotes, c.signatures = append(c.quotes, pgID(a.Quote.UUID())), append(c.signatures, a.Signature)
		var transfer agent.Transfer
		var currency, rail *string
		var amount *int64
		if a.Transfer != nil {
			transfer = *a.Transfer
			currency, rail, amount = (*string)(&transfer.Amount.Currency), (*string)(&transfer.Rail), &transfer.Amount.Minor
		}
		c.internals, c.externals = append(c.internals, pgID(transfer.Internal.UUID())), append(c.externals, pgID(transfer.External.UUID()))
		c.currencies, c.amounts, c.rails = append(c.currencies, currency), append(c.amounts, amount), append(c.rails, rail)
		c.transactions = append(c.transactions, pgID(a.Transaction.UUID()))
		reason, failure := a.RejectionReason, ""
		if a.Failure != nil {
			reason, failure = a.Failure.Message, string(a.Failure.Code)
		}
		sealed, err := db.sealText(ctx, sealedRow{a.Platform.UUID(), a.ID.UUID()}, agentActionsReason, reason)
		if err != nil {
			return c, err
		}
		c.reasons, c.failures = append(c.reasons, sealed), append(c.failures, failure)
		c.deciders, c.decided = append(c.deciders, pgID(a.DecidedBy.UUID())), append(c.decided, pgTime(a.DecidedAt))
		c.created, c.updated = append(c.created, pgTime(a.CreatedAt)), append(c.updated, pgTime(a.UpdatedAt))
	}
	return c, nil
}

// CreateAgentActions implements ports.AgentPaymentWriter.
func (u *unit) CreateAgentActions(ctx context.Context, actions []agent.Action) error {
	if len(actions) == 0 {
		return nil
	}
	c, err := u.db.agentActionColumns(ctx, actions)
	if err != nil {
		return err
	}
	u.queueExec(insertAgentActions, c.platforms, c.ids, c.agents, c.customers, c.types, c.statuses, c.quotes, c.internals, c.externals,
		c.currencies, c.amounts, c.rails, c.signatures, c.transactions, c.reasons, c.failures, c.deciders, c.decided, c.created, c.updated)
	return nil
}

// UpdateAgentActions implements ports.AgentPaymentWriter.
func (u *unit) UpdateAgentActions(ctx context.Context, actions []agent.Action) error {
	if len(actions) == 0 {
		return nil
	}
	c, err := u.db.agentActionColumns(ctx, actions)
	if err != nil {
		return err
	}
	u.queueExec(updateAgentActions, c.platforms, c.ids, c.statuses, c.transactions, c.reasons, c.failures, c.deciders, c.decided, c.updated)
	return nil
}

// LockAgentActions uses the primary key.
func (u *unit) LockAgentActions(ctx context.Context, p ident.Platform, ids []ident.AgentAction) (map[ident.AgentAction]agent.Action, error) {
	keys := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		keys[i] = id.UUID()
	}
	locked, err := u.lockActions(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("platform_id = ? AND id IN (?)", p.UUID(), bun.List(keys))
	})
	found := make(map[ident.AgentAction]agent.Action, len(locked))
	for _, a := range locked {
		found[a.ID] = a
	}
	return found, err
}

// LockWaitingAgentActions uses agent_action_waiting_quote_unique.
func (u *unit) LockWaitingAgentActions(ctx context.Context, p ident.Platform, quotes []ident.Quote) (map[ident.Quote]agent.Action, error) {
	keys := make([]uuid.UUID, len(quotes))
	for i, id := range quotes {
		keys[i] = id.UUID()
	}
	locked, err := u.lockActions(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("platform_id = ? AND quote_id IN (?) AND status = 'PENDING_APPROVAL'", p.UUID(), bun.List(keys))
	})
	found := make(map[ident.Quote]agent.Action, len(locked))
	for _, a := range locked {
		found[a.Quote] = a
	}
	return found, err
}

func (u *unit) lockActions(ctx context.Context, where func(*bun.SelectQuery) *bun.SelectQuery) ([]agent.Action, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	query := selectAgentActions(u.db.bun).Conn(u.sqlConn).Apply(where).OrderExpr("id").For("NO KEY UPDATE")
	locked, err := selectAll(ctx, u.db, query, (*agentActionRow).action)
	return locked, translate(err)
}

// rejectActionsOf rejects what waits of locked agents. It uses agent_actions_waiting_by_agent.
func (u *unit) rejectActionsOf(ctx context.Context, p ident.Platform, agents []uuid.UUID) error {
	const batchSize = 500
	for {
		if err := u.flush(ctx); err != nil {
			return err
		}
		query := selectAgentActions(u.db.bun).Conn(u.sqlConn).Where("platform_id = ? AND agent_id IN (?) AND status = 'PENDING_APPROVAL'", p.UUID(), bun.List(agents)).
			OrderExpr("id").Limit(batchSize).For("NO KEY UPDATE")
		waiting, err := selectAll(ctx, u.db, query, (*agentActionRow).action)
		if err != nil {
			return translate(err)
		}
		for i, a := range waiting {
			if waiting[i], err = a.Reject(agent.AgentDeletedReason, ident.Token{}, u.db.clock.Now()); err != nil {
				return err
			}
		}
		if err := u.UpdateAgentActions(ctx, waiting); err != nil || len(waiting) < batchSize {
			return err
		}
	}
}

// AgentAction uses the primary key.
func (db *DB) AgentAction(ctx context.Context, p ident.Platform, id ident.AgentAction) (agent.Action, error) {
	query := selectAgentActions(db.bun).Where("platform_id = ? AND id = ?", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*agentActionRow).action, agent.ActionNotFound(id))
}

// AgentActions uses agent_actions_by_agent, agent_actions_by_customer or the primary key; for those that wait,
// agent_actions_waiting_by_agent or agent_actions_waiting.
func (db *DB) AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (ports.Page[agent.Action], error) {
	l := bunList{query: selectAgentActions(db.readBun).Where("platform_id = ?", p.UUID())}
	if !f.Agent.IsZero() {
		l.query = l.query.Where("agent_id = ?", f.Agent.UUID())
	}
	if !f.Customer.IsZero() {
		l.query = l.query.Where("customer_id = ?", f.Customer.UUID())
	}
	if f.Status == agent.ActionPending {
		l.query = l.query.Where("status = 'PENDING_APPROVAL'")
	} else {
		l.whereEqual("status", string(f.Status))
	}
	l.createdIn(f.Created)
	return selectBunPage(ctx, db, l, f.Paging, (*agentActionRow).action)
}

func (row *agentActionRow) open(ctx context.Context, db *DB) (err error) {
	row.Reason, err = db.openText(ctx, sealedRow{row.PlatformID, row.ID}, agentActionsReason, row.Reason)
	return err
}

func (row *agentActionRow) action() agent.Action {
	a := agent.Action{
		PlatformCustomerID: row.PlatformCustomerID, Type: agent.ActionType(row.Type), Status: agent.ActionStatus(row.Status), Signature: row.Signature,
		DecidedAt: timeOrZero(row.DecidedAt), CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
	}
	a.Platform.SetUUID(row.PlatformID)
	a.ID.SetUUID(row.ID)
	a.Agent.SetUUID(row.AgentID)
	a.Customer.SetUUID(row.CustomerID)
	a.Quote.SetUUID(row.QuoteID.UUID)
	a.Transaction.SetUUID(row.TransactionID.UUID)
	a.DecidedBy.SetUUID(row.DecidedBy.UUID)
	if a.Status == agent.ActionFailed {
		a.Failure = &agent.Failure{Code: fault.Code(row.FailureCode), Message: row.Reason}
	} else {
		a.RejectionReason = row.Reason
	}
	if !row.QuoteID.Valid {
		a.Transfer = &agent.Transfer{Amount: money.Amount{Minor: row.Amount, Currency: money.Currency(row.Currency)}, Rail: corridor.Rail(row.Rail)}
		a.Transfer.Internal.SetUUID(row.InternalAccountID.UUID)
		a.Transfer.External.SetUUID(row.ExternalAccountID.UUID)
	}
	return a
}
