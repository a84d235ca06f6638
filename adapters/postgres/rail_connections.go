package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/ports"
)

var _ ports.RailConnectionStore = (*DB)(nil)

// connectionSettings is the column settings of rail_connections.
type connectionSettings struct {
	Adapter    rail.Adapter         `json:"adapter"`
	Rails      []corridor.Rail      `json:"rails"`
	Currencies []money.Currency     `json:"currencies"`
	Countries  []string             `json:"countries,omitempty"`
	Platforms  []string             `json:"platforms,omitempty"`
	Priority   int                  `json:"priority,omitempty"`
	Limits     []connectionLimit    `json:"limits,omitempty"`
	Schedules  []connectionSchedule `json:"schedules,omitempty"` // none in versions of earlier releases
	Unmatched  string               `json:"unmatched,omitempty"`
	Settings   map[string]string    `json:"settings,omitempty"`
}

type connectionLimit struct {
	Rail      corridor.Rail  `json:"rail,omitempty"`
	Currency  money.Currency `json:"currency"`
	PerPayout int64          `json:"perPayout,omitempty"`
	PerHour   int64          `json:"perHour,omitempty"`
	PerDay    int64          `json:"perDay,omitempty"`
}

type connectionSchedule struct {
	Rail        corridor.Rail       `json:"rail"`
	Zone        string              `json:"zone,omitempty"`
	Calendar    settlement.Calendar `json:"calendar,omitempty"`
	Opens       string              `json:"opens,omitempty"`
	CutOff      string              `json:"cutOff,omitempty"`
	SettlesAt   string              `json:"settlesAt,omitempty"`
	Days        *int                `json:"days,omitempty"`
	Takes       time.Duration       `json:"takes,omitempty"` // nanoseconds
	Holidays    []string            `json:"holidays,omitempty"`
	WorkingDays []string            `json:"workingDays,omitempty"`
	Hold        bool                `json:"hold,omitempty"`
}

const connectionColumns = `name, version, settings, set_by, note, set_at`

// RailConnections implements ports.RailConnectionReader. It uses the primary key; every process reads the table every few seconds.
func (db *DB) RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error) {
	return db.connectionVersions(ctx, `SELECT DISTINCT ON (name) `+connectionColumns+` FROM rail_connections ORDER BY name, version DESC`)
}

// RailConnectionHistory implements ports.RailConnectionReader. It uses the primary key.
func (db *DB) RailConnectionHistory(ctx context.Context, name string) ([]ports.RailConnectionVersion, error) {
	return db.connectionVersions(ctx, `SELECT `+connectionColumns+` FROM rail_connections WHERE name = $1 ORDER BY version`, name)
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
		if err := rows.Scan(&v.Name, &v.Version, &settings, &v.By, &v.Note, &setAt); err != nil {
			return err
		}
		v.SetAt = utcTime(setAt)
		if err := readConnectionSettings(settings, &v.Connection); err != nil {
			return fmt.Errorf("rail_connections %s version %d: %w", v.Name, v.Version, err)
		}
		found = append(found, v)
		return nil
	})
	return found, err
}

func readConnectionSettings(data []byte, c *rail.Connection) error {
	var s connectionSettings
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	c.Adapter, c.Rails, c.Currencies, c.Countries, c.Priority, c.Settings = s.Adapter, s.Rails, s.Currencies, s.Countries, s.Priority, s.Settings
	for _, l := range s.Limits {
		c.Limits = append(c.Limits, rail.Limit(l))
	}
	for _, schedule := range s.Schedules {
		c.Schedules = append(c.Schedules, rail.Schedule(schedule))
	}
	for _, text := range s.Platforms {
		p, err := ident.ParsePlatform(text)
		if err != nil {
			return err
		}
		c.Platforms = append(c.Platforms, p)
	}
	if s.Unmatched == "" {
		return nil
	}
	var err error
	c.Unmatched, err = ident.ParsePlatform(s.Unmatched)
	return err
}

func writeConnectionSettings(c rail.Connection) ([]byte, error) {
	s := connectionSettings{Adapter: c.Adapter, Rails: c.Rails, Currencies: c.Currencies, Countries: c.Countries, Priority: c.Priority, Settings: c.Settings}
	for _, l := range c.Limits {
		s.Limits = append(s.Limits, connectionLimit(l))
	}
	for _, schedule := range c.Schedules {
		s.Schedules = append(s.Schedules, connectionSchedule(schedule))
	}
	for _, p := range c.Platforms {
		s.Platforms = append(s.Platforms, p.String())
	}
	if !c.Unmatched.IsZero() {
		s.Unmatched = c.Unmatched.String()
	}
	return json.Marshal(s)
}

// SaveRailConnection implements ports.RailConnectionStore.
func (db *DB) SaveRailConnection(ctx context.Context, v ports.RailConnectionVersion) error {
	settings, err := writeConnectionSettings(v.Connection)
	if err != nil {
		return err
	}
	return db.asOwner(ctx, "rail_connections", func(tx bun.Tx) error {
		if v.Version == 1 {
			if err := checkConnectionCount(ctx, tx); err != nil {
				return err
			}
		}
		inserted, err := tx.ExecContext(ctx, `INSERT INTO rail_connections (name, version, settings, set_by, note, set_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			v.Name, v.Version, string(settings), v.By, v.Note, v.SetAt)
		if err != nil {
			return err
		}
		if n, err := inserted.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return ports.ErrRailConnectionChanged
	})
}

// checkConnectionCount returns INVALID_INPUT if there can be no further connection. With more of them no process would read any, so
// commands that add one wait for each other.
func checkConnectionCount(ctx context.Context, tx bun.Tx) error {
	if _, err := tx.ExecContext(ctx, `LOCK TABLE rail_connections IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(DISTINCT name) FROM rail_connections`).Scan(&n); err != nil {
		return err
	}
	if n >= rail.MaxConnections {
		return fault.New(fault.InvalidInput, "There are %d connections already, which is the maximum.", n)
	}
	return nil
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
