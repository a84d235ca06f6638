package postgres

import (
	"context"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ports"
)

// countTransactions counts by the primary key of transaction_statuses: first the ids that were certainly created in the interval ($8, $9),
// those from $5 to $6, then the transactions themselves whose ids are near its ends, from $4 and up to $7. Those that were created late
// are found by transactions_created_late.
const countTransactions = `
	WITH late AS MATERIALIZED (
		SELECT t.id, t.status, t.direction, t.created_at FROM transactions t
		WHERE t.platform_id = $1 AND t.created_at - uuid_v7_time(t.id) > interval '2 hours' AND t.created_at >= $8)
	SELECT s.status, c.n
	FROM unnest($2::text[]) AS s(status), LATERAL (
		SELECT count(*) FROM (
			(SELECT FROM transaction_statuses x
			WHERE x.platform_id = $1 AND x.status = s.status AND x.direction = ANY ($3) AND x.id >= $5 AND x.id < $6
				AND x.id NOT IN (SELECT id FROM late WHERE created_at >= $9)
			LIMIT $10)
			UNION ALL
			(SELECT FROM (VALUES ($4::uuid, $5::uuid), ($6, $7)) AS near(first, after), transaction_statuses x
			WHERE x.platform_id = $1 AND x.status = s.status AND x.direction = ANY ($3) AND x.id >= near.first AND x.id < near.after
				AND (SELECT t.created_at >= $8 AND t.created_at < $9 FROM transactions t WHERE t.platform_id = x.platform_id AND t.id = x.id))
			UNION ALL
			(SELECT FROM late WHERE id < $4 AND created_at < $9 AND status = s.status AND direction = ANY ($3))
			LIMIT $10
		) AS counted
	) AS c(n)
	WHERE c.n > 0`

// CountTransactions implements payments.Store.
func (db *DB) CountTransactions(ctx context.Context, p ident.Platform, since time.Time) (map[transaction.Status]int64, error) {
	counts := map[transaction.Status]int64{}
	return counts, db.countByStatus(ctx, counts, p, period.Interval{From: since}, "")
}

// endOfTime is later than any time, and in an id.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// maxCounted is the number of rows that are read to count by status those that match a filter. A page has nothing else to count.
const maxCounted = 10_000

// exactFrom is how long an interval must be to be counted as a whole: of a shorter one, too many transactions are near its ends, each of
// which is looked at.
const exactFrom = 12 * time.Hour

// CountTransactionsByStatus implements payments.Store. Without a filter, or with a type or a long interval only, it counts as
// CountTransactions; else among the newest maxCounted that the index of the filter finds.
func (db *DB) CountTransactionsByStatus(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.StatusCounts, error) {
	counts := ports.StatusCounts{Counts: map[transaction.Status]int64{}}
	f.Statuses, f.Paging = nil, ports.Paging{}
	created, end := f.Created, f.Created.To
	if end.IsZero() {
		end = db.clock.Now()
	}
	if isLong := created.From.IsZero() || end.Sub(created.From) >= exactFrom; isLong &&
		reflect.DeepEqual(f, ports.TransactionFilter{Type: f.Type, Created: created}) {
		return counts, db.countByStatus(ctx, counts.Counts, p, created, f.Type)
	}
	of := f.Type
	f.Type = "" // so that no list by type is read
	l, ok := newTransactionList(p, f)
	if !ok {
		return counts, nil
	}
	l.whereEqual("direction", string(of))
	matches := condition{text: "true"}
	if len(l.filter) > 0 {
		matches = joined(l.filter, " AND ")
	}
	candidates := l.query(db, candidates{columns: condition{"t.status, " + matches.text + " AS matches", matches.args}, order: "DESC",
		limit: maxCounted + 1, rows: true})
	query := db.bun.NewSelect().TableExpr("(?) AS candidates", candidates).ColumnExpr("status, count(*) FILTER (WHERE matches), count(*)").
		Group("status")
	var read int64
	err := db.readQuery(ctx, query, func(rows pgx.Rows) error {
		var status transaction.Status
		var matching, n int64
		err := rows.Scan(&status, &matching, &n)
		read += n
		if matching > 0 {
			counts.Counts[status] = min(matching, ports.MaxTotal+1)
		}
		return err
	})
	counts.AreMinimum = read > maxCounted
	return counts, err
}

// countByStatus adds how many transactions of a type, or of both, were created in an interval.
func (db *DB) countByStatus(ctx context.Context, counts map[transaction.Status]int64, p ident.Platform, created period.Interval,
	of transaction.Type) error {
	directions := []string{string(of)}
	if of == "" {
		directions = []string{string(transaction.Outgoing), string(transaction.Incoming)}
	}
	if created.From.IsZero() {
		created.From = time.Unix(0, 0)
	}
	if created.To.IsZero() {
		created.To = endOfTime
	}
	first, last := idAt(created.From.Add(idMargin)), idAt(created.To.Add(-idMargin-maxDerivedDelay))
	args := []any{p, transaction.Statuses, directions, idAt(created.From.Add(-idMargin - maxDerivedDelay)), first, last,
		idAt(created.To.Add(idMargin)), created.From, created.To, int64(ports.MaxTotal + 1)}
	err := db.queryRows(ctx, countTransactions, args, func(rows pgx.Rows) error {
		var status string
		var n int64
		err := rows.Scan(&status, &n)
		counts[transaction.Status(status)] = n
		return err
	})
	return storage.ReadError(err)
}

// countRanges counts ranges of ids by the primary key of transaction_statuses, up to a limit for each status and direction.
const countRanges = `
	SELECT d.n, s.status, least(sum(c.n), $6)::bigint
	FROM unnest($4::uuid[], $5::uuid[]) WITH ORDINALITY AS d(first, after, n), unnest($2::text[]) AS s(status),
		unnest($3::text[]) AS r(direction), LATERAL (
			SELECT count(*) FROM (SELECT FROM transaction_statuses x
				WHERE x.platform_id = $1 AND x.status = s.status AND x.direction = r.direction AND x.id >= d.first AND x.id < d.after
				ORDER BY x.id LIMIT $6) AS counted
		) AS c(n)
	GROUP BY d.n, s.status HAVING sum(c.n) > 0`

// CountTransactionsFrom implements payments.Store.
func (db *DB) CountTransactionsFrom(ctx context.Context, p ident.Platform, days []time.Time,
	length time.Duration) ([]map[transaction.Status]int64, error) {
	counts := make([]map[transaction.Status]int64, len(days))
	first, after := make([]uuid.UUID, len(days)), make([]uuid.UUID, len(days))
	for i, day := range days {
		counts[i], first[i], after[i] = map[transaction.Status]int64{}, idAt(day), idAt(day.Add(length))
	}
	args := []any{p, transaction.Statuses, []string{string(transaction.Outgoing), string(transaction.Incoming)}, first, after,
		int64(ports.MaxTotal + 1)}
	err := db.queryRows(ctx, countRanges, args, func(rows pgx.Rows) error {
		var day, n int64
		var status string
		err := rows.Scan(&day, &status, &n)
		if err == nil {
			counts[day-1][transaction.Status(status)] = n
		}
		return err
	})
	return counts, storage.ReadError(err)
}
