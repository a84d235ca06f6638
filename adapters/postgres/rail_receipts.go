package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// insertRailReceipts uses the primary key.
const insertRailReceipts = `
	INSERT INTO rail_receipts (platform_id, rail, partner_id, connection, currency, amount, received_at)
	SELECT platform_id, rail, partner_id, $1, currency, amount, received_at
	FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[]) AS r(platform_id, rail, partner_id, currency, amount, received_at)
	ORDER BY platform_id, rail, partner_id
	ON CONFLICT DO NOTHING RETURNING currency, amount, received_at`

// KeepRailReceipts implements payments.RailReceiptStore. The accounts are locked before the receipts are written, so that a new
// balance counts them or not, and never twice.
func (db *DB) KeepRailReceipts(ctx context.Context, connection string, receipts []transaction.Receipt, now time.Time) error {
	if len(receipts) == 0 {
		return nil
	}
	stored := make([]transaction.Receipt, len(receipts))
	keys := make([]rail.AccountKey, len(receipts))
	for i, r := range receipts {
		stored[i], keys[i] = r.Storable(), rail.AccountKey{Connection: connection, Currency: r.Amount.Currency}
	}
	columns := schema.Arrays(stored, func(r *transaction.Receipt) []any {
		return []any{&r.Platform, &r.Rail, &r.PartnerID, &r.Amount.Currency, &r.Amount.Minor, &r.At}
	})
	return db.Do(ports.ForAllPlatforms(ctx), func(ctx context.Context, u *Unit) error {
		accounts, err := u.LockRailAccounts(ctx, keys, now)
		if err != nil {
			return err
		}
		err = u.query(ctx, insertRailReceipts, append([]any{connection}, columns...), func(rows pgx.Rows) error {
			key, minor, at, err := scanMoved(connection, rows)
			accounts[key].Receive(minor, at)
			return err
		})
		if err != nil {
			return err
		}
		return u.SaveRailAccounts(ctx, accounts, nil, now)
	})
}

func scanMoved(connection string, rows pgx.Rows) (key rail.AccountKey, minor int64, at time.Time, err error) {
	key.Connection = connection
	err = rows.Scan(&key.Currency, &minor, &at)
	return key, minor, at, err
}

// ReverseRailReceipt implements payments.RailReceiptStore. It uses the primary key.
func (db *DB) ReverseRailReceipt(ctx context.Context, key ports.RailReceiptKey, at, now time.Time) error {
	return db.Do(ports.ForAllPlatforms(ctx), func(ctx context.Context, u *Unit) error {
		account := rail.AccountKey{}
		values := []any{key.Platform, key.Rail, key.PartnerID}
		found, err := storage.ReadRow(
			ctx, u.query, `SELECT connection, currency FROM rail_receipts WHERE platform_id = $1 AND rail = $2 AND partner_id = $3`, values,
			&account.Connection, &account.Currency)
		if err != nil || !found {
			return err
		}
		accounts, err := u.LockRailAccounts(ctx, []rail.AccountKey{account}, now)
		if err != nil {
			return err
		}
		err = u.query(
			ctx, `UPDATE rail_receipts SET reversed_at = $4 WHERE platform_id = $1 AND rail = $2 AND partner_id = $3 AND reversed_at IS NULL
			RETURNING currency, amount, reversed_at`, append(values, at), func(rows pgx.Rows) error {
				moved, minor, at, err := scanMoved(account.Connection, rows)
				accounts[moved].Receive(-minor, at)
				return err
			})
		if err != nil {
			return err
		}
		return u.SaveRailAccounts(ctx, accounts, nil, now)
	})
}

// RailReceiptConnections implements connections.RailReceiptStore. It uses the primary key.
func (db *DB) RailReceiptConnections(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]string, error) {
	found := map[ports.RailReceiptKey]string{}
	if len(keys) == 0 {
		return found, nil
	}
	columns := schema.Arrays(keys, func(k *ports.RailReceiptKey) []any { return []any{&k.Platform, &k.Rail, &k.PartnerID} })
	return found, db.read(ctx, `SELECT platform_id, rail, partner_id, connection FROM rail_receipts
		JOIN unnest($1::uuid[], $2::text[], $3::text[]) AS k(platform_id, rail, partner_id) USING (platform_id, rail, partner_id)`, columns,
		func(rows pgx.Rows) error {
			var key ports.RailReceiptKey
			var connection string
			err := rows.Scan(&key.Platform, &key.Rail, &key.PartnerID, &connection)
			found[key] = connection
			return err
		})
}
