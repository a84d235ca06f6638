package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
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

// PeriodOverview implements ports.PeriodReader. It reads one snapshot. Uses primary keys.
func (db *DB) PeriodOverview(ctx context.Context, p ident.Platform) (book ports.PeriodOverview, err error) {
	err = pgx.BeginTxFunc(ctx, db.readPool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := queryRows(ctx, tx, readCalendar, []any{pgID(p.UUID())}, func(rows pgx.Rows) (err error) {
			book.Calendar, err = scanCalendar(rows)
			return err
		}); err != nil {
			return err
		}
		if err := queryRows(ctx, tx, readEarliestEffective, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
			var changedAt pgtype.Timestamptz
			err := rows.Scan(&changedAt)
			if changedAt.Valid {
				book.FirstPosted = period.MonthOf(changedAt.Time)
			}
			return err
		}); err != nil {
			return err
		}
		if book.Closings, err = readClosings(ctx, tx, p); err != nil {
			return err
		}
		book.Changes, err = readPeriodChanges(ctx, tx, p)
		return err
	})
	return book, err
}

func readClosings(ctx context.Context, tx pgx.Tx, p ident.Platform) (closings []period.Closing, err error) {
	err = queryRows(ctx, tx, `SELECT k.month, k.closed_at, k.token_id, coalesce((
			SELECT c.actor FROM ledger_period_changes c WHERE c.platform_id = k.platform_id AND c.month = k.month AND c.action = 'close'), ''),
			k.note, k.seq, k.digest, coalesce(k.log_checkpoint, '')
		FROM ledger_closings k WHERE k.platform_id = $1 ORDER BY k.month`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
		c := period.Closing{Platform: p}
		var month pgtype.Date
		var changedAt pgtype.Timestamptz
		var by pgtype.UUID
		if err := rows.Scan(&month, &changedAt, &by, &c.By.Actor, &c.Note, &c.Seq, &c.Digest, &c.Checkpoint); err != nil {
			return err
		}
		c.Month, c.At, c.By.Token = period.MonthOf(month.Time), utcTime(changedAt), tokenID(by)
		closings = append(closings, c)
		return nil
	})
	return closings, err
}

func readPeriodChanges(ctx context.Context, tx pgx.Tx, p ident.Platform) (changes []period.Change, err error) {
	err = queryRows(ctx, tx, `SELECT month, action, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver
		FROM ledger_period_changes WHERE platform_id = $1 ORDER BY id`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
		c := period.Change{Platform: p}
		var month pgtype.Date
		var changedAt pgtype.Timestamptz
		var by, proposed, approver pgtype.UUID
		if err := rows.Scan(&month, &c.Action, &changedAt, &by, &c.By.Actor, &c.Note, &proposed, &approver, &c.Approval.By.Actor); err != nil {
			return err
		}
		c.Approval = scanApproval(proposed, approver, c.Approval.By.Actor)
		c.Month, c.At, c.By.Token = period.MonthOf(month.Time), utcTime(changedAt), tokenID(by)
		changes = append(changes, c)
		return nil
	})
	return changes, err
}

// ClosingLines uses the primary keys.
func (db *DB) ClosingLines(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (page ports.LinePage, err error) {
	err = queryRows(ctx, db.readPool, `
		SELECT l.account_id, a.path, a.currency, a.class, l.opening::text, l.debits::text, l.credits::text, l.closing::text
		FROM ledger_closing_lines l
		JOIN ledger_accounts a ON a.platform_id = l.platform_id AND a.id = l.account_id
		WHERE l.platform_id = $1 AND l.month = $2 AND l.account_id > $3
		ORDER BY l.account_id LIMIT $4`, []any{pgID(p.UUID()), monthDate(m), f.After, f.Limit + 1}, func(rows pgx.Rows) error {
		var number int64
		line := period.Line{Account: ledger.Account{Platform: p}}
		var opening, debits, credits, closing string
		if err := rows.Scan(&number, &line.Account.Path, &line.Account.Currency, &line.Class, &opening, &debits, &credits, &closing); err != nil {
			return err
		}
		if len(page.Lines) == f.Limit {
			page.More = true
			return nil
		}
		page.Last = number
		for total, text := range map[*money.Total]string{&line.Opening: opening, &line.Debits: debits, &line.Credits: credits, &line.Closing: closing} {
			var err error
			if *total, err = money.ParseTotal(text); err != nil {
				return err
			}
		}
		page.Lines = append(page.Lines, line)
		return nil
	})
	return page, err
}

// ClosingTotals implements ports.PeriodReader.
func (db *DB) ClosingTotals(ctx context.Context, p ident.Platform, m period.Month) (totals []period.Total, err error) {
	err = queryRows(ctx, db.readPool, `
		SELECT a.currency, count(*), sum(l.debits)::text, sum(l.credits)::text
		FROM ledger_closing_lines l
		JOIN ledger_accounts a ON a.platform_id = l.platform_id AND a.id = l.account_id
		WHERE l.platform_id = $1 AND l.month = $2
		GROUP BY a.currency ORDER BY a.currency`, []any{pgID(p.UUID()), monthDate(m)}, func(rows pgx.Rows) error {
		var t period.Total
		var debits, credits string
		if err := rows.Scan(&t.Currency, &t.Accounts, &debits, &credits); err != nil {
			return err
		}
		var err error
		if t.Debits, err = money.ParseTotal(debits); err != nil {
			return err
		}
		t.Credits, err = money.ParseTotal(credits)
		totals = append(totals, t)
		return err
	})
	return totals, err
}

// Authorisation uses the primary key.
func (db *DB) Authorisation(ctx context.Context, p ident.Platform, posting uuid.UUID) (a period.Authorisation, found bool, err error) {
	err = queryRows(ctx, db.readPool, `SELECT token_id, actor, note, authorised_at, proposal_id, approver_token_id, approver FROM ledger_authorisations WHERE platform_id = $1 AND posting_id = $2`,
		[]any{pgID(p.UUID()), pgID(posting)}, func(rows pgx.Rows) error {
			var by, proposed, approver pgtype.UUID
			var changedAt pgtype.Timestamptz
			err := rows.Scan(&by, &a.By.Actor, &a.Note, &changedAt, &proposed, &approver, &a.Approval.By.Actor)
			a.Approval = scanApproval(proposed, approver, a.Approval.By.Actor)
			a.Platform, a.Posting, a.By.Token, a.At, found = p, posting, tokenID(by), utcTime(changedAt), true
			return err
		})
	return a, found, err
}
