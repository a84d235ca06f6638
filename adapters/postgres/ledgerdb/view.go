package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// Views opens views of the ledger at a time. It takes no lock that blocks a writer.
//
// What was recorded up to a posting never changes, so a view needs no snapshot to be
// consistent. Each read is a short transaction that ends before its rows are handed on:
// however slow the reader, no connection is held and vacuum is not held back.
type Views struct {
	store *Store
	db    AuditSource
}

var _ ports.LedgerViews = (*Views)(nil)

// NewViews returns the views of the ledger in the database of db.
func NewViews(store *Store, db AuditSource) *Views { return &Views{store, db} }

// Planner settings, whatever those of the session are. Queries about given accounts look rows up
// by key and are planned once: with a partition for each month, planning one takes longer than
// running it. Queries about all accounts are planned for the current size of the tables. So are
// queries that read range by range, but they look rows up by key: for tables without statistics,
// other joins may compare every row with every other; two ranges are hashed. Those that read whole tables never look rows
// up one by one: with statistics too, the planner may expect three accounts where there are all.
// No query has a timeout; ctx ends them.
const (
	noTimeout           = `SET LOCAL statement_timeout = 0; `
	indexLookupSettings = noTimeout + `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL plan_cache_mode = force_generic_plan`
	accountReadSettings = indexLookupSettings + `; SET LOCAL enable_material = off`
	rangeReadSettings   = accountReadSettings + `; SET LOCAL plan_cache_mode = auto`
	joinedReadSettings  = rangeReadSettings + `; SET LOCAL enable_hashjoin = on; SET LOCAL enable_nestloop = off`
	bulkReadSettings    = noTimeout + `SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = auto`
	wholeReadSettings   = bulkReadSettings + `; SET LOCAL enable_nestloop = off`
)

// The last posting at a time; its recorded time is that of the clock if it is archived.
const selectPositionAt = `
SELECT w.seq, coalesce(p.recorded_at, c.recorded_at)
FROM ledger_clocks c
CROSS JOIN LATERAL (SELECT CASE WHEN $2::timestamptz IS NULL THEN c.seq ELSE ledger_seq_at($1, $2) END AS seq) w
LEFT JOIN ledger_postings p ON p.platform_id = c.platform_id AND p.seq = w.seq
WHERE c.platform_id = $1 AND w.seq > 0`

// View implements ports.LedgerViews.
func (v *Views) View(ctx context.Context, p ident.Platform, asOf time.Time, fn func(context.Context, ports.LedgerView) error) (err error) {
	view := &ledgerView{db: v.db, platform: p}
	defer func() {
		for _, rows := range view.turnovers {
			err = errors.Join(err, rows.Close())
		}
	}()
	err = view.inTransaction(ctx, indexLookupSettings, func(tx pgx.Tx) (err error) {
		if view.months, err = loadMonths(ctx, tx, p.UUID()); err != nil {
			return err
		}
		if err := view.months.checkAvailable(asOf); err != nil {
			return err
		}
		return queryFreshPlan(ctx, tx, selectPositionAt, []any{p, optionalTime(asOf)}, func(rows pgx.Rows) error {
			err := rows.Scan(&view.last.Seq, &view.last.Recorded)
			view.last.Recorded = view.last.Recorded.UTC()
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("view the ledger: %w", err)
	}
	return fn(ctx, view)
}

type ledgerView struct {
	db       AuditSource
	platform ident.Platform
	months   months
	last     ports.LedgerPosition
	// paths are those of accounts by id, as they were needed.
	paths map[int64]string
	// turnovers are those of all accounts, as they were needed: a journal has them three times, and each reads the whole ledger.
	turnovers map[ports.LedgerFilter]*rowSpool
}

// read runs fn in a transaction of its own. It returns MONTH_ARCHIVED if a month was archived
// since the view was opened: then fn may have missed rows.
func (v *ledgerView) read(ctx context.Context, settings string, fn func(pgx.Tx) error) error {
	return v.inTransaction(ctx, settings, func(tx pgx.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		now, err := loadMonths(ctx, tx, v.platform.UUID())
		if err == nil && now.lastArchivedSeq > v.months.lastArchivedSeq {
			err = now.archivedError()
		}
		return err
	})
}

// inTransaction runs fn in a read-only transaction in which each statement has a snapshot of
// its own.
func (v *ledgerView) inTransaction(ctx context.Context, settings string, fn func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, v.db, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, settings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		return fn(tx)
	})
}

// spool runs a query and hands on its rows when the transaction has ended.
func (v *ledgerView) spool(ctx context.Context, doing, settings, statement string, args []any, each func(row) error) error {
	return v.spoolFrom(ctx, queryFreshPlan, doing, settings, statement, args, each)
}

// spoolAccounts is spool for a query about given accounts, which is planned once.
func (v *ledgerView) spoolAccounts(ctx context.Context, doing, statement string, args []any, each func(row) error) error {
	return v.spoolFrom(ctx, query, doing, accountReadSettings, statement, args, each)
}

func (v *ledgerView) spoolFrom(ctx context.Context, run func(context.Context, Querier, string, []any, func(pgx.Rows) error) error,
	doing, settings, statement string, args []any, each func(row) error) (err error) {
	var rows rowSpool
	defer func() { err = errors.Join(err, rows.Close()) }()
	if err := v.fill(ctx, &rows, run, doing, settings, statement, args); err != nil {
		return err
	}
	return rows.each(each)
}

// fill adds the rows of a query to a spool.
func (v *ledgerView) fill(ctx context.Context, rows *rowSpool,
	run func(context.Context, Querier, string, []any, func(pgx.Rows) error) error,
	doing, settings, statement string, args []any) error {
	err := v.read(ctx, settings, func(tx pgx.Tx) error {
		return run(ctx, tx, statement, args, rows.add)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, translateError(err))
	}
	return nil
}

// firstNeededSeq returns the number after which postings are needed, beside snapshots, for an
// interval. No posting of an archived month is effective after it.
func (v *ledgerView) firstNeededSeq(p period.Interval) (int64, error) {
	if v.months.lastArchivedSeq == 0 {
		return 0, nil
	}
	if p.From.IsZero() {
		return 0, v.months.archivedError()
	}
	return v.months.lastArchivedSeq, v.months.checkAvailable(p.BeforeFrom())
}

// LastPosting implements ports.LedgerView.
func (v *ledgerView) LastPosting() ports.LedgerPosition { return v.last }

// optionalTime returns a time to the microsecond, as the tables have it; nil for the zero
// time.
func optionalTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Microsecond)
}
