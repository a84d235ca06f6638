package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/receivable"
	"causeway/ports"
)

// CreateReceivable implements ports.ReceivableWriter.
func (u *unit) CreateReceivable(ctx context.Context, r receivable.Receivable) error {
	u.queueExec(`
		INSERT INTO receivables (platform_id, id, transaction_id, customer_id, account_id, account_path, partner, reference, currency, amount, collected, written_off, state,
			reason_code, partner_id, returned_at, note, token_id, actor, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		pgID(r.Platform.UUID()), pgID(r.ID.UUID()), pgID(r.Transaction.UUID()), pgID(r.Customer.UUID()), pgID(r.Account.UUID()), r.AccountPath, r.Partner, r.Reference,
		string(r.Amount.Currency), r.Amount.Minor, r.Collected, r.WrittenOff, string(r.State),
		r.ReasonCode, r.PartnerID, pgTime(r.ReturnedAt), r.Note, pgID(r.By.Token.UUID()), r.By.Actor, pgTime(r.CreatedAt), pgTime(r.UpdatedAt))
	return u.flush(ctx)
}

// UpdateReceivable implements ports.ReceivableWriter.
func (u *unit) UpdateReceivable(_ context.Context, r receivable.Receivable) error {
	u.queueExec(`UPDATE receivables SET collected = $3, written_off = $4, state = $5, updated_at = $6 WHERE platform_id = $1 AND id = $2`,
		pgID(r.Platform.UUID()), pgID(r.ID.UUID()), r.Collected, r.WrittenOff, string(r.State), pgTime(r.UpdatedAt))
	return nil
}

// AddReceivableChange implements ports.ReceivableWriter.
func (u *unit) AddReceivableChange(_ context.Context, r receivable.Receivable, c receivable.Change) error {
	u.queueExec(`
		INSERT INTO receivable_changes (platform_id, receivable_id, number, kind, amount, posting_id, effective_at, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		pgID(r.Platform.UUID()), pgID(c.Receivable.UUID()), c.Number, string(c.Kind), c.Amount, pgID(c.Posting), pgTime(c.Effective), pgTime(c.At), pgID(c.By.Token.UUID()), c.By.Actor, c.Note,
		pgID(c.Approval.Proposal.UUID()), pgID(c.Approval.By.Token.UUID()), c.Approval.By.Actor)
	return nil
}

// LockReceivable implements ports.ReceivableWriter.
func (u *unit) LockReceivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, bool, error) {
	return readReceivable(ctx, u.query, p, `r.id = $2`, pgID(id.UUID()), ` FOR UPDATE`)
}

// LockReceivableOf implements ports.ReceivableWriter.
func (u *unit) LockReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error) {
	return readReceivable(ctx, u.query, p, `r.transaction_id = $2`, pgID(id.UUID()), ` FOR UPDATE`)
}

// readReceivable reads the changes after the receivable, so that those of a locked one are its last.
func readReceivable(ctx context.Context, query func(context.Context, string, []any, func(pgx.Rows) error) error, p ident.Platform, where string, id pgtype.UUID, lock string) (d ports.ReceivableDetails, found bool, err error) {
	if err := query(ctx, `SELECT `+receivableColumns+` FROM receivables r WHERE r.platform_id = $1 AND `+where+lock, []any{pgID(p.UUID()), id}, func(rows pgx.Rows) (err error) {
		found = true
		d.Receivable, err = scanReceivable(rows)
		return err
	}); err != nil || !found {
		return d, false, err
	}
	err = query(ctx, `SELECT `+changeColumns+` FROM receivable_changes c WHERE c.platform_id = $1 AND c.receivable_id = $2 ORDER BY c.number`,
		[]any{pgID(p.UUID()), pgID(d.ID.UUID())}, func(rows pgx.Rows) error {
			c, err := scanReceivableChange(rows)
			d.Changes = append(d.Changes, c)
			return err
		})
	return d, true, err
}

const (
	receivableColumns = `r.platform_id, r.id, r.transaction_id, r.customer_id, r.account_id, r.account_path, r.partner, r.reference, r.currency, r.amount, r.collected, r.written_off, r.state,
	r.reason_code, r.partner_id, r.returned_at, r.note, r.token_id, r.actor, r.created_at, r.updated_at`
	changeColumns = `c.receivable_id, c.number, c.kind, c.amount, c.posting_id, c.effective_at, c.changed_at, c.token_id, c.actor, c.note, c.proposal_id, c.approver_token_id, c.approver`
)

func scanReceivable(rows pgx.Rows) (r receivable.Receivable, err error) {
	var platform, id, transaction, customer, account, token pgtype.UUID
	var returned, created, updated pgtype.Timestamptz
	var actor string
	err = rows.Scan(&platform, &id, &transaction, &customer, &account, &r.AccountPath, &r.Partner, &r.Reference, &r.Amount.Currency, &r.Amount.Minor, &r.Collected, &r.WrittenOff, &r.State,
		&r.ReasonCode, &r.PartnerID, &returned, &r.Note, &token, &actor, &created, &updated)
	r.Platform.SetUUID(platform.Bytes)
	r.ID.SetUUID(id.Bytes)
	r.Transaction.SetUUID(transaction.Bytes)
	r.Customer.SetUUID(customer.Bytes)
	r.Account.SetUUID(account.Bytes)
	r.ReturnedAt, r.By, r.CreatedAt, r.UpdatedAt = utcTime(returned), authorOf(token, actor), utcTime(created), utcTime(updated)
	return r, err
}

func scanReceivableChange(rows pgx.Rows) (c receivable.Change, err error) {
	var id, posting, token, proposed, approverToken pgtype.UUID
	var effective, changed pgtype.Timestamptz
	var actor, approver string
	err = rows.Scan(&id, &c.Number, &c.Kind, &c.Amount, &posting, &effective, &changed, &token, &actor, &c.Note, &proposed, &approverToken, &approver)
	c.Approval = scanApproval(proposed, approverToken, approver)
	c.Receivable.SetUUID(id.Bytes)
	c.Posting, c.Effective, c.At, c.By = posting.Bytes, utcTime(effective), utcTime(changed), authorOf(token, actor)
	return c, err
}

// Receivable uses primary keys.
func (db *DB) Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, bool, error) {
	return db.receivable(ctx, p, `r.id = $2`, pgID(id.UUID()))
}

// ReceivableOf uses receivable_transaction_unique.
func (db *DB) ReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error) {
	return db.receivable(ctx, p, `r.transaction_id = $2`, pgID(id.UUID()))
}

func (db *DB) receivable(ctx context.Context, p ident.Platform, where string, id pgtype.UUID) (d ports.ReceivableDetails, found bool, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) (err error) {
		d, found, err = readReceivable(ctx, func(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
			return queryTx(ctx, tx, query, args, scan)
		}, p, where, id, "")
		return err
	})
	return d, found, err
}

// Receivables uses primary keys, or receivables_by_customer.
func (db *DB) Receivables(ctx context.Context, p ident.Platform, f ports.ReceivableFilter) (ports.Page[receivable.Receivable], error) {
	from, args := ` FROM receivables r WHERE r.platform_id = $1 AND $2 IN ('', r.state) AND $3 IN ('', r.currency)`, []any{pgID(p.UUID()), string(f.State), string(f.Currency)}
	if !f.Customer.IsZero() {
		from, args = from+` AND r.customer_id = $4`, append(args, pgID(f.Customer.UUID()))
	}
	return queryPage(ctx, db, receivableColumns, from, "r.id", args, f.Paging, scanReceivable)
}

// OpenReceivables uses receivables_open.
func (db *DB) OpenReceivables(ctx context.Context, p ident.Platform, each func(money.Currency, int64, time.Time) error) error {
	return db.queryRows(ctx, `SELECT currency, amount - collected - written_off, returned_at FROM receivables WHERE platform_id = $1 AND state = 'OPEN'`,
		[]any{pgID(p.UUID())}, func(rows pgx.Rows) error {
			var currency money.Currency
			var owed int64
			var returned pgtype.Timestamptz
			if err := rows.Scan(&currency, &owed, &returned); err != nil {
				return err
			}
			return each(currency, owed, utcTime(returned))
		})
}

// CollectableReceivables uses receivables_open and, for each, ledger_accounts_by_path.
func (db *DB) CollectableReceivables(ctx context.Context, after ports.CollectableReceivable, limit int) (found []ports.CollectableReceivable, err error) {
	err = db.queryRows(ctx, `
		SELECT r.platform_id, r.id, r.returned_at FROM receivables r
		JOIN ledger_accounts a ON a.platform_id = r.platform_id AND a.path = r.account_path AND a.currency = r.currency
		JOIN ledger_balances b ON b.platform_id = a.platform_id AND b.account_id = a.id
		WHERE r.state = 'OPEN' AND b.balance > 0 AND (r.returned_at, r.id) > ($1, $2)
		ORDER BY r.returned_at, r.id LIMIT $3`, []any{after.ReturnedAt, pgtype.UUID{Bytes: after.ID.UUID(), Valid: true}, limit}, func(rows pgx.Rows) error {
		var c ports.CollectableReceivable
		var platform, id pgtype.UUID
		var returned pgtype.Timestamptz
		err := rows.Scan(&platform, &id, &returned)
		c.Platform.SetUUID(platform.Bytes)
		c.ID.SetUUID(id.Bytes)
		c.ReturnedAt = utcTime(returned)
		found = append(found, c)
		return err
	})
	return found, err
}

var _ ports.ReceivableAudit = (*DB)(nil)

// AuditedReceivables implements ports.ReceivableAudit. It sorts the receivables of a platform with their changes.
func (db *DB) AuditedReceivables(ctx context.Context, p ident.Platform, each func(ports.ReceivableDetails) error) error {
	return db.inSnapshot(ctx, func(tx pgx.Tx) error {
		changes := map[ident.Receivable][]receivable.Change{}
		if err := queryTx(ctx, tx, `SELECT `+changeColumns+` FROM receivable_changes c WHERE c.platform_id = $1 ORDER BY c.receivable_id, c.number`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
			c, err := scanReceivableChange(rows)
			changes[c.Receivable] = append(changes[c.Receivable], c)
			return err
		}); err != nil {
			return err
		}
		if err := queryTx(ctx, tx, `SELECT `+receivableColumns+` FROM receivables r WHERE r.platform_id = $1 ORDER BY r.id`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
			r, err := scanReceivable(rows)
			if err != nil {
				return err
			}
			d := ports.ReceivableDetails{Receivable: r, Changes: changes[r.ID]}
			delete(changes, r.ID)
			return each(d)
		}); err != nil {
			return err
		}
		for id, orphans := range changes {
			if err := each(ports.ReceivableDetails{Receivable: receivable.Receivable{ID: id, Platform: p}, Changes: orphans}); err != nil {
				return err
			}
		}
		return nil
	})
}
