// Package migrations holds the database schema as numbered SQL files and brings a
// database up to it. README.md says how to write one. There are no down migrations. A
// database newer than the program, or created before the first release, is refused.
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
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed 0*.sql
var files embed.FS

// ErrNewerDatabase is returned if a newer release has already migrated the database.
var ErrNewerDatabase = errors.New("the database is newer than this program")

// ErrDevelopmentDatabase is returned if the database was created by a version from before
// the first release.
var ErrDevelopmentDatabase = errors.New("the database was created by a development version and cannot be upgraded; " +
	"start with an empty data folder or a new database")

// versionTable lists the migrations that were applied. The databases of development versions are recognised by goose's
// default, goose_db_version, or by a function that all later ones had and the baseline does not.
const versionTable = "schema_migrations"

// Result says what a migration has done.
type Result struct {
	// From and To are the versions of the database before and after: numbers of files, or 0 for an
	// empty database.
	From, To int64
	// Applied lists the files that were applied, in order.
	Applied []AppliedFile
}

// AppliedFile is a file that was applied.
type AppliedFile struct {
	Name     string
	Duration time.Duration
}

// Up brings the database to the newest version. Any number of processes may call it at
// the same time: one works, the others wait. Each file is applied completely or not at
// all. Then the partitions of tables get the indexes that files have added to their parents.
//
// The pool must allow at least two connections. Errors: ErrNewerDatabase,
// ErrDevelopmentDatabase, ErrPreviousRuns, or the file and statement that failed.
func Up(ctx context.Context, db *sql.DB) error {
	_, err := Apply(ctx, db)
	return err
}

// Apply is Up, and returns what was applied, also if a later file failed.
func Apply(ctx context.Context, db *sql.DB) (Result, error) {
	return apply(ctx, db, files, lockAttempts)
}

const (
	// lockAttempts is how often a file is tried that cannot have its locks within a second. Two tables of one file may be locked by requests
	// in another order, which the next attempt seldom meets again.
	lockAttempts = 10
	// lockPause is how long requests run freely before the next attempt.
	lockPause = 500 * time.Millisecond
)

// Hash identifies the schema: it changes with the name or content of any file.
func Hash() string {
	h, err := hash(files)
	if err != nil {
		panic(err) // embedded files can always be read
	}
	return h
}

func apply(ctx context.Context, db *sql.DB, files fs.FS, attempts int) (Result, error) {
	if err := checkNotDevelopment(ctx, db); err != nil {
		return Result{}, err
	}
	if err := checkPreviousStopped(ctx, db, files); err != nil {
		return Result{}, err
	}
	// Try every second, for as long as a large migration of another process may take.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 15*60))
	if err != nil {
		return Result{}, fmt.Errorf("create the migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithTableName(versionTable))
	if err != nil {
		return Result{}, fmt.Errorf("read the migrations: %w", err)
	}
	var applied []*goose.MigrationResult
	var partial *goose.PartialError
	for attempt := 1; ; attempt++ {
		var more []*goose.MigrationResult
		more, err = provider.Up(ctx)
		if partial = nil; errors.As(err, &partial) {
			more = partial.Applied
		}
		if applied = append(applied, more...); len(more) > 0 {
			attempt = 1
		}
		if attempt >= attempts || partial == nil || !isNotLocked(err) {
			break
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return newResult(provider.ListSources(), applied), ctx.Err()
		}
	}
	result := newResult(provider.ListSources(), applied)
	if err != nil {
		return result, describe(partial, err)
	}
	if err := checkNotNewer(ctx, provider); err != nil {
		return result, err
	}
	return result, indexPartitions(ctx, db, locker, attempts)
}

// describe names the file that failed, and says what to do if it could not lock a table.
func describe(partial *goose.PartialError, err error) error {
	if partial == nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	file := filepath.Base(partial.Failed.Source.Path)
	if isNotLocked(err) {
		return fmt.Errorf("%s waited a second for a table that other transactions use, and was not applied: "+
			"run causeway migrate again; if it fails again, end the long transactions in pg_stat_activity: %w", file, partial.Err)
	}
	return fmt.Errorf("apply %s: %w", file, partial.Err)
}

// isNotLocked reports whether a table could not be locked, because other transactions use it.
func isNotLocked(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "55P03" || pg.Code == "40P01") // lock_not_available, deadlock_detected
}

// newResult returns the result of applying some of the sources, which are in order.
func newResult(sources []*goose.Source, applied []*goose.MigrationResult) Result {
	result := Result{}
	for _, m := range applied {
		result.Applied = append(result.Applied, AppliedFile{filepath.Base(m.Source.Path), m.Duration})
		result.To = m.Source.Version
	}
	for _, source := range sources {
		if len(applied) == 0 || source.Version < applied[0].Source.Version {
			result.From = source.Version
		}
	}
	if len(applied) == 0 {
		result.To = result.From
	}
	return result
}

// checkNotDevelopment returns ErrDevelopmentDatabase for a database of a version from
// before the first release.
func checkNotDevelopment(ctx context.Context, db *sql.DB) error {
	var development bool
	if err := db.QueryRowContext(
		ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL OR to_regproc('delete_webhook_events') IS NOT NULL`).Scan(
		&development); err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if development {
		return ErrDevelopmentDatabase
	}
	return nil
}

// checkNotNewer keeps an old program from writing to a schema that it does not know.
func checkNotNewer(ctx context.Context, provider *goose.Provider) error {
	current, newest, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if current > newest {
		return newerDatabase(current, newest)
	}
	return nil
}

func hash(files fs.FS) (string, error) {
	names, err := fs.Glob(files, "*.sql") // sorted
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
