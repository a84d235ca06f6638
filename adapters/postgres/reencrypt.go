package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

const (
	// reencryptBatchSize is the number of rows that are read together, and of those that one
	// statement changes, and so locks, at most.
	reencryptBatchSize    = 200
	reencryptBatchTimeout = time.Minute
)

// ReencryptPersonalData encrypts every value of an encrypted column that is plain, or encrypted with
// another data key than the newest, while requests continue. Of each platform it reads the rows that exist
// when it begins with them; otherwise it would not end while rows are added faster. It pauses
// after each batch for as long as that took, and calls done with the numbers of rows that it read and
// changed. What an earlier call changed is only read. The error names the first values that cannot be
// decrypted, after all others are encrypted.
func (db *DB) ReencryptPersonalData(ctx context.Context, done func(table string, read, changed int)) error {
	newest, err := db.cipher.NewestKey(ctx)
	if err != nil {
		return err
	}
	if newest.Generation != ports.DataKeyGeneration {
		return errors.New("there is no data key of this version; create one with: causeway keys rotate")
	}
	var unreadable []error
	for _, table := range sealedTables() {
		err := db.eachLastRow(ctx, table, func(end rowPosition) error {
			return db.reencryptRows(ctx, table, newest.ID, end, func(batch reencryptedBatch) {
				done(table.name, batch.read, batch.changed)
				unreadable = append(unreadable, batch.unreadable...)
				unreadable = unreadable[:min(len(unreadable), maxUnreadable)]
			})
		})
		if err != nil {
			return fmt.Errorf("encrypt %s: %w", table.name, err)
		}
	}
	if len(unreadable) > 0 {
		return fmt.Errorf("some rows stay as they are: %w", errors.Join(unreadable...))
	}
	return nil
}

// reencryptRows encrypts the rows of one platform up to the end, in batches.
func (db *DB) reencryptRows(ctx context.Context, t sealedTable, newest uuid.UUID, end rowPosition, done func(reencryptedBatch)) error {
	for key := t.start().key; ; {
		began := time.Now()
		batch, err := db.reencryptBatch(ctx, t, newest, key, end)
		if err != nil {
			return err
		}
		done(batch)
		if batch.read < reencryptBatchSize {
			return nil
		}
		key = batch.last
		if err := waitAsLong(ctx, began); err != nil {
			return err
		}
	}
}

// eachLastRow calls fn with the last row of each platform that has rows.
func (db *DB) eachLastRow(ctx context.Context, t sealedTable, fn func(rowPosition) error) error {
	last := rowPosition{platform: uuid.Max}
	for {
		queryCtx, cancel := context.WithTimeout(ctx, reencryptBatchTimeout)
		err := db.pool.QueryRow(queryCtx, t.lastSQL(), last.platform).Scan(&last.platform, &last.key)
		cancel()
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		if err := fn(last); err != nil {
			return err
		}
	}
}

// maxUnreadable is the number of values that cannot be decrypted that an error names.
const maxUnreadable = 10

// reencryptedBatch is what was done with a batch of rows.
type reencryptedBatch struct {
	read, changed int
	last          string     // the key of the last row
	stale         []staleRow // that are to be changed
	unreadable    []error    // of rows that cannot be decrypted
}

// reencryptBatch reads a batch, after a key and up to the end, and encrypts what it must. Rows that change meanwhile, or stay locked,
// are tried again.
func (db *DB) reencryptBatch(ctx context.Context, t sealedTable, newest uuid.UUID, after string,
	end rowPosition) (reencryptedBatch, error) {
	ctx, cancel := context.WithTimeout(ctx, reencryptBatchTimeout)
	defer cancel()
	changed := 0
	for attempt := 1; ; attempt++ {
		batch, err := db.readStale(ctx, t, newest, after, end)
		if err != nil {
			return batch, err
		}
		n, err := db.writeEncrypted(ctx, t, batch.stale)
		changed += n
		batch.changed = changed
		switch {
		case err == nil && n == len(batch.stale):
			return batch, nil
		case attempt < maxAttempts && (err == nil || isRetryable(err) || isLockUnavailable(err)):
		case err != nil:
			return batch, err
		default:
			return batch, errors.New("rows change again and again")
		}
	}
}

// staleRow is a row with values that are to be encrypted, by column; nil for those that are not.
type staleRow struct {
	rowPosition
	old, encrypted [][]byte
}

func (db *DB) readStale(ctx context.Context, t sealedTable, newest uuid.UUID, after string,
	end rowPosition) (batch reencryptedBatch, err error) {
	rows, err := db.pool.Query(ctx, t.readSQL(), pgx.QueryExecModeCacheStatement, newest[:], end.platform, after, end.key, reencryptBatchSize)
	if err != nil {
		return batch, err
	}
	err = storage.ForEachRow(rows, func(rows pgx.Rows) error {
		row := staleRow{rowPosition: rowPosition{platform: end.platform}, old: make([][]byte, len(t.columns)),
			encrypted: make([][]byte, len(t.columns))}
		targets := []any{&row.key}
		for i := range row.old {
			targets = append(targets, &row.old[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		batch.read, batch.last = batch.read+1, row.key
		if !slices.ContainsFunc(row.old, func(value []byte) bool { return value != nil }) {
			return nil
		}
		switch err := db.encryptAgain(ctx, t, row); {
		case errors.Is(err, ports.ErrCannotDecrypt):
			batch.unreadable = append(batch.unreadable, err)
			return nil
		case err != nil:
			return err
		}
		batch.stale = append(batch.stale, row)
		return nil
	})
	return batch, err
}

func (db *DB) encryptAgain(ctx context.Context, t sealedTable, row staleRow) error {
	id, err := t.row(row.platform, row.key)
	if err != nil {
		return err
	}
	for i, column := range t.columns {
		switch {
		case row.old[i] == nil:
		case column.IsFingerprint():
			keyed, err := db.cipher.Fingerprint(ctx, string(row.old[i]))
			if err != nil {
				return err
			}
			row.encrypted[i] = []byte(keyed)
		default:
			plain, err := db.sealed.Open(ctx, id, column, row.old[i])
			if err != nil {
				return err
			}
			if row.encrypted[i], err = db.sealed.Seal(ctx, id, column, plain); err != nil {
				return err
			}
			if column == sealed.WalletKeysEntropy && len(plain) > 0 && &plain[0] != &row.old[i][0] {
				clear(plain)
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
		if column.IsFingerprint() && row.old[i] != nil {
			keyed, err := db.cipher.Fingerprint(ctx, string(row.old[i])+" "+row.key)
			if err != nil {
				return err
			}
			row.encrypted[i] = []byte(keyed)
		}
	}
	return nil
}

func isUniqueViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}
