package ledgerdb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Mode says whether balances are only read or also locked.
type Mode int

// The modes.
const (
	// Read takes no lock.
	Read Mode = iota
	// Lock locks the balances against all other writers until the transaction ends. Only
	// accounts that may not be overdrawn have a balance to lock.
	Lock
)

// Balances reads the current balance of each account, in minor units with the sign of its
// class; zero for an account without postings. Errors: ledger.ErrNotInChart, and
// ledger.ErrOverflow if a balance does not fit.
func (s *Store) Balances(ctx context.Context, q Querier, accounts []ledger.Account, mode Mode) (map[ledger.Account]int64, error) {
	balances := make(map[ledger.Account]int64, len(accounts))
	for _, a := range accounts {
		line, err := ledger.FindChartLine(a.Path)
		if err != nil {
			return nil, err
		}
		if mode == Lock && !line.NoOverdraft {
			return nil, fmt.Errorf("lock balances: %s may be overdrawn and has no balance to lock", a)
		}
		balances[a] = 0
	}
	var err error
	if mode == Lock {
		err = s.lockBalances(ctx, q, accounts, balances)
	} else {
		err = readBalances(ctx, q, accounts, balances)
	}
	if err != nil {
		return nil, fmt.Errorf("read balances: %w", translateError(err))
	}
	return balances, nil
}

var callLockBalances = `SELECT l.positions, l.balances FROM ` + accountsProved("$1", "$2", "$3", "$4") + `
CROSS JOIN LATERAL ledger_lock_balances(CASE WHEN proved.ok THEN $1::uuid[] END, $2::bigint[]) AS l`

func (s *Store) lockBalances(ctx context.Context, q Querier, accounts []ledger.Account, into map[ledger.Account]int64) error {
	// An account to be locked must exist, or another transaction could post to it.
	ids, err := s.ensureAccountIDs(ctx, q, accounts)
	if err != nil || len(ids) == 0 {
		return err
	}
	// In the order in which postings lock them.
	accounts = slices.SortedFunc(maps.Keys(ids), ledger.Account.Compare)
	if err := prepare(ctx, q, callLockBalances); err != nil {
		return err
	}
	var found []int32
	var balances []int64
	if err := q.QueryRow(ctx, callLockBalances, accountProof(accounts, ids)...).Scan(&found, &balances); err != nil {
		return s.forgetOutdated(err)
	}
	for i, position := range found {
		into[accounts[position-1]] = balances[i]
	}
	return nil
}

// accountsByPath are the accounts of the parameters $1 to $3 that exist, with their positions.
// Uses ledger_account_path_and_currency_unique.
const accountsByPath = `unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS w (platform_id, path, currency, position)
JOIN ledger_accounts a ON a.platform_id = w.platform_id AND a.path = w.path AND a.currency = w.currency`

const readStoredBalances = `
SELECT w.position, b.balance
FROM ` + accountsByPath + `
JOIN ledger_balances b ON b.platform_id = a.platform_id AND b.account_id = a.id`

// currentBalance returns an expression for the current balance of account a. It is stored
// for accounts that may not be overdrawn; for the others it is the last snapshot and the
// entries after it, which were recorded from since on. Uses ledger_balances_pkey,
// ledger_balance_snapshots_pkey, ledger_entries_by_debit_account and
// ledger_entries_by_credit_account.
func currentBalance(since string) string {
	return `
CASE WHEN a.no_overdraft THEN (SELECT b.balance FROM ledger_balances b WHERE b.platform_id = a.platform_id AND b.account_id = a.id)
ELSE (
    SELECT coalesce(k.balance, 0) + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (
        (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
         WHERE e.platform_id = a.platform_id AND e.debit_account_id = a.id AND e.seq > greatest(k.seq, 0) AND e.recorded_at >= ` +
		since + `)
      - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
         WHERE e.platform_id = a.platform_id AND e.credit_account_id = a.id AND e.seq > greatest(k.seq, 0) AND e.recorded_at >= ` +
		since + `))
    FROM (SELECT) one
    LEFT JOIN LATERAL (
        SELECT k.seq, k.balance FROM ledger_balance_snapshots k
        WHERE k.platform_id = a.platform_id AND k.account_id = a.id
        ORDER BY k.seq DESC LIMIT 1
    ) k ON true
) END`
}

var readCurrentBalances = `
SELECT w.position, (` + currentBalance("$4") + `)::bigint
FROM ` + accountsByPath

// The recorded time from which entries are needed for current balances on any of several
// platforms. Uses ledger_snapshot_progress_pkey.
const readSnapshotsCompleteTo = `SELECT min(k.months_complete_before) FROM ledger_snapshot_progress k WHERE k.platform_id = ANY ($1)`

// readBalances reads entries, of possibly many months, only for accounts without a stored
// balance.
func readBalances(ctx context.Context, q Querier, accounts []ledger.Account, into map[ledger.Account]int64) error {
	stored, others := make([]ledger.Account, 0, len(accounts)), []ledger.Account(nil)
	for _, a := range accounts {
		line, err := ledger.FindChartLine(a.Path)
		if err != nil {
			return err
		}
		if line.NoOverdraft {
			stored = append(stored, a)
		} else {
			others = append(others, a)
		}
	}
	read := func(of []ledger.Account, statement string, args ...any) error {
		return query(ctx, q, statement, args, func(rows pgx.Rows) error {
			var position int
			var balance int64
			if err := rows.Scan(&position, &balance); err != nil {
				return err
			}
			into[of[position-1]] = balance
			return nil
		})
	}
	if len(stored) > 0 {
		platforms, paths, currencies := accountColumns(stored)
		if err := read(stored, readStoredBalances, platforms, paths, currencies); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	platforms, paths, currencies := accountColumns(others)
	var complete pgtype.Timestamptz
	if err := query(ctx, q, readSnapshotsCompleteTo, []any{platforms}, func(rows pgx.Rows) error { return rows.Scan(&complete) }); err != nil {
		return err
	}
	return read(others, readCurrentBalances, platforms, paths, currencies, complete)
}

// The balance of an account after a posting: its last snapshot at or before the posting and
// the entries after that, within bounds of recorded time. Uses ledger_balance_snapshots_pkey,
// ledger_entries_by_debit_account and ledger_entries_by_credit_account.
const selectRecordedBalance = `
SELECT (coalesce(k.balance, 0) + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (
    (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.debit_account_id = $2 AND e.seq > greatest(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5)
  - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.credit_account_id = $2 AND e.seq > greatest(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5)))::text
FROM ledger_accounts a
LEFT JOIN LATERAL (
    SELECT k.seq, k.balance FROM ledger_balance_snapshots k
    WHERE k.platform_id = $1 AND k.account_id = $2 AND k.seq <= $3
    ORDER BY k.seq DESC LIMIT 1
) k ON true
WHERE a.platform_id = $1 AND a.id = $2`

// balanceRecordedAt returns the balance from all entries recorded up to a time.
func balanceRecordedAt(ctx context.Context, q Querier, platform uuid.UUID, m months, accountID int64,
	at time.Time) (balance money.Total, err error) {
	s, err := recordedRange(ctx, q, platform, m, upTo(at))
	if err != nil {
		return balance, err
	}
	s.from = m.entriesFrom(s.upto)
	from, until := s.timeBounds()
	return readTotal(ctx, q, selectRecordedBalance, pgUUID(platform), accountID, s.upto, from, until)
}

// The blocks of an account for a balance by effective time. Each snapshot ends a block and
// has its earliest and latest effective time. Blocks before the time count with their net
// change, blocks after it not at all. Blocks that span it, and the entries after the last
// snapshot, have no net change here: they are read entry by entry. Uses
// ledger_balance_snapshots_pkey.
const blocksAround = `
SELECT after, upto, CASE WHEN latest <= $3 THEN net::text ELSE '' END FROM (
    SELECT lag(k.seq, 1, 0::bigint) OVER w AS after, k.seq AS upto, k.balance - lag(k.balance, 1, 0::numeric) OVER w AS net, k.earliest_effective_at AS earliest, k.latest_effective_at AS latest
    FROM ledger_balance_snapshots k
    WHERE k.platform_id = $1 AND k.account_id = $2
    WINDOW w AS (ORDER BY k.seq)
) blocks
WHERE earliest <= $3
UNION ALL
SELECT coalesce(max(k.seq), 0), 9223372036854775806, '' FROM ledger_balance_snapshots k WHERE k.platform_id = $1 AND k.account_id = $2
ORDER BY 1`

// Debits minus credits of an account's entries in a range that were effective by a time
// ($7). Uses ledger_entries_by_debit_account, ledger_entries_by_credit_account and the
// primary keys of postings.
const sumEffectiveInRange = `
SELECT (
    (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.debit_account_id = $2 AND e.seq > $3 AND e.seq <= $4 AND e.recorded_at >= $5 AND e.recorded_at < $6
       AND (SELECT p.effective_at FROM ledger_postings p
            WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $5 AND p.recorded_at < $6) <= $7)
  - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.credit_account_id = $2 AND e.seq > $3 AND e.seq <= $4 AND e.recorded_at >= $5 AND e.recorded_at < $6
       AND (SELECT p.effective_at FROM ledger_postings p
            WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $5 AND p.recorded_at < $6) <= $7))::text`

// balanceEffectiveAt returns the balance from all entries effective up to a time, block by
// block. It is for accounts with few entries in a block.
func balanceEffectiveAt(ctx context.Context, q Querier, a ledger.Account, m months, line ledger.ChartLine, accountID int64,
	at time.Time) (balance money.Total, err error) {
	var ranges []seqRange
	err = query(ctx, q, blocksAround, []any{pgUUID(a.Platform.UUID()), accountID, at}, func(rows pgx.Rows) error {
		var r seqRange
		var net string
		if err := rows.Scan(&r.after, &r.upto, &net); err != nil {
			return err
		}
		if net == "" {
			ranges = append(ranges, m.blockRange(r))
			return nil
		}
		netChange, err := parseTotal(net)
		balance = balance.Add(netChange)
		return err
	})
	for _, r := range ranges {
		if err != nil {
			break
		}
		from, until := r.timeBounds()
		var debits money.Total
		debits, err = readTotal(ctx, q, sumEffectiveInRange, pgUUID(a.Platform.UUID()), accountID, r.after, r.upto, from, until, at)
		balance = balance.Add(line.Class.Balance(debits, money.Total{}))
	}
	return balance, err
}

// balanceAt reads the balance of an account at a time, inclusive, with the sign of its class.
func balanceAt(ctx context.Context, q Querier, m months, a ledger.Account, accountID int64, by ports.TimeKind,
	at time.Time) (money.Total, error) {
	at = at.UTC().Truncate(time.Microsecond)
	line, err := ledger.FindChartLine(a.Path)
	if err != nil {
		return money.Total{}, err
	}
	if err := m.checkAvailable(at); err != nil {
		return money.Total{}, err
	}
	if by == ports.ByEffective && line.NoOverdraft { // such an account has few entries in a block
		return balanceEffectiveAt(ctx, q, a, m, line, accountID, at)
	}
	balance, err := balanceRecordedAt(ctx, q, a.Platform.UUID(), m, accountID, at)
	if err != nil || by == ports.ByRecorded {
		return balance, err
	}
	// Busy accounts have thousands of entries in a block, so backdated entries are looked up
	// among those of all accounts.
	debits, err := readAdjustment(ctx, q, a.Platform.UUID(), m, accountID, at)
	return balance.Add(line.Class.Balance(debits, money.Total{})), err
}

// BalanceAt reads the balance of an account at a time, inclusive, by recorded or by effective
// time, in minor units with the sign of its class. Errors: ledger.ErrNotInChart, and
// ledger.ErrOverflow if it does not fit.
func (s *Store) BalanceAt(ctx context.Context, q Querier, account ledger.Account, by ports.TimeKind, at time.Time) (int64, error) {
	if _, err := ledger.FindChartLine(account.Path); err != nil {
		return 0, err
	}
	ids, err := readAccountIDs(ctx, q, []ledger.Account{account})
	if err != nil {
		return 0, err
	}
	accountID, exists := ids[account]
	if !exists {
		return 0, nil
	}
	m, err := loadMonths(ctx, q, account.Platform.UUID())
	if err != nil {
		return 0, err
	}
	balance, err := balanceAt(ctx, q, m, account, accountID, by, at)
	if err != nil {
		return 0, fmt.Errorf("read the balance of %s: %w", account, translateError(err))
	}
	minor, fits := balance.Minor()
	if !fits {
		return 0, fmt.Errorf("read the balance of %s: %w", account, ledger.ErrOverflow)
	}
	return minor, nil
}

// readTotal reads one integer of any size.
func readTotal(ctx context.Context, q Querier, statement string, args ...any) (t money.Total, err error) {
	err = query(ctx, q, statement, args, func(rows pgx.Rows) error { return rows.Scan(&t) })
	return t, err
}
