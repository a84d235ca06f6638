package books

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

// Views shows the books of a moment. It takes no lock that a writer could wait for.
type Views struct {
	books *Books
	db    AuditSource
}

var _ ports.BookViews = (*Views)(nil)

// NewViews shows the books of the database that db is connected to.
func NewViews(b *Books, db AuditSource) *Views { return &Views{b, db} }

// Reading much at a time is planned for what is there, whatever the session is set to,
// and may take longer than ordinary statements. A reader who is gone ends it by ctx.
const readMuch = `SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on;
SET LOCAL plan_cache_mode = auto; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`

const placeAt = `
SELECT coalesce(max(p.seq), 0), max(p.recorded_at)
FROM ledger_postings p
WHERE p.platform_id = $1 AND p.seq = (
    SELECT CASE WHEN $2::timestamptz IS NULL THEN (SELECT c.seq FROM ledger_clock c WHERE c.platform_id = $1) ELSE ledger_seq_at($1, $2) END)`

// View is as ports.BookViews says: all of it runs in one repeatable-read transaction.
func (v *Views) View(ctx context.Context, p ident.Platform, asOf time.Time, fn func(context.Context, ports.BookView) error) (err error) {
	tx, err := v.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("view the books: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	if _, err := tx.Exec(ctx, readMuch, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("view the books: %w", err)
	}
	view := &bookView{books: v.books, tx: tx, platform: p}
	err = planned(ctx, tx, placeAt, []any{dbID(p.UUID()), optionalMoment(asOf)}, func(rows pgx.Rows) error {
		var recorded *time.Time
		if err := rows.Scan(&view.upto.Seq, &recorded); err != nil {
			return err
		}
		if recorded != nil {
			view.upto.Recorded = recorded.UTC()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("view the books: %w", err)
	}
	return fn(ctx, view)
}

type bookView struct {
	books    *Books
	tx       pgx.Tx
	platform ident.Platform
	upto     ports.BookPlace
}

// Upto is as ports.BookView says.
func (v *bookView) Upto() ports.BookPlace { return v.upto }

// optionalMoment is a moment to the microsecond that the tables have; nil for none.
func optionalMoment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Microsecond)
}
