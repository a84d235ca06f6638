package postgres

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/ports"
)

var _ ports.DataKeyStore = (*DB)(nil)

// DataKeys reads the whole table, which has a few rows. It uses the pool for readers, because a
// unit of work that needs a key holds a connection of the other pool.
func (db *DB) DataKeys(ctx context.Context) ([]ports.SealedDataKey, error) {
	rows, err := db.readPool.Query(ctx, `SELECT id, purpose, encrypted_key, created_at FROM data_keys`)
	if err != nil {
		return nil, err
	}
	var keys []ports.SealedDataKey
	return keys, forEachRow(rows, func(rows pgx.Rows) error {
		var key ports.SealedDataKey
		if err := rows.Scan((*[16]byte)(&key.ID), &key.Purpose, &key.Sealed, &key.CreatedAt); err != nil {
			return err
		}
		keys = append(keys, key)
		return nil
	})
}

// AddDataKey implements ports.DataKeyStore.
func (db *DB) AddDataKey(ctx context.Context, key ports.SealedDataKey) error {
	_, err := db.pool.Exec(ctx, `INSERT INTO data_keys (id, purpose, encrypted_key, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		pgID(key.ID), string(key.Purpose), key.Sealed, key.CreatedAt)
	return err
}

// ReplaceDataKey uses the primary key.
func (db *DB) ReplaceDataKey(ctx context.Context, key ports.SealedDataKey) error {
	_, err := db.pool.Exec(ctx, `UPDATE data_keys SET encrypted_key = $3 WHERE id = $1 AND purpose = $2`, pgID(key.ID), string(key.Purpose), key.Sealed)
	return err
}

// StoresNoCustomers reports whether no customer and no external account was ever stored.
func (db *DB) StoresNoCustomers(ctx context.Context) (empty bool, err error) {
	err = db.pool.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM customers) AND NOT EXISTS (SELECT FROM external_accounts)`).Scan(&empty)
	return empty, err
}

// storedSecret is an encrypted key or secret. Its context is what the code that seals it uses.
type storedSecret struct{ read, write string }

// storedSecrets are the keys and secrets that the master key encrypts, apart from data keys: the
// id, the sealed value and the context of each; and how a new sealed value is written.
var storedSecrets = []storedSecret{
	{`SELECT id, encrypted_key, format('webhook key %s %s %s', id, environment, algorithm) FROM webhook_keys`,
		`UPDATE webhook_keys SET encrypted_key = $2 WHERE id = $1 AND encrypted_key = $3`},
	{`SELECT id, encrypted_secret, format('webhook secret PlatformConfig:%s WebhookSecret:%s', platform_id, id) FROM webhook_secrets`,
		`UPDATE webhook_secrets SET encrypted_secret = $2 WHERE id = $1 AND encrypted_secret = $3`},
	{`SELECT id, encrypted_key, format('ledger log key %s', id) FROM ledger_log_keys`,
		`UPDATE ledger_log_keys SET encrypted_key = $2 WHERE id = $1 AND encrypted_key = $3`},
}

// ResealSecrets encrypts the stored keys and secrets again, with the values that reseal returns,
// and returns how many there are.
func (db *DB) ResealSecrets(ctx context.Context, reseal func(sealed, context []byte) ([]byte, error)) (count int, err error) {
	for _, kind := range storedSecrets {
		rows, err := db.pool.Query(ctx, kind.read)
		if err != nil {
			return count, err
		}
		type secret struct {
			id      uuid.UUID
			sealed  []byte
			context string
		}
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s secret, err error) {
			return s, row.Scan((*[16]byte)(&s.id), &s.sealed, &s.context)
		})
		if err != nil {
			return count, err
		}
		for _, s := range found {
			fresh, err := reseal(s.sealed, []byte(s.context))
			if err != nil {
				return count, err
			}
			if _, err := db.pool.Exec(ctx, kind.write, pgID(s.id), fresh, s.sealed); err != nil {
				return count, err
			}
			count++
		}
	}
	return count, nil
}

// reencryptBatch is the number of rows that are encrypted again in one transaction, which locks
// them.
const reencryptBatch = 200

// ReencryptPersonalData encrypts all rows with the newest data key that are not, in small
// transactions, and returns how many were changed. Requests continue meanwhile.
func (db *DB) ReencryptPersonalData(ctx context.Context) (changed int, err error) {
	customers, err := reencrypt[customerRow](ctx, db, "email", "details")
	if err != nil {
		return customers, err
	}
	accounts, err := reencrypt[externalRow](ctx, db, "fields", "beneficiary", "verified_name", "fingerprint")
	return customers + accounts, err
}

// sealable is a row with sealed columns.
type sealable[Row any] interface {
	*Row
	opener
	seal(ctx context.Context, db *DB) error
	sealedRow() sealedRow
	isCurrent(ctx context.Context, db *DB) (bool, error)
}

// reencrypt reads a table in the order of its primary key. A batch with a row that stays locked is
// repeated.
func reencrypt[Row any, P sealable[Row]](ctx context.Context, db *DB, columns ...string) (changed int, err error) {
	var last sealedRow
	for attempt := 1; ; attempt++ {
		rows, n, err := reencryptAfter[Row, P](ctx, db, last, columns)
		if err != nil {
			if attempt < maxAttempts && (isRetryable(err) || isLockUnavailable(err)) {
				continue
			}
			return changed, err
		}
		changed += n
		if len(rows) < reencryptBatch {
			return changed, nil
		}
		last, attempt = P(&rows[len(rows)-1]).sealedRow(), 0
	}
}

// reencryptAfter encrypts the rows of one batch, and returns them and how many were changed.
func reencryptAfter[Row any, P sealable[Row]](ctx context.Context, db *DB, last sealedRow, columns []string) (rows []Row, changed int, err error) {
	err = db.inTransaction(ctx, func(tx bun.Tx) error {
		if err := tx.NewSelect().Model(&rows).Where("(platform_id, id) > (?, ?)", last.platform, last.id).OrderExpr("platform_id, id").
			Limit(reencryptBatch).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return err
		}
		for i := range rows {
			row := P(&rows[i])
			if current, err := row.isCurrent(ctx, db); err != nil {
				return err
			} else if current {
				continue
			}
			if err := row.open(ctx, db); err != nil {
				return err
			}
			if err := row.seal(ctx, db); err != nil {
				return err
			}
			if _, err := tx.NewUpdate().Model(row).Column(columns...).WherePK().Exec(ctx); err != nil {
				return err
			}
			changed++
		}
		return nil
	})
	return rows, changed, err
}

// isCurrentJSON reports whether a jsonb column is sealed with the newest data key.
func (db *DB) isCurrentJSON(ctx context.Context, stored []byte) (bool, error) {
	var sealed []byte
	if !bytes.HasPrefix(stored, []byte{'"'}) {
		return false, nil
	}
	if err := json.Unmarshal(stored, &sealed); err != nil {
		return false, err
	}
	return db.cipher.IsCurrent(ctx, sealed)
}
