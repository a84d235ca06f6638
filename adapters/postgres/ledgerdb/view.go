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

// Views shows the books of a moment. It takes no lock that a writer could wait for.
type Views struct {
	store *Store
	db    AuditSource
}

var _ ports.LedgerViews = (*Views)(nil)

// NewViews shows the books of the database that db is connected to.
func NewViews(b *Store, db AuditSource) *Views { return &Views{b, db} }

// What is read of one account is looked up by keys and planned once, whatever the
// session is set to; what is read of all is planned for what is there. What is read run by
// run is too, and yet row by row by keys: where little is known of a table, anything else
// may compare each row with each. All may take
// longer than ordinary statements. A reader who is gone ends them by ctx.
const (
	noTimeouts          = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL cursor_tuple_fraction = 1; `
	indexLookupSettings = `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL plan_cache_mode = force_generic_plan`
	rangeReadSettings   = `SET LOCAL enable_material = off; SET LOCAL plan_cache_mode = auto`
	bulkReadSettings    = `SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = auto`
)

// The last posting by a moment; that of the clock when it is detached.
const selectPositionAt = `
SELECT w.seq, coalesce(p.recorded_at, c.recorded_at)
FROM ledger_clocks c
CROSS JOIN LATERAL (SELECT CASE WHEN $2::timestamptz IS NULL THEN c.seq ELSE ledger_seq_at($1, $2) END AS seq) w
LEFT JOIN ledger_postings p ON p.platform_id = c.platform_id AND p.seq = w.seq
WHERE c.platform_id = $1 AND w.seq > 0`

// View is as ports.BookViews says: all of it runs in one repeatable-read transaction.
func (v *Views) View(ctx context.Context, p ident.Platform, asOf time.Time, fn func(context.Context, ports.LedgerView) error) (err error) {
	tx, err := v.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("view the books: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	view := &ledgerView{store: v.store, tx: tx, platform: p}
	if err := view.applySettings(ctx, noTimeouts+indexLookupSettings); err != nil {
		return fmt.Errorf("view the books: %w", err)
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
		return fmt.Errorf("view the books: %w", err)
	}
	return fn(ctx, view)
}

type ledgerView struct {
	store       *Store
	tx          pgx.Tx
	platform    ident.Platform
	months      months
	last        ports.LedgerPosition
	cursorCount int // how many were opened
}

func (v *ledgerView) applySettings(ctx context.Context, settings string) error {
	_, err := v.tx.Exec(ctx, settings, pgx.QueryExecModeSimpleProtocol)
	return err
}

// withSettings runs what reads much at a time with other settings.
func (v *ledgerView) withSettings(ctx context.Context, settings string, read func() error) error {
	if err := v.applySettings(ctx, settings); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err // the transaction ends with it
	}
	return v.applySettings(ctx, indexLookupSettings)
}

// firstNeededSeq is the last posting before a period that is not needed for it, beside checkpoints:
// nothing in months that are detached is effective later.
func (v *ledgerView) firstNeededSeq(p period.Interval) (int64, error) {
	if v.months.lastArchivedSeq == 0 {
		return 0, nil
	}
	if p.From.IsZero() {
		return 0, v.months.archivedError()
	}
	return v.months.lastArchivedSeq, v.months.checkAvailable(p.BeforeFrom())
}

// LastPosting is as ports.BookView says.
func (v *ledgerView) LastPosting() ports.LedgerPosition { return v.last }

// optionalTime is a moment to the microsecond that the tables have; nil for none.
func optionalTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Microsecond)
}
