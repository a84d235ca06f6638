// Package migrations holds the schema as numbered SQL files and brings a database
// up to it. A file that has been released is never changed: the next number says
// what changes. It never goes down again and never touches data that it did not
// make; a database that is newer than the program is refused.
package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed *.sql
var files embed.FS

// ErrNewerDatabase says that a newer release has already migrated the database.
var ErrNewerDatabase = errors.New("the database is newer than this program")

// Up brings the database to the newest version. Any number of processes may call
// it at once: one works, the others wait and find it done. Each file is applied
// whole or not at all.
//
// The pool must allow at least two connections. Errors: ErrNewerDatabase; the
// file and statement that failed.
func Up(ctx context.Context, db *sql.DB) error { return up(ctx, db, files) }

// Hash identifies the schema: it changes with the name or content of any file.
func Hash() string {
	h, err := hash(files)
	if err != nil {
		panic(err) // the files are in the program: they cannot fail to be read
	}
	return h
}

func up(ctx context.Context, db *sql.DB, files fs.FS) error {
	// Look every second, for as long as a big migration of another process may take.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 15*60))
	if err != nil {
		return fmt.Errorf("prepare the migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return checkNotNewer(ctx, provider)
}

// checkNotNewer stops an old program before it writes to a schema it does not know.
func checkNotNewer(ctx context.Context, provider *goose.Provider) error {
	has, knows, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if has > knows {
		return fmt.Errorf("%w: it has version %s, this program knows %s; start the newer release",
			ErrNewerDatabase, strconv.FormatInt(has, 10), strconv.FormatInt(knows, 10))
	}
	return nil
}

func hash(files fs.FS) (string, error) {
	names, err := fs.Glob(files, "*.sql") // in order
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
