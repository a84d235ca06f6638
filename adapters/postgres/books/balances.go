package books

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/ledger"
	"causeway/ports"
)

// Mode says whether balances are only read or also held.
type Mode int

// The modes.
const (
	// Read takes no lock.
	Read Mode = iota
	// Lock holds the balances against every other writer until the transaction ends.
	// Guarded accounts alone have something to hold.
	Lock
)

// Balances reads the present balance of each account, in minor units with the sign of
// its class; zero for an account never posted to. Errors: ledger.ErrNotInChart,
// ledger.ErrOverflow when a balance does not fit.
func (b *Books) Balances(ctx context.Context, q Querier, accounts []ledger.Account, mode Mode) (map[ledger.Account]int64, error) {
	balances := make(map[ledger.Account]int64, len(accounts))
	for _, a := range accounts {
		line, err := ledger.Find(a.Path)
		if err != nil {
			return nil, err
		}
		if mode == Lock && !line.Guarded {
			return nil, fmt.Errorf("lock balances: %s is not guarded and has none to lock", a)
		}
		balances[a] = 0
	}
	// An account that is to be held must exist, or somebody could post to it meanwhile.
	numbers, err := b.numbersOf(ctx, q, accounts, mode == Lock)
	if err != nil {
		return nil, err
	}
	// In the order in which postings lock them, whoever asks.
	existing := make([]ledger.Account, 0, len(numbers))
	for a := range numbers {
		existing = append(existing, a)
	}
	slices.SortFunc(existing, ledger.Account.Compare)

	if mode == Lock {
		err = lockBalances(ctx, q, existing, numbers, balances)
	} else {
		err = readBalances(ctx, q, existing, numbers, balances)
	}
	if err != nil {
		return nil, fmt.Errorf("read balances: %w", named(err))
	}
	return balances, nil
}

const callLock = `SELECT places, balances FROM ledger_lock_balances($1, $2)`

func lockBalances(ctx context.Context, q Querier, accounts []ledger.Account, numbers numbers, into map[ledger.Account]int64) error {
	if len(accounts) == 0 {
		return nil
	}
	if err := prepare(ctx, q, callLock); err != nil {
		return err
	}
	platforms, places := numbered(accounts, numbers)
	var found []int32
	var balances []int64
	if err := q.QueryRow(ctx, callLock, platforms, places).Scan(&found, &balances); err != nil {
		return err
	}
	for i, place := range found {
		into[accounts[place-1]] = balances[i]
	}
	return nil
}

// Guarded accounts have their balance; for the others it is the last checkpoint and
// what came since. Rides on ledger_balances_pkey, ledger_checkpoints_pkey,
// ledger_entries_debit and ledger_entries_credit.
const presentBalance = `
CASE WHEN a.guarded THEN (SELECT b.balance FROM ledger_balances b WHERE b.platform_id = a.platform_id AND b.account_id = a.id)
ELSE (
    SELECT coalesce(k.balance, 0) + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (
        (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
         WHERE e.platform_id = a.platform_id AND e.debit_account = a.id AND e.seq > coalesce(k.seq, 0))
      - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
         WHERE e.platform_id = a.platform_id AND e.credit_account = a.id AND e.seq > coalesce(k.seq, 0)))
    FROM (SELECT) one
    LEFT JOIN LATERAL (
        SELECT k.seq, k.balance FROM ledger_checkpoints k
        WHERE k.platform_id = a.platform_id AND k.account_id = a.id
        ORDER BY k.seq DESC LIMIT 1
    ) k ON true
) END::bigint`

const readPresent = `
SELECT w.place, ` + presentBalance + `
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w (platform_id, account_id, place)
JOIN ledger_accounts a ON a.platform_id = w.platform_id AND a.id = w.account_id`

func readBalances(ctx context.Context, q Querier, accounts []ledger.Account, numbers numbers, into map[ledger.Account]int64) error {
	if len(accounts) == 0 {
		return nil
	}
	platforms, places := numbered(accounts, numbers)
	return planned(ctx, q, readPresent, []any{platforms, places}, func(rows pgx.Rows) error {
		var place int
		var balance int64
		if err := rows.Scan(&place, &balance); err != nil {
			return err
		}
		into[accounts[place-1]] = balance
		return nil
	})
}

// What the books said at a moment: rides on ledger_checkpoints_pkey for one checkpoint
// and, for the run of entries after it, on ledger_entries_debit and _credit.
const balanceRecorded = `
SELECT (coalesce(k.balance, 0) + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (
    (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = a.platform_id AND e.debit_account = a.id AND e.seq > coalesce(k.seq, 0) AND e.seq <= upto.seq)
  - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = a.platform_id AND e.credit_account = a.id AND e.seq > coalesce(k.seq, 0) AND e.seq <= upto.seq)))::bigint
FROM ledger_accounts a
CROSS JOIN (SELECT ledger_seq_at($1, $3) AS seq) upto
LEFT JOIN LATERAL (
    SELECT k.seq, k.balance FROM ledger_checkpoints k
    WHERE k.platform_id = a.platform_id AND k.account_id = a.id AND k.seq <= upto.seq
    ORDER BY k.seq DESC LIMIT 1
) k ON true
WHERE a.platform_id = $1 AND a.id = $2`

// What is now known to have been so at a moment. Each checkpoint closes a block that
// knows its earliest and latest effective time: blocks wholly before the moment count
// as a whole, blocks wholly after it not at all, and only those in between, and what
// came since the last, are read entry by entry. Rides on ledger_checkpoints_pkey,
// ledger_entries_debit and _credit, and ledger_posting_seq_unique.
const balanceEffective = `
WITH blocks AS MATERIALIZED (
    SELECT k.seq AS upto, lag(k.seq, 1, 0::bigint) OVER w AS after, k.balance - lag(k.balance, 1, 0::numeric) OVER w AS net, k.earliest, k.latest
    FROM ledger_checkpoints k
    WHERE k.platform_id = $1 AND k.account_id = $2
    WINDOW w AS (ORDER BY k.seq)
), runs AS MATERIALIZED (
    SELECT after, upto FROM blocks WHERE earliest <= $3 AND latest > $3
    UNION ALL
    SELECT coalesce(max(upto), 0), 9223372036854775807 FROM blocks
)
SELECT (coalesce((SELECT sum(net) FROM blocks WHERE latest <= $3), 0)
    + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (SELECT sum(d.amount - c.amount) FROM runs
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
        WHERE e.platform_id = $1 AND e.debit_account = $2 AND e.seq > runs.after AND e.seq <= runs.upto
          AND (SELECT p.effective_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = e.seq) <= $3
    ) d
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
        WHERE e.platform_id = $1 AND e.credit_account = $2 AND e.seq > runs.after AND e.seq <= runs.upto
          AND (SELECT p.effective_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = e.seq) <= $3
    ) c))::bigint
FROM ledger_accounts a
WHERE a.platform_id = $1 AND a.id = $2`

// BalanceAt reads the balance of an account at the end of a moment, by recorded or by
// effective time, in minor units with the sign of its class.
func (b *Books) BalanceAt(ctx context.Context, q Querier, account ledger.Account, by ports.TimeKind, moment time.Time) (balance int64, err error) {
	if _, err := ledger.Find(account.Path); err != nil {
		return 0, err
	}
	numbers, err := b.numbersOf(ctx, q, []ledger.Account{account}, false)
	if err != nil {
		return 0, err
	}
	number, exists := numbers[account]
	if !exists {
		return 0, nil
	}
	statement := balanceRecorded
	if by == ports.ByEffective {
		statement = balanceEffective
	}
	args := []any{dbID(account.Platform.UUID()), number, moment.UTC().Truncate(time.Microsecond)}
	err = planned(ctx, q, statement, args, func(rows pgx.Rows) error { return rows.Scan(&balance) })
	if err != nil {
		return 0, fmt.Errorf("read the balance of %s: %w", account, named(err))
	}
	return balance, nil
}

func numbered(accounts []ledger.Account, numbers numbers) (platforms uuids, ids []int64) {
	for _, a := range accounts {
		platforms = append(platforms, dbID(a.Platform.UUID()))
		ids = append(ids, numbers[a])
	}
	return platforms, ids
}
