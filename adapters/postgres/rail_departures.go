package postgres

import (
	"context"
	"time"

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

// RailPaymentsNotTaken implements ports.RailDepartures.
func (db *DB) RailPaymentsNotTaken(ctx context.Context, connection string, keys []ports.RailPaymentKey, now time.Time) error {
	return db.inTx(ctx, func(tx storage.Tx) error {
		return storage.RailPaymentsNotTaken(ctx, tx, connection, keys, now)
	})
}
