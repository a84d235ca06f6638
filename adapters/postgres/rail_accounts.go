package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/corridor"
	"causeway/core/rail"
)

func compareAccounts(a, b rail.AccountKey) int {
	return cmp.Or(strings.Compare(a.Connection, b.Connection), strings.Compare(string(a.Currency), string(b.Currency)))
}

const (
	insertRailAccounts = `INSERT INTO rail_accounts (connection, currency) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`
	lockRailAccounts   = `SELECT FROM rail_accounts JOIN unnest($1::text[], $2::text[]) AS k(connection, currency) USING (connection, currency)
		ORDER BY connection, currency FOR UPDATE OF rail_accounts`

	// railBalance is the last balance of an account k that its partner has reported or an operator has set, by primary keys.
	railBalance = `LEFT JOIN LATERAL (
		(SELECT amount, at FROM rail_balances b WHERE b.connection = k.connection AND b.currency = k.currency ORDER BY day DESC LIMIT 1)
		UNION ALL
		(SELECT amount, at FROM rail_opening_balances b WHERE b.connection = k.connection AND b.currency = k.currency ORDER BY at DESC LIMIT 1)
		ORDER BY at DESC LIMIT 1) AS balance ON true`

	// movedSince is what an account k has moved since its balance. It uses rail_payments_settled, rail_payments_returned and those of
	// rail_receipts,
	// and reads only what was settled since, which is little because balances are reported daily at least.
	movedSince = `(SELECT coalesce(sum(CASE kind WHEN 'COLLECTION' THEN amount ELSE -amount END), 0) FROM rail_payments p
			WHERE p.connection = k.connection AND p.currency = k.currency AND p.settled_at > balance.at AND p.state IN ('DONE', 'RETURNED'))
		+ (SELECT coalesce(sum(CASE kind WHEN 'COLLECTION' THEN -amount ELSE amount END), 0) FROM rail_payments p
			WHERE p.connection = k.connection AND p.currency = k.currency AND p.returned_at > balance.at)
		+ (SELECT coalesce(sum(amount), 0) FROM rail_receipts r WHERE r.connection = k.connection AND r.currency = k.currency AND r.received_at > balance.at)
		- (SELECT coalesce(sum(amount), 0) FROM rail_receipts r WHERE r.connection = k.connection AND r.currency = k.currency AND r.reversed_at > balance.at)`

	// railAccounts reads accounts k. It counts what moved anew if there is a new balance.
	railAccounts = `SELECT connection, currency, coalesce(balance.amount, 0), balance.at, a.in_flight,
			CASE WHEN balance.at IS NOT DISTINCT FROM a.balance_at THEN a.moved ELSE ` + movedSince + ` END::bigint,
			EXISTS (SELECT FROM rail_payments p WHERE p.connection = k.connection AND p.currency = k.currency AND p.state = 'QUEUED' AND p.wait = 'FUNDS' AND NOT p.forced)
		FROM %s AS k(connection, currency) JOIN rail_accounts a USING (connection, currency) ` + railBalance

	// readRailUsage uses the primary key: the hours of the present day.
	readRailUsage = `SELECT connection, currency, rail, coalesce(sum(amount) FILTER (WHERE hour >= $4), 0)::bigint, sum(amount)::bigint
		FROM rail_usage JOIN unnest($1::text[], $2::text[]) AS k(connection, currency) USING (connection, currency)
		WHERE hour >= $3 GROUP BY connection, currency, rail`
)

var (
	readRailAccounts    = fmt.Sprintf(railAccounts, `unnest($1::text[], $2::text[])`)
	readAllRailAccounts = fmt.Sprintf(railAccounts, `(SELECT connection, currency FROM rail_accounts)`)
)

func accountColumns(keys []rail.AccountKey) []any {
	return schema.Arrays(keys, func(k *rail.AccountKey) []any { return []any{&k.Connection, &k.Currency} })
}

// LockRailAccounts implements connections.Tx. The accounts are read by statements after the one that locks them,
// so that they are as the last unit of work has left them.
func (u *Unit) LockRailAccounts(ctx context.Context, keys []rail.AccountKey, now time.Time) (map[rail.AccountKey]*rail.Account, error) {
	accounts := make(map[rail.AccountKey]*rail.Account, len(keys))
	if len(keys) == 0 {
		return accounts, nil
	}
	columns := accountColumns(sortedAccounts(keys))
	u.queueExec(insertRailAccounts, columns...)
	u.queueExec(lockRailAccounts, columns...)
	u.queueQuery(readRailAccounts, columns, func(rows pgx.Rows) error {
		var a rail.Account
		err := scanRailAccount(rows, &a)
		accounts[a.AccountKey] = &a
		return err
	})
	err := u.query(ctx, readRailUsage, append(columns, usageTimes(now)...), func(rows pgx.Rows) error { return scanRailUsage(rows, accounts) })
	return accounts, err
}

// usageTimes returns the beginning of the day and of the hour.
func usageTimes(now time.Time) []any {
	return []any{now.UTC().Truncate(24 * time.Hour), now.UTC().Truncate(time.Hour)}
}

func scanRailAccount(rows pgx.Rows, a *rail.Account) error {
	return rows.Scan(&a.Connection, &a.Currency, &a.Balance, &a.BalanceAt, &a.InFlight, &a.Moved, &a.Waiting)
}

func scanRailUsage(rows pgx.Rows, accounts map[rail.AccountKey]*rail.Account) error {
	var key rail.AccountKey
	var r corridor.Rail
	var usage rail.Usage
	if err := rows.Scan(&key.Connection, &key.Currency, &r, &usage.Hour, &usage.Day); err != nil {
		return err
	}
	if a := accounts[key]; a.Usage == nil {
		a.Usage = map[corridor.Rail]rail.Usage{}
	}
	accounts[key].Usage[r] = usage
	return nil
}

func scanAccountKey(rows pgx.Rows, k *rail.AccountKey) error {
	return rows.Scan(&k.Connection, &k.Currency)
}

// SaveRailAccounts implements connections.Tx.
func (u *Unit) SaveRailAccounts(_ context.Context, accounts map[rail.AccountKey]*rail.Account, paidOut []rail.Payment,
	now time.Time) error {
	for _, key := range slices.SortedFunc(maps.Keys(accounts), compareAccounts) {
		a := accounts[key]
		u.queueExec(`UPDATE rail_accounts SET balance_at = $3, in_flight = $4, moved = $5 WHERE connection = $1 AND currency = $2`,
			a.Connection, a.Currency, a.BalanceAt, a.InFlight, a.Moved)
	}
	type bucket struct {
		rail.AccountKey
		rail corridor.Rail
	}
	sums := map[bucket]int64{}
	for _, p := range paidOut {
		if p.Kind.IsOutgoing() {
			sums[bucket{p.Account(), p.Rail}] += p.Amount.Minor
		}
	}
	for b, amount := range sums {
		u.queueExec(`INSERT INTO rail_usage AS u (connection, currency, hour, rail, amount) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (connection, currency, hour, rail) DO UPDATE SET amount = u.amount + EXCLUDED.amount`,
			b.Connection, b.Currency, now.UTC().Truncate(time.Hour), b.rail, amount)
	}
	return nil
}

// RailAccounts implements rails.Store.
func (db *DB) RailAccounts(ctx context.Context, connection string, now time.Time) ([]rail.Account, error) {
	keys, err := storage.Collect(ctx, db.read, `SELECT connection, currency FROM rail_accounts WHERE connection = $1 ORDER BY currency`,
		[]any{connection}, scanAccountKey)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	columns := accountColumns(keys)
	listed, err := storage.Collect(ctx, db.read, readRailAccounts, columns, scanRailAccount)
	if err != nil {
		return nil, err
	}
	accounts := map[rail.AccountKey]*rail.Account{}
	for i := range listed {
		accounts[listed[i].AccountKey] = &listed[i]
	}
	err = db.read(ctx, readRailUsage, append(columns, usageTimes(now)...), func(rows pgx.Rows) error { return scanRailUsage(rows, accounts) })
	found := make([]rail.Account, 0, len(accounts))
	for _, key := range slices.SortedFunc(maps.Keys(accounts), compareAccounts) {
		found = append(found, *accounts[key])
	}
	return found, err
}
