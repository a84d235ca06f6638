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

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/fault"
	"causeway/core/formats/connection"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// connectionSettings is the column settings of rail_connections.
type connectionSettings struct {
	connection.Document[durationText]
	Exclusive []string `json:"exclusive"`
}

// durationText is a duration as text. Older rows have a number of nanoseconds.
type durationText string

// UnmarshalJSON reads both.
func (d *durationText) UnmarshalJSON(text []byte) error {
	var nanoseconds time.Duration
	if json.Unmarshal(text, &nanoseconds) == nil {
		*d = connection.FormatDuration[durationText](nanoseconds)
		return nil
	}
	return json.Unmarshal(text, (*string)(d))
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
const connectionsInForce = connectionVersions +
	` WHERE c.version > deleted ORDER BY c.name, (c.state = 'RETIRED' OR test.passed) DESC, c.version DESC`

const connectionColumns = `c.name, c.version, c.settings, c.set_by, c.note, c.set_at, c.state, test.passed, latest, c.person_id, c.proposal_id, c.approver `

// RailConnections implements connections.RailConnectionReader.
func (db *DB) RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error) {
	return db.connectionVersions(ctx, `SELECT DISTINCT ON (c.name) `+connectionColumns+connectionsInForce)
}

// RailConnectionHistory implements rails.RailConnectionStore. It uses the primary key.
func (db *DB) RailConnectionHistory(ctx context.Context, name string) ([]ports.RailConnectionVersion, error) {
	return db.connectionVersions(ctx, `SELECT `+connectionColumns+connectionVersions+` WHERE c.name = $1 ORDER BY c.version`, name)
}

func (db *DB) connectionVersions(ctx context.Context, query string, args ...any) ([]ports.RailConnectionVersion, error) {
	return storage.Collect(ctx, db.read, query, args, func(rows pgx.Rows, v *ports.RailConnectionVersion) error {
		var settings []byte
		var state string
		var tested bool
		if err := rows.Scan(&v.Name, &v.Version, &settings, &v.By, &v.Note, &v.SetAt, &state, &tested, &v.Latest, &v.Person,
			&v.Approval.Proposal, &v.Approval.By.Actor); err != nil {
			return err
		}
		v.Untested, v.Retired, v.Deleted = !tested, state == connectionRetired, state == connectionDeleted
		if err := readConnectionSettings(settings, &v.Connection); err != nil {
			return fmt.Errorf("rail_connections %s version %d: %w", v.Name, v.Version, err)
		}
		return nil
	})
}

// railTests is the table rail_tests.
var railTests = schema.New("rail_tests", nil, func(t *ports.RailTest) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &t.Connection}, {Name: "version", Field: &t.Version}, {Name: "passed", Field: &t.Passed},
		{Name: "checked", Type: "text[]", Field: schema.Array(&t.Checked)}, {Name: "problem", Field: &t.Problem},
		{Name: "tested_at", Field: &t.At},
	}
})

var insertRailTest = railTests.Insert("")

// RailTests implements rails.RailConnectionStore. It uses the primary key.
func (db *DB) RailTests(ctx context.Context, name string) ([]ports.RailTest, error) {
	return selectRows(ctx, db, db.read, railTests, `WHERE connection = $1 ORDER BY id`, name)
}

func readConnectionSettings(data []byte, c *rail.Connection) error {
	var s connectionSettings
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	var failed error
	s.Read(c, func(field string, err error) {
		failed = errors.Join(failed, fmt.Errorf("%s: %w", field, err))
	})
	c.Exclusive = s.Exclusive
	return failed
}

func writeConnectionSettings(c rail.Connection) ([]byte, error) {
	return json.Marshal(connectionSettings{connection.NewDocument[durationText](c), c.Exclusive})
}

// Connections is a database in which operators change connections.
type Connections struct{ *DB }

// Connections returns the connections of the database.
func (db *DB) Connections() Connections { return Connections{db} }

// DoUnit implements ports.UnitsOfWork with a ConnectionsTx.
func (db Connections) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return db.lockConnections(ctx, func(tx storage.Tx) error {
		return fn(ctx, &ConnectionsTx{operatorTx{db.DB, tx, connectionProposals}})
	})
}

// ConnectionsTx is a transaction with the rights of the login that no other one changes connections beside. The service may only carry out
// what is proposed.
type ConnectionsTx struct{ operatorTx }

// SaveRailConnection implements rails.ConnectionsTx.
func (t *ConnectionsTx) SaveRailConnection(ctx context.Context, v ports.RailConnectionVersion, test *ports.RailTest,
	seen []ports.RailConnectionVersion) error {
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
	if err := checkSeen(ctx, t.tx, seen); err != nil {
		return err
	}
	isNew := !slices.ContainsFunc(seen, func(s ports.RailConnectionVersion) bool { return s.Name == v.Name })
	if isNew && len(seen) >= rail.MaxConnections {
		return fault.New(fault.InvalidInput, "There are %d connections already, which is the maximum.", len(seen))
	}
	inserted, err := t.tx.Exec(
		ctx, `INSERT INTO rail_connections (name, version, settings, set_by, note, set_at, state, person_id, proposal_id, approver)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		v.Name, v.Version, string(settings), v.By, v.Note, v.SetAt, state, v.Person, v.Approval.Proposal, v.Approval.By.Actor)
	if err != nil || inserted != 1 {
		return cmp.Or(err, ports.ErrRailConnectionChanged)
	}
	if test != nil {
		return addRailTest(ctx, t.tx, *test)
	}
	return nil
}

// SaveOpeningBalance implements rails.ConnectionsTx.
func (t *ConnectionsTx) SaveOpeningBalance(ctx context.Context, b ports.OpeningBalance) error {
	if _, err := t.tx.Exec(ctx, insertRailAccounts, []string{b.Connection}, []money.Currency{b.Amount.Currency}); err != nil {
		return err
	}
	_, err := t.tx.Exec(ctx, `
		INSERT INTO rail_opening_balances (connection, currency, at, amount, set_by, note, person_id, proposal_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		b.Connection, b.Amount.Currency, b.At, b.Amount.Minor, b.Actor, b.Note, b.Person, b.Approval.Proposal, b.Approval.By.Actor)
	return err
}

// AddJobs implements rails.ConnectionsTx, for jobs that were never tried.
func (t *ConnectionsTx) AddJobs(ctx context.Context, jobs []ports.Job) error {
	return addJobs(ctx, t.tx, jobs)
}

func addJobs(ctx context.Context, tx storage.Tx, jobs []ports.Job) error {
	for _, j := range jobs {
		if _, err := tx.Exec(ctx, insertJob, j.Platform, j.ID, j.Step, pgDue(j), pgIDs(j.Subjects)); err != nil {
			return err
		}
	}
	return nil
}

// SaveRailTest implements rails.RailConnectionStore.
func (db *DB) SaveRailTest(ctx context.Context, t ports.RailTest, seen []ports.RailConnectionVersion, jobs []ports.Job) error {
	return db.lockConnections(ctx, func(tx storage.Tx) error {
		if err := checkSeen(ctx, tx, seen); err != nil {
			return err
		}
		if err := addRailTest(ctx, tx, t); err != nil {
			return err
		}
		return addJobs(ctx, tx, jobs)
	})
}

func addRailTest(ctx context.Context, tx storage.Tx, t ports.RailTest) error {
	t.Problem = storage.Text(t.Problem, storage.MaxProblem)
	_, err := tx.Exec(ctx, insertRailTest.SQL, insertRailTest.Of(railTests.Columns(&t)).Fields()...)
	return err
}

// lockConnections calls fn in a transaction with the rights of the login. What changes connections waits for each other, so that what was
// compared with the others before is true of them still. The service may not lock the table.
func (db *DB) lockConnections(ctx context.Context, fn func(storage.Tx) error) error {
	return db.asOwner(ctx, "rail_connections", func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('rail connections', 0))`); err != nil {
			return err
		}
		return fn(tx)
	})
}

// checkSeen returns ErrRailConnectionChanged if the connections in force are not those that the caller has seen.
func checkSeen(ctx context.Context, tx storage.Tx, seen []ports.RailConnectionVersion) error {
	i := 0
	err := tx.Read(ctx, `SELECT DISTINCT ON (c.name) c.name, c.version, test.passed `+connectionsInForce, nil, func(rows pgx.Rows) error {
		var name string
		var version int
		var tested bool
		if err := rows.Scan(&name, &version, &tested); err != nil {
			return err
		}
		if i >= len(seen) || seen[i].Name != name || seen[i].Version != version || seen[i].Untested == tested {
			return ports.ErrRailConnectionChanged
		}
		i++
		return nil
	})
	if err == nil && i != len(seen) {
		err = ports.ErrRailConnectionChanged
	}
	return err
}

// RailPauses implements rails.RailConnectionStore. It uses the primary key.
func (db *DB) RailPauses(ctx context.Context) ([]ports.RailPause, error) {
	return storage.Collect(ctx, db.read, storage.LatestPauses, nil, storage.ScanPause)
}

// RailPauseHistory implements rails.RailConnectionStore. It uses the primary key.
func (db *DB) RailPauseHistory(ctx context.Context, name string) ([]ports.RailPause, error) {
	return storage.Collect(ctx, db.read, `SELECT name, paused, set_by, note, set_at, 0 FROM rail_controls WHERE name = $1 ORDER BY id`,
		[]any{name}, storage.ScanPause)
}

// SaveRailPause implements rails.RailConnectionStore.
func (db *DB) SaveRailPause(ctx context.Context, p ports.RailPause, record ...platform.OperatorAction) error {
	return db.asOwner(ctx, "rail_controls", func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, storage.LockPauses); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO rail_controls (name, paused, set_by, note, set_at, person_id) VALUES ($1, $2, $3, $4, $5, $6)`,
			p.Name, p.Paused, p.By, p.Note, p.At, p.Person)
		for i := 0; i < len(record) && err == nil; i++ {
			_, err = tx.Exec(ctx, insertOperatorAction, operatorActionColumns(record[i])...)
		}
		return err
	})
}

// asOwner writes a table with the rights of the login, which are those of the service for a process that serves requests.
func (db *DB) asOwner(ctx context.Context, table string, fn func(storage.Tx) error) error {
	err := db.inTx(ctx, func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL ROLE NONE`); err != nil {
			return err
		}
		return fn(tx)
	})
	if isForbidden(err) {
		return fmt.Errorf("this login may not change %s; use the one that migrates the database: %w", table, err)
	}
	return translate(err)
}
