package migrations_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

// first and second are small migrations; broken fails after it has created a table.
const (
	first  = "-- +goose Up\nCREATE TABLE one (id int);\n"
	second = "-- +goose Up\nCREATE TABLE two (id int);\n"
	broken = "-- +goose Up\nCREATE TABLE two (id int);\nSELECT no_such_function();\n"
)

func TestUp_CreatesSchema(t *testing.T) {
	t.Parallel()
	// All files apply to an empty database (pgtest does that), and a second time there is
	// nothing to do.
	db := openDB(t, pgtest.New(t))
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if !hasTable(t, db, "platforms") {
		t.Error("the schema has no platforms")
	}
}

func TestUp_ConcurrentProcesses(t *testing.T) {
	t.Parallel()
	// Several processes that start at the same time on an empty database all find it migrated,
	// and each file is applied once.
	url := pgtest.NewEmpty(t)
	var starts sync.WaitGroup
	for range 4 {
		starts.Go(func() {
			db, err := sql.Open("pgx", url)
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
				t.Error(err)
			}
			if !hasTable(t, db, "two") {
				t.Error("Up returned before the schema was complete")
			}
		})
	}
	starts.Wait()

	var applied int
	if err := openDB(t, url).QueryRow("SELECT count(*) FROM schema_migrations WHERE version_id > 0").Scan(&applied); err != nil {
		t.Fatal(err)
	}
	if applied != 2 {
		t.Errorf("%d files were applied, want 2", applied)
	}
}

func TestUp_FileIsAtomic(t *testing.T) {
	t.Parallel()
	// A file that fails is rolled back; the files before it stay, and it can be applied once it
	// is corrected.
	db := openDB(t, pgtest.NewEmpty(t))

	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, broken)); err == nil {
		t.Fatal("the broken file was applied")
	}

	if !hasTable(t, db, "one") || hasTable(t, db, "two") {
		t.Error("want the table of the good file and not that of the broken one")
	}
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
		t.Fatal(err)
	}
	if !hasTable(t, db, "two") {
		t.Error("the corrected file was not applied")
	}
}

func TestApply_ReportsFilesAndVersions(t *testing.T) {
	t.Parallel()
	// The result names each applied file and the versions before and after: for an empty database,
	// when there is nothing to do, for an upgrade, and for the files before one that failed.
	db := openDB(t, pgtest.NewEmpty(t))
	for _, c := range []struct {
		files    fs.FS
		from, to int64
		applied  []string
		failed   bool
	}{
		{numberedFiles(first), 0, 1, []string{"00001_step.sql"}, false},
		{numberedFiles(first), 1, 1, nil, false},
		{numberedFiles(first, second, broken), 1, 2, []string{"00002_step.sql"}, true},
	} {
		result, err := migrations.ApplyFrom(t.Context(), db, c.files)

		var applied []string
		for _, f := range result.Applied {
			applied = append(applied, f.Name)
		}
		if (err != nil) != c.failed || result.From != c.from || result.To != c.to || !slices.Equal(applied, c.applied) {
			t.Errorf("from %d to %d with %q, %v; want from %d to %d with %q", result.From, result.To, applied, err, c.from, c.to, c.applied)
		}
	}
}

func TestUp_NewerDatabaseRefused(t *testing.T) {
	t.Parallel()
	// A program refuses a database that a newer release has migrated.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first, second)); err != nil {
		t.Fatal(err)
	}
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(first)); !errors.Is(err, migrations.ErrNewerDatabase) {
		t.Errorf("Up by an old program: %v", err)
	}
}

func TestHash_DiffersBySchema(t *testing.T) {
	t.Parallel()
	// Any change of a name, of content or of the boundary between two files gives another hash;
	// the same files give the same hash.
	seen := map[string]int{}
	for i, f := range []fs.FS{
		numberedFiles(first), numberedFiles(first, second), numberedFiles(second, first), numberedFiles(first, second+" "),
		fstest.MapFS{"00001_other.sql": {Data: []byte(first)}}, numberedFiles(first + second),
	} {
		hash, err := migrations.HashOf(f)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("schemas %d and %d have the same hash", other, i)
		}
		seen[hash] = i
		if again, _ := migrations.HashOf(f); again != hash {
			t.Error("the same schema has two hashes")
		}
	}
	if !regexp.MustCompile("^[0-9a-f]{64}$").MatchString(migrations.Hash()) {
		t.Errorf("the hash of the schema is %q", migrations.Hash())
	}
}

func TestUp_IdempotencyKeysOfTwoTokens(t *testing.T) {
	t.Parallel()
	// If two tokens of a platform used the same idempotency key before keys belonged to the
	// platform, the response to the first request remains, and the key is unique from then on.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesUpTo(t, "00012")); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO idempotency_keys (platform_id, token_id, key, fingerprint, status, body, created_at)
		VALUES ($1, gen_random_uuid(), $2, '', 200, $3, $4)`
	platform, other := "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	for _, row := range []struct{ platform, key, body, at string }{
		{platform, "twice", "second", "2026-03-02"}, {platform, "twice", "first", "2026-03-01"},
		{platform, "once", "only", "2026-03-02"}, {other, "twice", "of another platform", "2026-03-03"},
	} {
		if _, err := db.Exec(insert, row.platform, row.key, row.body, row.at); err != nil {
			t.Fatal(err)
		}
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	var bodies string
	if err := db.QueryRow(`SELECT string_agg(convert_from(body, 'UTF8'), ', ' ORDER BY created_at) FROM idempotency_keys`).Scan(&bodies); err != nil {
		t.Fatal(err)
	}
	if want := "first, only, of another platform"; bodies != want {
		t.Errorf("stored %s, want %s", bodies, want)
	}
	if _, err := db.Exec(insert, platform, "twice", "third", "2026-03-04"); err == nil || !strings.Contains(err.Error(), `"idempotency_keys_pkey"`) {
		t.Errorf("the key of another token: %v, want a violation of idempotency_keys_pkey", err)
	}
}

func TestUp_ReceiptsWithOnePartnerID(t *testing.T) {
	t.Parallel()
	// If several receipts have the same partner's id, it stays with the first of them, and is unique
	// from then on. A long one becomes its hash.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesUpTo(t, "00014")); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO receipts (platform_id, id, rail, partner_id, reference, currency, amount, received_at)
		VALUES ('11111111-1111-4111-8111-111111111111', gen_random_uuid(), $1, $2, '', 'USD', 1, $3)`
	for _, row := range []struct{ rail, partnerID, at string }{
		{"RTP", "twice", "2026-03-02"}, {"RTP", "twice", "2026-03-01"}, {"RTP", "once", "2026-03-03"}, {"WIRE", "twice", "2026-03-04"},
		{"WIRE", strings.Repeat("x", 3000), "2026-03-05"},
	} {
		if _, err := db.Exec(insert, row.rail, row.partnerID, row.at); err != nil {
			t.Fatal(err)
		}
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	var kept string
	if err := db.QueryRow(`SELECT string_agg(rail || ' ' || left(partner_id, 15), ', ' ORDER BY received_at) FROM receipts`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if want := "RTP twice, RTP repeat of twice, RTP once, WIRE twice, WIRE sha256:e1630f84"; kept != want {
		t.Errorf("stored %s, want %s", kept, want)
	}
	if _, err := db.Exec(insert, "RTP", "twice", "2026-03-06"); err == nil || !strings.Contains(err.Error(), `"receipts_by_partner_id"`) {
		t.Errorf("the payment again: %v, want a violation of receipts_by_partner_id", err)
	}
}

func TestUp_ReceiptsOfPreviousReleaseMeanwhile(t *testing.T) {
	t.Parallel()
	// An attempt failed because a previous release stored a payment again, and left an invalid index.
	// The next attempt makes the index, which is unique.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesUpTo(t, "00015")); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO receipts (platform_id, id, rail, partner_id, reference, currency, amount, received_at)
		VALUES ('11111111-1111-4111-8111-111111111111', gen_random_uuid(), 'RTP', 'twice', '', 'USD', 1, $1)`
	for _, at := range []string{"2026-03-01", "2026-03-02"} {
		if _, err := db.Exec(insert, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`CREATE UNIQUE INDEX CONCURRENTLY receipts_by_partner_id ON receipts (platform_id, rail, partner_id)`); err == nil {
		t.Fatal("the index was made over a repeated payment")
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	if _, err := db.Exec(insert, "2026-03-03"); err == nil || !strings.Contains(err.Error(), `"receipts_by_partner_id"`) {
		t.Errorf("the payment again: %v, want a violation of receipts_by_partner_id", err)
	}
}

func TestUp_AttemptsOfPreviousReleaseDoNotCount(t *testing.T) {
	t.Parallel()
	// A job that a previous release tried more often than the limit is not dead at its next attempt.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesUpTo(t, "00023")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO jobs (platform_id, id, step, due_at, subjects, attempts)
		VALUES ('11111111-1111-4111-8111-111111111111', gen_random_uuid(), 'deliver', now(), '{}', 500)`); err != nil {
		t.Fatal(err)
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	var attempts, counted int
	if err := db.QueryRow(`SELECT attempts, attempts - earlier_attempts FROM jobs`).Scan(&attempts, &counted); err != nil {
		t.Fatal(err)
	}
	if attempts != 500 || counted != 0 {
		t.Errorf("%d attempts, %d counted, want 500 and 0", attempts, counted)
	}
}

func TestUp_RowsBecomeFirstPartition(t *testing.T) {
	t.Parallel()
	// Events, attempts and lookups of the previous release are in the first partitions, with their
	// indexes, and nothing is rewritten. The previous release goes on while the files are applied and
	// afterwards: its events are numbered after those before, and its sessions read and write as the
	// role of the service.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesBefore(t, "partition_bounds")); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const platform = "11111111-1111-4111-8111-111111111111"
	newEvent := func() (seq int64) {
		t.Helper()
		err := conn.QueryRowContext(t.Context(), `WITH stored AS (
				INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body)
				SELECT $1, overlay(gen_random_uuid()::text PLACING left(first_uuid_v7(now())::text, 13) FROM 1)::uuid, gen_random_uuid(), now(), 'TEST', 'TEST', 'body' RETURNING *),
			attempted AS (INSERT INTO webhook_attempts SELECT platform_id, id, now(), 1, 1, 500, true, 'ERROR', '', '' FROM stored),
			looked AS (INSERT INTO lookups (platform_id, id, sender_uma, receiver_uma, requested_fields, expires_at, created_at, currencies, receiver_info)
				SELECT platform_id, id, '', '$bo@uma.test', '[]', now(), now(), '{}', '{}' FROM stored)
			SELECT seq FROM stored`, platform).Scan(&seq)
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	files := func() (list string) {
		if err := db.QueryRow(`SELECT string_agg(relfilenode::text, ' ' ORDER BY relfilenode) FROM pg_class WHERE relname ~ '^(webhook_(events|attempts)|lookups)(_first)?$' AND relkind = 'r'`).Scan(&list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	do(`INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at) VALUES ($1, 'P', 'SANDBOX', true, '', '[]', now(), now())`, platform)
	do(`SET ROLE causeway_service`)
	do(`SET causeway.platform = '*'`)
	last, before := newEvent(), files()
	for _, next := range []string{"partition_bounds_valid", "unused_indexes", "webhook_partitions", "none"} {

		if err := migrations.UpFrom(t.Context(), db, filesBefore(t, next)); err != nil {
			t.Fatal(err)
		}

		seq := newEvent()
		if seq <= last {
			t.Errorf("before file %s, event %d follows event %d", next, seq, last)
		}
		last = seq
	}

	if after := files(); after != before {
		t.Errorf("tables are in the files %s, were in %s", after, before)
	}
	for _, table := range []string{"webhook_events", "webhook_attempts", "lookups"} {
		var all, first, partitions, indexes int
		if err := conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM `+table+`), (SELECT count(*) FROM `+table+` WHERE tableoid = '`+table+`_first'::regclass),
			(SELECT count(*) FROM pg_inherits WHERE inhparent = '`+table+`'::regclass),
			(SELECT count(*) FROM pg_index p JOIN pg_inherits h ON h.inhparent = p.indexrelid WHERE p.indrelid = '`+table+`'::regclass AND p.indisvalid)`).Scan(&all, &first, &partitions, &indexes); err != nil {
			t.Fatal(err)
		}
		var had int
		if err := db.QueryRow(`SELECT count(*) FROM pg_index WHERE indrelid = '` + table + `_first'::regclass`).Scan(&had); err != nil {
			t.Fatal(err)
		}
		if all != 5 || first != 5 || partitions != 2 || indexes != 2*had {
			t.Errorf("%s: %d of %d rows in the first of %d partitions, %d indexes of %d", table, first, all, partitions, indexes, 2*had)
		}
	}
	var deleted int
	if err := conn.QueryRowContext(t.Context(), `SELECT deleted FROM delete_webhook_events($1, 'infinity', '00000000-0000-0000-0000-000000000000', 10)`, platform).Scan(&deleted); err != nil || deleted != 0 {
		t.Errorf("the previous release deleted %d events, %v", deleted, err)
	}
	do(`DELETE FROM lookups WHERE platform_id = $1`, platform)
}

func TestUp_StatusesOfTransactionsAreCopied(t *testing.T) {
	t.Parallel()
	// The status of every transaction of before is copied, in several batches; one that changed, was
	// created or was deleted by the previous release since the triggers exist is copied as it is. The
	// copy can be repeated.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesBefore(t, "transaction_statuses")); err != nil {
		t.Fatal(err)
	}
	do := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	insert := func(rows int) {
		t.Helper()
		do(fmt.Sprintf(`INSERT INTO transactions (platform_id, id, direction, status, refund_status, stage, failure_reason, source_rail, source_account,
				destination_rail, destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details)
			SELECT p.id, gen_random_uuid(), 'OUTGOING', (ARRAY['PENDING', 'COMPLETED', 'EXPIRED'])[1 + n %% 3], '', '', '', '', '', '', '', 'USD', 1, 'USD', 1, now(), now(), '', '', '', ''
			FROM platforms p, generate_series(1, %d) n`, rows))
	}
	for _, id := range []string{"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"} {
		do(`INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at) VALUES ('` + id + `', 'P', 'SANDBOX', true, '', '[]', now(), now())`)
	}
	insert(5100)
	if err := migrations.UpFrom(t.Context(), db, filesBefore(t, "transaction_statuses_filled")); err != nil {
		t.Fatal(err)
	}
	insert(10)
	do(`UPDATE transactions SET status = 'FAILED' WHERE id IN (SELECT id FROM transactions WHERE status = 'COMPLETED' LIMIT 100)`)
	do(`DELETE FROM transactions WHERE id IN (SELECT id FROM transactions WHERE status = 'EXPIRED' LIMIT 100)`)

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	check := func() {
		t.Helper()
		var all, copied, same int
		if err := db.QueryRow(`SELECT (SELECT count(*) FROM transactions), (SELECT count(*) FROM transaction_statuses),
			(SELECT count(*) FROM transactions t JOIN transaction_statuses s USING (platform_id, status, direction, id))`).Scan(&all, &copied, &same); err != nil {
			t.Fatal(err)
		}
		if all != 2*5110-100 || copied != all || same != all {
			t.Errorf("%d of %d statuses are those of the %d transactions", same, copied, all)
		}
	}
	check()
	names, err := fs.Glob(migrations.Files, "*_transaction_statuses_filled.sql")
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(migrations.Files, names[0])
	if err != nil {
		t.Fatal(err)
	}
	do(`DELETE FROM transaction_statuses WHERE status = 'EXPIRED'`)
	do(string(text))
	check()
}

func TestFiles_IndexesCanBeRepeated(t *testing.T) {
	t.Parallel()
	// A failed CREATE INDEX CONCURRENTLY leaves an invalid index. The file drops it, and IF NOT EXISTS
	// does not take it for the finished one.
	created := regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX CONCURRENTLY (IF NOT EXISTS )?(\w+)`)
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, index := range created.FindAllStringSubmatch(string(text), -1) {
			if index[1] != "" || !strings.Contains(string(text), "DROP INDEX CONCURRENTLY IF EXISTS "+index[2]+";") {
				t.Errorf("%s cannot be repeated after it failed to create %s", name, index[2])
			}
		}
	}
}

// filesBefore returns the migrations before that of a subject; all of them if there is none.
func filesBefore(t *testing.T, subject string) fstest.MapFS {
	t.Helper()
	tree := filesUpTo(t, "99999")
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if strings.HasSuffix(name, "_"+subject+".sql") {
			maps.DeleteFunc(tree, func(other string, _ *fstest.MapFile) bool { return other >= name })
			break
		}
	}
	return tree
}

// filesUpTo returns the migrations up to a number.
func filesUpTo(t *testing.T, last string) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for _, name := range names {
		if text, err := fs.ReadFile(migrations.Files, name); err != nil {
			t.Fatal(err)
		} else if name[:len(last)] <= last {
			tree[name] = &fstest.MapFile{Data: text}
		}
	}
	return tree
}

// numberedFiles returns migrations numbered from 1.
func numberedFiles(sql ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i, text := range sql {
		tree["0000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func openDB(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func hasTable(t *testing.T, db *sql.DB, name string) (has bool) {
	t.Helper()
	if err := db.QueryRow("SELECT to_regclass($1) IS NOT NULL", name).Scan(&has); err != nil {
		t.Error(err)
	}
	return has
}
