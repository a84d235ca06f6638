package ledgerdb

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Reader is the books as finance reads them: each question on a connection of its own,
// outside of any unit of work. All but present balances of several accounts is of one moment.
type Reader struct {
	store *Store
	pool  *pgxpool.Pool
}

var _ ports.LedgerReader = (*Reader)(nil)

// NewReader reads the books of the database that the pool is connected to.
func NewReader(b *Store, pool *pgxpool.Pool) *Reader { return &Reader{b, pool} }

// Balances is as ports.BookReader says.
func (r *Reader) Balances(ctx context.Context, accounts []ledger.Account) (balances map[ledger.Account]int64, err error) {
	err = r.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		balances, err = r.store.Balances(ctx, c.Conn(), accounts, Read)
		return err
	})
	return balances, err
}

// BalanceAt is as ports.BookReader says.
func (r *Reader) BalanceAt(ctx context.Context, account ledger.Account, by ports.TimeKind, moment time.Time) (balance int64, err error) {
	err = r.readOnly(ctx, func(q Querier) error {
		balance, err = r.store.BalanceAt(ctx, q, account, by, moment)
		return err
	})
	return balance, err
}

// Entries is as ports.BookReader says.
func (r *Reader) Entries(ctx context.Context, filter ports.EntryFilter) (page ports.EntryPage, err error) {
	err = r.readOnlyCustomPlan(ctx, func(q Querier) error {
		page, err = r.store.Entries(ctx, q, filter)
		return err
	})
	return page, err
}

// Posting is as ports.BookReader says.
func (r *Reader) Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (p ledger.Posting, found bool, err error) {
	key := postingKey{platform, id}
	err = r.readOnly(ctx, func(q Querier) error {
		stored, err := r.store.postings(ctx, q, []postingKey{key})
		p, found = stored[key]
		return err
	})
	return p, found, err
}

var trialBalance = `
SELECT a.platform_id, a.path, a.currency, a.class, (` + currentBalance("(SELECT m.months_complete_before FROM ledger_snapshot_progress m WHERE m.platform_id = a.platform_id)") + `)::bigint
FROM ledger_accounts a
WHERE $1::uuid IS NULL OR a.platform_id = $1
ORDER BY a.platform_id, a.currency, a.path`

// TrialBalance is as ports.BookReader says. All lines are of one moment.
func (r *Reader) TrialBalance(ctx context.Context, platform ident.Platform, line func(ports.AccountBalance) error) error {
	err := r.readOnly(ctx, func(q Querier) error {
		return query(ctx, q, trialBalance, []any{pgUUID(platform.UUID())}, func(rows pgx.Rows) error {
			var (
				platform              pgtype.UUID
				path, currency, class string
				balance               int64
			)
			if err := rows.Scan(&platform, &path, &currency, &class, &balance); err != nil {
				return err
			}
			return line(ports.AccountBalance{
				Account: ledger.Account{Platform: platformID(platform.Bytes), Path: path, Currency: money.Currency(currency)},
				Class:   ledger.Class(class), Balance: balance,
			})
		})
	})
	if err != nil {
		return fmt.Errorf("read the trial balance: %w", translateError(err))
	}
	return nil
}
