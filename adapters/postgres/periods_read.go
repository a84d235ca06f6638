package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// readEarliestEffective reads the earliest effective time: that of the first posting, or of one that
// was recorded later. Uses the primary key and ledger_backdated_entries_by_gap.
const readEarliestEffective = `
	SELECT least((SELECT effective_at FROM ledger_postings WHERE platform_id = $1 AND seq = 1), (
		SELECT min(earliest.effective_at) FROM generate_series(0, 33) AS class, LATERAL (
			SELECT effective_at FROM ledger_backdated_entries
			WHERE platform_id = $1 AND gap_class = class AND effective_at < recorded_at ORDER BY least(effective_at, recorded_at) LIMIT 1) AS earliest))`

// PeriodOverview implements accounting.Store. It reads one snapshot. Uses primary keys.
func (db *DB) PeriodOverview(ctx context.Context, p ident.Platform) (book ports.PeriodOverview, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) error {
		if err := queryRows(ctx, tx, readCalendar, []any{p}, func(rows pgx.Rows) (err error) {
			book.Calendar, err = scanCalendar(rows)
			return err
		}); err != nil {
			return err
		}
		if err := queryRows(ctx, tx, readEarliestEffective, []any{p}, func(rows pgx.Rows) error {
			var earliest time.Time
			err := rows.Scan(&earliest)
			if !earliest.IsZero() {
				book.FirstPosted = period.MonthOf(earliest)
			}
			return err
		}); err != nil {
			return err
		}
		if book.Closings, err = readClosings(ctx, tx, p); err != nil {
			return err
		}
		book.Changes, err = selectRows(ctx, db, readOn(tx), periodChanges, `WHERE platform_id = $1 ORDER BY id`, p)
		return err
	})
	return book, err
}

func readClosings(ctx context.Context, tx pgx.Tx, p ident.Platform) (closings []period.Closing, err error) {
	err = queryRows(ctx, tx, `SELECT k.month, k.closed_at, k.token_id, coalesce((
			SELECT c.actor FROM ledger_period_changes c WHERE c.platform_id = k.platform_id AND c.month = k.month AND c.action = 'close'), ''),
			k.note, k.seq, k.digest, coalesce(k.log_checkpoint, '')
		FROM ledger_closings k WHERE k.platform_id = $1 ORDER BY k.month`, []any{p}, func(rows pgx.Rows) error {
		c := period.Closing{Platform: p}
		err := rows.Scan(&c.Month, &c.At, &c.By.Token, &c.By.Actor, &c.Note, &c.Seq, &c.Digest, &c.Checkpoint)
		closings = append(closings, c)
		return err
	})
	return closings, err
}

// periodChanges has the columns of changes that are read. One is inserted with a time of the ledger's clock.
var periodChanges = schema.New("ledger_period_changes", []string{"platform_id", "id"}, func(c *period.Change) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "month", Field: &c.Month}, {Name: "action", Field: &c.Action},
		{Name: "changed_at", Field: &c.At}, {Name: "note", Field: &c.Note},
	}, schema.AuthorColumns(&c.By), schema.ApprovalColumns(&c.Approval))
})

// ClosingLines uses the primary keys.
func (db *DB) ClosingLines(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (page ports.LinePage, err error) {
	err = db.queryRows(ctx, `
		SELECT l.account_id, a.path, a.currency, a.class, l.opening, l.debits, l.credits, l.closing
		FROM ledger_closing_lines l
		JOIN ledger_accounts a ON a.platform_id = l.platform_id AND a.id = l.account_id
		WHERE l.platform_id = $1 AND l.month = $2 AND l.account_id > $3
		ORDER BY l.account_id LIMIT $4`, []any{p, m, f.After, f.Limit + 1}, func(rows pgx.Rows) error {
		if len(page.Lines) == f.Limit {
			page.More = true
			return nil
		}
		line := period.Line{Account: ledger.Account{Platform: p}}
		err := rows.Scan(&page.Last, &line.Account.Path, &line.Account.Currency, &line.Class,
			&line.Opening, &line.Debits, &line.Credits, &line.Closing)
		page.Lines = append(page.Lines, line)
		return err
	})
	return page, err
}

// ClosingTotals implements accounting.Store.
func (db *DB) ClosingTotals(ctx context.Context, p ident.Platform, m period.Month) (totals []period.Total, err error) {
	err = db.queryRows(ctx, `
		SELECT a.currency, count(*), sum(l.debits), sum(l.credits)
		FROM ledger_closing_lines l
		JOIN ledger_accounts a ON a.platform_id = l.platform_id AND a.id = l.account_id
		WHERE l.platform_id = $1 AND l.month = $2
		GROUP BY a.currency ORDER BY a.currency`, []any{p, m}, func(rows pgx.Rows) error {
		var t period.Total
		err := rows.Scan(&t.Currency, &t.Accounts, &t.Debits, &t.Credits)
		totals = append(totals, t)
		return err
	})
	return totals, err
}

// Authorisation uses the primary key.
func (db *DB) Authorisation(ctx context.Context, p ident.Platform, posting uuid.UUID) (period.Authorisation, bool, error) {
	return selectRow(ctx, db, db.queryRows, authorisations, `WHERE platform_id = $1 AND posting_id = $2`, p, posting)
}
