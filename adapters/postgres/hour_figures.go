package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// countHours reads the latest requests and attempts of each hour, by the primary keys of request_log and webhook_attempts: their ids begin
// with the time of the request, and of the event.
const countHours = `
	SELECT h.n, r.done, r.refused, r.failed, r.p95, a.done, a.refused, a.failed, a.p95
	FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS h(first, after, n)
	CROSS JOIN LATERAL (
		SELECT count(*) FILTER (WHERE status < 400) AS done, count(*) FILTER (WHERE status BETWEEN 400 AND 499) AS refused,
			count(*) FILTER (WHERE status >= 500) AS failed, coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_us), 0)::bigint AS p95
		FROM (SELECT status, duration_us FROM request_log WHERE platform_id = $1 AND id >= h.first AND id < h.after
			ORDER BY id DESC LIMIT $4) AS latest) AS r
	CROSS JOIN LATERAL (
		SELECT count(*) FILTER (WHERE outcome = 'ACCEPTED') AS done, count(*) FILTER (WHERE outcome <> 'ACCEPTED' AND status_code > 0) AS refused,
			count(*) FILTER (WHERE outcome <> 'ACCEPTED' AND status_code = 0) AS failed,
			coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms), 0)::bigint * 1000 AS p95
		FROM (SELECT outcome, status_code, duration_ms FROM webhook_attempts WHERE platform_id = $1 AND event_id >= h.first AND event_id < h.after
			ORDER BY event_id DESC, attempt_no DESC LIMIT $4) AS latest) AS a
	ORDER BY h.n`

// HourFigures implements processes.Store.
func (db *DB) HourFigures(ctx context.Context, p ident.Platform, hours []time.Time) ([]ports.HourFigures, error) {
	first, after := make([]uuid.UUID, len(hours)), make([]uuid.UUID, len(hours))
	for i, hour := range hours {
		first[i], after[i] = idAt(hour), idAt(hour.Add(time.Hour))
	}
	return storage.Collect(ctx, db.queryRows, countHours, []any{p, first, after, ports.MaxSampled},
		func(rows pgx.Rows, h *ports.HourFigures) error {
			var n, requests, attempts int64
			r, a := &h.Requests, &h.Attempts
			err := rows.Scan(&n, &r.Done, &r.Refused, &r.Failed, &requests, &a.Done, &a.Refused, &a.Failed, &attempts)
			if err == nil {
				h.From, r.P95, a.P95 = hours[n-1], time.Duration(requests)*time.Microsecond, time.Duration(attempts)*time.Microsecond
			}
			return err
		})
}
