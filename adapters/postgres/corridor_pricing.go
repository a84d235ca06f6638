package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/ports"
)

var _ ports.Pricing = (*DB)(nil)

// ChangeCorridor works with the rights of the login and not of the service, which
// may only read the table. The history is written by the table's own trigger.
func (db *DB) ChangeCorridor(ctx context.Context, line ports.CorridorKey, note string,
	decide func([]ports.CorridorOverride) (corridor.Override, error)) error {
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL ROLE NONE`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT set_config('causeway.change_note', $1, true)`, note); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `LOCK TABLE corridor_overrides IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		table, err := readOverrides(ctx, tx)
		if err != nil {
			return err
		}
		decided, err := decide(table)
		if err != nil {
			return err
		}
		return saveOverride(ctx, tx, line, decided)
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" { // insufficient_privilege
		return fmt.Errorf("this login may not change corridor_overrides; use the one that migrates the database: %w", err)
	}
	return translate(err)
}

func saveOverride(ctx context.Context, tx pgx.Tx, line ports.CorridorKey, o corridor.Override) error {
	key := []any{pgID(line.Platform.UUID()), string(line.From), string(line.To)}
	if o.IsZero() {
		_, err := tx.Exec(ctx, `DELETE FROM corridor_overrides
			WHERE platform_id IS NOT DISTINCT FROM $1 AND source = $2 AND destination = $3`, key...)
		return err
	}
	c := newOverrideColumns(o)
	_, err := tx.Exec(ctx, `
		INSERT INTO corridor_overrides (platform_id, source, destination, fee_fixed, fee_fraction, min_sending, max_sending, lock_seconds)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (coalesce(platform_id, '00000000-0000-0000-0000-000000000000'), source, destination) DO UPDATE SET
			fee_fixed = excluded.fee_fixed, fee_fraction = excluded.fee_fraction,
			min_sending = excluded.min_sending, max_sending = excluded.max_sending, lock_seconds = excluded.lock_seconds`,
		append(key, c.feeFixed, c.feeFraction, c.minSending, c.maxSending, c.lockSeconds)...)
	return err
}

// CorridorChanges reads the whole history through the filter: it has a row for each
// time an operator changed something.
func (db *DB) CorridorChanges(ctx context.Context, f ports.CorridorChangeFilter) ([]ports.CorridorChange, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT changed_at, changed_by, note, platform_id, source, destination,
			old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds,
			new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds
		FROM corridor_changes
		WHERE ($1::uuid IS NULL OR platform_id IS NULL OR platform_id = $1) AND $2 IN ('', source) AND $3 IN ('', destination)
		ORDER BY seq`, pgID(f.Platform.UUID()), string(f.From), string(f.To))
	if err != nil {
		return nil, err
	}
	var found []ports.CorridorChange
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var c ports.CorridorChange
		var platformID uuid.NullUUID
		var before, after overrideColumns
		into := append([]any{&c.At, &c.By, &c.Note, &platformID, &c.From, &c.To}, before.scanTargets()...)
		if err := rows.Scan(append(into, after.scanTargets()...)...); err != nil {
			return err
		}
		c.At = c.At.UTC()
		ident.SetUUID(&c.Platform, platformID.UUID)
		var err, also error
		c.Before, err = before.override()
		c.After, also = after.override()
		found = append(found, c)
		return errors.Join(err, also)
	})
	return found, err
}
