package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// accountIDs maps accounts to their ids in ledger_accounts.
type accountIDs map[ledger.Account]int64

// readAccountIDs returns the ids of the accounts that exist, as they are in the database of q.
func readAccountIDs(ctx context.Context, q Querier, accounts []ledger.Account) (accountIDs, error) {
	found := make(accountIDs, len(accounts))
	_, err := addAccountIDs(ctx, q, accounts, found)
	return found, err
}

// ensureAccountIDs returns the ids of accounts, and creates those that do not exist in the
// transaction of q. Cached ids may be of a database that has lost commits since, so a statement
// that uses them compares their accounts with accountsProved.
func (s *Store) ensureAccountIDs(ctx context.Context, q Querier, accounts []ledger.Account) (accountIDs, error) {
	found, missing := s.accounts.lookup(accounts)
	if len(missing) == 0 {
		return found, nil
	}
	// Sorted, so that two transactions that create the same accounts cannot deadlock.
	slices.SortFunc(missing, ledger.Account.Compare)
	missing = slices.Compact(missing)
	if err := s.loadAccountIDs(ctx, q, missing, found); err != nil {
		return nil, err
	}
	missing = slices.DeleteFunc(missing, func(a ledger.Account) bool { _, ok := found[a]; return ok })
	if len(missing) == 0 {
		return found, nil
	}
	if err := createAccounts(ctx, q, missing); err != nil {
		return nil, fmt.Errorf("create ledger accounts: %w", err)
	}
	if err := s.loadAccountIDs(ctx, q, missing, found); err != nil {
		return nil, err
	}
	for _, a := range missing {
		if _, ok := found[a]; !ok {
			return nil, fmt.Errorf("create ledger accounts: %s is still missing", a)
		}
	}
	return found, nil
}

// Uses ledger_account_path_and_currency_unique. An account that the current transaction
// created may still be rolled back, so it is returned but not cached.
const selectAccountIDs = `
SELECT a.platform_id, a.path, a.currency, a.id, a.xid IS DISTINCT FROM pg_current_xact_id_if_assigned()
FROM unnest($1::uuid[], $2::text[], $3::text[]) AS w (platform_id, path, currency)
JOIN ledger_accounts a ON a.platform_id = w.platform_id AND a.path = w.path AND a.currency = w.currency`

// loadAccountIDs adds the ids of accounts to found and to the cache.
func (s *Store) loadAccountIDs(ctx context.Context, q Querier, accounts []ledger.Account, found accountIDs) error {
	committed, err := addAccountIDs(ctx, q, accounts, found)
	if err != nil {
		return err
	}
	s.accounts.add(committed)
	return nil
}

// addAccountIDs adds the ids of accounts to found, and returns those that are committed.
func addAccountIDs(ctx context.Context, q Querier, accounts []ledger.Account, found accountIDs) (committed accountIDs, err error) {
	platforms, paths, currencies := accountColumns(accounts)
	committed = accountIDs{}
	err = query(ctx, q, selectAccountIDs, []any{platforms, paths, currencies}, func(rows pgx.Rows) error {
		var (
			platform       uuid.UUID
			path, currency string
			id             int64
			isCommitted    bool
		)
		if err := rows.Scan((*[16]byte)(&platform), &path, &currency, &id, &isCommitted); err != nil {
			return err
		}
		a := ledger.Account{Platform: platformID(platform), Path: path, Currency: money.Currency(currency)}
		found[a] = id
		if isCommitted {
			committed[a] = id
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find ledger accounts: %w", err)
	}
	return committed, nil
}

// accountsProved is a table of one row whose column ok is true. It fails the transaction if an
// id is not that of its account. The parameters are those of accountProof. Uses
// ledger_accounts_pkey.
func accountsProved(platforms, ids, paths, currencies string) string {
	return `(SELECT CASE WHEN EXISTS (
    SELECT FROM unnest(` + platforms + `::uuid[], ` + ids + `::bigint[], ` + paths + `::text[], ` + currencies +
		`::text[]) AS w (platform_id, id, path, currency)
    LEFT JOIN ledger_accounts a ON a.platform_id = w.platform_id AND a.id = w.id
    WHERE a.path IS DISTINCT FROM w.path OR a.currency IS DISTINCT FROM w.currency
) THEN ledger_refuse_account_ids() ELSE true END AS ok OFFSET 0) AS proved`
}

// accountProof returns accounts with their ids as the parameters of accountsProved.
func accountProof(accounts []ledger.Account, ids accountIDs) []any {
	platforms, paths, currencies := accountColumns(accounts)
	of := make([]int64, len(accounts))
	for i, a := range accounts {
		of[i] = ids[a]
	}
	return []any{platforms, of, paths, currencies}
}

// ForgetAccounts empties the cache of accounts. It is called when the database may be another one.
func (s *Store) ForgetAccounts() { s.accounts.clear() }

// IsOutdated reports whether err is the failure of a statement with cached ids of accounts that
// the database has not given, or has given to others. The cache is empty then, so the unit of
// work can be run again.
func IsOutdated(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "CW003"
}

// forgetOutdated empties the cache of accounts if err says that it is outdated, and returns err.
func (s *Store) forgetOutdated(err error) error {
	if IsOutdated(err) {
		s.ForgetAccounts()
	}
	return err
}

// Rows are inserted in the order of the arrays. An account that may not be overdrawn gets
// its balance row at the same time, so that there is always a row to lock.
const insertAccounts = `
WITH created AS (
    INSERT INTO ledger_accounts (platform_id, path, currency, class, no_overdraft)
    SELECT platform_id, path, currency, class, no_overdraft
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[]) WITH ORDINALITY
        AS w (platform_id, path, currency, class, no_overdraft, nth)
    ORDER BY nth
    ON CONFLICT DO NOTHING
    RETURNING platform_id, id, no_overdraft
)
INSERT INTO ledger_balances (platform_id, account_id)
SELECT platform_id, id FROM created WHERE no_overdraft`

func createAccounts(ctx context.Context, q Querier, accounts []ledger.Account) error {
	classes, noOverdraft := make([]string, len(accounts)), make([]bool, len(accounts))
	for i, a := range accounts {
		line, err := ledger.FindChartLine(a.Path)
		if err != nil {
			return err
		}
		classes[i], noOverdraft[i] = string(line.Class), line.NoOverdraft
	}
	platforms, paths, currencies := accountColumns(accounts)
	return query(ctx, q, insertAccounts, []any{platforms, paths, currencies, classes, noOverdraft}, nil)
}

func accountColumns(accounts []ledger.Account) (platforms uuidArray, paths, currencies []string) {
	for _, a := range accounts {
		platforms = append(platforms, pgUUID(a.Platform.UUID()))
		paths = append(paths, a.Path)
		currencies = append(currencies, string(a.Currency))
	}
	return platforms, paths, currencies
}

// accountCache holds committed accounts, up to maxCachedAccounts.
type accountCache struct {
	mu  sync.RWMutex
	ids accountIDs
}

const maxCachedAccounts = 50_000 // about 10 MB

func (c *accountCache) lookup(accounts []ledger.Account) (found accountIDs, missing []ledger.Account) {
	found = make(accountIDs, len(accounts))
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, a := range accounts {
		if id, ok := c.ids[a]; ok {
			found[a] = id
		} else {
			missing = append(missing, a)
		}
	}
	return found, missing
}

func (c *accountCache) add(accounts accountIDs) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids = accountIDs{}
	}
	if len(c.ids)+len(accounts) > maxCachedAccounts {
		// Accounts in use are cached again with their next posting.
		clear(c.ids)
	}
	maps.Copy(c.ids, accounts)
}

func (c *accountCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.ids)
}

// uuidArray is a uuid[] parameter that pgx writes without reflection.
type uuidArray = pgtype.FlatArray[pgtype.UUID]

// pgUUID is a UUID parameter; the zero UUID is NULL.
func pgUUID(u uuid.UUID) pgtype.UUID { return pgtype.UUID{Bytes: u, Valid: u != uuid.Nil} }

func platformID(u uuid.UUID) (p ident.Platform) {
	p.SetUUID(u)
	return p
}
