package ledgerdb

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

const (
	turnoverAccounts = `
SELECT a.id, a.path, a.currency, a.class FROM ledger_accounts a
WHERE a.platform_id = $1 AND ($2 = '' OR a.class = $2)
ORDER BY a.currency COLLATE "C", a.path COLLATE "C"`

	// What was debited and credited up to a posting: for each account its last checkpoint by
	// then (ledger_checkpoints_pkey), and the entries after that, all in the months from a
	// moment on (ledger_entries_by_debit_account, ledger_entries_by_credit_account). One statement a posting: what
	// lies around it is on few pages, whatever the account.
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
    WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > coalesce(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5
) d
CROSS JOIN LATERAL (
    SELECT coalesce(sum(e.amount), 0) AS amount FROM ledger_entries e
    WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > coalesce(k.seq, 0) AND e.seq <= $3 AND e.recorded_at >= $4 AND e.recorded_at < $5
) c
WHERE a.platform_id = $1 AND ($2 = '' OR a.class = $2)`

	// What was recorded after a moment ($2) and took effect by then already counts, and what
	// was recorded by then and took effect later does not count yet. Postings are found
	// around the moment ($3 to $6, by the primary keys), unless they are astray
	// (ledger_backdated_entries_by_gap).
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
	// Debits minus credits of one account among it.
	accountAdjustment = effectiveAdjustments + `
SELECT coalesce(sum(CASE WHEN m.debit_account_id = $7 THEN m.amount ELSE -m.amount END), 0)::text
FROM moves m WHERE $7 IN (m.debit_account_id, m.credit_account_id)`
)

// adjustmentArgs are the first arguments of shifted.
func adjustmentArgs(ctx context.Context, q Querier, platform uuid.UUID, m months, moment time.Time) ([]any, error) {
	near, err := recordedRange(ctx, q, platform, m, m.widen(period.Interval{From: moment, To: upTo(moment).To}))
	from, until := near.timeBounds()
	return []any{pgUUID(platform), moment, near.after, near.upto, from, until}, err
}

// readAdjustment is what was recorded after a moment on an account and took effect by then, less
// what was recorded by then and took effect later: debits less credits.
func readAdjustment(ctx context.Context, q Querier, platform uuid.UUID, m months, number int64, moment time.Time) (money.Total, error) {
	args, err := adjustmentArgs(ctx, q, platform, m, moment)
	if err != nil {
		return money.Total{}, err
	}
	return readTotal(ctx, q, accountAdjustment, append(args, number)...)
}

// Turnovers is as ports.Finance says.
func (r *Reader) Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []ports.Cutoff, each func(ports.AccountTurnovers) error) error {
	err := r.readOnly(ctx, func(q Querier) error {
		t := turnoverReport{platform: p, class: class, cutoffs: cuts, index: map[int64]int{}}
		if err := t.findAccounts(ctx, q); err != nil {
			return err
		}
		if err := t.addRecorded(ctx, q); err != nil {
			return err
		}
		if err := t.addEffectiveAdjustments(ctx, q); err != nil {
			return err
		}
		for _, line := range t.lines {
			if err := each(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read turnovers: %w", err)
	}
	return nil
}

// turnoverReport gathers the turnovers of the accounts of a platform.
type turnoverReport struct {
	platform ident.Platform
	class    ledger.Class
	months   months
	cutoffs  []ports.Cutoff
	lines    []ports.AccountTurnovers
	index    map[int64]int // of an account's number in lines
}

func (t *turnoverReport) findAccounts(ctx context.Context, q Querier) (err error) {
	if t.months, err = loadMonths(ctx, q, t.platform.UUID()); err != nil {
		return err
	}
	for _, cut := range t.cutoffs {
		if err := t.months.checkAvailable(cut.Moment); err != nil {
			return err
		}
	}
	return query(ctx, q, turnoverAccounts, []any{pgUUID(t.platform.UUID()), string(t.class)}, func(rows pgx.Rows) error {
		var number int64
		var path, currency, class string
		if err := rows.Scan(&number, &path, &currency, &class); err != nil {
			return err
		}
		t.index[number] = len(t.lines)
		t.lines = append(t.lines, ports.AccountTurnovers{
			Account: ledger.Account{Platform: t.platform, Path: path, Currency: money.Currency(currency)},
			Class:   ledger.Class(class), Turnovers: make([]ports.Turnover, len(t.cutoffs)),
		})
		return nil
	})
}

// addRecorded fills in what was recorded by the moments.
func (t *turnoverReport) addRecorded(ctx context.Context, q Querier) error {
	for i, cut := range t.cutoffs {
		s := t.months.withTimeBounds(allPostings)
		if !cut.Moment.IsZero() {
			var err error
			if s, err = recordedRange(ctx, q, t.platform.UUID(), t.months, upTo(cut.Moment)); err != nil {
				return err
			}
		}
		s.from = t.months.entriesFrom(s.upto)
		from, until := s.timeBounds()
		if err := t.addRows(ctx, q, i, turnoversUpto, pgUUID(t.platform.UUID()), string(t.class), s.upto, from, until); err != nil {
			return err
		}
	}
	return nil
}

// addEffectiveAdjustments corrects, where a cut is by effective time, what was recorded by then.
func (t *turnoverReport) addEffectiveAdjustments(ctx context.Context, q Querier) error {
	for i, cut := range t.cutoffs {
		if cut.By != ports.ByEffective || cut.Moment.IsZero() {
			continue
		}
		args, err := adjustmentArgs(ctx, q, t.platform.UUID(), t.months, cut.Moment.UTC().Truncate(time.Microsecond))
		if err != nil {
			return err
		}
		if err := t.addRows(ctx, q, i, turnoverAdjustments, args...); err != nil {
			return err
		}
	}
	return nil
}

// addRows adds what a statement says of accounts to a cut.
func (t *turnoverReport) addRows(ctx context.Context, q Querier, cut int, statement string, args ...any) error {
	return query(ctx, q, statement, args, func(rows pgx.Rows) error {
		var number int64
		var debits, credits string
		if err := rows.Scan(&number, &debits, &credits); err != nil {
			return err
		}
		return t.add(number, cut, debits, credits)
	})
}

func (t *turnoverReport) add(number int64, cut int, debits, credits string) error {
	place, wanted := t.index[number]
	if !wanted {
		return nil
	}
	turnover := &t.lines[place].Turnovers[cut]
	for _, side := range []struct {
		sum  *money.Total
		text string
	}{{&turnover.Debits, debits}, {&turnover.Credits, credits}} {
		more, err := parseTotal(side.text)
		if err != nil {
			return err
		}
		*side.sum = side.sum.Add(more)
	}
	return nil
}
