package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// replacement is the end of the name of an index that replaces the one whose name it follows.
const replacement = "_replacement"

// replacingLock is that of the session that replaces indexes.
const replacingLock = 7_240_072

// selectReplacements has the indexes of partitioned tables that replace others, their tables, and what is behind the table in their
// definition.
const selectReplacements = `
SELECT c.relname, t.relname, substring(pg_get_indexdef(c.oid) FROM ' (USING .*)$')
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_class t ON t.oid = i.indrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'I' AND right(c.relname, length($1)) = $1 ORDER BY c.relname`

// selectWithoutIndex has the partitions of a table ($1) without a partition of an index ($2).
const selectWithoutIndex = `
SELECT p.relname FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhrelid
WHERE h.inhparent = to_regclass($1) AND NOT EXISTS (
    SELECT FROM pg_index i JOIN pg_inherits x ON x.inhrelid = i.indexrelid WHERE i.indrelid = p.oid AND x.inhparent = to_regclass($2))
ORDER BY p.relname`

// replaceIndexes completes the indexes of partitioned tables that a file has made for the partitions to come (CREATE INDEX name_replacement
// ON ONLY): no file can build that of each partition without blocking writes, because it does not know their names. Then each takes the
// place of the index that it replaces. It continues what was interrupted.
func replaceIndexes(ctx context.Context, db *sql.DB) error {
	found, err := queryAll(ctx, db, selectReplacements, replacement)
	if err != nil || len(found) == 0 {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", replacingLock); err != nil {
		return err
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", replacingLock)
	}()
	if found, err = queryAll(ctx, conn, selectReplacements, replacement); err != nil { // another process may have been faster
		return err
	}
	for _, index := range found {
		if err := replaceIndex(ctx, conn, index[0], index[1], index[2]); err != nil {
			return fmt.Errorf("replace the index %s: %w", strings.TrimSuffix(index[0], replacement), err)
		}
	}
	return nil
}

func replaceIndex(ctx context.Context, conn *sql.Conn, name, table, definition string) error {
	partitions, err := queryAll(ctx, conn, selectWithoutIndex, table, name)
	if err != nil {
		return err
	}
	replaced := strings.TrimSuffix(name, replacement)
	for _, p := range partitions {
		partition, part := quote(p[0]), quote(p[0]+strings.TrimPrefix(replaced, table))
		for _, statement := range []string{
			"DROP INDEX CONCURRENTLY IF EXISTS " + part, // left by an attempt that failed
			"CREATE INDEX CONCURRENTLY " + part + " ON " + partition + " " + definition,
			"ALTER INDEX " + quote(name) + " ATTACH PARTITION " + part,
		} {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	for attempt := 1; ; attempt++ {
		_, err := conn.ExecContext(ctx, fmt.Sprintf(
			"BEGIN; SET LOCAL lock_timeout = '1s'; DROP INDEX IF EXISTS %[1]s; ALTER INDEX %[2]s RENAME TO %[1]s; COMMIT", quote(replaced),
			quote(name)))
		if err == nil {
			return nil
		}
		_, rollback := conn.ExecContext(ctx, "ROLLBACK")
		if err = errors.Join(err, rollback); attempt == lockAttempts || !isNotLocked(err) {
			return err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// queryAll returns the rows of a query of texts.
func queryAll(ctx context.Context, q interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args ...any) (all [][]string, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, targets := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
