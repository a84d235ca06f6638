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
type Views struct {
	store *Store
	db    AuditSource
}

var _ ports.LedgerViews = (*Views)(nil)

// NewViews returns the views of the ledger in the database of db.
func NewViews(store *Store, db AuditSource) *Views { return &Views{store, db} }

// Planner settings, whatever those of the session are. Queries about one account look rows up
// by key and are planned once. Queries about all accounts are planned for the current size
// of the tables. So are queries that read range by range, but they look rows up by key: for
// tables without statistics, other joins may compare every row with every other. No query
// has a timeout; ctx ends them.
const (
	noTimeouts          = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL cursor_tuple_fraction = 1; `
	indexLookupSettings = `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL plan_cache_mode = force_generic_plan`
	rangeReadSettings   = `SET LOCAL enable_material = off; SET LOCAL plan_cache_mode = auto`
	bulkReadSettings    = `SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = auto`
)

// The last posting at a time; its recorded time is that of the clock if it is archived.
const selectPositionAt = `
SELECT w.seq, coalesce(p.recorded_at, c.recorded_at)
FROM ledger_clocks c
CROSS JOIN LATERAL (SELECT CASE WHEN $2::timestamptz IS NULL THEN c.seq ELSE ledger_seq_at($1, $2) END AS seq) w
LEFT JOIN ledger_postings p ON p.platform_id = c.platform_id AND p.seq = w.seq
WHERE c.platform_id = $1 AND w.seq > 0`

// View implements ports.LedgerViews. fn runs in one repeatable-read transaction.
func (v *Views) View(ctx context.Context, p ident.Platform, asOf time.Time, fn func(context.Context, ports.LedgerView) error) (err error) {
	tx, err := v.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("view the ledger: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	view := &ledgerView{store: v.store, tx: tx, platform: p}
	if err := view.applySettings(ctx, noTimeouts+indexLookupSettings); err != nil {
		return fmt.Errorf("view the ledger: %w", err)
	}
	if view.months, err = loadMonths(ctx, tx, p.UUID()); err != nil {
		return err
	}
	if err := view.months.checkAvailable(asOf); err != nil {
		return err
	}
	err = queryFreshPlan(ctx, tx, selectPositionAt, []any{pgUUID(p.UUID()), optionalTime(asOf)}, func(rows pgx.Rows) error {
		err := rows.Scan(&view.last.Seq, &view.last.Recorded)
		view.last.Recorded = view.last.Recorded.UTC()
		return err
	})
	if err != nil {
		return fmt.Errorf("view the ledger: %w", err)
	}
	return fn(ctx, view)
}

type ledgerView struct {
	store       *Store
	tx          pgx.Tx
	platform    ident.Platform
	months      months
	last        ports.LedgerPosition
	cursorCount int // cursors opened so far
}

func (v *ledgerView) applySettings(ctx context.Context, settings string) error {
	_, err := v.tx.Exec(ctx, settings, pgx.QueryExecModeSimpleProtocol)
	return err
}

// withSettings runs read with other planner settings.
func (v *ledgerView) withSettings(ctx context.Context, settings string, read func() error) error {
	if err := v.applySettings(ctx, settings); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err // the transaction ends, and the settings with it
	}
	return v.applySettings(ctx, indexLookupSettings)
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
