package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Pending is a file that a database does not have yet.
type Pending struct {
	Name string
	// Stop is why the processes of the previous version have to be stopped before; empty if they run beside it.
	Stop string
}

// ErrPreviousRuns is returned if processes of the previous version run that cannot run beside a pending file.
var ErrPreviousRuns = errors.New("nothing was applied, because processes of the previous version run that have to be stopped before")

// lastOfBaseline is the number of the last file that makes the schema of a new database. Those after it change databases
// that are in use, and say whether the previous version runs beside them.
const lastOfBaseline = 18

// previousVersion is the line of a file that says it.
var previousVersion = regexp.MustCompile(`(?m)^-- The previous version (?:runs beside it\.|must be stopped: (\S.*\S)\.)$`)

// Plan returns the files that a database does not have yet, in order. It changes nothing. Errors: ErrNewerDatabase,
// ErrDevelopmentDatabase.
func Plan(ctx context.Context, db *sql.DB) ([]Pending, error) {
	if err := checkNotDevelopment(ctx, db); err != nil {
		return nil, err
	}
	current, err := currentVersion(ctx, db)
	if err != nil {
		return nil, err
	}
	newest, err := newestVersion(files)
	if err != nil {
		return nil, err
	}
	if current > newest {
		return nil, newerDatabase(current, newest)
	}
	return pending(files, current)
}

// pending returns the files after a version.
func pending(files fs.FS, current int64) (after []Pending, err error) {
	names, err := fs.Glob(files, "*.sql") // sorted
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		version, err := versionOf(name)
		if err != nil {
			return nil, err
		}
		if version <= current {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		p := Pending{Name: name}
		if said := previousVersion.FindSubmatch(text); said != nil {
			p.Stop = string(said[1])
		} else if version > lastOfBaseline {
			p.Stop = "it does not say that they run beside it"
		}
		after = append(after, p)
	}
	return after, nil
}

// stops returns those that the previous version has to be stopped for, with the reasons, as text; empty for none.
func stops(pending []Pending) string {
	var reasons []string
	for _, p := range pending {
		if p.Stop != "" {
			reasons = append(reasons, p.Name+" ("+p.Stop+")")
		}
	}
	return strings.Join(reasons, ", ")
}

// checkPreviousStopped returns ErrPreviousRuns if the previous version is connected and cannot run beside a file that is to
// be applied. Every process that serves has sessions with such names; a migration has none.
func checkPreviousStopped(ctx context.Context, db *sql.DB, files fs.FS) error {
	current, err := currentVersion(ctx, db)
	if err != nil || current == 0 {
		return err
	}
	after, err := pending(files, current)
	if err != nil {
		return err
	}
	reasons := stops(after)
	if reasons == "" {
		return nil
	}
	var sessions int
	var logins string
	if err := db.QueryRowContext(ctx, `SELECT count(*), coalesce(string_agg(DISTINCT usename, ', ' ORDER BY usename), '')
		FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'causeway %'`).Scan(&sessions, &logins); err != nil {
		return fmt.Errorf("find the processes that run: %w", err)
	}
	if sessions > 0 {
		return fmt.Errorf("%w: %s. Stop all of them (sessions of the login %s: %d), run causeway migrate again, and start the new version",
			ErrPreviousRuns, reasons, logins, sessions)
	}
	return nil
}

// currentVersion returns the version of a database, 0 if it is empty.
func currentVersion(ctx context.Context, db *sql.DB) (current int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versionTable+` WHERE is_applied`).Scan(&current)
	if isUndefinedTable(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the version of the database: %w", err)
	}
	return current, nil
}

func isUndefinedTable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42P01"
}
