package postgres

import (
	"context"
	"slices"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/recurring"
	"causeway/ledger"
)

// recurringEntryColumn is an entry in the column entries of ledger_recurring_adjustments, whose rows are facts of the log of evidence:
// it must not change.
type recurringEntryColumn struct {
	Debit    string         `json:"debit"`
	Credit   string         `json:"credit"`
	Currency money.Currency `json:"currency"`
	Amount   int64          `json:"amount"`
}

func newRecurringEntryColumn(e ledger.Entry) recurringEntryColumn {
	return recurringEntryColumn{e.Debit, e.Credit, e.Currency, e.Amount}
}

func (c recurringEntryColumn) entry() ledger.Entry {
	return ledger.Entry{Debit: c.Debit, Credit: c.Credit, Currency: c.Currency, Amount: c.Amount}
}

var recurringAdjustments = schema.New("ledger_recurring_adjustments", []string{"platform_id", "name", "version"},
	func(v *recurring.Version) schema.Columns {
		return slices.Concat(schema.Columns{
			{Name: "platform_id", Field: &v.Platform}, {Name: "name", Field: &v.Name}, {Name: "version", Field: &v.Number},
			{Name: "entries", Type: "jsonb", Field: jsonList(&v.Entries, newRecurringEntryColumn, recurringEntryColumn.entry)},
			{Name: "note", Field: &v.Note}, {Name: "first_month", Field: &v.First}, {Name: "last_month", Field: &v.Last},
			{Name: "reverses", Field: &v.Reverses}, {Name: "changed_at", Field: &v.At},
		}, schema.AuthorColumns(&v.By), schema.ApprovalColumns(&v.Approval))
	})

var recurringRuns = schema.New("ledger_recurring_runs", []string{"platform_id", "name", "month"}, func(r *recurring.Run) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "name", Field: &r.Name}, {Name: "month", Field: &r.Month},
		{Name: "version", Field: &r.Version}, {Name: "posting_id", Field: &r.Posting},
		{Name: "reversal_id", Field: schema.Optional(&r.Reversal)}, {Name: "posted_at", Field: &r.At},
	}
})

var (
	insertRecurringAdjustment = recurringAdjustments.Insert("")
	insertRecurringRun        = recurringRuns.Insert("")
)

func readRecurring(ctx context.Context, db *DB, read storage.Reader, p ident.Platform) (all []recurring.Adjustment, err error) {
	versions, err := selectRows(ctx, db, read, recurringAdjustments, `WHERE platform_id = $1 ORDER BY name, version`, p)
	for _, v := range versions {
		if n := len(all); n == 0 || all[n-1][0].Name != v.Name {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], v)
	}
	return all, err
}

const recurringRunsSince = `WHERE platform_id = $1 AND month >= coalesce($2::date, '-infinity') ORDER BY month, name`

// RecurringAdjustments implements accounting.Store.
func (db *DB) RecurringAdjustments(ctx context.Context, p ident.Platform) ([]recurring.Adjustment, error) {
	return readRecurring(ctx, db, db.read, p)
}

// RecurringRuns implements accounting.Store.
func (db *DB) RecurringRuns(ctx context.Context, p ident.Platform, from period.Month) ([]recurring.Run, error) {
	return selectRows(ctx, db, db.read, recurringRuns, recurringRunsSince, p, from)
}

// RecurringPlatforms implements accounting.Store.
func (db *DB) RecurringPlatforms(ctx context.Context) ([]ident.Platform, error) {
	return queryValues[ident.Platform](ctx, db.queryRows, `SELECT id FROM platforms p WHERE closed_at IS NULL
		AND EXISTS (SELECT FROM ledger_recurring_adjustments a WHERE a.platform_id = p.id) ORDER BY id`)
}

// RecurringAdjustments implements accounting.Tx.
func (u *Unit) RecurringAdjustments(ctx context.Context, p ident.Platform) ([]recurring.Adjustment, error) {
	return readRecurring(ctx, u.db, u.query, p)
}

// RecurringRuns implements accounting.Tx.
func (u *Unit) RecurringRuns(ctx context.Context, p ident.Platform, from period.Month) ([]recurring.Run, error) {
	return selectRows(ctx, u.db, u.query, recurringRuns, recurringRunsSince, p, from)
}

// SaveRecurringAdjustment implements accounting.Tx.
func (u *Unit) SaveRecurringAdjustment(ctx context.Context, v recurring.Version) error {
	return write(ctx, u, insertRecurringAdjustment, v)
}

// SaveRecurringRun implements accounting.Tx.
func (u *Unit) SaveRecurringRun(ctx context.Context, r recurring.Run) error {
	return write(ctx, u, insertRecurringRun, r)
}
