package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storagetest"
)

// Two hundred thousand settled payments of a connection over a year and twenty thousand of the last hour, which another
// connection has queued and in flight too.
const fillRailPayments = `
INSERT INTO rail_accounts (connection, currency) VALUES ('bank', 'EUR');
INSERT INTO rail_balances (connection, currency, day, amount, at) SELECT 'bank', 'EUR', day, 1, day FROM generate_series(now() - interval '1 year', now() - interval '2 minutes', interval '1 day') AS day;
INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at, sent_at, settled_at)
SELECT '00000000-0000-7000-8000-000000000001', gen_random_uuid(), 'PAYOUT', 'SEPA', '', 'bank', 'EUR', 1, 'DONE', '', '', at, at, at
FROM (SELECT now() - n * interval '150 seconds' - interval '1 day' AS at FROM generate_series(1, 200000) n) settled;
INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at, sent_at)
SELECT '00000000-0000-7000-8000-000000000001', gen_random_uuid(), 'PAYOUT', 'SEPA', '', connection, 'EUR', 1, state, CASE state WHEN 'QUEUED' THEN 'FUNDS' ELSE '' END, '', now(), CASE state WHEN 'SENT' THEN now() END
FROM generate_series(1, 20000) n, unnest(ARRAY['bank', 'wallet']) connection, unnest(ARRAY['QUEUED', 'SENT']) state;
ANALYZE rail_payments; ANALYZE rail_balances`

func TestRailPayments_NoSumScansHistory(t *testing.T) {
	t.Parallel()
	// However many payments were settled, and however many wait: handing over a payment, and looking at a queue, read a few pages.
	e := newPlanEnv(t)
	e.run(fillRailPayments)
	e.becomeService()
	for name, tt := range map[string]struct {
		statement, types, arguments string
		maxPages                    int
	}{
		"accounts":  {readRailAccounts, "text[], text[]", "'{bank}', '{EUR}'", 200},
		"usage":     {readRailUsage, "text[], text[], timestamptz, timestamptz", "'{bank}', '{EUR}', now(), now()", 20},
		"queues":    {railQueues, "", "", 50},
		"operators": {countWaitingPayments, "int", "100", 300},
		"queue": {lockRailQueue, "text, text, text[], text[], bool, timestamptz, uuid, int",
			"'bank', 'EUR', '{}', '{}', false, '-infinity', '00000000-0000-0000-0000-000000000000', 100", 500},
	} {
		prepared := name
		if tt.types != "" {
			prepared += "(" + tt.types + ")"
		}
		e.run("PREPARE " + prepared + " AS " + tt.statement)
		execute := "EXECUTE " + name
		if tt.arguments != "" {
			execute += "(" + tt.arguments + ")"
		}
		var text string
		if err := e.conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+execute, pgx.QueryExecModeSimpleProtocol).Scan(
			&text); err != nil {
			t.Fatal(err)
		}
		if pages := storagetest.PagesOf(t, text); pages > tt.maxPages {
			t.Errorf("%s reads %d pages, want at most %d\n%s", name, pages, tt.maxPages, text)
		}
	}
}
