package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

const selectLedgerMonths = `
SELECT (SELECT to_date(min(right(c.relname, 6)), 'YYYYMM') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'ledger_entries'::regclass),
       (SELECT max(month) FROM ledger_archived_months)`

// LedgerMonths implements ports.MonthKeeper.
func (db *DB) LedgerMonths(ctx context.Context) (found ports.LedgerMonths, err error) {
	if err := db.pool.QueryRow(ctx, selectLedgerMonths).Scan(&found.Oldest, &found.LastArchived); err != nil {
		return found, fmt.Errorf("read the months of the ledger: %w", err)
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
	idle, err := queryValues[ident.Platform](ctx, readOn(db.pool), selectIdlePlatforms, m.End())
	current := period.MonthOf(now)
	for _, p := range idle {
		if err != nil {
			break
		}
		err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lockClock, p); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, insertMonth, p, current, current.Start()); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, advanceClock, p, current.Start())
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
WHERE t.status IN ('PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING') OR 'PENDING' IN (t.refund_status, t.refund_again) GROUP BY p.platform_id
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
		return queryRows(ctx, tx, selectBlockers, []any{m, m.Start(), m.End()}, func(rows pgx.Rows) error {
			var h ports.MonthBlocker
			err := rows.Scan(&h.Platform, &h.Blocker, &h.Count)
			found = append(found, h)
			return err
		})
	})
	return found, err
}

// Detaching a partition needs an exclusive lock on its table, and postings queue behind a lock
// that waits. So an attempt waits for a moment only, and the next one comes later.
const (
	archiveLockTimeout = 300 * time.Millisecond
	archivePatience    = 10 * time.Minute
	minArchivePause    = 500 * time.Millisecond
	maxArchivePause    = 10 * time.Second
)

// ArchiveMonth implements ports.MonthKeeper. While a long query reads the ledger it makes
// further attempts for archivePatience; postings wait for at most archiveLockTimeout each time.
func (db *DB) ArchiveMonth(ctx context.Context, m period.Month) error {
	postings, entries := "ledger_postings_"+partitionSuffix(m), "ledger_entries_"+partitionSuffix(m)
	// The tables are locked in the order in which postings use them.
	return db.changePartitions(ctx, "archive "+m.String(),
		"LOCK TABLE ONLY ledger_postings, ONLY ledger_entries, "+postings+", "+entries+" IN ACCESS EXCLUSIVE MODE",
		"INSERT INTO ledger_archived_months (month) VALUES ('"+m.Start().Format(time.DateOnly)+"')",
		"ALTER TABLE ledger_entries DETACH PARTITION "+entries,
		"ALTER TABLE ledger_postings DETACH PARTITION "+postings)
}

// RestoreMonth implements ports.MonthKeeper. The database checks that all rows of the
// tables belong to the month; postings into other months continue meanwhile.
func (db *DB) RestoreMonth(ctx context.Context, m period.Month) error {
	postings, entries := "ledger_postings_"+partitionSuffix(m), "ledger_entries_"+partitionSuffix(m)
	bounds := fmt.Sprintf(" FOR VALUES FROM ('%s') TO ('%s')", m.Start().Format(time.RFC3339), m.End().Format(time.RFC3339))
	return db.changePartitions(ctx, "restore "+m.String(),
		"LOCK TABLE ONLY ledger_postings, ONLY ledger_entries IN SHARE UPDATE EXCLUSIVE MODE",
		"ALTER TABLE ledger_postings ATTACH PARTITION "+postings+bounds,
		"ALTER TABLE ledger_entries ATTACH PARTITION "+entries+bounds,
		"DELETE FROM ledger_archived_months WHERE month = '"+m.Start().Format(time.DateOnly)+"'")
}

func partitionSuffix(m period.Month) string { return m.Start().Format("200601") }

// changePartitions runs statements that the role of the service may not run, all or none. lock
// takes all locks that they need; it is attempted until archivePatience has passed.
func (db *DB) changePartitions(ctx context.Context, action, lock string, statements ...string) error {
	deadline := time.Now().Add(archivePatience)
	for pause := minArchivePause; ; pause = min(2*pause, maxArchivePause) {
		locked := false
		err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL ROLE NONE"); err != nil {
				return err
			}
			// It limits the time for all locks together; lock_timeout would for each of them.
			if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = %d", archiveLockTimeout.Milliseconds())); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, lock); err != nil {
				return err
			}
			locked = true
			for _, statement := range append([]string{"SET LOCAL statement_timeout = 0"}, statements...) {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
			if db.operatorAction == nil {
				return nil
			}
			_, err := tx.Exec(ctx, insertOperatorAction, operatorActionColumns(*db.operatorAction)...)
			return err
		})
		if err == nil {
			return nil
		}
		if locked || !isLockUnavailable(err) {
			return fmt.Errorf("%s: %w", action, err)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: the ledger was in use for %s, for example by a check; nothing was changed; repeat the command later: %w", action,
				archivePatience, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", action, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// isLockUnavailable reports whether a statement ended because it would have had to wait for a
// lock: by its timeout, or because of a deadlock.
func isLockUnavailable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "57014" || pg.Code == "55P03" || pg.Code == "40P01")
}
