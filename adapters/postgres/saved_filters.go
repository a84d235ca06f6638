package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/person"
)

// SavedFilters implements filters.Store. It uses the primary key.
func (db *DB) SavedFilters(ctx context.Context, p ident.Platform, of ident.Person, list string) ([]person.SavedFilter, error) {
	return storage.Collect(ctx, db.read, `SELECT name, query, saved_at FROM saved_filters
		WHERE platform_id = $1 AND person_id = $2 AND list = $3 ORDER BY name LIMIT $4`, []any{p, of, list, person.MaxSavedFilters},
		func(rows pgx.Rows, f *person.SavedFilter) error {
			f.Platform, f.Person, f.List = p, of, list
			return rows.Scan(&f.Name, &f.Query, &f.SavedAt)
		})
}

// SaveFilter implements filters.Store. It uses the primary key.
func (db *DB) SaveFilter(ctx context.Context, f person.SavedFilter) (saved bool, err error) {
	done, err := db.pool.Exec(ctx, `INSERT INTO saved_filters (platform_id, person_id, list, name, query, saved_at)
		SELECT $1, $2, $3, $4, $5, $6 WHERE (SELECT count(*) FROM saved_filters WHERE platform_id = $1 AND person_id = $2 AND list = $3
			AND name <> $4) < $7
		ON CONFLICT (platform_id, person_id, list, name) DO UPDATE SET query = excluded.query, saved_at = excluded.saved_at`,
		f.Platform, f.Person, f.List, f.Name, f.Query, f.SavedAt, person.MaxSavedFilters)
	return done.RowsAffected() > 0, err
}

// DeleteFilter implements filters.Store. It uses the primary key.
func (db *DB) DeleteFilter(ctx context.Context, p ident.Platform, of ident.Person, list, name string) error {
	_, err := db.pool.Exec(ctx, `DELETE FROM saved_filters WHERE platform_id = $1 AND person_id = $2 AND list = $3 AND name = $4`, p, of, list,
		name)
	return err
}
