package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// Log lists deliveries and queues events again.
type Log struct {
	q         Querier
	cipher    ports.Cipher
	batchSize int // events queued by one statement of Redeliver
}

var _ ports.WebhookLog = (*Log)(nil)

// NewLog returns a log that uses q, usually a pool. The cipher encrypts the bodies of events; it may
// be nil.
func NewLog(q Querier, cipher ports.Cipher) *Log { return &Log{q, cipher, redeliverBatchSize} }

// Deliveries implements ports.WebhookLog.
func (l *Log) Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error) {
	sql, args := listSQL(p, f)
	items, err := l.deliveries(ctx, sql, args, false)
	if err != nil {
		return ports.DeliveryPage{}, fmt.Errorf("list deliveries: %w", err)
	}
	page := ports.DeliveryPage{Items: items}
	if f.Limit > 0 && len(items) > f.Limit {
		page.Items, page.More = items[:f.Limit], true
	}
	if err := l.addAttempts(ctx, p, page.Items); err != nil {
		return ports.DeliveryPage{}, err
	}
	return page, nil
}

// Delivery implements ports.WebhookLog.
func (l *Log) Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error) {
	sql := selectDelivery + `, e.body` + fromEvents + joinState + ` WHERE e.platform_id = $1 AND e.id = $2`
	items, err := l.deliveries(ctx, sql, []any{p, id}, true)
	if err != nil {
		return ports.Delivery{}, fmt.Errorf("read a delivery: %w", err)
	}
	if len(items) == 0 {
		return ports.Delivery{}, fault.New(fault.NotFound, "There is no webhook %s. Use an id from a webhook or from the list of deliveries.", id)
	}
	if items[0].Body, err = openBody(ctx, l.cipher, p.UUID(), id.UUID(), items[0].Body); err != nil {
		return ports.Delivery{}, err
	}
	if err := l.addAttempts(ctx, p, items); err != nil {
		return ports.Delivery{}, err
	}
	return items[0], nil
}

// Endpoint implements ports.WebhookLog.
func (l *Log) Endpoint(ctx context.Context, p ident.Platform) (ports.Endpoint, error) {
	var endpoint ports.Endpoint
	err := l.q.QueryRow(ctx, endpointSQL, prepared([]any{p})...).Scan(endpointFields(&endpoint)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return ports.Endpoint{}, fault.New(fault.NotFound, "There is no platform %s.", p)
	}
	if err != nil {
		return ports.Endpoint{}, fmt.Errorf("read a webhook endpoint: %w", err)
	}
	return endpoint, nil
}

// recordSQL uses the primary keys. If two calls compute the same attempt number, one gets an
// error and its caller retries.
const recordSQL = `
WITH stored AS (
    INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body, traceparent)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $15) ON CONFLICT (platform_id, id) DO NOTHING)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, $2, $8, 1 + (SELECT coalesce(max(attempt_no), 0) FROM webhook_attempts WHERE platform_id = $1 AND event_id = $2),
       $9, $10, $11, $12, $13, $14`

// Record implements ports.WebhookLog.
func (l *Log) Record(ctx context.Context, e event.Rendered, a event.Attempt) error {
	stored, err := SealBody(ctx, l.cipher, e.Platform.UUID(), e.ID.UUID(), e.Body)
	if err != nil {
		return err
	}
	_, err = l.q.Exec(ctx, recordSQL, prepared([]any{e.Platform, e.ID, e.Subject, e.OccurredAt, e.Type, e.Name, stored,
		a.AttemptedAt, a.Duration.Milliseconds(), a.StatusCode, !a.Outcome.Delivered(), a.Outcome, a.Error, a.Response,
		schema.Optional(&e.Trace)})...)
	if err != nil {
		return fmt.Errorf("record a webhook: %w", err)
	}
	return nil
}

// deliveries runs a query that begins with selectDelivery. With withBody, the body is its
// last column.
func (l *Log) deliveries(ctx context.Context, sql string, args []any, withBody bool) ([]ports.Delivery, error) {
	rows, err := l.q.Query(ctx, sql, prepared(args)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d ports.Delivery, err error) {
		var outcome event.Outcome
		var waiting bool
		targets := []any{&d.Platform, &d.ID, &d.Subject, &d.Type, &d.Name, &d.Created, &waiting, &d.NextAttempt, &outcome}
		if withBody {
			targets = append(targets, &d.Body)
		}
		err = row.Scan(targets...)
		var latest *event.Attempt
		if outcome != "" {
			latest = &event.Attempt{Outcome: outcome}
		}
		d.Status = event.StatusOf(waiting, latest)
		return d, err
	})
}

// addAttempts reads the attempts of all deliveries with one query. Uses the primary key.
func (l *Log) addAttempts(ctx context.Context, p ident.Platform, deliveries []ports.Delivery) error {
	index := make(map[ident.Webhook]int, len(deliveries))
	ids := make([]ident.Webhook, len(deliveries))
	for i := range deliveries {
		index[deliveries[i].ID], ids[i] = i, deliveries[i].ID
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := l.q.Query(ctx, `
		SELECT event_id, attempt_no, attempted_at, duration_ms, outcome, status_code, error, response FROM webhook_attempts
		WHERE platform_id = $1 AND event_id = ANY ($2) ORDER BY event_id, attempt_no`, prepared([]any{p, ids})...)
	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	var id ident.Webhook
	var a event.Attempt
	var ms int64
	_, err = pgx.ForEachRow(rows, []any{&id, &a.Number, &a.AttemptedAt, &ms, &a.Outcome, &a.StatusCode, &a.Error, &a.Response}, func() error {
		a.Duration = time.Duration(ms) * time.Millisecond
		d := &deliveries[index[id]]
		d.Attempts = append(d.Attempts, a)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	for i := range deliveries {
		deliveries[i].Attempts = slices.Clip(deliveries[i].Attempts)
	}
	return nil
}
