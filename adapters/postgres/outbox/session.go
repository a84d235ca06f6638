package outbox

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

// Queue opens the sessions that read due events and record their results.
type Queue struct {
	connect func(context.Context) (*pgx.Conn, error)
	cipher  ports.Cipher
}

var _ ports.WebhookQueue = (*Queue)(nil)

// NewQueue returns a queue. Every session gets a connection of its own from connect. The cipher
// opens the bodies of events; it may be nil if they are not encrypted.
func NewQueue(connect func(context.Context) (*pgx.Conn, error), cipher ports.Cipher) *Queue {
	return &Queue{connect, cipher}
}

// A session plans each statement once, when tables may be empty. The settings make it use
// the indexes.
const sessionSQL = `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_mergejoin = off; SET enable_hashjoin = off`

// OpenSession implements ports.WebhookQueue.
func (q *Queue) OpenSession(ctx context.Context) (ports.WebhookSession, error) {
	conn, err := q.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, sessionSQL); err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("prepare a webhook session: %w", err)
	}
	for _, sql := range []string{
		scanSQL, endpointsSQL, claimSQL, releaseSQL, newEventsSQL, retriesSQL, nextRetrySQL, endpointSQL,
		settleNewSQL, settleBacklogSQL, moveToBacklogSQL, postponeSQL, makeNextDueSQL,
	} {
		if _, err := conn.Prepare(ctx, sql, sql); err != nil {
			_ = conn.Close(ctx)
			return nil, fmt.Errorf("prepare a webhook session: %w", err)
		}
	}
	return &session{conn: conn, cipher: q.cipher, watermarks: map[ident.Platform]*watermark{}}, nil
}

// session is one connection. It owns a platform by an advisory lock, which ends with the
// connection, so a process that dies releases its platforms.
type session struct {
	cipher     ports.Cipher // may be nil
	conn       *pgx.Conn
	watermarks map[ident.Platform]*watermark
}

// A loose index scan: it steps from each platform with events to the next one. The ranges of
// ids (low, high) exclude the platforms to skip, so that no step reads the rows that a busy
// owner has just deleted. Uses the primary key of webhook_queue, and webhook_backlog_due.
const scanSQL = `
WITH RECURSIVE gaps AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS g(low, high)
), queued AS (
    SELECT gaps.high, n.platform_id FROM gaps CROSS JOIN LATERAL (
        SELECT platform_id FROM webhook_queue q
        WHERE q.platform_id > gaps.low AND q.platform_id < gaps.high ORDER BY q.platform_id LIMIT 1) n
    UNION ALL
    SELECT w.high, n.platform_id FROM queued w CROSS JOIN LATERAL (
        SELECT platform_id FROM webhook_queue q
        WHERE q.platform_id > w.platform_id AND q.platform_id < w.high ORDER BY q.platform_id LIMIT 1) n
), failed AS (
    SELECT gaps.high, n.* FROM gaps CROSS JOIN LATERAL (
        SELECT platform_id, next_attempt_at FROM webhook_backlog b
        WHERE b.platform_id > gaps.low AND b.platform_id < gaps.high AND next_attempt_at IS NOT NULL
        ORDER BY b.platform_id, b.next_attempt_at LIMIT 1) n
    UNION ALL
    SELECT w.high, n.* FROM failed w CROSS JOIN LATERAL (
        SELECT platform_id, next_attempt_at FROM webhook_backlog b
        WHERE b.platform_id > w.platform_id AND b.platform_id < w.high AND next_attempt_at IS NOT NULL
        ORDER BY b.platform_id, b.next_attempt_at LIMIT 1) n
)
SELECT platform_id FROM queued
UNION
SELECT platform_id FROM failed WHERE next_attempt_at <= $3
LIMIT $4`

const endpointsSQL = `SELECT ` + endpointColumns + ` FROM platforms p WHERE id = ANY($1)`

// Scan implements ports.WebhookSession.
func (s *session) Scan(ctx context.Context, now time.Time, skip, watch []ident.Platform, limit int) (ports.WebhookScan, error) {
	found := ports.WebhookScan{}
	lows, highs := idRangesWithout(skip)
	batch := &pgx.Batch{}
	batch.Queue(scanSQL, lows, highs, now, limit).Query(func(rows pgx.Rows) error {
		var err error
		found.Due, err = pgx.CollectRows(rows, pgx.RowTo[ident.Platform])
		return err
	})
	if len(watch) > 0 {
		found.Endpoints = make(map[ident.Platform]ports.Endpoint, len(watch))
		batch.Queue(endpointsSQL, watch).Query(func(rows pgx.Rows) error {
			return scanEndpoints(rows, nil, found.Endpoints)
		})
	}
	if err := s.conn.SendBatch(ctx, batch).Close(); err != nil {
		return found, fmt.Errorf("find platforms with events: %w", err)
	}
	return found, nil
}

// The lock is taken in the select list, so only for rows of the join.
const claimSQL = `
SELECT ` + endpointColumns + `, pg_try_advisory_lock(c.lock)
FROM unnest($1::uuid[], $2::bigint[]) AS c(id, lock) JOIN platforms p ON p.id = c.id`

const releaseSQL = `SELECT pg_advisory_unlock(lock) FROM unnest($1::bigint[]) AS c(lock)`

// Claim implements ports.WebhookSession.
func (s *session) Claim(ctx context.Context, platforms []ident.Platform) (map[ident.Platform]ports.Endpoint, error) {
	owned := map[ident.Platform]ports.Endpoint{}
	rows, err := s.conn.Query(ctx, claimSQL, platforms, advisoryLockKeys(platforms))
	if err == nil {
		var locked bool
		err = scanEndpoints(rows, &locked, owned)
	}
	if err != nil {
		return nil, fmt.Errorf("claim platforms: %w", err)
	}
	for p := range owned {
		s.watermarks[p] = &watermark{}
	}
	return owned, nil
}

// Release implements ports.WebhookSession.
func (s *session) Release(ctx context.Context, platforms []ident.Platform) error {
	for _, p := range platforms {
		delete(s.watermarks, p)
	}
	if _, err := s.conn.Exec(ctx, releaseSQL, advisoryLockKeys(platforms)); err != nil {
		return fmt.Errorf("release platforms: %w", err)
	}
	return nil
}

// Wait implements ports.WebhookSession. It waits for notifications, which are never sent, and
// so returns when the connection fails.
func (s *session) Wait(ctx context.Context) error {
	for ctx.Err() == nil {
		if _, err := s.conn.WaitForNotification(ctx); err != nil && (ctx.Err() == nil || s.conn.IsClosed()) {
			return fmt.Errorf("the webhook session is lost: %w", err)
		}
	}
	return nil
}

// Close implements ports.WebhookSession.
func (s *session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // the locks are released in any case
}

// scanEndpoints reads platforms with their endpoints; with locked, only those whose last
// column is true.
func scanEndpoints(rows pgx.Rows, locked *bool, into map[ident.Platform]ports.Endpoint) error {
	var endpoint ports.Endpoint
	targets := endpointFields(&endpoint)
	if locked != nil {
		targets = append(targets, locked)
	}
	_, err := pgx.ForEachRow(rows, targets, func() error {
		if locked == nil || *locked {
			into[endpoint.Platform] = endpoint
		}
		return nil
	})
	return err
}

// idRangesWithout returns the ranges of ids, open at both ends, between the skipped ones.
func idRangesWithout(skip []ident.Platform) (lows, highs []uuid.UUID) {
	sorted := slices.Clone(skip)
	slices.SortFunc(sorted, ident.Platform.Compare)
	low := uuid.Nil
	for _, p := range sorted {
		lows, highs = append(lows, low), append(highs, p.UUID())
		low = p.UUID()
	}
	return append(lows, low), append(highs, uuid.Max)
}

// advisoryLockKeys returns the keys of the platforms' advisory locks: 64 bits of a hash. On a
// collision, only one of the two platforms is delivered at a time.
func advisoryLockKeys(platforms []ident.Platform) []int64 {
	out := make([]int64, len(platforms))
	for i, p := range platforms {
		id, h := p.UUID(), fnv.New64a()
		_, _ = h.Write([]byte("causeway webhooks of "))
		_, _ = h.Write(id[:])
		out[i] = int64(binary.BigEndian.Uint64(h.Sum(nil)))
	}
	return out
}
