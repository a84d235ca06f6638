package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/receivable"
	"causeway/ports"
)

// receivables is the table receivables.
var receivables = schema.New("receivables", keyOfPlatform, func(r *receivable.Receivable) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "id", Field: &r.ID}, {Name: "transaction_id", Field: &r.Transaction},
		{Name: "customer_id", Field: &r.Customer}, {Name: "account_id", Field: &r.Account}, {Name: "account_path", Field: &r.AccountPath},
		{Name: "partner", Field: &r.Partner}, {Name: "reference", Field: &r.Reference},
		{Name: "currency", Field: &r.Amount.Currency}, {Name: "amount", Field: &r.Amount.Minor},
		{Name: "collected", Field: &r.Collected}, {Name: "written_off", Field: &r.WrittenOff}, {Name: "state", Field: &r.State},
		{Name: "reason_code", Field: &r.ReasonCode}, {Name: "partner_id", Field: &r.PartnerID}, {Name: "returned_at", Field: &r.ReturnedAt},
		{Name: "note", Field: &r.Note}, {Name: "created_at", Field: &r.CreatedAt}, {Name: "updated_at", Field: &r.UpdatedAt},
	}, schema.AuthorColumns(&r.By))
})

// receivableChangeRow is a row of receivable_changes.
type receivableChangeRow = ofPlatform[receivable.Change]

var keyOfReceivableChange = []string{"platform_id", "receivable_id", "number"}

var receivableChanges = schema.New("receivable_changes", keyOfReceivableChange, func(row *receivableChangeRow) schema.Columns {
	c := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "receivable_id", Field: &c.Receivable}, {Name: "number", Field: &c.Number},
		{Name: "kind", Field: &c.Kind}, {Name: "amount", Field: &c.Amount}, {Name: "posting_id", Field: &c.Posting},
		{Name: "effective_at", Field: &c.Effective}, {Name: "changed_at", Field: &c.At}, {Name: "note", Field: &c.Note},
	}, schema.AuthorColumns(&c.By), schema.ApprovalColumns(&c.Approval))
})

var (
	insertReceivable       = receivables.Insert("")
	updateReceivable       = receivables.Update("collected", "written_off", "state", "updated_at")
	insertReceivableChange = receivableChanges.Insert("")
)

// CreateReceivable implements returns.Tx.
func (u *Unit) CreateReceivable(ctx context.Context, r receivable.Receivable) error {
	if err := write(ctx, u, insertReceivable, r); err != nil {
		return err
	}
	return u.flush(ctx)
}

// UpdateReceivable implements returns.Tx.
func (u *Unit) UpdateReceivable(ctx context.Context, r receivable.Receivable) error {
	return write(ctx, u, updateReceivable, r)
}

// AddReceivableChange implements returns.Tx.
func (u *Unit) AddReceivableChange(ctx context.Context, r receivable.Receivable, c receivable.Change) error {
	return write(ctx, u, insertReceivableChange, receivableChangeRow{r.Platform, c})
}

// LockReceivable implements receivables.Tx.
func (u *Unit) LockReceivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, bool, error) {
	return readReceivable(ctx, u.db, u.query, `WHERE platform_id = $1 AND id = $2 FOR UPDATE`, p, id)
}

// LockReceivableOf implements returns.Tx.
func (u *Unit) LockReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error) {
	return readReceivable(ctx, u.db, u.query, `WHERE platform_id = $1 AND transaction_id = $2 FOR UPDATE`, p, id)
}

// readReceivable reads the changes after the receivable, so that those of a locked one are its last.
func readReceivable(ctx context.Context, db *DB, read storage.Reader, rest string, p ident.Platform,
	id any) (d ports.ReceivableDetails, found bool, err error) {
	if d.Receivable, found, err = selectRow(ctx, db, read, receivables, rest, p, id); err != nil || !found {
		return d, false, err
	}
	changes, err := selectRows(ctx, db, read, receivableChanges, `WHERE platform_id = $1 AND receivable_id = $2 ORDER BY number`, p, d.ID)
	for _, row := range changes {
		d.Changes = append(d.Changes, row.value)
	}
	return d, true, err
}

// Receivable uses primary keys.
func (db *DB) Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, bool, error) {
	return db.receivable(ctx, `WHERE platform_id = $1 AND id = $2`, p, id)
}

// ReceivableOf uses receivable_transaction_unique.
func (db *DB) ReceivableOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error) {
	return db.receivable(ctx, `WHERE platform_id = $1 AND transaction_id = $2`, p, id)
}

func (db *DB) receivable(ctx context.Context, rest string, p ident.Platform, id any) (d ports.ReceivableDetails, found bool, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) (err error) {
		d, found, err = readReceivable(ctx, db, readOn(tx), rest, p, id)
		return err
	})
	return d, found, err
}

// Receivables uses primary keys, or receivables_by_customer.
func (db *DB) Receivables(ctx context.Context, p ident.Platform, f ports.ReceivableFilter) (ports.Page[receivable.Receivable], error) {
	l := newList("receivables", p)
	if !f.Customer.IsZero() {
		l.byIndex("customer_id = ?", f.Customer)
	}
	l.whereEqual("state", string(f.State))
	l.whereEqual("currency", string(f.Currency))
	return selectPage(ctx, db, l, f.Paging, receivables)
}

// OpenReceivables uses receivables_open.
func (db *DB) OpenReceivables(ctx context.Context, p ident.Platform, each func(money.Currency, int64, time.Time) error) error {
	return db.queryRows(
		ctx, `SELECT currency, amount - collected - written_off, returned_at FROM receivables WHERE platform_id = $1 AND state = 'OPEN'`,
		[]any{p}, func(rows pgx.Rows) error {
			var currency money.Currency
			var owed int64
			var returned time.Time
			if err := rows.Scan(&currency, &owed, &returned); err != nil {
				return err
			}
			return each(currency, owed, returned)
		})
}

// CollectableReceivables uses receivables_open and, for each, ledger_accounts_by_path.
func (db *DB) CollectableReceivables(ctx context.Context, after ports.CollectableReceivable,
	limit int) (found []ports.CollectableReceivable, err error) {
	first := pgtype.Timestamptz{Time: after.ReturnedAt, Valid: true} // a position, even if it is zero
	err = db.queryRows(ctx, `
		SELECT r.platform_id, r.id, r.returned_at FROM receivables r
		JOIN ledger_accounts a ON a.platform_id = r.platform_id AND a.path = r.account_path AND a.currency = r.currency
		JOIN ledger_balances b ON b.platform_id = a.platform_id AND b.account_id = a.id
		WHERE r.state = 'OPEN' AND b.balance > 0 AND (r.returned_at, r.id) > ($1, $2)
		ORDER BY r.returned_at, r.id LIMIT $3`, []any{first, after.ID.UUID(), limit}, func(rows pgx.Rows) error {
		var c ports.CollectableReceivable
		err := rows.Scan(&c.Platform, &c.ID, &c.ReturnedAt)
		found = append(found, c)
		return err
	})
	return found, err
}

// AuditedReceivables implements audit.ReceivableAudit. It sorts the receivables of a platform with their changes.
func (db *DB) AuditedReceivables(ctx context.Context, p ident.Platform, each func(ports.ReceivableDetails) error) error {
	return db.inSnapshot(ctx, func(tx pgx.Tx) error {
		rows, err := selectRows(ctx, db, readOn(tx), receivableChanges, `WHERE platform_id = $1 ORDER BY receivable_id, number`, p)
		if err != nil {
			return err
		}
		changes := map[ident.Receivable][]receivable.Change{}
		for _, row := range rows {
			changes[row.value.Receivable] = append(changes[row.value.Receivable], row.value)
		}
		all, err := selectRows(ctx, db, readOn(tx), receivables, `WHERE platform_id = $1 ORDER BY id`, p)
		if err != nil {
			return err
		}
		for _, r := range all {
			if err := each(ports.ReceivableDetails{Receivable: r, Changes: changes[r.ID]}); err != nil {
				return err
			}
			delete(changes, r.ID)
		}
		for id, orphans := range changes {
			if err := each(ports.ReceivableDetails{Receivable: receivable.Receivable{ID: id, Platform: p}, Changes: orphans}); err != nil {
				return err
			}
		}
		return nil
	})
}
