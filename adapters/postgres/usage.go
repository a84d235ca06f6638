package postgres

import (
	"context"
	"fmt"

	"causeway/core/transaction"
	"causeway/ports"
)

// Counters of what was spent on a day, of agents and of limits, are rows of tables that differ in their key alone.

// addUsage returns the statement that adds to counters, whose key is a column of a type. It uses the primary key.
func addUsage(table, key, keyType string) string {
	return fmt.Sprintf(`
	INSERT INTO %[1]s AS u (platform_id, %[2]s, day, currency, transactions, spent)
	SELECT $1, k.%[2]s, k.day, k.currency, sum(k.transactions)::bigint, sum(k.spent)::bigint
	FROM unnest($2::%[3]s[], $3::date[], $4::text[], $5::bigint[], $6::bigint[]) AS k(%[2]s, day, currency, transactions, spent)
	GROUP BY k.%[2]s, k.day, k.currency ORDER BY k.%[2]s, k.day, k.currency
	ON CONFLICT (platform_id, %[2]s, day, currency) DO UPDATE
	SET transactions = u.transactions + excluded.transactions, spent = u.spent + excluded.spent`, table, key, keyType)
}

// giveBackUsage returns the statement that takes transactions out of counters, whose key of a transaction t is an expression, on a day.
// It uses the primary keys. Counters are locked in the order of their keys, as addUsage does, so that two batches cannot deadlock. One
// that was damaged keeps no payment from failing.
func giveBackUsage(table, key, of, day, counted string) string {
	return fmt.Sprintf(`
	WITH given AS MATERIALIZED (
		SELECT t.platform_id, %[3]s AS %[2]s, t.%[4]s AS day, t.sent_currency AS currency, t.sent_minor AS spent
		FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) JOIN transactions t ON t.platform_id = k.platform_id AND t.id = k.id
		WHERE %[5]s),
	summed AS MATERIALIZED (
		SELECT platform_id, %[2]s, day, currency, count(*) AS transactions, sum(spent)::bigint AS spent FROM given GROUP BY 1, 2, 3, 4),
	locked AS MATERIALIZED (
		SELECT g.* FROM summed g JOIN %[1]s u USING (platform_id, %[2]s, day, currency)
		ORDER BY u.platform_id, u.%[2]s, u.day, u.currency FOR UPDATE OF u)
	UPDATE %[1]s u SET transactions = greatest(u.transactions - l.transactions, 0), spent = greatest(u.spent - l.spent, 0)
	FROM locked l WHERE u.platform_id = l.platform_id AND u.%[2]s = l.%[2]s AND u.day = l.day AND u.currency = l.currency`,
		table, key, of, day, counted)
}

// deleteUsage returns the statement that deletes old counters, whole months, as limits have them. It uses the index by day.
func deleteUsage(table, key string) string {
	return fmt.Sprintf(`
	WITH old AS MATERIALIZED (
		SELECT %[2]s, day, currency FROM %[1]s WHERE platform_id = $1 AND day < date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC')::date
		ORDER BY day LIMIT $4 FOR UPDATE SKIP LOCKED),
	gone AS (DELETE FROM %[1]s u USING old WHERE u.platform_id = $1 AND u.%[2]s = old.%[2]s AND u.day = old.day AND u.currency = old.currency)
	SELECT count(*), count(*), $3::text FROM old`, table, key)
}

var (
	addAgentUsage      = addUsage("agent_usage", "agent_id", "uuid")
	giveBackAgentUsage = giveBackUsage("agent_usage", "agent_id", "t.agent_id", "usage_day", "t.usage_given_back = false")
	deleteAgentUsage   = deleteUsage("agent_usage", "agent_id")

	addLimitUsage      = addUsage("limit_usage", "scope", "text")
	giveBackLimitUsage = giveBackUsage("limit_usage", "scope", "string_to_table(t.limit_scopes, ' ')", "limit_day", "t.limit_scopes <> ''")
	deleteLimitUsage   = deleteUsage("limit_usage", "scope")
)

// GiveBackUsage implements uow.Tx.
func (u *Unit) GiveBackUsage(_ context.Context, transactions []transaction.Transaction) error {
	var limited, ofAgents []ports.TransactionKey
	for i := range transactions {
		t := &transactions[i]
		key := ports.TransactionKey{Platform: t.Platform, ID: t.ID}
		if t.LimitUsage.GivenBack() {
			limited = append(limited, key)
		}
		if t.AgentUsage != nil && t.AgentUsage.GivenBack {
			ofAgents = append(ofAgents, key)
		}
	}
	u.giveBack(giveBackLimitUsage, limited)
	u.giveBack(giveBackAgentUsage, ofAgents)
	return nil
}

func (u *Unit) giveBack(statement string, keys []ports.TransactionKey) {
	if len(keys) > 0 {
		platforms, ids := keyArrays(keys)
		u.queueExec(statement, platforms, ids)
	}
}
