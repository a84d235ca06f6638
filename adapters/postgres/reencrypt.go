package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/ports"
)

const (
	// reencryptBatchSize is the number of rows that are read together, and of those that one
	// statement changes, and so locks, at most.
	reencryptBatchSize    = 200
	reencryptBatchTimeout = time.Minute
)

// sealedTable is a table with sealed columns, as its rows are read in the order of the primary key.
type sealedTable struct {
	name    string
	key     string // the second column of the primary key
	keyType string
	row     func(platform uuid.UUID, key string) (sealedRow, error)
	columns []sealedColumn
}

// rowPosition is the primary key of a row, after which the next batch begins.
type rowPosition struct {
	platform uuid.UUID
	key      string
}

// sealedTables returns the tables of sealedColumns.
func sealedTables() []sealedTable {
	var tables []sealedTable
	for c := range sealedColumns {
		name := sealedColumns[c].table
		i := slices.IndexFunc(tables, func(t sealedTable) bool { return t.name == name })
		if i < 0 {
			i = len(tables)
			tables = append(tables, newSealedTable(name))
		}
		tables[i].columns = append(tables[i].columns, sealedColumn(c))
	}
	return tables
}

func newSealedTable(name string) sealedTable {
	if key, other := sealedKeys[name]; other {
		return sealedTable{name: name, key: key.column, keyType: "text", row: func(platform uuid.UUID, text string) (sealedRow, error) {
			return key.row(platform, text), nil
		}}
	}
	return sealedTable{name: name, key: "id", keyType: "uuid", row: func(platform uuid.UUID, text string) (sealedRow, error) {
		id, err := uuid.Parse(text)
		return sealedRow{platform, id}, err
	}}
}

// start is the position before the first row.
func (t sealedTable) start() rowPosition {
	if t.keyType == "uuid" {
		return rowPosition{key: uuid.Nil.String()}
	}
	return rowPosition{}
}

// readSQL reads the rows after a position ($2, $3), at most $4, by the primary key: the values that
// are not encrypted with the data key $1.
func (t sealedTable) readSQL() string {
	var values strings.Builder
	for _, c := range t.columns {
		name, format := sealedColumns[c].name, sealedColumns[c].format
		fmt.Fprintf(&values, ", CASE WHEN %s <> $1 THEN %s END", format.keySQL(name), name)
	}
	return fmt.Sprintf(`SELECT platform_id, %[1]s::text AS position%[2]s FROM %[3]s WHERE (platform_id, %[1]s) > ($2, $3::text::%[4]s) ORDER BY platform_id, %[1]s LIMIT $4`,
		t.key, values.String(), t.name, t.keyType)
}

// writeSQL replaces values that are still those that were read. It uses the primary key.
func (t sealedTable) writeSQL() string {
	set, arrays, names, unchanged := "", "", "", ""
	for i, c := range t.columns {
		sent, toColumn := sealedColumns[c].format.sqlType()
		name := sealedColumns[c].name
		set += fmt.Sprintf(", %[1]s = CASE WHEN w.new%[2]d IS NULL THEN t.%[1]s ELSE w.new%[2]d%[3]s END", name, i, toColumn)
		arrays += fmt.Sprintf(", $%d::%s[], $%d::%s[]", 2*i+3, sent, 2*i+4, sent)
		names += fmt.Sprintf(", old%[1]d, new%[1]d", i)
		unchanged += fmt.Sprintf(" AND (w.new%[2]d IS NULL OR t.%[1]s = w.old%[2]d%[3]s)", name, i, toColumn)
	}
	return fmt.Sprintf(`UPDATE %s t SET %s FROM unnest($1::uuid[], $2::text[]%s) AS w (platform_id, key%s) WHERE t.platform_id = w.platform_id AND t.%s = w.key::%s%s`,
		t.name, set[2:], arrays, names, t.key, t.keyType, unchanged)
}

// EstimateSealedRows returns about how many rows have personal data, by the statistics of the planner.
func (db *DB) EstimateSealedRows(ctx context.Context) (rows int64, err error) {
	var names []string
	for _, table := range sealedTables() {
		names = append(names, table.name)
	}
	err = db.pool.QueryRow(ctx, `SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM pg_class WHERE relkind = 'r'
		AND (oid = ANY ($1::text[]::regclass[]) OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY ($1::text[]::regclass[])))`, names).Scan(&rows)
	return rows, err
}

// DataKeyUse counts the rows of one table with values that are encrypted with one data key.
type DataKeyUse struct {
	Key   uuid.UUID // zero: not encrypted
	Table string
	Rows  int
}

// countBatchSize is the number of rows whose keys are counted by one statement.
const countBatchSize = 10_000

// countSQL reads the rows after a position ($1, $2), at most $3, by the primary key: how many there
// are of each key, the last position and the number of rows that were read.
func (t sealedTable) countSQL() string {
	var keys []string
	for _, c := range t.columns {
		keys = append(keys, sealedColumns[c].format.keySQL(sealedColumns[c].name))
	}
	return fmt.Sprintf(`
		WITH page AS MATERIALIZED (
			SELECT platform_id, %[1]s, ARRAY[%[2]s] AS used FROM %[3]s
			WHERE (platform_id, %[1]s) > ($1, $2::text::%[4]s) ORDER BY platform_id, %[1]s LIMIT $3),
		last AS (SELECT platform_id, %[1]s FROM page ORDER BY platform_id DESC, %[1]s DESC LIMIT 1)
		SELECT u.used, count(u.used), (SELECT platform_id FROM last), (SELECT %[1]s::text FROM last), (SELECT count(*) FROM page)
		FROM (SELECT NULL::bytea AS used UNION ALL
			SELECT k.used FROM page p CROSS JOIN LATERAL (SELECT DISTINCT unnest(p.used) AS used) k WHERE k.used IS NOT NULL) u GROUP BY u.used`,
		t.key, strings.Join(keys, ", "), t.name, t.keyType)
}

// DataKeyUses counts the rows that use each data key, table by table. It calls done with the number of
// rows that it read after each batch.
func (db *DB) DataKeyUses(ctx context.Context, done func(table string, read int)) ([]DataKeyUse, error) {
	var uses []DataKeyUse
	for _, table := range sealedTables() {
		rowsOf := map[uuid.UUID]int{}
		for position, read := table.start(), countBatchSize; read == countBatchSize; {
			var err error
			if read, position, err = db.countBatch(ctx, table, position, rowsOf); err != nil {
				return nil, fmt.Errorf("count the data keys of %s: %w", table.name, err)
			}
			done(table.name, read)
		}
		for key, rows := range rowsOf {
			uses = append(uses, DataKeyUse{key, table.name, rows})
		}
	}
	return uses, nil
}

func (db *DB) countBatch(ctx context.Context, t sealedTable, after rowPosition, rowsOf map[uuid.UUID]int) (read int, last rowPosition, err error) {
	ctx, cancel := context.WithTimeout(ctx, reencryptBatchTimeout)
	defer cancel()
	rows, err := db.pool.Query(ctx, t.countSQL(), pgx.QueryExecModeCacheStatement, pgtype.UUID{Bytes: after.platform, Valid: true}, after.key, countBatchSize)
	if err != nil {
		return 0, last, err
	}
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var used []byte
		var n int
		var platform pgtype.UUID
		var key pgtype.Text
		if err := rows.Scan(&used, &n, &platform, &key, &read); err != nil || used == nil {
			last = rowPosition{platform.Bytes, key.String}
			return err
		}
		var id uuid.UUID
		copy(id[:], used) // none for a plain value
		rowsOf[id] += n
		return nil
	})
	return read, last, err
}

// ReencryptPersonalData encrypts every value of sealedColumns that is plain, or encrypted with
// another data key than the newest, while requests continue. It pauses after each batch for as long
// as that took, and calls done with the numbers of rows that it read and changed. What an earlier call
// changed is only read.
func (db *DB) ReencryptPersonalData(ctx context.Context, done func(table string, read, changed int)) error {
	newest, err := db.cipher.NewestKey(ctx)
	if err != nil {
		return err
	}
	if newest.Generation != ports.DataKeyGeneration {
		return errors.New("there is no data key of this version; create one with: causeway keys rotate")
	}
	for _, table := range sealedTables() {
		for position, more := table.start(), true; more; {
			began := time.Now()
			read, changed, last, err := db.reencryptBatch(ctx, table, newest.ID, position)
			if err != nil {
				return fmt.Errorf("encrypt %s: %w", table.name, err)
			}
			done(table.name, read, changed)
			if position, more = last, read == reencryptBatchSize; !more {
				continue
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Since(began)):
			}
		}
	}
	return nil
}

// reencryptBatch reads a batch and encrypts what it must. Rows that change meanwhile, or stay locked,
// are tried again.
func (db *DB) reencryptBatch(ctx context.Context, t sealedTable, newest uuid.UUID, after rowPosition) (read, changed int, last rowPosition, err error) {
	ctx, cancel := context.WithTimeout(ctx, reencryptBatchTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		var rows []staleRow
		if rows, read, last, err = db.readStale(ctx, t, newest, after); err != nil {
			return read, changed, last, err
		}
		n, err := db.writeEncrypted(ctx, t, rows)
		changed += n
		switch {
		case err == nil && n == len(rows):
			return read, changed, last, nil
		case attempt < maxAttempts && (err == nil || isRetryable(err) || isLockUnavailable(err)):
		case err != nil:
			return read, changed, last, err
		default:
			return read, changed, last, errors.New("rows change again and again")
		}
	}
}

// staleRow is a row with values that are to be encrypted, by column; nil for those that are not.
type staleRow struct {
	rowPosition
	old, encrypted [][]byte
}

func (db *DB) readStale(ctx context.Context, t sealedTable, newest uuid.UUID, after rowPosition) (stale []staleRow, read int, last rowPosition, err error) {
	last = after
	rows, err := db.pool.Query(ctx, t.readSQL(), pgx.QueryExecModeCacheStatement, newest[:], pgtype.UUID{Bytes: after.platform, Valid: true}, after.key, reencryptBatchSize)
	if err != nil {
		return nil, 0, last, err
	}
	err = forEachRow(rows, func(rows pgx.Rows) error {
		row := staleRow{old: make([][]byte, len(t.columns)), encrypted: make([][]byte, len(t.columns))}
		targets := []any{(*[16]byte)(&row.platform), &row.key}
		for i := range row.old {
			targets = append(targets, &row.old[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		read, last = read+1, row.rowPosition
		if slices.ContainsFunc(row.old, func(value []byte) bool { return value != nil }) {
			stale = append(stale, row)
		}
		return nil
	})
	for _, row := range stale {
		if err == nil {
			err = db.encryptAgain(ctx, t, row)
		}
	}
	return stale, read, last, err
}

func (db *DB) encryptAgain(ctx context.Context, t sealedTable, row staleRow) error {
	id, err := t.row(row.platform, row.key)
	if err != nil {
		return err
	}
	for i, column := range t.columns {
		switch {
		case row.old[i] == nil:
		case sealedColumns[column].format == fingerprintFormat:
			keyed, err := db.cipher.Fingerprint(ctx, string(row.old[i]))
			if err != nil {
				return err
			}
			row.encrypted[i] = []byte(keyed)
		default:
			plain, err := db.open(ctx, id, column, row.old[i])
			if err != nil {
				return err
			}
			if row.encrypted[i], err = db.seal(ctx, id, column, plain); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeEncrypted writes rows with one statement, and returns how many were still as they were read.
// If one of them violates a unique index, each is written alone.
func (db *DB) writeEncrypted(ctx context.Context, t sealedTable, rows []staleRow) (changed int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	tag, err := db.pool.Exec(ctx, t.writeSQL(), append([]any{pgx.QueryExecModeCacheStatement}, t.writeArgs(rows)...)...)
	if !isUniqueViolation(err) {
		return int(tag.RowsAffected()), err
	}
	if len(rows) == 1 {
		if err := db.makeDistinct(ctx, t, rows[0]); err != nil {
			return 0, err
		}
		tag, err := db.pool.Exec(ctx, t.writeSQL(), append([]any{pgx.QueryExecModeCacheStatement}, t.writeArgs(rows)...)...)
		return int(tag.RowsAffected()), err
	}
	for i := range rows {
		n, err := db.writeEncrypted(ctx, t, rows[i:i+1])
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}

// makeDistinct gives a row a fingerprint of its own. Another row has its keyed fingerprint: the same
// account was added by a process with the first data key, and by one that had not read it yet. Both
// stay usable, and the account cannot be added a third time.
func (db *DB) makeDistinct(ctx context.Context, t sealedTable, row staleRow) error {
	for i, column := range t.columns {
		if sealedColumns[column].format == fingerprintFormat && row.old[i] != nil {
			keyed, err := db.cipher.Fingerprint(ctx, string(row.old[i])+" "+row.key)
			if err != nil {
				return err
			}
			row.encrypted[i] = []byte(keyed)
		}
	}
	return nil
}

// writeArgs returns the arguments of writeSQL: columns of values.
func (t sealedTable) writeArgs(rows []staleRow) []any {
	platforms, keys := make(idArray, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		platforms[i], keys[i] = pgID(row.platform), row.key
	}
	args := []any{platforms, keys}
	for i, column := range t.columns {
		old, encrypted := make([][]byte, len(rows)), make([][]byte, len(rows))
		for n, row := range rows {
			old[n], encrypted[n] = row.old[i], row.encrypted[i]
		}
		if sent, _ := sealedColumns[column].format.sqlType(); sent == "bytea" {
			args = append(args, old, encrypted)
		} else {
			args = append(args, texts(old), texts(encrypted))
		}
	}
	return args
}

// texts returns values as texts; nil stays nil, which is NULL.
func texts(values [][]byte) []*string {
	converted := make([]*string, len(values))
	for i, v := range values {
		if v != nil {
			text := string(v)
			converted[i] = &text
		}
	}
	return converted
}

func isUniqueViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}
