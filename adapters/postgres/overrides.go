package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// CorridorOverrides reads the whole table: those for all platforms first.
func (db *DB) CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT platform_id, source, destination, fee_fixed, fee_fraction, min_sending, max_sending, lock_seconds
		FROM corridor_overrides ORDER BY platform_id NULLS FIRST, source, destination`)
	if err != nil {
		return nil, err
	}
	var found []ports.CorridorOverride
	err = each(rows, func(rows pgx.Rows) error {
		var o ports.CorridorOverride
		var platformID uuid.NullUUID
		var fraction *string
		var lockSeconds *int64
		if err := rows.Scan(&platformID, &o.From, &o.To, &o.Terms.Fixed, &fraction,
			&o.Terms.MinSending, &o.Terms.MaxSending, &lockSeconds); err != nil {
			return err
		}
		ident.Set(&o.Platform, platformID.UUID)
		if fraction != nil {
			percent, err := money.ParseFraction(*fraction)
			if err != nil {
				return fmt.Errorf("corridor_overrides %s to %s: fee_fraction: %w", o.From, o.To, err)
			}
			o.Terms.Percent = &percent
		}
		if lockSeconds != nil {
			lock := time.Duration(*lockSeconds) * time.Second
			o.Terms.Lock = &lock
		}
		found = append(found, o)
		return nil
	})
	return found, err
}
