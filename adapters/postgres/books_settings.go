package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// selectBooksSettings uses the primary key.
const selectBooksSettings = `
	SELECT version, changed_at, token_id, actor, note, functional_currency, unrealised_result, fee_recognition, year_end_month, four_eyes,
		proposal_id, approver_token_id, approver
	FROM ledger_settings WHERE platform_id = $1 AND ($2 = 0 OR version < $2) ORDER BY version DESC LIMIT $3`

func scanBooksSettings(rows pgx.Rows) (v books.SettingsVersion, err error) {
	var at pgtype.Timestamptz
	var by, proposed, approver pgtype.UUID
	var currency string
	var yearEnd int16
	var fourEyes []string
	err = rows.Scan(&v.Version, &at, &by, &v.By.Actor, &v.Note, &currency, &v.UnrealisedResult, &v.FeeRecognition, &yearEnd, &fourEyes,
		&proposed, &approver, &v.Approval.By.Actor)
	v.Approval = scanApproval(proposed, approver, v.Approval.By.Actor)
	v.At, v.By.Token, v.FunctionalCurrency, v.YearEndMonth = utcTime(at), tokenID(by), money.Currency(currency), time.Month(yearEnd)
	for _, a := range fourEyes {
		v.FourEyes = append(v.FourEyes, books.Action(a))
	}
	return v, err
}

// latestBooksSettings scans the latest version into v, which is set to the defaults first.
func latestBooksSettings(v *books.SettingsVersion) func(pgx.Rows) error {
	*v = books.SettingsVersion{Settings: books.DefaultSettings()}
	return func(rows pgx.Rows) (err error) {
		*v, err = scanBooksSettings(rows)
		return err
	}
}

// BooksSettings implements ports.BooksReader.
func (db *DB) BooksSettings(ctx context.Context, p ident.Platform) (v books.SettingsVersion, err error) {
	err = db.read(ctx, selectBooksSettings, []any{pgID(p.UUID()), 0, 1}, latestBooksSettings(&v))
	return v, err
}

// BooksSettings implements ports.BooksReader.
func (u *unit) BooksSettings(ctx context.Context, p ident.Platform) (v books.SettingsVersion, err error) {
	err = u.query(ctx, selectBooksSettings, []any{pgID(p.UUID()), 0, 1}, latestBooksSettings(&v))
	return v, err
}

// Advisory locks of the settings of a platform: one for changes of them, shared by what depends on them.
const (
	lockBooksSettings       = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 12))`
	lockBooksSettingsShared = `SELECT pg_advisory_xact_lock_shared(uuid_hash_extended($1::uuid, 12))`
)

// LockBooksSettings implements ports.BooksWriter.
func (u *unit) LockBooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return u.lockAndReadBooksSettings(ctx, lockBooksSettings, p)
}

// LockBooksSettingsShared implements ports.BooksWriter.
func (u *unit) LockBooksSettingsShared(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return u.lockAndReadBooksSettings(ctx, lockBooksSettingsShared, p)
}

// lockAndReadBooksSettings takes a lock and then reads, in a statement that sees what was committed before the lock
// was granted.
func (u *unit) lockAndReadBooksSettings(ctx context.Context, lock string, p ident.Platform) (books.SettingsVersion, error) {
	u.queueExec(lock, pgID(p.UUID()))
	return u.BooksSettings(ctx, p)
}

// BooksSettingsVersions implements ports.BooksHistory.
func (db *DB) BooksSettingsVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (page ports.VersionPage[books.SettingsVersion], err error) {
	err = db.read(ctx, selectBooksSettings, []any{pgID(p.UUID()), f.Before, f.Limit + 1}, func(rows pgx.Rows) error {
		v, err := scanBooksSettings(rows)
		page.Versions = append(page.Versions, v)
		return err
	})
	if page.More = len(page.Versions) > f.Limit; page.More {
		page.Versions = page.Versions[:f.Limit]
	}
	return page, err
}

// BooksFixed implements ports.BooksWriter. Uses the unique path of accounts and the primary keys of runs and closings.
// A run that had nothing to post counts too: the next month begins with its book.
func (u *unit) BooksFixed(ctx context.Context, p ident.Platform) (fixed books.Fixed, err error) {
	err = u.query(ctx, `SELECT EXISTS (SELECT FROM ledger_accounts WHERE platform_id = $1 AND path = $2)
			OR EXISTS (SELECT FROM ledger_month_end_runs WHERE platform_id = $1 AND kind = $3),
			EXISTS (SELECT FROM ledger_year_closings WHERE platform_id = $1)`, []any{pgID(p.UUID()), ledger.FXValuation, string(ledger.KindRevaluation)},
		func(rows pgx.Rows) error { return rows.Scan(&fixed.Revalued, &fixed.YearClosed) })
	return fixed, err
}

// SaveBooksSettings implements ports.BooksWriter.
func (u *unit) SaveBooksSettings(_ context.Context, p ident.Platform, v books.SettingsVersion) error {
	fourEyes := make([]string, len(v.FourEyes))
	for i, a := range v.FourEyes {
		fourEyes[i] = string(a)
	}
	u.queueExec(`INSERT INTO ledger_settings (platform_id, version, changed_at, token_id, actor, note, functional_currency, unrealised_result, fee_recognition, year_end_month, four_eyes,
			proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		pgID(p.UUID()), v.Version, pgTime(v.At), pgID(v.By.Token.UUID()), v.By.Actor, v.Note, string(v.FunctionalCurrency), string(v.UnrealisedResult),
		string(v.FeeRecognition), int16(v.YearEndMonth), fourEyes,
		pgID(v.Approval.Proposal.UUID()), pgID(v.Approval.By.Token.UUID()), v.Approval.By.Actor)
	return nil
}
