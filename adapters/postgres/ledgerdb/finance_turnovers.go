package ledgerdb

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// turnoverPageSize is the number of accounts that a report has in memory.
const turnoverPageSize = 5_000

const (
	turnoverAccounts = `
DECLARE turnover_accounts NO SCROLL CURSOR FOR SELECT a.id, a.path, a.currency, a.class FROM ledger_accounts a
WHERE a.platform_id = $1 AND ($2 = '' OR a.class = $2)
ORDER BY a.currency COLLATE "C", a.path COLLATE "C"`

	turnoverAccount = `
DECLARE turnover_accounts NO SCROLL CURSOR FOR SELECT a.id, a.path, a.currency, a.class FROM ledger_accounts a
WHERE a.platform_id = $1 AND a.path = $2 AND a.currency = $3`

	// The debits and credits of each account up to a posting: its last snapshot at or before
	// the posting (ledger_balance_snapshots_pkey) and the entries after that, within bounds
	// of recorded time (ledger_entries_by_debit_account, ledger_entries_by_credit_account).
	// One statement for each posting and page of accounts ($2): the rows around it are on few
	// pages, whatever the account.
	turnoversUpto = `
SELECT a.id, (coalesce(k.debit_total, 0) + d.amount)::text, (coalesce(k.credits, 0) + c.amount)::text
FROM ledger_accounts a
LEFT JOIN LATERAL (
    SELECT k.seq, k.debit_total, k.debit_total - CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * k.balance AS credits FROM ledger_balance_snapshots k
    WHERE k.platform_id = $1 AND k.account_id = a.id AND k.seq <= $3
    ORDER BY k.seq DESC LIMIT 1
) k ON true
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > greatest(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5
) d
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > greatest(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5
) c
WHERE a.platform_id = $1 AND a.id = ANY($2)`

	// Corrects totals by recorded time to totals by effective time at a time ($2): adds
	// entries recorded after it and effective by then, and subtracts entries recorded by then
	// and effective later. Most are found around the time ($3 to $6, by the primary keys),
	// backdated ones by ledger_backdated_entries_by_gap.
	effectiveAdjustments = `
WITH moves AS (
    SELECT e.debit_account_id, e.credit_account_id, CASE WHEN p.recorded_at > $2 THEN e.amount ELSE -e.amount END AS amount
    FROM ledger_postings p
    JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = p.seq AND e.recorded_at = p.recorded_at AND e.recorded_at >= $5 AND e.recorded_at < $6
    WHERE p.platform_id = $1 AND p.seq > $3 AND p.seq <= $4 AND p.recorded_at >= $5 AND p.recorded_at < $6
      AND (p.recorded_at > $2) <> (p.effective_at > $2) AND NOT ` + backdatedCondition + `
    UNION ALL
    SELECT y.debit_account_id, y.credit_account_id, CASE WHEN y.recorded_at > $2 THEN y.amount ELSE -y.amount END FROM ledger_entries_spanning($1, $2) y
)`
	turnoverAdjustments = effectiveAdjustments + `
SELECT side.id, sum(side.debit)::text, sum(side.credit)::text
FROM moves m
CROSS JOIN LATERAL (VALUES (m.debit_account_id, m.amount, 0), (m.credit_account_id, 0, m.amount)) side (id, debit, credit)
GROUP BY side.id`
	// The same for one account: debits minus credits.
	accountAdjustment = effectiveAdjustments + `
SELECT coalesce(sum(CASE WHEN m.debit_account_id = $7 THEN m.amount ELSE -m.amount END), 0)::text
FROM moves m WHERE $7 IN (m.debit_account_id, m.credit_account_id)`
)

// adjustmentArgs returns the arguments of effectiveAdjustments.
func adjustmentArgs(ctx context.Context, q Querier, platform uuid.UUID, m months, at time.Time) ([]any, error) {
	recorded, err := recordedRange(ctx, q, platform, m, m.widen(period.Interval{From: at, To: upTo(at).To}))
	from, until := recorded.timeBounds()
	return []any{pgUUID(platform), at, recorded.after, recorded.upto, from, until}, err
}

// readAdjustment returns the correction of an account's balance by recorded time to that by
// effective time: debits minus credits.
func readAdjustment(ctx context.Context, q Querier, platform uuid.UUID, m months, accountID int64, at time.Time) (money.Total, error) {
	args, err := adjustmentArgs(ctx, q, platform, m, at)
	if err != nil {
		return money.Total{}, err
	}
	return readTotal(ctx, q, accountAdjustment, append(args, accountID)...)
}

// Turnovers implements accounting.Finance. It reads the accounts page by page, in one snapshot.
func (r *Reader) Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []ports.Cutoff,
	each func(ports.AccountTurnovers) error) error {
	return r.turnovers(ctx, accountsOfClass(p, class), cuts, func(Querier) error { return nil }, each)
}

// AccountTurnovers implements accounting.Finance.
func (r *Reader) AccountTurnovers(ctx context.Context, account ledger.Account, cuts []ports.Cutoff) (
	turnovers []ports.Turnover, err error) {
	turnovers = make([]ports.Turnover, len(cuts))
	one := turnoverSelection{platform: account.Platform, cursor: turnoverAccount,
		args: []any{account.Platform, account.Path, string(account.Currency)}}
	err = r.turnovers(ctx, one, cuts, func(Querier) error { return nil }, func(a ports.AccountTurnovers) error {
		turnovers = a.Turnovers
		return nil
	})
	return turnovers, err
}

// turnoverSelection is the accounts of a platform of which turnovers are read, with the statement that declares their cursor.
type turnoverSelection struct {
	platform ident.Platform
	cursor   string
	args     []any
}

func accountsOfClass(p ident.Platform, class ledger.Class) turnoverSelection {
	return turnoverSelection{platform: p, cursor: turnoverAccounts, args: []any{p, string(class)}}
}

// turnovers calls first with the snapshot that the turnovers are then read from.
func (r *Reader) turnovers(ctx context.Context, accounts turnoverSelection, cuts []ports.Cutoff, first func(Querier) error,
	each func(ports.AccountTurnovers) error) error {
	err := r.readOnly(ctx, func(q Querier) error {
		if err := first(q); err != nil {
			return err
		}
		t := turnoverReport{platform: accounts.platform, cutoffs: cuts}
		if err := t.findRanges(ctx, q); err != nil {
			return err
		}
		if err := t.findAdjustments(ctx, q); err != nil {
			return err
		}
		if err := query(ctx, q, accounts.cursor, accounts.args, nil); err != nil {
			return err
		}
		for full := true; full; {
			if err := t.nextAccounts(ctx, q); err != nil {
				return err
			}
			if err := t.addRecorded(ctx, q); err != nil {
				return err
			}
			for _, line := range t.lines {
				if err := each(line); err != nil {
					return err
				}
			}
			full = len(t.lines) == turnoverPageSize
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read turnovers: %w", err)
	}
	return nil
}

// turnoverReport collects the turnovers of the accounts of a platform, one page at a time.
type turnoverReport struct {
	platform ident.Platform
	months   months
	cutoffs  []ports.Cutoff
	ranges   []seqRange // of the postings up to each cutoff, by recorded time
	// adjustments correct the turnovers of each cutoff by effective time, by account id.
	adjustments []map[int64]ports.Turnover

	ids   []int64
	lines []ports.AccountTurnovers
	index map[int64]int // account id to index in lines
}

// findRanges finds the postings up to each cutoff.
func (t *turnoverReport) findRanges(ctx context.Context, q Querier) (err error) {
	if t.months, err = loadMonths(ctx, q, t.platform.UUID()); err != nil {
		return err
	}
	for _, cut := range t.cutoffs {
		if err := t.months.checkAvailable(cut.Moment); err != nil {
			return err
		}
		s := t.months.withTimeBounds(allPostings)
		if !cut.Moment.IsZero() {
			if s, err = recordedRange(ctx, q, t.platform.UUID(), t.months, upTo(cut.Moment)); err != nil {
				return err
			}
		}
		s.from = t.months.entriesFrom(s.upto)
		t.ranges = append(t.ranges, s)
	}
	return nil
}

// findAdjustments reads the corrections of cutoffs by effective time.
func (t *turnoverReport) findAdjustments(ctx context.Context, q Querier) error {
	t.adjustments = make([]map[int64]ports.Turnover, len(t.cutoffs))
	for i, cut := range t.cutoffs {
		if cut.By != ports.ByEffective || cut.Moment.IsZero() {
			continue
		}
		args, err := adjustmentArgs(ctx, q, t.platform.UUID(), t.months, cut.Moment.UTC().Truncate(time.Microsecond))
		if err != nil {
			return err
		}
		t.adjustments[i] = map[int64]ports.Turnover{}
		err = queryTurnovers(ctx, q, turnoverAdjustments, args, func(account int64, change ports.Turnover) { t.adjustments[i][account] = change })
		if err != nil {
			return err
		}
	}
	return nil
}

// nextAccounts reads the next page of accounts, without turnovers.
func (t *turnoverReport) nextAccounts(ctx context.Context, q Querier) error {
	t.ids, t.lines, t.index = t.ids[:0], t.lines[:0], map[int64]int{}
	fetch := fmt.Sprintf("FETCH %d FROM turnover_accounts", turnoverPageSize)
	rows, err := q.Query(ctx, fetch, pgx.QueryExecModeExec)
	if err != nil {
		return err
	}
	return storage.ForEachRow(rows, func(rows pgx.Rows) error {
		var accountID int64
		var path, currency, class string
		if err := rows.Scan(&accountID, &path, &currency, &class); err != nil {
			return err
		}
		t.index[accountID] = len(t.lines)
		t.ids = append(t.ids, accountID)
		t.lines = append(t.lines, ports.AccountTurnovers{
			Account: ledger.Account{Platform: t.platform, Path: path, Currency: money.Currency(currency)},
			Class:   ledger.Class(class), Turnovers: make([]ports.Turnover, len(t.cutoffs)),
		})
		return nil
	})
}

// addRecorded sets the turnovers of the page: those by recorded time and their corrections.
func (t *turnoverReport) addRecorded(ctx context.Context, q Querier) error {
	for i, s := range t.ranges {
		from, until := s.timeBounds()
		args := []any{t.platform, t.ids, s.upto, from, until}
		err := queryTurnovers(ctx, q, turnoversUpto, args, func(account int64, turnover ports.Turnover) {
			change := t.adjustments[i][account]
			t.lines[t.index[account]].Turnovers[i] = ports.Turnover{Debits: turnover.Debits.Add(change.Debits),
				Credits: turnover.Credits.Add(change.Credits)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// queryTurnovers runs a statement that returns account ids with their debits and credits.
func queryTurnovers(ctx context.Context, q Querier, statement string, args []any, each func(account int64, turnover ports.Turnover)) error {
	return query(ctx, q, statement, args, func(rows pgx.Rows) error {
		var accountID int64
		var turnover ports.Turnover
		if err := rows.Scan(&accountID, &turnover.Debits, &turnover.Credits); err != nil {
			return err
		}
		each(accountID, turnover)
		return nil
	})
}
