package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/agent"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// agentActionRow is a row of agent_actions.
type agentActionRow struct {
	agent.Action
	transfer    agent.Transfer // zero for a quote
	remittance  string         // of a transfer that waits, or has waited; of others the transaction has it
	reason      string         // of a rejection or a failure
	failureCode fault.Code
}

// agentActions is the table agent_actions.
var agentActions = schema.New("agent_actions", keyOfPlatform, func(row *agentActionRow) schema.Columns {
	a, t := &row.Action, &row.transfer
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "id", Field: &a.ID}, {Name: "agent_id", Field: &a.Agent},
		{Name: "customer_id", Field: &a.Customer},
		{Name: "action_type", Field: &a.Type}, {Name: "status", Field: &a.Status}, {Name: "quote_id", Field: &a.Quote},
		{Name: "internal_account_id", Field: &t.Internal}, {Name: "external_account_id", Field: &t.External},
		{Name: "currency", Field: schema.Optional(&t.Amount.Currency)}, {Name: "amount", Field: schema.Optional(&t.Amount.Minor)},
		{Name: "rail", Type: "text", Field: schema.Converted( // NULL for a quote, and empty for the usual rail
			func() *corridor.Rail {
				if a.Transfer == nil {
					return nil
				}
				return &t.Rail
			},
			func(rail *corridor.Rail) error {
				if rail != nil {
					t.Rail = *rail
				}
				return nil
			})},
		{Name: "purpose", Field: &t.Purpose}, sealed.Text(sealed.AgentActionsRemittance, &row.remittance),
		{Name: "signature", Field: &a.Signature}, {Name: "transaction_id", Field: &a.Transaction},
		sealed.Text(sealed.AgentActionsReason, &row.reason), {Name: "failure_code", Field: &row.failureCode},
		{Name: "decided_by", Field: &a.DecidedBy}, {Name: "decided_at", Field: &a.DecidedAt},
		{Name: "created_at", Field: &a.CreatedAt}, {Name: "updated_at", Field: &a.UpdatedAt},
	}
})

var (
	insertAgentActions = agentActions.InsertAll("ON CONFLICT (platform_id, id) DO NOTHING")

	// updateAgentActions uses the primary key.
	updateAgentActions = agentActions.UpdateAll("status", "transaction_id", "reason", "failure_code", "decided_by", "decided_at", "updated_at")
)

func newAgentActionRow(a agent.Action) agentActionRow {
	row := agentActionRow{Action: a, reason: a.RejectionReason}
	if a.Transfer != nil {
		row.transfer = *a.Transfer
		if a.Status != agent.ActionApproved {
			row.remittance = a.Transfer.Remittance
		}
	}
	if a.Failure != nil {
		row.reason, row.failureCode = a.Failure.Message, a.Failure.Code
	}
	return row
}

func (row *agentActionRow) action() agent.Action {
	a := row.Action
	if a.Status == agent.ActionFailed {
		a.Failure = &agent.Failure{Code: row.failureCode, Message: row.reason}
	} else {
		a.RejectionReason = row.reason
	}
	if a.Quote.IsZero() {
		a.Transfer = new(row.transfer)
		a.Transfer.Remittance = row.remittance
	}
	return a
}

// agentActionColumns are those of agent_actions a, with the platform's own id of the customer, which it finds by the primary key.
var agentActionColumns = agentActions.Names("a") + `, coalesce((SELECT c.platform_customer_id FROM customers c
	WHERE c.platform_id = a.platform_id AND c.id = a.customer_id), '')`

// scanAgentAction reads agentActionColumns. The reason is still encrypted.
func scanAgentAction(rows pgx.Rows) (sealed.Scanned[agentActionRow], error) {
	row := new(agentActionRow)
	r := sealed.Scanned[agentActionRow]{Row: row, Columns: agentActions.Columns(row)}
	return r, sealed.ScanStored(rows, r.Columns, &row.PlatformCustomerID)
}

// readAgentActions reads the actions a that a condition finds.
func readAgentActions(ctx context.Context, db *DB, read storage.Reader, rest string, args ...any) ([]agent.Action, error) {
	var found []sealed.Scanned[agentActionRow]
	if err := read(ctx, "SELECT "+agentActionColumns+" FROM agent_actions a "+rest, args, func(rows pgx.Rows) error {
		row, err := scanAgentAction(rows)
		found = append(found, row)
		return err
	}); err != nil {
		return nil, translate(err)
	}
	return openAgentActions(ctx, db, found)
}

func openAgentActions(ctx context.Context, db *DB, found []sealed.Scanned[agentActionRow]) (actions []agent.Action, err error) {
	opened, err := sealed.OpenRows(ctx, db.sealed, found)
	for i := range opened {
		actions = append(actions, opened[i].action())
	}
	return actions, err
}

// CreateAgentActions implements payments.Tx.
func (u *Unit) CreateAgentActions(ctx context.Context, actions []agent.Action) error {
	return u.writeAgentActions(ctx, insertAgentActions, actions)
}

// UpdateAgentActions implements payments.Tx.
func (u *Unit) UpdateAgentActions(ctx context.Context, actions []agent.Action) error {
	return u.writeAgentActions(ctx, updateAgentActions, actions)
}

func (u *Unit) writeAgentActions(ctx context.Context, s schema.Statement[agentActionRow], actions []agent.Action) error {
	rows := make([]agentActionRow, len(actions))
	for i, a := range actions {
		rows[i] = newAgentActionRow(a)
	}
	return writeAll(ctx, u, s, rows)
}

// LockAgentActions uses the primary key.
func (u *Unit) LockAgentActions(ctx context.Context, p ident.Platform,
	ids []ident.AgentAction) (map[ident.AgentAction]agent.Action, error) {
	locked, err := readAgentActions(ctx, u.db, u.query,
		`WHERE a.platform_id = $1 AND a.id = ANY($2::uuid[]) ORDER BY a.id FOR NO KEY UPDATE OF a`, p, ids)
	found := make(map[ident.AgentAction]agent.Action, len(locked))
	for _, a := range locked {
		found[a.ID] = a
	}
	return found, err
}

// LockWaitingAgentActions uses agent_action_waiting_quote_unique.
func (u *Unit) LockWaitingAgentActions(ctx context.Context, p ident.Platform, quotes []ident.Quote) (map[ident.Quote]agent.Action, error) {
	locked, err := readAgentActions(ctx, u.db, u.query,
		`WHERE a.platform_id = $1 AND a.quote_id = ANY($2::uuid[]) AND a.status = 'PENDING_APPROVAL' ORDER BY a.id FOR NO KEY UPDATE OF a`,
		p, quotes)
	found := make(map[ident.Quote]agent.Action, len(locked))
	for _, a := range locked {
		found[a.Quote] = a
	}
	return found, err
}

// rejectActionsOf rejects what waits of locked agents. It uses agent_actions_waiting_by_agent.
func (u *Unit) rejectActionsOf(ctx context.Context, p ident.Platform, agents []ident.Agent) error {
	const batchSize = 500
	for {
		waiting, err := readAgentActions(ctx, u.db, u.query, `WHERE a.platform_id = $1 AND a.agent_id = ANY($2::uuid[])
			AND a.status = 'PENDING_APPROVAL' ORDER BY a.id LIMIT $3 FOR NO KEY UPDATE OF a`, p, agents, batchSize)
		if err != nil {
			return err
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
	found, err := readAgentActions(ctx, db, db.read, `WHERE a.platform_id = $1 AND a.id = $2`, p, id)
	if err != nil {
		return agent.Action{}, err
	}
	if len(found) == 0 {
		return agent.Action{}, agent.ActionNotFound(id)
	}
	return found[0], nil
}

// AgentActions uses agent_actions_by_agent, agent_actions_by_customer or the primary key; for those that wait,
// agent_actions_waiting_by_agent or agent_actions_waiting.
func (db *DB) AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (page ports.Page[agent.Action], err error) {
	l := newJoinedList("agent_actions AS a", "a", p)
	if !f.Agent.IsZero() {
		l.byIndex("a.agent_id = ?", f.Agent)
	}
	if !f.Customer.IsZero() {
		l.byIndex("a.customer_id = ?", f.Customer)
	}
	if f.Status == agent.ActionPending {
		l.byIndex("a.status = 'PENDING_APPROVAL'")
	} else {
		l.whereEqual("status", string(f.Status))
	}
	l.createdIn(f.Created)
	found, err := selectPageOf(ctx, db, l, f.Paging, agentActionColumns, scanAgentAction)
	if err != nil {
		return page, err
	}
	page = ports.Page[agent.Action]{More: found.More, Total: found.Total, TotalIsMinimum: found.TotalIsMinimum}
	page.Items, err = openAgentActions(ctx, db, found.Items)
	return page, err
}
