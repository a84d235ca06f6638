package migrations

import (
	"context"
	"database/sql"
	"io/fs"
)

var (
	ApplyFrom = apply
	HashOf    = hash
	Files     = files

	PreviousVersion = previousVersion
)

// LastOfBaseline is the number of the files of the baseline.
const LastOfBaseline = lastOfBaseline

// UpFrom is Up with other files.
func UpFrom(ctx context.Context, db *sql.DB, files fs.FS) error {
	_, err := apply(ctx, db, files)
	return err
}
