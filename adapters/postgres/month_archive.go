package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

var _ ports.MonthArchiver = (*DB)(nil)

const selectLedgerMonths = `
SELECT (SELECT to_date(min(right(c.relname, 6)), 'YYYYMM') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'ledger_entries'::regclass),
       (SELECT max(month) FROM ledger_archived_months)`

// LedgerMonths implements ports.MonthKeeper.
func (db *DB) LedgerMonths(ctx context.Context) (found ports.LedgerMonths, err error) {
	var oldest, lastArchived pgtype.Date
	if err := db.pool.QueryRow(ctx, selectLedgerMonths).Scan(&oldest, &lastArchived); err != nil {
		return found, fmt.Errorf("read the months of the ledger: %w", err)
	}
	if oldest.Valid {
		found.Oldest = period.MonthOf(oldest.Time)
	}
	if lastArchived.Valid {
		found.LastArchived = period.MonthOf(lastArchived.Time)
	}
	return found, nil
}

const (
	selectIdlePlatforms = `SELECT platform_id FROM ledger_clocks WHERE seq > 0 AND month_end <= $1 ORDER BY platform_id`
	insertMonth         = `
INSERT INTO ledger_months (platform_id, month, first_seq)
SELECT platform_id, $2, seq + 1 FROM ledger_clocks WHERE platform_id = $1 AND month_end <= $3`
	advanceClock = `
UPDATE ledger_clocks SET recorded_at = greatest(recorded_at, $2), month_end = ledger_month_end($2)
WHERE platform_id = $1 AND month_end <= $2`
)

// EndMonth implements ports.MonthKeeper. It advances the clocks of platforms without postings after
// the month.
func (db *DB) EndMonth(ctx context.Context, m period.Month, now time.Time) error {
	var idle []pgtype.UUID
	err := queryRows(ctx, db.pool, selectIdlePlatforms, []any{pgTime(m.End())}, func(rows pgx.Rows) error {
		var p pgtype.UUID
		err := rows.Scan(&p)
		idle = append(idle, p)
		return err
	})
	current := period.MonthOf(now)
	for _, p := range idle {
		if err != nil {
			break
		}
		err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lockClock, p); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, insertMonth, p, monthDate(current), pgTime(current.Start())); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, advanceClock, p, pgTime(current.Start()))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("end %s: %w", m, err)
	}
	return db.AdvanceBalanceSnapshots(ctx)
}

// selectBlockers checks the platforms with postings in a month ($1, from $2 until $3).
const selectBlockers = `
WITH of AS MATERIALIZED (
    SELECT m.platform_id, m.first_seq, n.month::timestamp AT TIME ZONE 'UTC' AS next, n.first_seq - 1 AS last_seq
    FROM ledger_months m
    CROSS JOIN LATERAL (
        SELECT n.month, n.first_seq FROM ledger_months n WHERE n.platform_id = m.platform_id AND n.month > m.month ORDER BY n.month LIMIT 1
    ) n
    WHERE m.month = $1
), postings AS MATERIALIZED (
    SELECT p.platform_id, p.id, p.transaction_id, p.kind, p.effective_at FROM ledger_postings p WHERE p.recorded_at >= $2 AND p.recorded_at < $3
)
SELECT c.platform_id, 'NOT_CLOSED', 1::bigint FROM of JOIN ledger_clocks c ON c.platform_id = of.platform_id WHERE c.closed_before < $3
UNION ALL
SELECT of.platform_id, 'NOT_IN_SNAPSHOTS', 1 FROM of JOIN ledger_snapshot_progress k ON k.platform_id = of.platform_id WHERE k.months_complete_before < of.next
UNION ALL
SELECT of.platform_id, 'NOT_SEALED', of.last_seq - coalesce(s.size, 0) FROM of LEFT JOIN ledger_log_state s ON s.platform_id = of.platform_id
WHERE coalesce(s.size, 0) < of.last_seq
UNION ALL
SELECT p.platform_id, 'EFFECTIVE_LATER', count(*) FROM postings p WHERE p.effective_at >= $3 GROUP BY p.platform_id
UNION ALL
SELECT p.platform_id, 'UNFINISHED', count(DISTINCT t.id) FROM postings p JOIN transactions t ON t.platform_id = p.platform_id AND t.id = p.transaction_id
WHERE t.status IN ('PENDING', 'PROCESSING') OR t.refund_status = 'PENDING' GROUP BY p.platform_id
UNION ALL
SELECT p.platform_id, 'UNMATCHED', count(*) FROM postings p
WHERE p.kind IN ('unmatched_received', 'refund_failed')
  AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = p.platform_id AND a.posting_id = p.id)
GROUP BY p.platform_id
UNION ALL
SELECT of.platform_id, 'OPEN_BREAK', count(*) FROM of JOIN reconciliation_breaks b ON b.platform_id = of.platform_id
WHERE (b.seq BETWEEN of.first_seq AND of.last_seq OR b.compared_seq BETWEEN of.first_seq AND of.last_seq)
  AND NOT EXISTS (SELECT FROM reconciliation_resolutions r WHERE r.platform_id = b.platform_id AND r.break_id = b.id)
GROUP BY of.platform_id
ORDER BY 1, 2`

// Blockers implements ports.MonthKeeper. It reads the month once.
func (db *DB) Blockers(ctx context.Context, m period.Month) (found []ports.MonthBlocker, err error) {
	err = pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		for _, setting := range bulkReadSettings {
			if _, err := tx.Exec(ctx, setting); err != nil {
				return err
			}
		}
		return queryRows(ctx, tx, selectBlockers, []any{monthDate(m), pgTime(m.Start()), pgTime(m.End())}, func(rows pgx.Rows) error {
			var p pgtype.UUID
			var h ports.MonthBlocker
			err := rows.Scan(&p, &h.Blocker, &h.Count)
			ident.SetUUID(&h.Platform, p.Bytes)
			found = append(found, h)
			return err
		})
	})
	return found, err
}

// ArchiveMonth implements ports.MonthKeeper. Readers and writers wait until both partitions
// are detached, which waits only for running statements.
func (db *DB) ArchiveMonth(ctx context.Context, m period.Month) error {
	return db.execAsOwner(ctx, "archive "+m.String(),
		"INSERT INTO ledger_archived_months (month) VALUES ('"+m.Start().Format(time.DateOnly)+"')",
		"ALTER TABLE ledger_entries DETACH PARTITION ledger_entries_"+partitionSuffix(m),
		"ALTER TABLE ledger_postings DETACH PARTITION ledger_postings_"+partitionSuffix(m))
}

// RestoreMonth implements ports.MonthKeeper. The database checks that all rows of the
// tables belong to the month.
func (db *DB) RestoreMonth(ctx context.Context, m period.Month) error {
	bounds := fmt.Sprintf(" FOR VALUES FROM ('%s') TO ('%s')", m.Start().Format(time.RFC3339), m.End().Format(time.RFC3339))
	return db.execAsOwner(ctx, "restore "+m.String(),
		"ALTER TABLE ledger_postings ATTACH PARTITION ledger_postings_"+partitionSuffix(m)+bounds,
		"ALTER TABLE ledger_entries ATTACH PARTITION ledger_entries_"+partitionSuffix(m)+bounds,
		"DELETE FROM ledger_archived_months WHERE month = '"+m.Start().Format(time.DateOnly)+"'")
}

func partitionSuffix(m period.Month) string { return m.Start().Format("200601") }

// execAsOwner runs statements that the role of the service may not run, all or none.
func (db *DB) execAsOwner(ctx context.Context, action string, statements ...string) error {
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		for _, statement := range append([]string{"SET LOCAL ROLE NONE", "SET LOCAL statement_timeout = 0"}, statements...) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}
