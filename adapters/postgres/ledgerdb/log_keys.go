package ledgerdb

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/ports"
)

const (
	selectCheckpointKeys = `SELECT id, public_key, encrypted_key, valid_from, valid_until FROM ledger_log_keys ORDER BY valid_from DESC, id DESC`
	expireCheckpointKey  = `UPDATE ledger_log_keys SET valid_until = $2 WHERE id = $1 AND valid_until IS NULL`
	insertCheckpointKey  = `INSERT INTO ledger_log_keys (id, public_key, encrypted_key, valid_from) VALUES ($1, $2, $3, $4)`
)

// CheckpointKeys implements ports.CheckpointKeyStore.
func (l *Log) CheckpointKeys(ctx context.Context) (keys []ports.SealedCheckpointKey, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		keys, err = readCheckpointKeys(ctx, q)
		return err
	})
	return keys, err
}

func readCheckpointKeys(ctx context.Context, q Querier) (keys []ports.SealedCheckpointKey, err error) {
	err = queryFreshPlan(ctx, q, selectCheckpointKeys, nil, func(rows pgx.Rows) error {
		var k ports.SealedCheckpointKey
		var public []byte
		err := rows.Scan(&k.ID, &public, &k.Sealed, &k.ValidFrom, &k.ValidUntil)
		copy(k.Public[:], public)
		keys = append(keys, k)
		return err
	})
	return keys, wrapError("read the keys of the log", err)
}

// ReplaceCheckpointKey implements ports.CheckpointKeyStore. If two processes replace the key
// at the same time, the index ledger_log_key_one_active lets only one succeed.
func (l *Log) ReplaceCheckpointKey(ctx context.Context, expired uuid.UUID, replacement ports.SealedCheckpointKey) (bool, error) {
	err := pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if err := execOne(ctx, tx, "end a key", expireCheckpointKey, pgUUID(expired), replacement.ValidFrom); err != nil {
			return err
		}
		return execOne(ctx, tx, "add a key", insertCheckpointKey, replacement.ID, replacement.Public[:], replacement.Sealed,
			replacement.ValidFrom)
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "ledger_log_key_one_active" {
		return false, nil
	}
	return err == nil, wrapError("replace the key of the log", err)
}
