package bankfile

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/storagetest"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports/portstest"
)

// A year of files of two connections, with 90,000 settled orders, 10,000 open ones in the newest files and 20,000 queued.
const fillOrders = `
INSERT INTO bank_connections (connection, fence, holder, leased_until, files, received, news)
SELECT c, 1, gen_random_uuid(), now(), 1001, 20000, 1000000 FROM unnest(ARRAY['bank', 'other']) c;
INSERT INTO bank_files (connection, number, rail, currency, day, day_number, name, message_id, orders, sum, first_trace, state, temporary_name, sha256, size, created_at, delivered_at, settles_at)
SELECT c, n, 'SEPA', 'EUR', date '2026-01-01' + n / 100, n % 100 + 1, 'f' || n, 'M' || n, 50, 1, 1, 'DELIVERED', 't', decode(repeat('00', 32), 'hex'), 1,
	date '2026-01-01' + n / 100, date '2026-01-01' + n / 100, CASE WHEN n > 900 THEN now() END FROM unnest(ARRAY['bank', 'other']) c, generate_series(1, 1001) n;
INSERT INTO bank_orders (platform_id, id, subject_id, kind, connection, rail, batch, currency, amount, end_to_end_id, key, details, state, file_number, file_position, news, queued_at, settled_at, updated_at)
SELECT '00000000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid(), 'PAYOUT', c, 'SEPA', '', 'EUR', 1, 'E' || f || '-' || p, 'K' || f || '-' || p, '{}',
	CASE WHEN f > 900 THEN 'IN_FILE' ELSE 'SETTLED' END, f, p, f * 50 + p, date '2026-01-01' + f / 100, CASE WHEN f <= 900 THEN now() END, date '2026-01-01' + f / 100
FROM unnest(ARRAY['bank', 'other']) c, generate_series(1, 1000) f, generate_series(1, 50) p;
INSERT INTO bank_orders (platform_id, id, subject_id, kind, connection, rail, batch, currency, amount, end_to_end_id, key, details, state, queued_at, updated_at)
SELECT '00000000-0000-7000-8000-000000000001', gen_random_uuid(), gen_random_uuid(), 'PAYOUT', c, 'SEPA', '', 'EUR', 1, 'Q' || n, 'Q' || n, '{}', 'QUEUED', now() + n * interval '1 ms', now()
FROM unnest(ARRAY['bank', 'other']) c, generate_series(1, 10000) n;
INSERT INTO bank_received_files (connection, number, name, size, modified_at, sha256, state, found_at, ended_at)
SELECT c, n, 'f' || n, n, now(), sha256(n::text::bytea), 'READ', now(), now() FROM unnest(ARRAY['bank', 'other']) c, generate_series(1, 20000) n;
INSERT INTO bank_notices (connection, file, place, kind, name, code, noticed_at)
SELECT c, n, '1', 'UNKNOWN_PAYMENT', 'n', '', now() FROM unnest(ARRAY['bank', 'other']) c, generate_series(1, 20000) n;
INSERT INTO bank_receipt_names (connection, name, partner_id, received_at)
SELECT c, 'n' || n, 'B' || n, now() FROM unnest(ARRAY['bank', 'other']) c, generate_series(1, 100000) n;
ANALYZE bank_receipt_names; ANALYZE bank_orders; ANALYZE bank_files; ANALYZE bank_received_files; ANALYZE bank_notices; ANALYZE bank_connections`

func TestStore_NoStatementScansHistory(t *testing.T) {
	t.Parallel()
	// However many orders and files a connection has had, what runs at every poll reads a few pages for each order that it
	// is about.
	url := pgtest.New(t)
	pgtest.ExecAsSuperuser(t, url, fillOrders)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 1, Clock: new(portstest.OffsetClock)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	var id ident.Platform
	id.SetUUID(uuid.MustParse("00000000-0000-7000-8000-000000000001"))
	p, err := platform.New(id, "Here", platform.Sandbox, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	sha := "sha256('1'::bytea)"
	type planned struct {
		statement, types, arguments string
		maxPages                    int
	}
	statements := map[string]planned{
		"queued":     {queuedOrders, "text", "'bank'", 600},
		"choose":     {chooseOrders, "text, text, text, int, bigint", "'bank', 'SEPA', 'EUR', 100, 1000000000", 6000},
		"undeliv":    {undeliveredFile, "text", "'bank'", 20},
		"in_file":    {ordersOfFile, "text, bigint, int, int", "'bank', 950, 10, 20", 60},
		"news":       {changedOrders, "text, bigint, int", "'bank', 40000, 100", 400},
		"due":        {settleDueOrders, "text, timestamptz, int", "'bank', now() + interval '1 day', 50", 3000},
		"known":      {knownFiles, "text, text[], bigint[], timestamptz[]", "'bank', '{f1,f2}', '{1,2}', ARRAY[now(), now()]", 40},
		"begin":      {beginFile, "text, text, bigint, timestamptz, bytea, timestamptz", "'bank', 'x', 1, now(), " + sha + ", now()", 100},
		"continue":   {continueFile, "text, text, timestamptz, bytea", "'bank', 'x', now(), " + sha, 20},
		"reported":   {ordersOfReports, "text, text[], text[]", "'bank', '{E950-1,E950-2}', '{K950-3}'", 60},
		"whole_file": {reportFile, "text, bigint, text[], bigint, int", "'bank', 950, '{IN_FILE}', 1, 20", 100},
		"file_sum":   {fileHasSum, "text, bigint, numeric, text", "'bank', 950, 49, 'EUR'", 100},
		"names":      {receiptsByName, "text, text[]", "'bank', '{n1,n2,n3}'", 20},
		"notices":    {newestNotices, "text, int", "'bank', 50", 1200},
	}
	for _, old := range OldRows(time.Time{}) {
		statements["old_"+old.Table] = planned{old.Delete, "timestamptz, int", "'2026-01-02', 50", 1500}
	}
	for name, tt := range statements {
		tx, err := db.Pool().Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "PREPARE "+name+"("+tt.types+") AS "+tt.statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text string
		if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE "+name+"("+tt.arguments+")",
			pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if pages := storagetest.PagesOf(t, text); pages > tt.maxPages {
			t.Errorf("%s reads %d pages, want at most %d\n%s", name, pages, tt.maxPages, text)
		} else {
			t.Logf("%s reads %d pages", name, pages)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStore_EachVersionOfItsDocumentsIsRead(t *testing.T) {
	t.Parallel()
	// Every version of the details of an order that was ever written is read without loss.
	storagetest.CheckDocuments(t, []storagetest.Document{storagetest.DocumentOf(ordersTable, "details", nil)})
}
