package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/rail"
	"causeway/ports"
)

// LeaveRailPayments implements ports.RailDepartures.
func (db *DB) LeaveRailPayments(ctx context.Context, connection string, keys []ports.RailPaymentKey,
	now time.Time) (departures []rail.Departure, err error) {
	err = db.inTx(ctx, func(tx storage.Tx) error {
		departures, err = storage.LeaveRailPayments(ctx, tx, connection, keys, now)
		return err
	})
	return departures, err
}

// unknownRailPayments uses the primary key. A refund can be that of a receipt, which is another kind.
const unknownRailPayments = `SELECT k.platform_id, k.id, k.kind FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS k(platform_id, id, kind)
	WHERE NOT EXISTS (SELECT FROM rail_payments p WHERE p.platform_id = k.platform_id AND p.id = k.id
		AND (p.kind = k.kind OR k.kind = 'REFUND' AND p.kind = 'SEND_BACK'))`

// UnknownRailPayments implements ports.RailDepartures.
func (db *DB) UnknownRailPayments(ctx context.Context, keys []ports.RailPaymentKey) ([]ports.RailPaymentKey, error) {
	return storage.Collect(ctx, db.read, unknownRailPayments, storage.RailKeyColumns(keys),
		func(rows pgx.Rows, k *ports.RailPaymentKey) error { return rows.Scan(&k.Platform, &k.ID, &k.Kind) })
}

// RailPaymentsNotTaken implements ports.RailDepartures.
func (db *DB) RailPaymentsNotTaken(ctx context.Context, connection string, keys []ports.RailPaymentKey, now time.Time) error {
	return db.inTx(ctx, func(tx storage.Tx) error {
		return storage.RailPaymentsNotTaken(ctx, tx, connection, keys, now)
	})
}
