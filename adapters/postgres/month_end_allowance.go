package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
)

var receivablesAllowances = schema.New("ledger_receivables_allowances", append(keyOfRun, "currency"),
	func(row *ofRun[monthend.Allowance]) schema.Columns {
		a := &row.value
		return slices.Concat(columnsOfRun(&row.run), schema.Columns{
			{Name: "currency", Field: &a.Currency}, {Name: "owed_30", Field: &a.Owed[0]}, {Name: "owed_60", Field: &a.Owed[1]},
			{Name: "owed_90", Field: &a.Owed[2]}, {Name: "owed_over_90", Field: &a.Owed[3]},
			{Name: "rates", Field: schema.Converted(a.Rates.String, func(text string) (err error) {
				a.Rates, err = books.ParseAllowanceRates(text)
				return err
			})},
			{Name: "before", Field: &a.Before}, {Name: "required", Field: &a.Required},
		})
	})

var insertReceivablesAllowances = receivablesAllowances.InsertAll("")

// SaveAllowances implements monthend.Tx.
func (u *Unit) SaveAllowances(ctx context.Context, run monthend.Run, allowances []monthend.Allowance) error {
	return writeAll(ctx, u, insertReceivablesAllowances, rowsOfRun(run, allowances))
}

// Allowances implements ports.MonthEndResults.
func (db *DB) Allowances(ctx context.Context, run monthend.Run) ([]monthend.Allowance, error) {
	return selectOfRun(ctx, db, receivablesAllowances, run, `currency COLLATE "C"`)
}

// receivablesAt adds up the changes of each receivable whose postings count before a time ($2) and have numbers up to $3. The postings of
// archived months are not there: these changes count by their own time. Uses the primary keys.
const receivablesAt = `
SELECT r.currency, sum(CASE WHEN c.kind = 'RETURNED' THEN c.amount ELSE -c.amount END)::bigint, r.returned_at
FROM receivables r
JOIN receivable_changes c ON c.platform_id = r.platform_id AND c.receivable_id = r.id
LEFT JOIN ledger_posting_ids i ON i.platform_id = c.platform_id AND i.id = c.posting_id
LEFT JOIN ledger_postings p ON p.platform_id = i.platform_id AND p.seq = i.seq AND p.recorded_at = i.recorded_at
WHERE r.platform_id = $1 AND coalesce(p.effective_at, c.effective_at) < $2 AND coalesce(i.seq, 0) <= $3
GROUP BY r.platform_id, r.id
HAVING sum(CASE WHEN c.kind = 'RETURNED' THEN c.amount ELSE -c.amount END) <> 0`

// ReceivablesAt implements monthend.Receivables.
func (db *DB) ReceivablesAt(ctx context.Context, p ident.Platform, before time.Time, upto int64,
	each func(money.Currency, int64, time.Time) error) error {
	return db.queryRows(ctx, receivablesAt, []any{p, before, upto}, func(rows pgx.Rows) error {
		var currency money.Currency
		var owed int64
		var returned time.Time
		if err := rows.Scan(&currency, &owed, &returned); err != nil {
			return err
		}
		return each(currency, owed, returned)
	})
}
