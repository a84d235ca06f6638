package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
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
	current, err := currentVersion(ctx, db)
	if err != nil {
		return err
	}
	if current > newest {
		return newerDatabase(current, newest)
	}
	after, err := pending(files, current)
	if err != nil || len(after) == 0 {
		return err
	}
	if reasons := stops(after); reasons != "" && current > 0 {
		return fmt.Errorf("%w: it has version %d and this program needs %d; stop every process of the previous version, because of %s, and "+
			"run causeway migrate", ErrNotMigrated, current, newest, reasons)
	}
	return fmt.Errorf("%w: it has version %d and this program needs %d; run causeway migrate", ErrNotMigrated, current, newest)
}

func newerDatabase(current, newest int64) error {
	return fmt.Errorf("%w: it has version %d, this program knows %d; start the newer release", ErrNewerDatabase, current, newest)
}

// newestVersion returns the highest number among the files.
func newestVersion(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, name := range names {
		version, err := versionOf(name)
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}

// versionOf returns the number with which the name of a file begins.
func versionOf(name string) (int64, error) {
	number, _, _ := strings.Cut(name, "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s does not begin with its version: %w", name, err)
	}
	return version, nil
}
