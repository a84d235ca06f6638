package postgres_test

import (
	"os"
	"testing"

	"causeway/adapters/postgres/storagetest"
)

// statements are those of the tests of the package. Each names the platform of the rows that it reads, so that they could be distributed
// by platform, but for those that are listed.
var statements = storagetest.NewStatements(300,
	storagetest.AcrossPlatforms{Why: "what a caller sends says which platform it is of", Statements: []string{
		"agent_device_codes: FROM agent_device_codes WHERE hash = $1",
		"tokens: WHERE t.client_id = ANY($1)",
	}},
	storagetest.AcrossPlatforms{Why: "every process keeps the limits of all platforms, which are few", Statements: []string{
		"limits: FROM limits ORDER BY platform_id, currency, customer, region",
	}},
	storagetest.AcrossPlatforms{Why: "jobs of all platforms are due in one order, and platforms take turns", Statements: []string{
		"jobs: WHERE EXISTS (SELECT FROM jobs WHERE jobs.step = s.step AND due_at <=",
		"jobs: WITH due AS ( SELECT platform_id, id FROM jobs WHERE step = $1",
		"jobs: WITH RECURSIVE platforms AS ( (SELECT step, platform_id FROM jobs",
	}},
	storagetest.AcrossPlatforms{Why: "a connection to a partner carries payments of all platforms", Statements: []string{
		"partner_events: FROM partner_events WHERE connection = $1 AND event_id = ANY($2)",
		"partner_events: FROM partner_events WHERE connection = $1 AND number > $2",
		"rail_feed_items: FROM rail_feed_items WHERE discarded_at IS NULL AND ($1 = ? OR connection = $1)",
		"rail_feed_items: FROM rail_feed_items WHERE discarded_at IS NULL AND connection = $1 AND kind = $2",
		"rail_feed_items: FROM rail_feed_items WHERE discarded_at IS NULL AND connection = $1 AND retry_at <= $2",
		"rail_feed_items: FROM rail_feed_items WHERE id = $1",
		"rail_feed_items: FROM rail_feeds f FULL JOIN",
		"rail_feed_items: UPDATE rail_feed_items SET discarded_at = $2",
		"rail_payments rail_receipts: JOIN rail_accounts a USING (connection, currency)",
		"rail_payments: FROM rail_payments p WHERE state = ? AND ($1 = ? OR connection = $1)",
		"rail_payments: FROM rail_payments p WHERE state = ? AND connection = $1 AND currency = $2",
		"rail_payments: WITH RECURSIVE queues AS ( (SELECT connection, currency FROM rail_payments",
		"rail_statements: FROM ( SELECT platform_id, id FROM rail_statements WHERE reconciled_at IS NULL AND retry_at <=",
		"rail_statements: FROM rail_statements WHERE reconciled_at IS NULL AND ($1 = ? OR connection = $1)",
		"rail_statements: FROM rail_statements s WHERE s.id = $1",
		"rail_statements: UPDATE rail_statements SET content = ?",
	}},
	storagetest.AcrossPlatforms{Why: "metrics count the queues of all platforms", Statements: []string{
		"jobs: CROSS JOIN LATERAL ( SELECT count(*) AS n, min(due_at) AS oldest",
		"jobs: WITH late AS (",
		"ledger_accounts: FROM platforms p CROSS JOIN LATERAL ( SELECT currency FROM ledger_accounts a",
		"ledger_clocks: SELECT coalesce(sum(c.seq - greatest(s.size, 0)), 0)",
		"rail_feed_items: FROM rail_feed_items i WHERE i.connection = f.connection",
		"rail_payments: FROM rail_accounts a CROSS JOIN LATERAL",
		"rail_payments: AS waiting GROUP BY wait",
		"rail_statements: AS refused GROUP BY connection",
		"receivables: FROM receivables WHERE state = ? ORDER BY returned_at, id LIMIT $1",
		"webhook_backlog webhook_events webhook_queue: SELECT (SELECT count(*) FROM (SELECT FROM webhook_queue LIMIT $1)",
	}},
	storagetest.AcrossPlatforms{Why: "the oldest rows of a connection, or of a place in the table, are deleted", Statements: []string{
		"exports: FROM exports WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED",
		"idempotency_keys: DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM old))",
		"partner_events: DELETE FROM partner_events WHERE (platform_id, id) IN (",
		"rail_feed_items: DELETE FROM rail_feed_items WHERE ctid = ANY",
		"rail_payments: DELETE FROM rail_payments WHERE ctid = ANY",
		"rail_receipts: DELETE FROM rail_receipts WHERE ctid = ANY",
		"rail_statements: DELETE FROM rail_statements WHERE ctid = ANY",
	}},
	storagetest.AcrossPlatforms{Why: "a customer of another platform was invited", Statements: []string{
		"invitations: WHERE invitee_platform_id = $1 AND invitee_id = $2",
	}},
	storagetest.AcrossPlatforms{Why: "operators look at all platforms: the checks of the ledger, prices, lost commits", Statements: []string{
		"agent_actions: WHERE (a.platform_id, a.id) > ($1, $2)",
		"ledger_settings: SELECT DISTINCT ON (platform_id) platform_id, four_eyes FROM ledger_settings",
		"lost_commits: (SELECT count(*) FROM lost_commits c WHERE c.finding_id = f.id)",
		"lost_commits: FROM lost_commits WHERE finding_id = $1",
		"rail_replies: FROM rail_replies r WHERE r.platform_id BETWEEN $1 AND $2",
		"transactions: FROM transactions t WHERE (t.platform_id, t.agent_id, t.id) > ($1, $2, $3)",
		"transactions: k.public_key FROM transactions t LEFT JOIN quotes q",
	}},
	storagetest.AcrossPlatforms{Why: "only a test sends it", Statements: []string{
		"webhook_events: SELECT count(*) FROM webhook_events",
	}},
)

func TestMain(m *testing.M) { os.Exit(statements.Main(m)) }
