package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/storage"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// Unit is one unit of work. Writes are queued in pending until a query is run or the unit
// commits, so that a batch needs few round trips. Postings are written last, because from
// then on other postings of the platform wait for the commit.
type Unit struct {
	db       *DB
	pooled   *pgxpool.Conn
	conn     *pgx.Conn // of pooled
	pending  *pgx.Batch
	opening  int // number of statements that begin the transaction
	postings []ledger.Posting
	requests []*ports.IdempotentRequest // whose responses are stored with the commit
	started  bool
	emits    bool                     // events
	queued   []ports.CommittedWebhook // those of them that are to be sent
	revokes  bool                     // tokens, which processes may have read
}

const maxAttempts = 4

// Do runs fn in one unit of work. After a serialization failure or a deadlock it runs fn
// again in a new one; so it does if the postings were refused, to return why, or if they have
// ids of accounts from a database that was lost.
func (db *DB) Do(ctx context.Context, fn func(context.Context, *Unit) error) error {
	postFirst := false
	for attempt := 1; ; attempt++ {
		err := db.tryOnce(ctx, postFirst, fn)
		switch {
		case ledgerdb.IsRefused(err):
			postFirst = true
		case err == nil || attempt >= maxAttempts || !isRetryable(err):
			return translate(err)
		}
	}
}

func (db *DB) tryOnce(ctx context.Context, postFirst bool, fn func(context.Context, *Unit) error) (err error) {
	pooled, err := db.pool.Acquire(unscoped(ctx))
	if err != nil {
		return err
	}
	u := &Unit{db: db, pooled: pooled, conn: pooled.Conn(), pending: &pgx.Batch{}}
	defer func() {
		if err == nil && u.revokes {
			_ = pause(ctx, platform.TokenKept) // it is committed, also if the caller does not wait
		}
	}()
	defer func() {
		err = u.replayOnConflict(ctx, errors.Join(err, u.release()))
	}()
	u.pending.Queue("BEGIN")
	committed := queuePlatform(u.pending, u.conn, db.platformOf(ctx))
	u.opening = u.pending.Len()
	if err := fn(ctx, u); err != nil {
		return err
	}
	if err := u.commit(ctx, postFirst); err != nil {
		return err
	}
	if u.started {
		committed()
	}
	return nil
}

// DoUnit implements ports.UnitsOfWork with what Options.TxOf returns.
func (db *DB) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return db.Do(ctx, func(ctx context.Context, u *Unit) error { return fn(ctx, db.txOf(u)) })
}

// release rolls back an open transaction and returns the connection to the pool.
func (u *Unit) release() error {
	var failed error
	if !u.conn.IsClosed() && u.conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if _, err := u.conn.Exec(ctx, "ROLLBACK"); err != nil {
			failed = fmt.Errorf("rollback: %w", errors.Join(err, u.conn.Close(ctx)))
		}
	}
	u.pooled.Release()
	return failed
}

// commit sends what is queued, the postings and the commit in one round trip. With postFirst the
// postings are sent before the commit, which is needed to learn why they are refused.
func (u *Unit) commit(ctx context.Context, postFirst bool) error {
	if !u.started && u.pending.Len() == u.opening && len(u.postings) == 0 {
		return nil // nothing was read or written
	}
	if len(u.postings) > 0 {
		if err := u.db.CheckClock(); err != nil {
			return err
		}
		if err := u.post(ctx, postFirst); err != nil {
			return err
		}
	}
	u.pending.Queue("COMMIT")
	before := time.Now()
	if err := u.flush(ctx); err != nil {
		return u.db.ledgerStore.PostingError(err)
	}
	if len(u.postings) > 0 {
		u.db.remembered.addPostings(u.postings, u.db.clock.Now())
	}
	if u.emits && u.db.emitted != nil {
		for i := range u.queued {
			u.queued[i].Since = before
		}
		u.db.emitted(u.queued)
	}
	return nil
}

func (u *Unit) post(ctx context.Context, postFirst bool) error {
	now := u.db.clock.Now()
	if postFirst {
		return u.db.ledgerStore.Post(ctx, batchedQuerier{u: u}, now, u.postings)
	}
	statement, args, err := u.db.ledgerStore.PostStatement(ctx, batchedQuerier{u: u}, now, u.postings)
	if err == nil {
		u.pending.Queue(statement, args...)
	}
	return err
}

// queueExec queues a statement until the next flush.
func (u *Unit) queueExec(statement string, args ...any) {
	u.pending.Queue(statement, args...)
}

// queueQuery queues a query until the next flush, which calls scan for each row.
func (u *Unit) queueQuery(query string, args []any, scan func(pgx.Rows) error) {
	u.pending.Queue(query, args...).Query(func(rows pgx.Rows) error { return storage.ForEachRow(rows, scan) })
}

// flush sends the queued statements in one round trip.
func (u *Unit) flush(ctx context.Context) error {
	return u.query(ctx, "", nil, nil)
}

// query sends the queued statements and then a query, and calls scan for each of its rows.
func (u *Unit) query(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) (err error) {
	before := u.pending.Len()
	if query != "" {
		u.pending.Queue(query, args...)
	}
	if u.pending.Len() == 0 {
		return nil
	}
	batch := u.pending
	u.pending, u.started = &pgx.Batch{}, true
	if err := storage.Prepare(ctx, u.conn, batch); err != nil {
		return err
	}
	results := u.conn.SendBatch(ctx, batch)
	defer func() {
		if closing := results.Close(); err == nil {
			err = closing
		}
	}()
	for _, queued := range batch.QueuedQueries[:before] {
		if queued.Fn != nil { // a queued query
			err = queued.Fn(results)
		} else {
			_, err = results.Exec()
		}
		if err != nil {
			return err
		}
	}
	if query == "" {
		return nil
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return storage.ForEachRow(rows, scan)
}

// isRetryable reports whether the same work may succeed in a new transaction.
func isRetryable(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	return pg.Code == "40001" || pg.Code == "40P01" || // serialization failure, deadlock
		ledgerdb.IsOutdated(err)
}

// Post adds postings to the unit of work; they are written at its commit.
func (u *Unit) Post(_ context.Context, postings []ledger.Posting) error {
	u.postings = append(u.postings, postings...)
	return nil
}
