package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// lockAgents uses the primary key. Not FOR UPDATE, so that a device code can be stored meanwhile.
var lockAgents = `SELECT ` + agents.Names("") + ` FROM agents WHERE platform_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`

const (
	// readAgentUsage uses the primary key.
	readAgentUsage = `
	SELECT agent_id, day, currency, transactions, spent FROM agent_usage
	WHERE platform_id = $1 AND agent_id = ANY($2::uuid[]) AND day >= $3 AND day < $4 ORDER BY agent_id, day, currency`

	// countWaitingActions uses agent_actions_waiting_by_agent.
	countWaitingActions = `
	SELECT k.id, (SELECT count(*) FROM (
		SELECT FROM agent_actions a WHERE a.platform_id = $1 AND a.agent_id = k.id AND a.status = 'PENDING_APPROVAL' LIMIT $3) w)
	FROM unnest($2::uuid[]) AS k(id)`
)

// LockAgents reads the counters and counts what waits with statements of their own: their snapshots are taken when
// the agents are locked, and so show every payment that the lock has waited for.
func (u *Unit) LockAgents(ctx context.Context, p ident.Platform, ids []ident.Agent,
	month string) (map[ident.Agent]ports.CountedAgent, error) {
	first, next, err := monthDays(month)
	if err != nil {
		return nil, err
	}
	found := make(map[ident.Agent]ports.CountedAgent, len(ids))
	u.queueQuery(lockAgents, []any{p, ids}, func(rows pgx.Rows) error {
		var a agent.Agent
		err := u.db.sealed.Scan(ctx, rows, agents.Columns(&a))
		found[a.ID] = ports.CountedAgent{Agent: a}
		return err
	})
	waiting := map[ident.Agent]int{}
	u.queueQuery(countWaitingActions, []any{p, ids, agent.MaxWaiting}, func(rows pgx.Rows) error {
		var id ident.Agent
		var n int
		err := rows.Scan(&id, &n)
		waiting[id] = n
		return err
	})
	counters := map[ident.Agent]agent.Counters{}
	if err := u.query(ctx, readAgentUsage, []any{p, ids, first, next}, func(rows pgx.Rows) error {
		return scanAgentUsage(rows, counters)
	}); err != nil {
		return nil, err
	}
	for id, a := range found {
		a.Counters, a.Waiting = counters[id], waiting[id]
		found[id] = a
	}
	return found, nil
}

// AgentCounters implements agents.Store.
func (db *DB) AgentCounters(ctx context.Context, p ident.Platform, ids []ident.Agent,
	month string) (map[ident.Agent]agent.Counters, error) {
	first, next, err := monthDays(month)
	if err != nil {
		return nil, err
	}
	counters := map[ident.Agent]agent.Counters{}
	return counters, db.read(ctx, readAgentUsage, []any{p, ids, first, next},
		func(rows pgx.Rows) error { return scanAgentUsage(rows, counters) })
}

func scanAgentUsage(rows pgx.Rows, counters map[ident.Agent]agent.Counters) error {
	var id ident.Agent
	var c agent.Counter
	err := rows.Scan(&id, schema.Day(&c.Day), &c.Currency, &c.Transactions, &c.Spent)
	counters[id] = append(counters[id], c)
	return err
}

// AddAgentUsage implements payments.Tx.
func (u *Unit) AddAgentUsage(_ context.Context, p ident.Platform, counted []ports.AgentCount) error {
	n := len(counted)
	if n == 0 {
		return nil
	}
	ids, days, currencies := make([]ident.Agent, n), make([]any, n), make([]money.Currency, n)
	transactions, spent := make([]int64, n), make([]int64, n)
	for i, c := range counted {
		ids[i], days[i], currencies[i], transactions[i], spent[i] = c.Agent, schema.Day(&c.Day), c.Currency, c.Transactions, c.Spent
	}
	u.queueExec(addAgentUsage, p, ids, days, currencies, transactions, spent)
	return nil
}

// monthDays returns the first day of a month, such as "2026-03", and that of the next one.
func monthDays(month string) (first, next time.Time, err error) {
	first, err = time.Parse("2006-01", month)
	if err != nil {
		err = fmt.Errorf("month %q: %w", month, err)
	}
	return first, first.AddDate(0, 1, 0), err
}
