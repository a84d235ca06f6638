package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3/lock"
)

// unindexedPartition finds a partition without its part of an index that a file has created ON ONLY its parent, and whether that part is
// built already. Partitions that are created after the file have theirs from the beginning.
const unindexedPartition = `
	SELECT index.relname, pg_get_indexdef(index.oid), i.indisunique, parent.relname, partition.relname,
		EXISTS (SELECT FROM pg_index built JOIN pg_class named ON named.oid = built.indexrelid WHERE built.indrelid = partition.oid
			AND built.indisvalid AND named.relname = partition.relname || substr(index.relname, length(parent.relname) + 1))
	FROM pg_index i JOIN pg_class index ON index.oid = i.indexrelid JOIN pg_class parent ON parent.oid = i.indrelid
	JOIN pg_inherits part ON part.inhparent = parent.oid JOIN pg_class partition ON partition.oid = part.inhrelid
	WHERE index.relkind = 'I' AND NOT i.indisvalid AND index.relnamespace = current_schema()::regnamespace
		AND starts_with(index.relname, parent.relname || '_')
		AND NOT EXISTS (SELECT FROM pg_inherits attached JOIN pg_index has ON has.indexrelid = attached.inhrelid
			WHERE attached.inhparent = index.oid AND has.indrelid = partition.oid)
	ORDER BY index.relname, partition.relname LIMIT 1`

// maxNameLength is that of Postgres in bytes, which cuts longer names.
const maxNameLength = 63

// indexPartitions builds what is missing of the indexes of partitioned tables, without blocking writes. It goes on where an earlier call
// was interrupted.
func indexPartitions(ctx context.Context, db *sql.DB, locker lock.SessionLocker, attempts int) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("index the partitions: %w", err)
	}
	defer conn.Close()
	if more, err := indexPartition(ctx, conn, false); !more {
		return err
	}
	if err := locker.SessionLock(ctx, conn); err != nil {
		return fmt.Errorf("index the partitions: %w", err)
	}
	defer func() { err = errors.Join(err, locker.SessionUnlock(context.WithoutCancel(ctx), conn)) }()
	for failed := 0; ; {
		more, err := indexPartition(ctx, conn, true)
		switch {
		case err == nil && !more:
			return nil
		case err == nil:
			failed = 0
			continue
		}
		if failed++; failed >= attempts || !isNotLocked(err) && !isUndefinedTable(err) { // retention may have dropped the partition
			return err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// indexPartition reports whether a partition lacks an index, and builds it if it shall.
func indexPartition(ctx context.Context, conn *sql.Conn, build bool) (lacks bool, err error) {
	var index, definition, parent, partition string
	var unique, built bool
	err = conn.QueryRowContext(ctx, unindexedPartition).Scan(&index, &definition, &unique, &parent, &partition, &built)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find partitions without an index: %w", err)
	}
	if !build {
		return true, nil
	}
	part := partition + strings.TrimPrefix(index, parent)
	switch {
	case unique:
		return true, fmt.Errorf("index the partition %s: the index %s of its parent is unique: create it without ONLY", partition, index)
	case len(part) > maxNameLength:
		return true, fmt.Errorf("index the partition %s: the name %s has more than %d bytes: give the index %s a shorter one", partition, part,
			maxNameLength, index)
	}
	name := quoted(part)
	_, method, _ := strings.Cut(definition, " USING ")
	statements := []string{
		"DROP INDEX CONCURRENTLY IF EXISTS " + name, // that of an attempt that failed is invalid
		"CREATE INDEX CONCURRENTLY " + name + " ON " + quoted(partition) + " USING " + method,
	}
	if built {
		statements = nil
	}
	// One transaction. Statements that use the index wait for it.
	statements = append(statements, "SET LOCAL lock_timeout = '1s'; ALTER INDEX "+quoted(index)+" ATTACH PARTITION "+name)
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return true, fmt.Errorf("index the partition %s: %w", partition, err)
		}
	}
	return true, nil
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
