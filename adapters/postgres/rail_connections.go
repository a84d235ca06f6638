package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/ports"
)

var _ ports.RailConnectionStore = (*DB)(nil)

// connectionSettings is the column settings of rail_connections. It has a duration in nanoseconds.
type connectionSettings struct {
	rail.Document[time.Duration]
	Exclusive []string `json:"exclusive"`
}

// The states of versions.
const (
	connectionOpen    = "OPEN"
	connectionRetired = "RETIRED"
	connectionDeleted = "DELETED"
)

// connectionVersions are versions with whether they were tested, and the numbers of the latest one and of the one that
// deleted the connection.
const connectionVersions = `FROM rail_connections c
	CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM rail_tests t WHERE t.connection = c.name AND t.version = c.version AND t.passed)) AS test(passed)
	CROSS JOIN LATERAL (SELECT max(l.version), coalesce(max(l.version) FILTER (WHERE l.state = 'DELETED'), 0) FROM rail_connections l WHERE l.name = c.name) AS all_versions(latest, deleted)`

// connectionsInForce uses the primary keys; every process reads the tables every few seconds.
const connectionsInForce = connectionVersions + ` WHERE c.version > deleted ORDER BY c.name, (c.state = 'RETIRED' OR test.passed) DESC, c.version DESC`

const connectionColumns = `c.name, c.version, c.settings, c.set_by, c.note, c.set_at, c.state, test.passed, latest `

// RailConnections implements ports.RailConnectionReader.
func (db *DB) RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error) {
	return db.connectionVersions(ctx, `SELECT DISTINCT ON (c.name) `+connectionColumns+connectionsInForce)
}

// RailConnectionHistory implements ports.RailConnectionReader. It uses the primary key.
func (db *DB) RailConnectionHistory(ctx context.Context, name string) ([]ports.RailConnectionVersion, error) {
	return db.connectionVersions(ctx, `SELECT `+connectionColumns+connectionVersions+` WHERE c.name = $1 ORDER BY c.version`, name)
}

func (db *DB) connectionVersions(ctx context.Context, query string, args ...any) ([]ports.RailConnectionVersion, error) {
	rows, err := db.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var found []ports.RailConnectionVersion
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var v ports.RailConnectionVersion
		var settings []byte
		var setAt pgtype.Timestamptz
		var state string
		var tested bool
		if err := rows.Scan(&v.Name, &v.Version, &settings, &v.By, &v.Note, &setAt, &state, &tested, &v.Latest); err != nil {
			return err
		}
		v.SetAt, v.Untested, v.Retired, v.Deleted = utcTime(setAt), !tested, state == connectionRetired, state == connectionDeleted
		if err := readConnectionSettings(settings, &v.Connection); err != nil {
			return fmt.Errorf("rail_connections %s version %d: %w", v.Name, v.Version, err)
		}
		found = append(found, v)
		return nil
	})
	return found, err
}

// RailTests implements ports.RailConnectionReader. It uses the primary key.
func (db *DB) RailTests(ctx context.Context, name string) ([]ports.RailTest, error) {
	rows, err := db.pool.Query(ctx, `SELECT connection, version, passed, checked, problem, tested_at FROM rail_tests WHERE connection = $1 ORDER BY id`, name)
	if err != nil {
		return nil, err
	}
	var found []ports.RailTest
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var t ports.RailTest
		var at pgtype.Timestamptz
		err := rows.Scan(&t.Connection, &t.Version, &t.Passed, &t.Checked, &t.Problem, &at)
		t.At = utcTime(at)
		found = append(found, t)
		return err
	})
	return found, err
}

func readConnectionSettings(data []byte, c *rail.Connection) error {
	var s connectionSettings
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	var failed error
	s.Read(c, func(d time.Duration) (time.Duration, error) { return d, nil }, func(field string, err error) {
		failed = errors.Join(failed, fmt.Errorf("%s: %w", field, err))
	})
	c.Exclusive = s.Exclusive
	return failed
}

func writeConnectionSettings(c rail.Connection) ([]byte, error) {
	document := rail.NewDocument(c, func(d time.Duration) time.Duration { return d })
	return json.Marshal(connectionSettings{document, c.Exclusive})
}

// SaveRailConnection implements ports.RailConnectionStore.
func (db *DB) SaveRailConnection(ctx context.Context, v ports.RailConnectionVersion, test *ports.RailTest, seen []ports.RailConnectionVersion) error {
	settings, err := writeConnectionSettings(v.Connection)
	if err != nil {
		return err
	}
	state := connectionOpen
	switch {
	case v.Deleted:
		state = connectionDeleted
	case v.Retired:
		state = connectionRetired
	}
	return db.changeConnections(ctx, seen, func(tx bun.Tx) error {
		isNew := !slices.ContainsFunc(seen, func(s ports.RailConnectionVersion) bool { return s.Name == v.Name })
		if isNew && len(seen) >= rail.MaxConnections {
			return fault.New(fault.InvalidInput, "There are %d connections already, which is the maximum.", len(seen))
		}
		inserted, err := tx.ExecContext(ctx, `INSERT INTO rail_connections (name, version, settings, set_by, note, set_at, state) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			v.Name, v.Version, string(settings), v.By, v.Note, v.SetAt, state)
		if err != nil {
			return err
		}
		if n, err := inserted.RowsAffected(); err != nil || n != 1 {
			return cmp.Or(err, ports.ErrRailConnectionChanged)
		}
		if test != nil {
			return insertRailTest(ctx, tx, *test)
		}
		return nil
	})
}

// SaveRailTest implements ports.RailConnectionStore.
func (db *DB) SaveRailTest(ctx context.Context, t ports.RailTest, seen []ports.RailConnectionVersion) error {
	return db.changeConnections(ctx, seen, func(tx bun.Tx) error { return insertRailTest(ctx, tx, t) })
}

func insertRailTest(ctx context.Context, tx bun.Tx, t ports.RailTest) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO rail_tests (connection, version, passed, checked, problem, tested_at) VALUES (?, ?, ?, ?, ?, ?)`,
		t.Connection, t.Version, t.Passed, pgdialect.Array(append([]string{}, t.Checked...)), storedText(t.Problem, maxProblem), t.At)
	return err
}

// changeConnections calls fn if the connections in force are those that the caller has seen. Commands that change connections
// wait for each other, so that what was compared with the others before is true of them still.
func (db *DB) changeConnections(ctx context.Context, seen []ports.RailConnectionVersion, fn func(bun.Tx) error) error {
	return db.asOwner(ctx, "rail_connections", func(tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, `LOCK TABLE rail_connections IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT DISTINCT ON (c.name) c.name, c.version, test.passed `+connectionsInForce)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		i := 0
		for ; rows.Next(); i++ {
			var name string
			var version int
			var tested bool
			if err := rows.Scan(&name, &version, &tested); err != nil {
				return err
			}
			if i >= len(seen) || seen[i].Name != name || seen[i].Version != version || seen[i].Untested == tested {
				return ports.ErrRailConnectionChanged
			}
		}
		if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
			return err
		}
		if i != len(seen) {
			return ports.ErrRailConnectionChanged
		}
		return fn(tx)
	})
}

// RailPauses implements ports.RailConnectionReader. It uses the primary key.
func (db *DB) RailPauses(ctx context.Context) ([]ports.RailPause, error) {
	return db.railPauses(ctx, latestPauses)
}

const latestPauses = `SELECT DISTINCT ON (name) name, paused, set_by, note, set_at FROM rail_controls ORDER BY name, id DESC`

// RailPauseHistory implements ports.RailConnectionReader. It uses the primary key.
func (db *DB) RailPauseHistory(ctx context.Context, name string) ([]ports.RailPause, error) {
	return db.railPauses(ctx, `SELECT name, paused, set_by, note, set_at FROM rail_controls WHERE name = $1 ORDER BY id`, name)
}

func (db *DB) railPauses(ctx context.Context, query string, args ...any) ([]ports.RailPause, error) {
	rows, err := db.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var found []ports.RailPause
	err = forEachRow(rows, func(rows pgx.Rows) error {
		p, err := scanPause(rows)
		found = append(found, p)
		return err
	})
	return found, err
}

func scanPause(rows pgx.Rows) (ports.RailPause, error) {
	var p ports.RailPause
	var at pgtype.Timestamptz
	err := rows.Scan(&p.Name, &p.Paused, &p.By, &p.Note, &at)
	p.At = utcTime(at)
	return p, err
}

// SaveRailPause implements ports.RailConnectionStore.
func (db *DB) SaveRailPause(ctx context.Context, p ports.RailPause) error {
	return db.asOwner(ctx, "rail_controls", func(tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, lockPauses); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO rail_controls (name, paused, set_by, note, set_at) VALUES (?, ?, ?, ?, ?)`, p.Name, p.Paused, p.By, p.Note, p.At)
		return err
	})
}

// asOwner writes a table with the rights of the login and not of the service, which may only read it.
func (db *DB) asOwner(ctx context.Context, table string, fn func(bun.Tx) error) error {
	err := db.inTransaction(ctx, func(tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, `SET LOCAL ROLE NONE`); err != nil {
			return err
		}
		return fn(tx)
	})
	if isForbidden(err) {
		return fmt.Errorf("this login may not change %s; use the one that migrates the database: %w", table, err)
	}
	return translate(err)
}
