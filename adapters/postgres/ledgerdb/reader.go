package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Reader reads the ledger for reports, each call on a connection of its own, outside of any
// unit of work. Every result is consistent, except current balances of several accounts.
type Reader struct {
	store *Store
	pool  *pgxpool.Pool
}

var _ ports.LedgerReader = (*Reader)(nil)

// NewReader returns a reader of the ledger in the database of the pool.
func NewReader(store *Store, pool *pgxpool.Pool) *Reader { return &Reader{store, pool} }

// Balances implements ports.LedgerReader.
func (r *Reader) Balances(ctx context.Context, accounts []ledger.Account) (balances map[ledger.Account]int64, err error) {
	err = r.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		balances, err = r.store.Balances(ctx, c.Conn(), accounts, Read)
		return err
	})
	return balances, err
}

// BalanceAt implements ports.LedgerReader.
func (r *Reader) BalanceAt(ctx context.Context, account ledger.Account, by ports.TimeKind, at time.Time) (balance int64, err error) {
	err = r.readOnly(ctx, func(q Querier) error {
		balance, err = r.store.BalanceAt(ctx, q, account, by, at)
		return err
	})
	return balance, err
}

// Entries implements ports.LedgerReader.
func (r *Reader) Entries(ctx context.Context, filter ports.EntryFilter) (page ports.EntryPage, err error) {
	err = r.readOnlyCustomPlan(ctx, func(q Querier) error {
		page, err = r.store.Entries(ctx, q, filter)
		return err
	})
	return page, err
}

// Posting implements ports.LedgerReader.
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
SELECT a.platform_id, a.path, a.currency, a.class, (` + currentBalance("(SELECT m.months_complete_before FROM ledger_snapshot_progress m "+
	"WHERE m.platform_id = a.platform_id)") + `)::bigint
FROM ledger_accounts a
WHERE $1::uuid IS NULL OR a.platform_id = $1
ORDER BY a.platform_id, a.currency, a.path`

// TrialBalance implements ports.LedgerReader. All lines are read in one snapshot.
func (r *Reader) TrialBalance(ctx context.Context, platform ident.Platform, line func(ports.AccountBalance) error) error {
	err := r.readOnly(ctx, func(q Querier) error {
		return query(ctx, q, trialBalance, []any{platform}, func(rows pgx.Rows) error {
			var b ports.AccountBalance
			if err := rows.Scan(&b.Account.Platform, &b.Account.Path, &b.Account.Currency, &b.Class, &b.Balance); err != nil {
				return err
			}
			return line(b)
		})
	})
	if err != nil {
		return fmt.Errorf("read the trial balance: %w", translateError(err))
	}
	return nil
}

// beginReadOnly opens a transaction that reads one snapshot. Rows are still looked up by
// their keys: a report reads a little of each of many accounts, and the planner, which
// cannot know how little, would read whole tables.
const beginReadOnly = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off`

// beginReadOnlyCustomPlan plans statements with their arguments. It is for statements
// composed for one call: their arguments say which months to read, so the plan leaves out
// the partitions of all others.
const beginReadOnlyCustomPlan = beginReadOnly + `; SET LOCAL plan_cache_mode = force_custom_plan`

// readOnly runs fn in a read-only transaction and ends it.
func (r *Reader) readOnly(ctx context.Context, fn func(Querier) error) error {
	return r.inTransaction(ctx, beginReadOnly, fn)
}

// readOnlyCustomPlan is readOnly for statements composed for one call.
func (r *Reader) readOnlyCustomPlan(ctx context.Context, fn func(Querier) error) error {
	return r.inTransaction(ctx, beginReadOnlyCustomPlan, fn)
}

func (r *Reader) inTransaction(ctx context.Context, begin string, fn func(Querier) error) error {
	return r.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) (err error) {
		if _, err := c.Exec(ctx, begin, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		defer func() {
			// If ctx has ended, the connection is closed, and the transaction with it.
			if _, rollback := c.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol); rollback != nil && ctx.Err() == nil {
				err = errors.Join(err, rollback)
			}
		}()
		return storage.ReadError(fn(c.Conn()))
	})
}

// parseTotal parses a numeric that was selected as text.
func parseTotal(text string) (money.Total, error) {
	t, err := money.ParseTotal(text)
	if err != nil {
		return t, fmt.Errorf("parse a sum of the ledger: %w", err)
	}
	return t, nil
}
