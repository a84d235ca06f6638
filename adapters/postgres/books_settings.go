package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

type booksSettingsRow = ofPlatform[books.SettingsVersion]

var booksSettings = schema.New("ledger_settings", []string{"platform_id", "version"}, func(row *booksSettingsRow) schema.Columns {
	v := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "version", Field: &v.Version},
		{Name: "changed_at", Field: &v.At}, {Name: "note", Field: &v.Note},
		{Name: "functional_currency", Field: &v.FunctionalCurrency}, {Name: "unrealised_result", Field: &v.UnrealisedResult},
		{Name: "fee_recognition", Field: &v.FeeRecognition}, {Name: "year_end_month", Field: &v.YearEndMonth},
		{Name: "four_eyes", Field: schema.Array(&v.FourEyes)},
		{Name: "receivables_allowance", Type: "text", Field: schema.Converted(
			func() *string {
				if text := v.ReceivablesAllowance.String(); text != "" {
					return &text
				}
				return nil
			},
			func(text *string) (err error) {
				if text != nil {
					v.ReceivablesAllowance, err = books.ParseAllowanceRates(*text)
				}
				return err
			})},
	}, schema.AuthorColumns(&v.By), schema.ApprovalColumns(&v.Approval))
})

var insertBooksSettings = booksSettings.Insert("")

// readBooksSettings returns the latest version, or the defaults. Uses the primary key.
func readBooksSettings(ctx context.Context, db *DB, read storage.Reader, p ident.Platform) (books.SettingsVersion, error) {
	row, found, err := selectRow(ctx, db, read, booksSettings, `WHERE platform_id = $1 ORDER BY version DESC LIMIT 1`, p)
	if !found {
		row.value.Settings = books.DefaultSettings()
	}
	return row.value, err
}

// BooksSettings implements books.Store.
func (db *DB) BooksSettings(ctx context.Context, p ident.Platform) (v books.SettingsVersion, err error) {
	return readBooksSettings(ctx, db, db.read, p)
}

// BooksSettings implements accounting.Tx.
func (u *Unit) BooksSettings(ctx context.Context, p ident.Platform) (v books.SettingsVersion, err error) {
	return readBooksSettings(ctx, u.db, u.query, p)
}

// Advisory locks of the settings of a platform: one for changes of them, shared by what depends on them.
const (
	lockBooksSettings       = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 12))`
	lockBooksSettingsShared = `SELECT pg_advisory_xact_lock_shared(uuid_hash_extended($1::uuid, 12))`
)

// LockBooksSettings implements foureyes.Tx.
func (u *Unit) LockBooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return u.lockAndReadBooksSettings(ctx, lockBooksSettings, p)
}

// LockBooksSettingsShared implements foureyes.Tx.
func (u *Unit) LockBooksSettingsShared(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return u.lockAndReadBooksSettings(ctx, lockBooksSettingsShared, p)
}

// lockAndReadBooksSettings takes a lock and then reads, in a statement that sees what was committed before the lock
// was granted.
func (u *Unit) lockAndReadBooksSettings(ctx context.Context, lock string, p ident.Platform) (books.SettingsVersion, error) {
	u.queueExec(lock, p)
	return u.BooksSettings(ctx, p)
}

// BooksSettingsVersions implements books.Store. Uses the primary key.
func (db *DB) BooksSettingsVersions(
	ctx context.Context, p ident.Platform, f ports.VersionFilter,
) (ports.VersionPage[books.SettingsVersion], error) {
	return selectVersions(ctx, db, booksSettings, p, f)
}

// BooksFixed implements books.Tx. Uses the unique path of accounts and the primary keys of runs and closings.
// A run that had nothing to post counts too: the next month begins with its book.
func (u *Unit) BooksFixed(ctx context.Context, p ident.Platform) (fixed books.Fixed, err error) {
	err = u.query(ctx, `SELECT EXISTS (SELECT FROM ledger_accounts WHERE platform_id = $1 AND path = $2)
			OR EXISTS (SELECT FROM ledger_month_end_runs WHERE platform_id = $1 AND kind = $3),
			EXISTS (SELECT FROM ledger_year_closings WHERE platform_id = $1)`, []any{p, ledger.FXValuation, ledger.KindRevaluation},
		func(rows pgx.Rows) error { return rows.Scan(&fixed.Revalued, &fixed.YearClosed) })
	return fixed, err
}

// SaveBooksSettings implements books.Tx.
func (u *Unit) SaveBooksSettings(ctx context.Context, p ident.Platform, v books.SettingsVersion) error {
	return write(ctx, u, insertBooksSettings, booksSettingsRow{p, v})
}
