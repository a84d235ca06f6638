package migrations

import (
	"context"
	"database/sql"
	"io/fs"
)

var (
	HashOf = hash
	Files  = files

	PreviousVersion = previousVersion
)

// LastOfBaseline is the number of the files of the baseline.
const LastOfBaseline = lastOfBaseline

// ApplyFrom is Apply with other files, which are tried once.
func ApplyFrom(ctx context.Context, db *sql.DB, files fs.FS) (Result, error) {
	return apply(ctx, db, files, 1)
}

// UpFrom is Up with other files, which are tried once.
func UpFrom(ctx context.Context, db *sql.DB, files fs.FS) error {
	_, err := ApplyFrom(ctx, db, files)
	return err
}

// Attempt is UpFrom that tries files again.
func Attempt(ctx context.Context, db *sql.DB, files fs.FS, attempts int) error {
	_, err := apply(ctx, db, files, attempts)
	return err
}
