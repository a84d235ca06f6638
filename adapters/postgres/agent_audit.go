package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/ports"
)

const (
	// readAuditedUsage reads the agents of the platform $1 after $2, at most $3, by transactions_by_agent and the
	// primary key of agent_usage. An agent without any line has one row with NULLs.
	readAuditedUsage = `
	WITH RECURSIVE found(agent_id) AS (
		SELECT $2::uuid
		UNION ALL
		SELECT least((SELECT t.agent_id FROM transactions t WHERE t.platform_id = $1 AND t.agent_id > f.agent_id ORDER BY t.agent_id LIMIT 1),
			(SELECT u.agent_id FROM agent_usage u WHERE u.platform_id = $1 AND u.agent_id > f.agent_id ORDER BY u.agent_id LIMIT 1))
		FROM found f WHERE f.agent_id IS NOT NULL),
	page AS MATERIALIZED (SELECT agent_id FROM found WHERE agent_id IS NOT NULL OFFSET 1 LIMIT $3)
	SELECT p.agent_id, l.day, coalesce(l.currency, ''), coalesce(l.exists, false), coalesce(l.counted, 0), coalesce(l.counted_spent, 0),
		coalesce(l.started, 0), least(coalesce(l.started_spent, 0), 9223372036854775807)::bigint, l.misflagged
	FROM page p LEFT JOIN LATERAL (
		SELECT day, currency, u.transactions IS NOT NULL AS exists, u.transactions AS counted, u.spent AS counted_spent,
			s.transactions AS started, s.spent AS started_spent, s.misflagged
		FROM (
			SELECT t.usage_day AS day, t.sent_currency AS currency, count(*) FILTER (WHERE NOT t.usage_given_back) AS transactions,
				sum(t.sent_minor) FILTER (WHERE NOT t.usage_given_back) AS spent,
				(array_agg(t.id) FILTER (WHERE t.usage_given_back <> (t.status = 'FAILED')))[1] AS misflagged
			FROM transactions t WHERE t.platform_id = $1 AND t.agent_id = p.agent_id AND t.usage_day IS NOT NULL GROUP BY 1, 2) s
		FULL JOIN (SELECT * FROM agent_usage WHERE platform_id = $1 AND agent_id = p.agent_id) u USING (day, currency)) l ON true
	ORDER BY p.agent_id, l.day, l.currency`

	// readApprovedActions uses the primary keys and agent_action_transaction_unique.
	readApprovedActions = `
	SELECT a.platform_id, a.id, a.agent_id, a.customer_id, a.quote_id, a.transaction_id, coalesce(a.currency, ''), coalesce(a.amount, 0),
		(SELECT count(*) FROM agent_actions o WHERE o.platform_id = a.platform_id AND o.transaction_id = a.transaction_id),
		t.id, t.agent_id, t.customer_id, t.quote_id, t.usage_day IS NOT NULL, coalesce(t.sent_currency, ''), coalesce(t.sent_minor, 0)
	FROM agent_actions a LEFT JOIN transactions t ON t.platform_id = a.platform_id AND t.id = a.transaction_id
	WHERE (a.platform_id, a.id) > ($1, $2) AND a.status = 'APPROVED' AND a.platform_id <= $4 ORDER BY a.platform_id, a.id LIMIT $3`

	// readStartedTransactions uses transactions_by_agent and agent_action_transaction_unique.
	readStartedTransactions = `
	SELECT t.platform_id, t.id, t.agent_id, t.customer_id, t.quote_id, t.usage_day IS NOT NULL, t.sent_currency, t.sent_minor,
		EXISTS (SELECT FROM agent_actions a WHERE a.platform_id = t.platform_id AND a.transaction_id = t.id AND a.status = 'APPROVED')
	FROM transactions t WHERE (t.platform_id, t.agent_id, t.id) > ($1, $2, $3) AND t.agent_id IS NOT NULL AND t.platform_id <= $5
	ORDER BY t.platform_id, t.agent_id, t.id LIMIT $4`
)

// EachAgentUsage reads some agents with each statement, and so in one snapshot.
func (db *DB) EachAgentUsage(ctx context.Context, of ident.Platform, visit func(ports.UsageLine) error) error {
	const batchSize = 100 // agents
	platforms, err := db.platformIDs(ctx, of)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		var last ident.Agent
		for more := true; more; {
			more = false
			if err := db.read(ctx, readAuditedUsage, []any{p, last.UUID(), batchSize}, func(rows pgx.Rows) error {
				more = true
				line, exists, err := scanUsageLine(rows)
				if last = line.Agent; err != nil || !exists {
					return err
				}
				line.Platform = p
				return visit(line)
			}); err != nil {
				return fmt.Errorf("read the usage of agents: %w", err)
			}
		}
	}
	return nil
}

// readAuditedLimits reads all transactions of the platform $1, and its counters, in one snapshot.
const readAuditedLimits = `
	WITH sent AS (
		SELECT coalesce(s.scope, '') AS scope, t.limit_day AS day, t.sent_currency AS currency, count(s.scope) AS transactions,
			sum(t.sent_minor) FILTER (WHERE s.scope IS NOT NULL) AS spent,
			(array_agg(t.id) FILTER (WHERE (t.limit_scopes = '') <> (t.status = 'FAILED')))[1] AS misflagged
		FROM transactions t LEFT JOIN LATERAL string_to_table(t.limit_scopes, ' ') s(scope) ON s.scope <> ''
		WHERE t.platform_id = $1 AND t.limit_day IS NOT NULL GROUP BY 1, 2, 3)
	SELECT scope, day, currency, u.transactions IS NOT NULL, coalesce(u.transactions, 0), coalesce(u.spent, 0),
		coalesce(s.transactions, 0), least(coalesce(s.spent, 0), 9223372036854775807)::bigint, s.misflagged
	FROM sent s FULL JOIN (SELECT * FROM limit_usage WHERE platform_id = $1) u USING (scope, day, currency)
	ORDER BY scope, day, currency`

// EachLimitUsage reads each platform with one statement.
func (db *DB) EachLimitUsage(ctx context.Context, of ident.Platform, visit func(ports.UsageLine) error) error {
	platforms, err := db.platformIDs(ctx, of)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		if err := db.read(ctx, readAuditedLimits, []any{p}, func(rows pgx.Rows) error {
			line := ports.UsageLine{Platform: p}
			if err := rows.Scan(append([]any{&line.Scope}, usageFields(&line)...)...); err != nil {
				return err
			}
			return visit(line)
		}); err != nil {
			return fmt.Errorf("read the usage of limits: %w", err)
		}
	}
	return nil
}

func (db *DB) platformIDs(ctx context.Context, of ident.Platform) ([]ident.Platform, error) {
	first, last := platformRange(of)
	return queryValues[ident.Platform](ctx, db.read, `SELECT id FROM platforms WHERE id BETWEEN $1 AND $2 ORDER BY id`, first, last)
}

// scanUsageLine returns false if the agent has no line.
func scanUsageLine(rows pgx.Rows) (line ports.UsageLine, exists bool, err error) {
	err = rows.Scan(append([]any{&line.Agent}, usageFields(&line)...)...)
	return line, line.Counted.Day != "", err
}

// usageFields are the columns of a line after its agent or scope.
func usageFields(line *ports.UsageLine) []any {
	return []any{schema.Day(&line.Counted.Day), &line.Counted.Currency, &line.Exists, &line.Counted.Transactions, &line.Counted.Spent,
		&line.Transactions, &line.Spent, &line.Misflagged}
}

const auditBatchSize = 1000

// EachAgentPayment reads in batches: the approved actions, and then the transactions without one.
func (db *DB) EachAgentPayment(ctx context.Context, of ident.Platform, visit func(ports.AgentPaymentLine) error) error {
	var id uuid.UUID
	platform, lastPlatform := platformRange(of)
	for n := auditBatchSize; n == auditBatchSize; {
		n = 0
		if err := db.read(ctx, readApprovedActions, []any{platform, id, auditBatchSize, lastPlatform}, func(rows pgx.Rows) error {
			n++
			line, err := scanApprovedAction(rows)
			if platform, id = line.Platform.UUID(), line.Action.ID.UUID(); err != nil {
				return err
			}
			return visit(line)
		}); err != nil {
			return fmt.Errorf("read the approved actions of agents: %w", err)
		}
	}
	return db.eachStartedWithoutAction(ctx, of, visit)
}

func scanApprovedAction(rows pgx.Rows) (line ports.AgentPaymentLine, err error) {
	a := &line.Action
	err = rows.Scan(append([]any{&line.Platform, &a.ID, &a.Agent, &a.Customer, &a.Quote, &a.Transaction, &a.Amount.Currency,
		&a.Amount.Minor, &a.Sharing},
		auditedFields(&line.Transaction)...)...)
	return line, err
}

// eachStartedWithoutAction calls visit for the transactions that agents have started and that no approved action
// has.
func (db *DB) eachStartedWithoutAction(ctx context.Context, of ident.Platform, visit func(ports.AgentPaymentLine) error) error {
	platform, lastPlatform := platformRange(of)
	var last ports.AuditedAgentTransaction
	for n := auditBatchSize; n == auditBatchSize; {
		n = 0
		args := []any{platform, last.Agent.UUID(), last.ID.UUID(), auditBatchSize, lastPlatform}
		if err := db.read(ctx, readStartedTransactions, args, func(rows pgx.Rows) error {
			n++
			var line ports.AgentPaymentLine
			var hasAction bool
			err := rows.Scan(append(append([]any{&line.Platform}, auditedFields(&line.Transaction)...), &hasAction)...)
			platform, last = line.Platform.UUID(), line.Transaction
			if err != nil || hasAction || !last.Started {
				return err
			}
			return visit(line)
		}); err != nil {
			return fmt.Errorf("read the transactions of agents: %w", err)
		}
	}
	return nil
}

// auditedFields are the columns that an audit reads of a transaction; the ids are NULL if there is none.
func auditedFields(t *ports.AuditedAgentTransaction) []any {
	return []any{&t.ID, &t.Agent, &t.Customer, &t.Quote, &t.Started, &t.Sent.Currency, &t.Sent.Minor}
}
