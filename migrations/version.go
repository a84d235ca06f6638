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

// ErrNotMigrated says that the database lacks what this release needs.
var ErrNotMigrated = errors.New("the database is not migrated")

// Check tells whether the database has exactly the schema of this program, and
// changes nothing. Errors: ErrNotMigrated, ErrNewerDatabase.
func Check(ctx context.Context, db *sql.DB) error {
	knows, err := newestVersion(files)
	if err != nil {
		return err
	}
	var has int64
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&has)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code == "42P01": // undefined table
		has = 0
	case err != nil:
		return fmt.Errorf("read the version of the database: %w", err)
	}
	switch {
	case has < knows:
		return fmt.Errorf("%w: it has version %d and this program needs %d; run causeway migrate", ErrNotMigrated, has, knows)
	case has > knows:
		return fmt.Errorf("%w: it has version %d, this program knows %d; start the newer release", ErrNewerDatabase, has, knows)
	}
	return nil
}

// newestVersion is the highest number among the files.
func newestVersion(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return 0, err
	}
	var highest int64
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s does not begin with its version: %w", name, err)
		}
		highest = max(highest, version)
	}
	return highest, nil
}
