package storage

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/rail"
	"causeway/ports"
)

// A pause holds the lock alone, and what leaves shares it: so nothing leaves after a pause that was answered.
// LockPauses is that of a pause.
const (
	LockPauses       = `SELECT pg_advisory_xact_lock(hashtextextended('rail pauses', 0))`
	lockPausesShared = `SELECT pg_advisory_xact_lock_shared(hashtextextended('rail pauses', 0))`
)

// lockDepartingPayments uses the primary key. A refund can be that of a receipt, which is another kind.
var lockDepartingPayments = `SELECT ` + RailPayments.Names("p") + ` FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS k(platform_id, id, kind)
	JOIN rail_payments p ON p.platform_id = k.platform_id AND p.id = k.id AND (p.kind = k.kind OR k.kind = 'REFUND' AND p.kind = 'SEND_BACK')
	ORDER BY p.platform_id, p.id, p.kind FOR UPDATE OF p`

// saveRailDepartures uses the primary key.
const saveRailDepartures = `UPDATE rail_payments p SET state = k.state, sent_at = k.sent_at, sent_again = k.sent_again
	FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::boolean[]) AS k(platform_id, id, kind, state, sent_at, sent_again)
	WHERE p.platform_id = k.platform_id AND p.id = k.id AND p.kind = k.kind`

func saveDepartures(ctx context.Context, tx Tx, changed []rail.Payment) error {
	if len(changed) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, saveRailDepartures, schema.Arrays(changed, func(p *rail.Payment) []any {
		return []any{&p.Platform, &p.ID, &p.Kind, &p.State, &p.SentAt, &p.SentAgain}
	})...)
	return err
}

// LeaveRailPayments asks, in the transaction that makes payments of a connection irrevocable, whether they may leave, and
// records that they have. It returns a departure for each key; a payment that is not recorded is withdrawn.
func LeaveRailPayments(ctx context.Context, tx Tx, connection string, keys []ports.RailPaymentKey,
	now time.Time) ([]rail.Departure, error) {
	paused, err := pausedNames(ctx, tx)
	if err != nil {
		return nil, err
	}
	locked, err := lockRailDepartures(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	departures := make([]rail.Departure, len(keys))
	var changed []rail.Payment
	for i, key := range keys {
		p, recorded := locked[key]
		if !recorded {
			departures[i] = rail.Withdrawn
			continue
		}
		after, departure := p.Depart(connection, paused[connection] || paused[string(p.Rail)], now)
		if departures[i] = departure; after != p {
			changed = append(changed, after)
		}
	}
	return departures, saveDepartures(ctx, tx, changed)
}

// AnyPaused reports whether one of some connections and rails is paused, which stays so until the transaction ends.
func AnyPaused(ctx context.Context, tx Tx, names ...string) (bool, error) {
	paused, err := pausedNames(ctx, tx)
	return slices.ContainsFunc(names, func(name string) bool { return paused[name] }), err
}

// IsDeleted reports whether a connection is deleted. It uses the primary key.
func IsDeleted(ctx context.Context, tx Tx, connection string) (deleted bool, err error) {
	_, err = ReadRow(ctx, tx.Read, `SELECT state = 'DELETED' FROM rail_connections WHERE name = $1 ORDER BY version DESC LIMIT 1`,
		[]any{connection}, &deleted)
	return deleted, err
}

// pausedNames returns the connections and rails that are paused, and keeps them so until the transaction ends.
func pausedNames(ctx context.Context, tx Tx) (map[string]bool, error) {
	if _, err := tx.Exec(ctx, lockPausesShared); err != nil {
		return nil, err
	}
	pauses, err := Collect(ctx, tx.Read, LatestPauses, nil, ScanPause)
	paused := map[string]bool{}
	for _, p := range pauses {
		paused[p.Name] = p.Paused
	}
	return paused, err
}

// lockRailDepartures returns the payments that are recorded, by the keys that were asked for.
func lockRailDepartures(ctx context.Context, tx Tx, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	locked := make(map[ports.RailPaymentKey]rail.Payment, len(keys))
	return locked, tx.Read(ctx, lockDepartingPayments, RailKeyColumns(keys), func(rows pgx.Rows) error {
		var p rail.Payment
		err := rows.Scan(RailPayments.Columns(&p).Fields()...)
		key := RailPaymentKey(p)
		if locked[key] = p; p.Kind == rail.SendBack {
			key.Kind = rail.Refund
			locked[key] = p
		}
		return err
	})
}

// RailPaymentsNotTaken records in a transaction that payments that had left were not taken.
func RailPaymentsNotTaken(ctx context.Context, tx Tx, connection string, keys []ports.RailPaymentKey, now time.Time) error {
	locked, err := lockRailDepartures(ctx, tx, keys)
	if err != nil {
		return err
	}
	var changed []rail.Payment
	for _, key := range keys {
		before := locked[key] // zero if it is not recorded, and stays so
		if after := before.NotTaken(connection, now); after != before {
			changed = append(changed, after)
		}
	}
	return saveDepartures(ctx, tx, changed)
}

// ScanPause scans a row of LatestPauses.
func ScanPause(rows pgx.Rows, p *ports.RailPause) error {
	return rows.Scan(&p.Name, &p.Paused, &p.By, &p.Note, &p.At, &p.LostCommits)
}
