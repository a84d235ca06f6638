package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// sampleJobs uses jobs_by_step_platform_due: a few probes for each step and platform that has jobs. The jobs that are due are those of
// countDueJobs.
const sampleJobs = `
	WITH RECURSIVE queues AS (
		(SELECT step, platform_id FROM jobs ORDER BY step, platform_id LIMIT 1)
		UNION ALL
		SELECT following.step, following.platform_id FROM queues q CROSS JOIN LATERAL (
			SELECT step, platform_id FROM jobs WHERE (step, platform_id) > (q.step, q.platform_id) ORDER BY step, platform_id LIMIT 1) AS following)
	INSERT INTO samples (platform_id, sampled_at, kind, name, counts)
	SELECT platform_id, $1, 'JOBS', '', ARRAY[sum(due)::bigint, sum(overdue)::bigint, sum(dead)::bigint]
	FROM queues q CROSS JOIN LATERAL (
		SELECT count(*) FILTER (WHERE due_at > $3) AS due, count(*) FILTER (WHERE due_at <= $3) AS overdue FROM (
			SELECT due_at FROM jobs WHERE step = q.step AND platform_id = q.platform_id AND due_at <= $2 ORDER BY due_at LIMIT $4) AS d) AS due
	CROSS JOIN LATERAL (
		SELECT count(*) AS dead FROM (
			SELECT FROM jobs WHERE step = q.step AND platform_id = q.platform_id AND due_at = 'infinity' LIMIT $4) AS d) AS dead
	GROUP BY platform_id HAVING sum(due + overdue + dead) > 0`

// sampleWebhooks uses primary keys.
var sampleWebhooks = `
	INSERT INTO samples (platform_id, sampled_at, kind, name, counts)
	SELECT p.id, $1, k.kind, '', k.counts FROM platforms p CROSS JOIN LATERAL (
		SELECT ` + fmt.Sprintf(webhookBacklog, "p.id", "$3") + `) AS b(waiting, waiting_since, failing, failing_since)
	CROSS JOIN LATERAL (VALUES ('WEBHOOKS', ARRAY[waiting, failing]),
		('WEBHOOK_AGE', ARRAY[greatest(extract(epoch FROM $2::timestamptz - least(waiting_since, failing_since)), 0)::bigint])) AS k(kind, counts)
	WHERE waiting + failing > 0`

// sampleRailPayments uses rail_payments_handed_over, rail_payments_queued and rail_payments_review_by_platform.
const sampleRailPayments = `
	WITH connections AS (SELECT connection FROM rail_accounts UNION SELECT '')
	INSERT INTO samples (platform_id, sampled_at, kind, name, counts)
	SELECT platform_id, $1, 'RAIL_PAYMENTS', connection, ARRAY[count(*) FILTER (WHERE state = 'HANDED_OVER'),
		count(*) FILTER (WHERE state = 'QUEUED'), count(*) FILTER (WHERE state = 'REVIEW')]
	FROM (
		SELECT h.* FROM connections c CROSS JOIN LATERAL (SELECT platform_id, connection, state FROM rail_payments
			WHERE state = 'HANDED_OVER' AND connection = c.connection ORDER BY connection, currency, handed_over_at LIMIT $2) AS h
		UNION ALL
		SELECT q.* FROM connections c CROSS JOIN LATERAL (SELECT platform_id, connection, state FROM rail_payments
			WHERE state = 'QUEUED' AND connection = c.connection ORDER BY connection, currency, forced DESC, recorded_at, id LIMIT $2) AS q
		UNION ALL
		SELECT r.* FROM platforms p CROSS JOIN LATERAL (SELECT platform_id, connection, state FROM rail_payments
			WHERE platform_id = p.id AND state = 'REVIEW' ORDER BY recorded_at, id LIMIT $2) AS r) AS waiting
	GROUP BY platform_id, connection`

// TakeSamples implements processes.Store. The process that stores the time counts; others wait for it, and find it counted.
func (db *DB) TakeSamples(ctx context.Context, now time.Time) error {
	at := now.Truncate(time.Minute)
	return db.inTx(ctx, func(tx storage.Tx) error {
		stored, err := tx.Exec(ctx, `INSERT INTO sample_times (sampled_at) VALUES ($1) ON CONFLICT DO NOTHING`, at)
		if err != nil || stored == 0 {
			return err
		}
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{sampleJobs, []any{at, now, now.Add(-stuckAfter), MaxCounted + 1}},
			{sampleWebhooks, []any{at, now, MaxCounted + 1}},
			{sampleRailPayments, []any{at, MaxCounted + 1}},
		} {
			if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// addCalls adds to what other processes have counted in the same minute.
const addCalls = `
	INSERT INTO samples AS s (platform_id, sampled_at, kind, name, counts) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (platform_id, sampled_at, kind, name) DO UPDATE SET counts = ARRAY[s.counts[1] + excluded.counts[1],
		s.counts[2] + excluded.counts[2], s.counts[3] + excluded.counts[3], s.counts[4] + excluded.counts[4],
		greatest(s.counts[5], excluded.counts[5])]`

// AddRailCalls implements processes.Store.
func (db *DB) AddRailCalls(ctx context.Context, calls []ports.Sample) error {
	batch := &pgx.Batch{}
	for _, s := range calls {
		batch.Queue(addCalls, s.Platform, s.At, s.Kind, s.Name, s.Counts)
	}
	return db.storage.Send(ctx, batch)
}

// SampleTimes implements processes.Store. It uses the primary key.
func (db *DB) SampleTimes(ctx context.Context, from time.Time) ([]time.Time, error) {
	return storage.Collect(ctx, db.queryRows, `SELECT sampled_at FROM sample_times WHERE sampled_at >= $1 ORDER BY sampled_at`,
		[]any{from}, func(rows pgx.Rows, at *time.Time) error { return rows.Scan(at) })
}

// EachSample implements processes.Store. It uses the primary key.
func (db *DB) EachSample(ctx context.Context, p ident.Platform, from time.Time, each func(ports.Sample)) error {
	return db.queryRows(ctx, `SELECT sampled_at, kind, name, counts FROM samples WHERE platform_id = $1 AND sampled_at >= $2
		ORDER BY sampled_at, kind, name`, []any{p, from}, func(rows pgx.Rows) error {
		s := ports.Sample{Platform: p}
		err := rows.Scan(&s.At, &s.Kind, &s.Name, &s.Counts)
		if err == nil {
			each(s)
		}
		return err
	})
}

// deleteSamples uses the primary key.
const deleteSamples = `
	WITH old AS MATERIALIZED (SELECT sampled_at, kind, name FROM samples WHERE platform_id = $1 AND sampled_at < $2
		ORDER BY sampled_at LIMIT $4),
	gone AS (DELETE FROM samples s USING old
		WHERE s.platform_id = $1 AND s.sampled_at = old.sampled_at AND s.kind = old.kind AND s.name = old.name RETURNING 1)
	SELECT count(*), (SELECT count(*) FROM gone), $3::text FROM old`

// OldSampleTimes returns the times of samples before one.
func OldSampleTimes(before time.Time) []storage.OldRows {
	return []storage.OldRows{{Table: "sample_times", Before: before, Delete: `DELETE FROM sample_times WHERE sampled_at IN (
		SELECT sampled_at FROM sample_times WHERE sampled_at < $1 ORDER BY sampled_at LIMIT $2)`}}
}
