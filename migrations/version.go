package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNotMigrated is returned if the database lacks migrations of this release.
var ErrNotMigrated = errors.New("the database is not migrated")

// Check returns nil if the database has exactly the schema of this program. It changes
// nothing. Errors: ErrNotMigrated, ErrNewerDatabase, ErrDevelopmentDatabase.
func Check(ctx context.Context, db *sql.DB) error {
	if err := checkNotDevelopment(ctx, db); err != nil {
		return err
	}
	newest, err := newestVersion(files)
	if err != nil {
		return err
	}
	var current int64
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versionTable+` WHERE is_applied`).Scan(&current)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code == "42P01": // undefined table
		current = 0
	case err != nil:
		return fmt.Errorf("read the version of the database: %w", err)
	}
	switch {
	case current < newest:
		return fmt.Errorf("%w: it has version %d and this program needs %d; run causeway migrate", ErrNotMigrated, current, newest)
	case current > newest:
		return fmt.Errorf("%w: it has version %d, this program knows %d; start the newer release", ErrNewerDatabase, current, newest)
	}
	return nil
}

// newestVersion returns the highest number among the files.
func newestVersion(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s does not begin with its version: %w", name, err)
		}
		newest = max(newest, version)
	}
	return newest, nil
}
