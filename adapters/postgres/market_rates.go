package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/ports"
)

var _ ports.KeptRates = (*DB)(nil)

// KeepRates implements ports.KeptRates.
func (db *DB) KeepRates(ctx context.Context, rates price.KeptRates) error {
	var currencies, values, sources []string
	var times []time.Time
	for currency, kept := range rates.InUSD {
		currencies, values = append(currencies, string(currency)), append(values, kept.Rate.String())
		times, sources = append(times, kept.At), append(sources, kept.Source)
	}
	_, err := db.pool.Exec(ctx, `INSERT INTO market_rates (kept_at, currency, usd_rate, rate_at, source)
		SELECT $1, * FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[]) ON CONFLICT DO NOTHING`,
		rates.At, currencies, values, times, sources)
	return err
}

// RatesAt implements ports.KeptRates. Uses the primary key.
func (db *DB) RatesAt(ctx context.Context, moment time.Time) (price.KeptRates, error) {
	kept := price.KeptRates{InUSD: map[money.Currency]price.KeptRate{}}
	err := db.readMarketRates(ctx, `kept_at = (SELECT max(kept_at) FROM market_rates WHERE kept_at <= $1)`, []any{moment},
		func(at time.Time, currency money.Currency, rate price.KeptRate) {
			kept.At, kept.InUSD[currency] = at, rate
		})
	return kept, err
}

// RatesBetween implements ports.KeptRates. Uses the primary key.
func (db *DB) RatesBetween(ctx context.Context, after, upto time.Time) (all []price.KeptRates, err error) {
	first := pgtype.Timestamptz{Time: after, Valid: true} // a position, even if it is zero
	err = db.readMarketRates(ctx, `kept_at > $1 AND kept_at <= $2 ORDER BY kept_at`, []any{first, upto},
		func(at time.Time, currency money.Currency, rate price.KeptRate) {
			if len(all) == 0 || !all[len(all)-1].At.Equal(at) {
				all = append(all, price.KeptRates{At: at, InUSD: map[money.Currency]price.KeptRate{}})
			}
			all[len(all)-1].InUSD[currency] = rate
		})
	return all, err
}

// readMarketRates calls each for every rate that a condition finds.
func (db *DB) readMarketRates(ctx context.Context, where string, args []any, each func(keptAt time.Time, currency money.Currency,
	rate price.KeptRate)) error {
	return db.read(ctx, `SELECT kept_at, currency, usd_rate, rate_at, source FROM market_rates WHERE `+where, args, func(rows pgx.Rows) error {
		var keptAt time.Time
		var currency money.Currency
		var rate price.KeptRate
		if err := rows.Scan(&keptAt, &currency, schema.Rate(&rate.Rate), &rate.At, &rate.Source); err != nil {
			return fmt.Errorf("market rate of %s kept at %s: %w", currency, keptAt, err)
		}
		each(keptAt, currency, rate)
		return nil
	})
}

// FirstRatesAt implements ports.KeptRates. Uses the primary key.
func (db *DB) FirstRatesAt(ctx context.Context) (time.Time, error) {
	var first time.Time
	err := db.pool.QueryRow(ctx, `SELECT min(kept_at) FROM market_rates`).Scan(&first)
	return first, err
}

// deleteOldMarketRates deletes the rates kept before a time, in batches. Uses the primary key.
func (db *DB) deleteOldMarketRates(ctx context.Context, before time.Time, deleted func(rows int)) error {
	for {
		n, err := db.deleteMarketRates(ctx, before)
		if err != nil {
			return fmt.Errorf("delete old market rates: %w", err)
		}
		deleted(n)
		if n < retentionBatchSize {
			return nil
		}
	}
}

func (db *DB) deleteMarketRates(ctx context.Context, before time.Time) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, retentionBatchTimeout)
	defer cancel()
	done, err := db.pool.Exec(ctx, `DELETE FROM market_rates WHERE (kept_at, currency) IN (
		SELECT kept_at, currency FROM market_rates WHERE kept_at < $1 ORDER BY kept_at LIMIT $2)`, before, retentionBatchSize)
	return int(done.RowsAffected()), err
}
