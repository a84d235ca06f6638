package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

var _ ports.DataKeyStore = (*DB)(nil)

// DataKeys reads the whole table, which has a few rows. It uses the pool for readers, because a
// unit of work that needs a key holds a connection of the other pool.
func (db *DB) DataKeys(ctx context.Context) ([]ports.SealedDataKey, error) {
	return selectRows(ctx, db, db.queryRows, dataKeys, "")
}

// dataKeys is the table data_keys.
var dataKeys = schema.New("data_keys", []string{"id"}, func(key *ports.SealedDataKey) schema.Columns {
	return schema.Columns{{Name: "id", Field: &key.ID}, {Name: "purpose", Field: &key.Purpose}, {Name: "generation", Field: &key.Generation},
		{Name: "encrypted_key", Field: &key.Sealed}, {Name: "created_at", Field: &key.CreatedAt}}
})

var insertDataKey = dataKeys.Insert("ON CONFLICT DO NOTHING")

// AddDataKey implements ports.DataKeyStore.
func (db *DB) AddDataKey(ctx context.Context, key ports.SealedDataKey) error {
	_, err := writeAlone(ctx, db, insertDataKey, key)
	return err
}

// ReplaceDataKey uses the primary key.
func (db *DB) ReplaceDataKey(ctx context.Context, key ports.SealedDataKey) error {
	_, err := db.exec(ctx, `UPDATE data_keys SET encrypted_key = $3 WHERE id = $1 AND purpose = $2`, key.ID, key.Purpose, key.Sealed)
	return err
}

// RemoveDataKey deletes a data key, with the rights of the login and not of the service, which may
// only add keys. The caller has checked that nothing uses it.
func (db *DB) RemoveDataKey(ctx context.Context, id uuid.UUID) error {
	err := db.inTx(ctx, func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL ROLE NONE`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM data_keys WHERE id = $1 AND purpose = $2`, id, ports.DataKey); err != nil {
			return err
		}
		if db.operatorAction == nil {
			return nil
		}
		_, err := tx.Exec(ctx, insertOperatorAction, operatorActionColumns(*db.operatorAction)...)
		return err
	})
	if isForbidden(err) {
		return fmt.Errorf("this login may not remove data keys; use the one that migrates the database: %w", err)
	}
	return err
}

// isForbidden reports whether the login lacks a privilege.
func isForbidden(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42501" // insufficient_privilege
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
			return s, row.Scan(&s.id, &s.sealed, &s.context)
		})
		if err != nil {
			return count, err
		}
		for _, s := range found {
			fresh, err := reseal(s.sealed, []byte(s.context))
			if err != nil {
				return count, err
			}
			if _, err := db.pool.Exec(ctx, kind.write, s.id, fresh, s.sealed); err != nil {
				return count, err
			}
			count++
		}
	}
	return count, nil
}
