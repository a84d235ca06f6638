package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// databaseChanges tells caches that the database may have lost commits: a standby was promoted
// that had not received them, or a backup was restored.
type databaseChanges struct {
	mu       sync.Mutex
	identity string // of the database of the last new connection
	forget   []func()
	// compare compares what this process knows to be committed with the database of a new connection, after forget.
	compare func(context.Context, *pgx.Conn) error
}

// OnDatabaseChange has forget called whenever a new connection leads to another database than the one
// before, or to one that was started again. No statement is sent on that connection until forget has
// returned. It must drop what was read from the database and cannot be distinguished from what another
// database says, such as ids and versions that a sequence or a counter gives again. It must not
// block or use the database: connections of before may still be open.
func (db *DB) OnDatabaseChange(forget func()) {
	db.changes.mu.Lock()
	defer db.changes.mu.Unlock()
	db.changes.forget = append(db.changes.forget, forget)
}

// A server loses commits only by a start: as a standby that is promoted later, or from a backup.
// So no timeline is needed, which some providers do not show.
const selectDatabaseIdentity = `SELECT concat_ws(' ', (SELECT oid FROM pg_database WHERE datname = current_database()), extract(epoch FROM pg_postmaster_start_time()))`

// check compares the database of a new connection with the one before.
func (c *databaseChanges) check(ctx context.Context, conn *pgx.Conn) error {
	var identity string
	if err := conn.QueryRow(ctx, selectDatabaseIdentity, pgx.QueryExecModeSimpleProtocol).Scan(&identity); err != nil {
		return fmt.Errorf("read which database this is: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.identity == identity {
		return nil
	}
	if c.identity != "" {
		for _, forget := range c.forget {
			forget()
		}
		if err := c.compare(ctx, conn); err != nil {
			return fmt.Errorf("compare what was committed with the database: %w", err)
		}
	}
	c.identity = identity
	return nil
}
