package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

var _ ports.RailReceiptStore = (*DB)(nil)

// insertRailReceipts uses the primary key.
const insertRailReceipts = `
	INSERT INTO rail_receipts (platform_id, rail, partner_id, connection, currency, amount, received_at)
	SELECT platform_id, rail, partner_id, $1, currency, amount, received_at
	FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[]) AS r(platform_id, rail, partner_id, currency, amount, received_at)
	ORDER BY platform_id, rail, partner_id
	ON CONFLICT DO NOTHING RETURNING currency, amount, received_at`

// KeepRailReceipts implements ports.RailReceiptStore. The accounts are locked before the receipts are written, so that a new
// balance counts them or not, and never twice.
func (db *DB) KeepRailReceipts(ctx context.Context, connection string, receipts []transaction.Receipt, now time.Time) error {
	if len(receipts) == 0 {
		return nil
	}
	n := len(receipts)
	keys, platforms := make([]rail.AccountKey, n), make(idArray, n)
	rails, partners, currencies := make([]string, n), make([]string, n), make([]string, n)
	amounts, times := make([]int64, n), make(timeArray, n)
	for i, r := range receipts {
		keys[i], platforms[i] = rail.AccountKey{Connection: connection, Currency: r.Amount.Currency}, pgID(r.Platform.UUID())
		rails[i], partners[i], currencies[i] = string(r.Rail), r.Storable().PartnerID, string(r.Amount.Currency)
		amounts[i], times[i] = r.Amount.Minor, pgTime(r.At)
	}
	return db.Do(ports.ForAllPlatforms(ctx), func(ctx context.Context, tx ports.Tx) error {
		accounts, err := tx.LockRailAccounts(ctx, keys, now)
		if err != nil {
			return err
		}
		u := tx.(*unit)
		err = u.query(ctx, insertRailReceipts, []any{connection, platforms, rails, partners, currencies, amounts, times}, func(rows pgx.Rows) error {
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
	var moment pgtype.Timestamptz
	err = rows.Scan(&key.Currency, &minor, &moment)
	return key, minor, utcTime(moment), err
}

// ReverseRailReceipt implements ports.RailReceiptStore. It uses the primary key.
func (db *DB) ReverseRailReceipt(ctx context.Context, key ports.RailReceiptKey, at, now time.Time) error {
	return db.Do(ports.ForAllPlatforms(ctx), func(ctx context.Context, tx ports.Tx) error {
		u, account := tx.(*unit), rail.AccountKey{}
		values := []any{pgID(key.Platform.UUID()), string(key.Rail), key.PartnerID}
		err := u.query(ctx, `SELECT connection, currency FROM rail_receipts WHERE platform_id = $1 AND rail = $2 AND partner_id = $3`, values,
			func(rows pgx.Rows) error { return rows.Scan(&account.Connection, &account.Currency) })
		if err != nil || account.Connection == "" {
			return err
		}
		accounts, err := u.LockRailAccounts(ctx, []rail.AccountKey{account}, now)
		if err != nil {
			return err
		}
		err = u.query(ctx, `UPDATE rail_receipts SET reversed_at = $4 WHERE platform_id = $1 AND rail = $2 AND partner_id = $3 AND reversed_at IS NULL
			RETURNING currency, amount, reversed_at`, append(values, pgTime(at)), func(rows pgx.Rows) error {
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

// RailReceiptConnections implements ports.RailReceiptStore. It uses the primary key.
func (db *DB) RailReceiptConnections(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]string, error) {
	found := map[ports.RailReceiptKey]string{}
	if len(keys) == 0 {
		return found, nil
	}
	platforms, rails, partners := make(idArray, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		platforms[i], rails[i], partners[i] = pgID(k.Platform.UUID()), string(k.Rail), k.PartnerID
	}
	rows, err := db.pool.Query(ctx, `SELECT platform_id, rail, partner_id, connection FROM rail_receipts
		JOIN unnest($1::uuid[], $2::text[], $3::text[]) AS k(platform_id, rail, partner_id) USING (platform_id, rail, partner_id)`, pgx.QueryExecModeCacheStatement, platforms, rails, partners)
	if err != nil {
		return nil, err
	}
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var platform pgtype.UUID
		var key ports.RailReceiptKey
		var connection string
		err := rows.Scan(&platform, &key.Rail, &key.PartnerID, &connection)
		key.Platform.SetUUID(platform.Bytes)
		found[key] = connection
		return err
	})
	return found, err
}
