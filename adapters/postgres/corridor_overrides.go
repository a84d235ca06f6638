package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// CorridorOverrides reads the whole table: those for all platforms first.
func (db *DB) CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error) {
	return readOverrides(ctx, db.pool)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func readOverrides(ctx context.Context, from querier) ([]ports.CorridorOverride, error) {
	rows, err := from.Query(ctx, `
		SELECT platform_id, source, destination, fee_fixed, fee_fraction, min_sending, max_sending, lock_seconds
		FROM corridor_overrides ORDER BY platform_id NULLS FIRST, source, destination`)
	if err != nil {
		return nil, err
	}
	var found []ports.CorridorOverride
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var o ports.CorridorOverride
		var platformID uuid.NullUUID
		var values overrideColumns
		if err := rows.Scan(append([]any{&platformID, &o.From, &o.To}, values.scanTargets()...)...); err != nil {
			return err
		}
		ident.SetUUID(&o.Platform, platformID.UUID)
		var err error
		if o.Terms, err = values.override(); err != nil {
			return fmt.Errorf("corridor_overrides %s to %s: %w", o.From, o.To, err)
		}
		found = append(found, o)
		return nil
	})
	return found, err
}

// overrideColumns are the values of an override in a row; NULL leaves one alone.
type overrideColumns struct {
	feeFixed, minSending, maxSending, lockSeconds *int64
	feeFraction                                   *string
}

// scanTargets are the places to scan into, in the order of the columns.
func (c *overrideColumns) scanTargets() []any {
	return []any{&c.feeFixed, &c.feeFraction, &c.minSending, &c.maxSending, &c.lockSeconds}
}

func (c *overrideColumns) override() (corridor.Override, error) {
	o := corridor.Override{Fixed: c.feeFixed, MinSending: c.minSending, MaxSending: c.maxSending}
	if c.feeFraction != nil {
		percent, err := money.ParseFraction(*c.feeFraction)
		if err != nil {
			return o, fmt.Errorf("fee_fraction: %w", err)
		}
		o.Percent = &percent
	}
	if c.lockSeconds != nil {
		o.Lock = new(time.Duration(*c.lockSeconds) * time.Second)
	}
	return o, nil
}

func newOverrideColumns(o corridor.Override) overrideColumns {
	c := overrideColumns{feeFixed: o.Fixed, minSending: o.MinSending, maxSending: o.MaxSending}
	if o.Percent != nil {
		c.feeFraction = new(o.Percent.String())
	}
	if o.Lock != nil {
		c.lockSeconds = new(int64(*o.Lock / time.Second))
	}
	return c
}

// PlatformLimits reads the limits out of the settings of all platforms: a row a
// platform and currency, every ten seconds in each process.
func (db *DB) PlatformLimits(ctx context.Context) ([]ports.PlatformLimits, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT p.id, c.code, c.min, c.max
		FROM platforms p, jsonb_to_recordset(p.currencies) AS c(code text, min bigint, max bigint)`)
	if err != nil {
		return nil, err
	}
	var found []ports.PlatformLimits
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var l ports.PlatformLimits
		var platformID uuid.UUID
		if err := rows.Scan(&platformID, &l.Currency, &l.Min, &l.Max); err != nil {
			return err
		}
		ident.SetUUID(&l.Platform, platformID)
		found = append(found, l)
		return nil
	})
	return found, err
}
