package ledgerdb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
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
func (b *Store) Balances(ctx context.Context, q Querier, accounts []ledger.Account, mode Mode) (map[ledger.Account]int64, error) {
	balances := make(map[ledger.Account]int64, len(accounts))
	for _, a := range accounts {
		line, err := ledger.FindChartLine(a.Path)
		if err != nil {
			return nil, err
		}
		if mode == Lock && !line.NoOverdraft {
			return nil, fmt.Errorf("lock balances: %s is not guarded and has none to lock", a)
		}
		balances[a] = 0
	}
	// An account that is to be held must exist, or somebody could post to it meanwhile.
	numbers, err := b.accountIDsOf(ctx, q, accounts, mode == Lock)
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
		return nil, fmt.Errorf("read balances: %w", translateError(err))
	}
	return balances, nil
}

const callLockBalances = `SELECT positions, balances FROM ledger_lock_balances($1, $2)`

func lockBalances(ctx context.Context, q Querier, accounts []ledger.Account, numbers accountIDs, into map[ledger.Account]int64) error {
	if len(accounts) == 0 {
		return nil
	}
	if err := prepare(ctx, q, callLockBalances); err != nil {
		return err
	}
	platforms, places := accountArrays(accounts, numbers)
	var found []int32
	var balances []int64
	if err := q.QueryRow(ctx, callLockBalances, platforms, places).Scan(&found, &balances); err != nil {
		return err
	}
	for i, place := range found {
		into[accounts[place-1]] = balances[i]
	}
	return nil
}

const readStoredBalances = `
SELECT w.position, b.balance
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w (platform_id, account_id, position)
JOIN ledger_balances b ON b.platform_id = w.platform_id AND b.account_id = w.account_id`

// currentBalance is the present balance of account a: guarded accounts have it; for the
// others it is the last checkpoint and what came since, in the months from a moment on.
// Rides on ledger_balances_pkey, ledger_checkpoints_pkey, ledger_entries_by_debit_account and
// ledger_entries_by_credit_account.
func currentBalance(since string) string {
	return `
CASE WHEN a.no_overdraft THEN (SELECT b.balance FROM ledger_balances b WHERE b.platform_id = a.platform_id AND b.account_id = a.id)
ELSE (
    SELECT coalesce(k.balance, 0) + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (
        (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
         WHERE e.platform_id = a.platform_id AND e.debit_account_id = a.id AND e.seq > coalesce(k.seq, 0) AND e.recorded_at >= ` + since + `)
      - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
         WHERE e.platform_id = a.platform_id AND e.credit_account_id = a.id AND e.seq > coalesce(k.seq, 0) AND e.recorded_at >= ` + since + `))
    FROM (SELECT) one
    LEFT JOIN LATERAL (
        SELECT k.seq, k.balance FROM ledger_balance_snapshots k
        WHERE k.platform_id = a.platform_id AND k.account_id = a.id
        ORDER BY k.seq DESC LIMIT 1
    ) k ON true
) END`
}

var readCurrentBalances = `
SELECT w.position, (` + currentBalance("$3") + `)::bigint
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w (platform_id, account_id, position)
JOIN ledger_accounts a ON a.platform_id = w.platform_id AND a.id = w.account_id`

// From when on entries are needed for present balances on any of several platforms. Rides
// on ledger_checkpointed_pkey.
const readSnapshotsCompleteTo = `SELECT min(k.months_complete_before) FROM ledger_snapshot_progress k WHERE k.platform_id = ANY ($1)`

// readBalances looks at the entries, in months of which there can be many, only if it must.
func readBalances(ctx context.Context, q Querier, accounts []ledger.Account, numbers accountIDs, into map[ledger.Account]int64) error {
	guarded, others := make([]ledger.Account, 0, len(accounts)), []ledger.Account(nil)
	for _, a := range accounts {
		line, err := ledger.FindChartLine(a.Path)
		if err != nil {
			return err
		}
		if line.NoOverdraft {
			guarded = append(guarded, a)
		} else {
			others = append(others, a)
		}
	}
	read := func(of []ledger.Account, statement string, args ...any) error {
		return query(ctx, q, statement, args, func(rows pgx.Rows) error {
			var place int
			var balance int64
			if err := rows.Scan(&place, &balance); err != nil {
				return err
			}
			into[of[place-1]] = balance
			return nil
		})
	}
	if len(guarded) > 0 {
		platforms, places := accountArrays(guarded, numbers)
		if err := read(guarded, readStoredBalances, platforms, places); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	platforms, places := accountArrays(others, numbers)
	var complete pgtype.Timestamptz
	if err := query(ctx, q, readSnapshotsCompleteTo, []any{platforms}, func(rows pgx.Rows) error { return rows.Scan(&complete) }); err != nil {
		return err
	}
	return read(others, readCurrentBalances, platforms, places, complete)
}

// What the books said of an account after a posting: its last checkpoint by then and the
// entries after that, all in the months from a moment on. Rides on ledger_checkpoints_pkey
// and, for the run of entries, on ledger_entries_by_debit_account and _credit.
const selectRecordedBalance = `
SELECT (coalesce(k.balance, 0) + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (
    (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.debit_account_id = $2 AND e.seq > coalesce(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5)
  - (SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
     WHERE e.platform_id = $1 AND e.credit_account_id = $2 AND e.seq > coalesce(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5)))::text
FROM ledger_accounts a
LEFT JOIN LATERAL (
    SELECT k.seq, k.balance FROM ledger_balance_snapshots k
    WHERE k.platform_id = $1 AND k.account_id = $2 AND k.seq <= $3
    ORDER BY k.seq DESC LIMIT 1
) k ON true
WHERE a.platform_id = $1 AND a.id = $2`

// balanceRecordedAt is what the books said at a moment.
func balanceRecordedAt(ctx context.Context, q Querier, platform uuid.UUID, m months, number int64, moment time.Time) (balance money.Total, err error) {
	s, err := recordedRange(ctx, q, platform, m, upTo(moment))
	if err != nil {
		return balance, err
	}
	s.from = m.entriesFrom(s.upto)
	from, until := s.timeBounds()
	return readTotal(ctx, q, selectRecordedBalance, pgUUID(platform), number, s.upto, from, until)
}

// What is now known to have been so at a moment. Each checkpoint closes a block that
// knows its earliest and latest effective time: blocks wholly before the moment count
// as a whole, blocks wholly after it not at all, and only those in between, and what
// came since the last, are read entry by entry. Rides on ledger_checkpoints_pkey.
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

// What was effective by a moment ($7) of the entries of an account in a stretch: debits less
// credits. Rides on ledger_entries_by_debit_account and _credit, and the primary keys of postings.
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

// balanceEffectiveAt is what is now known of a moment, from the blocks of the account: for
// accounts with few entries in a block.
func balanceEffectiveAt(ctx context.Context, q Querier, a ledger.Account, m months, line ledger.ChartLine, number int64, moment time.Time) (balance money.Total, err error) {
	var runs []seqRange
	err = query(ctx, q, blocksAround, []any{pgUUID(a.Platform.UUID()), number, moment}, func(rows pgx.Rows) error {
		var run seqRange
		var net string
		if err := rows.Scan(&run.after, &run.upto, &net); err != nil {
			return err
		}
		if net == "" {
			runs = append(runs, m.blockRange(run))
			return nil
		}
		whole, err := parseTotal(net)
		balance = balance.Add(whole)
		return err
	})
	for _, run := range runs {
		if err != nil {
			break
		}
		from, until := run.timeBounds()
		var debits money.Total
		debits, err = readTotal(ctx, q, sumEffectiveInRange, pgUUID(a.Platform.UUID()), number, run.after, run.upto, from, until, moment)
		balance = balance.Add(withClassSign(debits, line.Class))
	}
	return balance, err
}

// balanceAt reads the balance of an account at the end of a moment, with the sign of its
// class.
func balanceAt(ctx context.Context, q Querier, m months, a ledger.Account, number int64, by ports.TimeKind, moment time.Time) (money.Total, error) {
	moment = moment.UTC().Truncate(time.Microsecond)
	line, err := ledger.FindChartLine(a.Path)
	if err != nil {
		return money.Total{}, err
	}
	if err := m.checkAvailable(moment); err != nil {
		return money.Total{}, err
	}
	if by == ports.ByEffective && line.NoOverdraft { // few entries lie in a block of such an account
		return balanceEffectiveAt(ctx, q, a, m, line, number, moment)
	}
	balance, err := balanceRecordedAt(ctx, q, a.Platform.UUID(), m, number, moment)
	if err != nil || by == ports.ByRecorded {
		return balance, err
	}
	// Busy accounts have thousands of entries in a block, so what was recorded late is
	// looked for among all postings.
	debits, err := readAdjustment(ctx, q, a.Platform.UUID(), m, number, moment)
	return balance.Add(withClassSign(debits, line.Class)), err
}

// withClassSign turns debits less credits into what they add to an account of a class.
func withClassSign(debits money.Total, class ledger.Class) money.Total {
	if class.IsDebitNormal() {
		return debits
	}
	return debits.Neg()
}

// BalanceAt reads the balance of an account at the end of a moment, by recorded or by
// effective time, in minor units with the sign of its class. Errors: ledger.ErrNotInChart,
// ledger.ErrOverflow when it does not fit.
func (b *Store) BalanceAt(ctx context.Context, q Querier, account ledger.Account, by ports.TimeKind, moment time.Time) (int64, error) {
	if _, err := ledger.FindChartLine(account.Path); err != nil {
		return 0, err
	}
	numbers, err := b.accountIDsOf(ctx, q, []ledger.Account{account}, false)
	if err != nil {
		return 0, err
	}
	number, exists := numbers[account]
	if !exists {
		return 0, nil
	}
	m, err := loadMonths(ctx, q, account.Platform.UUID())
	if err != nil {
		return 0, err
	}
	balance, err := balanceAt(ctx, q, m, account, number, by, moment)
	if err != nil {
		return 0, fmt.Errorf("read the balance of %s: %w", account, translateError(err))
	}
	minor, fits := balance.Minor()
	if !fits {
		return 0, fmt.Errorf("read the balance of %s: %w", account, ledger.ErrOverflow)
	}
	return minor, nil
}

// readTotal reads one whole number of any size.
func readTotal(ctx context.Context, q Querier, statement string, args ...any) (t money.Total, err error) {
	err = query(ctx, q, statement, args, func(rows pgx.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		t, err = parseTotal(text)
		return err
	})
	return t, err
}

func accountArrays(accounts []ledger.Account, numbers accountIDs) (platforms uuidArray, ids []int64) {
	for _, a := range accounts {
		platforms = append(platforms, pgUUID(a.Platform.UUID()))
		ids = append(ids, numbers[a])
	}
	return platforms, ids
}
