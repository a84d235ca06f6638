package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
)

// EstimateSealedRows returns about how many rows have personal data, by the statistics of the planner.
func (db *DB) EstimateSealedRows(ctx context.Context) (rows int64, err error) {
	var names []string
	for _, table := range sealedTables() {
		names = append(names, table.name)
	}
	err = db.pool.QueryRow(ctx, `SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM pg_class WHERE relkind = 'r'
		AND (oid = ANY ($1::text[]::regclass[]) OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY ($1::text[]::regclass[])))`,
		names).Scan(&rows)
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

func (db *DB) countBatch(ctx context.Context, t sealedTable, after rowPosition,
	rowsOf map[uuid.UUID]int) (read int, last rowPosition, err error) {
	ctx, cancel := context.WithTimeout(ctx, reencryptBatchTimeout)
	defer cancel()
	rows, err := db.pool.Query(ctx, t.countSQL(), pgx.QueryExecModeCacheStatement, after.platform, after.key, countBatchSize)
	if err != nil {
		return 0, last, err
	}
	err = storage.ForEachRow(rows, func(rows pgx.Rows) error {
		var used []byte
		var n int
		if err := rows.Scan(&used, &n, &last.platform, schema.Optional(&last.key), &read); err != nil || used == nil {
			return err
		}
		var id uuid.UUID
		copy(id[:], used) // none for a plain value
		rowsOf[id] += n
		return nil
	})
	return read, last, err
}
