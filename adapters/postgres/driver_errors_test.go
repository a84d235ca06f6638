package postgres

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/storage"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/ports"
)

// lostConn is a connection that is lost when it has sent a statement, so that its response never arrives.
type lostConn struct {
	net.Conn
	statement []byte // lost after it; empty: never
	lost      bool
}

// Write implements net.Conn.
// NetConn returns what it wraps, like that of tls.Conn.
func (c *lostConn) NetConn() net.Conn { return c.Conn }

func (c *lostConn) Write(sent []byte) (int, error) {
	n, err := c.Conn.Write(sent)
	if len(c.statement) > 0 && bytes.Contains(sent, c.statement) {
		c.lost = true
	}
	return n, err
}

// Read implements net.Conn.
func (c *lostConn) Read(received []byte) (int, error) {
	if c.lost {
		return 0, net.ErrClosed
	}
	return c.Conn.Read(received)
}

// newLostDB returns a database whose connections are lost when they have sent a statement, and another connection to it.
func newLostDB(t *testing.T, statement string) (*DB, *pgx.Conn) {
	t.Helper()
	url := pgtest.New(t)
	db, err := Open(t.Context(), Options{URL: url, AllPlatforms: true, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	config := db.pool.Config()
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &lostConn{Conn: conn, statement: []byte(statement)}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	lost := *db
	lost.pool.Pool = pool
	lost.storage = storage.New(lost.pool, db.clock)
	other := pgtest.Connect(t, url)
	return &lost, other
}

func changeFixedFee(ctx context.Context, db *DB, fee int64) (decided int, err error) {
	err = ports.Do(ctx, db.Pricing(), func(ctx context.Context, tx *PricingTx) error {
		if _, err := tx.CorridorOverrides(ctx); err != nil {
			return err
		}
		decided++
		override := ports.CorridorOverride{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: &fee}}
		return tx.SaveOverride(ctx, override, ports.CorridorAuthor{Note: "another fee"})
	})
	return decided, err
}

// countOverrides waits for the end of the transaction that has locked the table, whose connection may be lost.
func countOverrides(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	if err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `LOCK TABLE corridor_overrides IN SHARE MODE`); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM corridor_overrides`).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestChangePricing_LostCommitIsReportedOnce(t *testing.T) {
	t.Parallel()
	// A commit whose response is lost may have been made, as here: it is an error, and it is not tried again.
	db, other := newLostDB(t, "commit\x00")

	decided, err := changeFixedFee(t.Context(), db, 7)

	if !fault.Is(err, fault.ServiceUnavailable) || !strings.Contains(err.Error(), "commit") {
		t.Errorf("%v, want an error of the commit", err)
	}
	if decided != 1 {
		t.Errorf("decided %d times, want once", decided)
	}
	if n := countOverrides(t, other); n != 1 {
		t.Errorf("%d overrides, want that of the commit", n)
	}
}

func TestChangePricing_FailedRollbackKeepsBothErrors(t *testing.T) {
	t.Parallel()
	// When the rollback after a failed statement fails too, neither error hides the other.
	db, other := newLostDB(t, "rollback\x00")

	_, err := changeFixedFee(t.Context(), db, -1) // a constraint refuses it

	var refused *pgconn.PgError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "roll back") {
		t.Errorf("%v, want both errors", err)
	}
	if n := countOverrides(t, other); n != 0 {
		t.Errorf("%d overrides, want none", n)
	}
}

func TestChangePricing_RefusedDecisionRollsBack(t *testing.T) {
	t.Parallel()
	// A decision that is refused writes nothing, and its error is returned as it is.
	db, other := newLostDB(t, "")
	refused := errors.New("the minimum is above the maximum")

	err := ports.Do(t.Context(), db.Pricing(), func(ctx context.Context, tx *PricingTx) error {
		override := ports.CorridorOverride{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(7))}}
		if err := tx.SaveOverride(ctx, override, ports.CorridorAuthor{Note: "a lower fee"}); err != nil {
			return err
		}
		return refused
	})

	if err != refused { //nolint:errorlint // the very error, not wrapped
		t.Errorf("%v, want %v", err, refused)
	}
	if n := countOverrides(t, other); n != 0 {
		t.Errorf("%d overrides, want none", n)
	}
}

func TestCorridorOverrides_ErrorInTheMiddleOfTheRows(t *testing.T) {
	t.Parallel()
	// A table that was read in part is not an answer: payments would be priced without
	// the overrides that are missing.
	db, other := newLostDB(t, "")
	for _, statement := range []string{
		`SET causeway.change_note = 'here'`,
		`INSERT INTO corridor_overrides (source, destination, fee_fixed) VALUES ('USD', 'BTC', 7), ('USD', 'EUR', 9)`,
		`ALTER TABLE corridor_overrides RENAME TO stored_overrides`,
		`CREATE VIEW corridor_overrides AS SELECT platform_id, source, destination, fee_fixed, fee_fraction, min_sending,
			max_sending, lock_seconds / (destination <> 'EUR')::int AS lock_seconds FROM (
				SELECT platform_id, source, destination, fee_fixed, fee_fraction, min_sending, max_sending, 60 AS lock_seconds FROM stored_overrides) o`,
		`GRANT SELECT ON corridor_overrides TO causeway_service`,
	} {
		if _, err := other.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}

	found, err := db.CorridorOverrides(t.Context())

	var failed *pgconn.PgError
	if !errors.As(err, &failed) || failed.Code != "22012" || found != nil {
		t.Errorf("%+v, %v, want nothing but the error", found, err)
	}
}
