package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/rail"
	"causeway/ports"
)

// A pause holds the lock alone, and what leaves shares it: so nothing leaves after a pause that was answered.
const (
	lockPauses       = `SELECT pg_advisory_xact_lock(hashtextextended('rail pauses', 0))`
	lockPausesShared = `SELECT pg_advisory_xact_lock_shared(hashtextextended('rail pauses', 0))`
)

// lockDepartingPayments uses the primary key. A refund can be that of a receipt, which is another kind.
const lockDepartingPayments = `SELECT ` + railPaymentColumns + ` FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS k(platform_id, id, kind)
	JOIN rail_payments p ON p.platform_id = k.platform_id AND p.id = k.id AND (p.kind = k.kind OR k.kind = 'REFUND' AND p.kind = 'SEND_BACK')
	ORDER BY p.platform_id, p.id, p.kind FOR UPDATE OF p`

const markDeparted = `UPDATE rail_payments p SET state = 'SENT', sent_at = $4 FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS k(platform_id, id, kind)
	WHERE p.platform_id = k.platform_id AND p.id = k.id AND p.kind = k.kind`

// leaveRailPayments asks, in the transaction that makes payments of a connection irrevocable, whether they may leave, and
// records that they have. It returns a departure for each key; a payment that is not recorded is withdrawn.
func leaveRailPayments(ctx context.Context, tx pgx.Tx, connection string, keys []ports.RailPaymentKey, now time.Time) ([]rail.Departure, error) {
	if _, err := tx.Exec(ctx, lockPausesShared); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, latestPauses)
	if err != nil {
		return nil, err
	}
	paused := map[string]bool{}
	if err := forEachRow(rows, func(rows pgx.Rows) error {
		p, err := scanPause(rows)
		paused[p.Name] = p.Paused
		return err
	}); err != nil {
		return nil, err
	}
	locked, err := lockRailDepartures(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	departures := make([]rail.Departure, len(keys))
	var left []ports.RailPaymentKey
	for i, key := range keys {
		p, recorded := locked[key]
		if !recorded {
			departures[i] = rail.Withdrawn
			continue
		}
		after, departure := p.Depart(connection, paused[connection] || paused[string(p.Rail)], now)
		if departures[i] = departure; after.State != p.State {
			left = append(left, railPaymentKey(after))
		}
	}
	if len(left) > 0 {
		_, err = tx.Exec(ctx, markDeparted, append(railKeyColumns(left), pgTime(now))...)
	}
	return departures, err
}

// lockRailDepartures returns the payments that are recorded, by the keys that were asked for.
func lockRailDepartures(ctx context.Context, tx pgx.Tx, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	rows, err := tx.Query(ctx, lockDepartingPayments, railKeyColumns(keys)...)
	if err != nil {
		return nil, err
	}
	locked := make(map[ports.RailPaymentKey]rail.Payment, len(keys))
	return locked, forEachRow(rows, func(rows pgx.Rows) error {
		p, err := scanRailPayment(rows)
		key := railPaymentKey(p)
		if locked[key] = p; p.Kind == rail.SendBack {
			key.Kind = rail.Refund
			locked[key] = p
		}
		return err
	})
}

// LeaveRailPayments implements ports.RailDepartures.
func (db *DB) LeaveRailPayments(ctx context.Context, connection string, keys []ports.RailPaymentKey, now time.Time) (departures []rail.Departure, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		departures, err = leaveRailPayments(ctx, tx, connection, keys, now)
		return err
	})
	return departures, err
}

// RailPaymentNotTaken implements ports.RailDepartures.
func (db *DB) RailPaymentNotTaken(ctx context.Context, connection string, key ports.RailPaymentKey, now time.Time) error {
	return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		locked, err := lockRailDepartures(ctx, tx, []ports.RailPaymentKey{key})
		if err != nil {
			return err
		}
		before, recorded := locked[key]
		after := before.NotTaken(connection, now)
		if !recorded || after.State == before.State {
			return nil
		}
		_, err = tx.Exec(ctx, `UPDATE rail_payments SET state = $4, sent_at = NULL WHERE platform_id = $1 AND id = $2 AND kind = $3`,
			pgID(after.Platform.UUID()), pgID(after.ID), string(after.Kind), string(after.State))
		return err
	})
}
