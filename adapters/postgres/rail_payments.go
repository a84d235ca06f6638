package postgres

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/ports"
)

var (
	insertRailPayment = storage.RailPayments.Insert("")
	updateRailPayment = storage.RailPayments.Update("connection", "state", "wait", "reason", "reviewed", "forced", "partner_id",
		"handed_over_at", "sent_at", "settled_at", "returned_at", "sent_again")

	railPaymentColumns = storage.RailPayments.Names("p")
	// railPaymentsByKey uses the primary key.
	railPaymentsByKey = `SELECT ` + railPaymentColumns + ` FROM rail_payments p
		JOIN unnest($1::uuid[], $2::uuid[], $3::text[]) AS k(platform_id, id, kind) USING (platform_id, id, kind)`
)

// RailPayments implements connections.Store.
func (db *DB) RailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	listed, err := db.readRailPayments(ctx, railPaymentsByKey, storage.RailKeyColumns(keys)...)
	found := make(map[ports.RailPaymentKey]rail.Payment, len(listed))
	for _, p := range listed {
		found[storage.RailPaymentKey(p)] = p
	}
	return found, err
}

func (db *DB) readRailPayments(ctx context.Context, query string, args ...any) ([]rail.Payment, error) {
	return queryTable(ctx, db, db.read, storage.RailPayments, query, args...)
}

// WaitingRailPayments implements rails.Store. It uses rail_payments_review, rail_payments_queued,
// rail_payments_handed_over or rail_payments_in_flight.
func (db *DB) WaitingRailPayments(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error) {
	query := `SELECT ` + railPaymentColumns +
		` FROM rail_payments p WHERE state = 'REVIEW' AND ($1 = '' OR connection = $1) ORDER BY recorded_at, id LIMIT $2`
	switch state {
	case rail.HandedOver:
		query = `SELECT ` + railPaymentColumns +
			` FROM rail_payments p WHERE state = 'HANDED_OVER' AND ($1 = '' OR connection = $1) ORDER BY connection, currency, handed_over_at LIMIT $2`
	case rail.Sent:
		query = `SELECT ` + railPaymentColumns +
			` FROM rail_payments p WHERE state = 'SENT' AND ($1 = '' OR connection = $1) ORDER BY connection, currency, sent_at LIMIT $2`
	case rail.Queued:
		query = `SELECT ` + railPaymentColumns +
			` FROM rail_payments p WHERE state = 'QUEUED' AND ($1 = '' OR connection = $1) ORDER BY connection, currency, forced DESC, recorded_at, id LIMIT $2`
	default: // the others do not wait
	}
	return db.readRailPayments(ctx, query, connection, limit)
}

// RailPaymentsInReview implements rails.Store. It uses rail_payments_review_by_platform.
func (db *DB) RailPaymentsInReview(ctx context.Context, p ident.Platform, limit int) ([]rail.Payment, error) {
	return db.readRailPayments(ctx, `SELECT `+railPaymentColumns+` FROM rail_payments p
		WHERE platform_id = $1 AND state = 'REVIEW' ORDER BY recorded_at, id LIMIT $2`, p, limit)
}

// RailPaymentsByID implements rails.Store. It uses the primary key, once for each platform.
func (db *DB) RailPaymentsByID(ctx context.Context, id uuid.UUID) ([]rail.Payment, error) {
	return db.readRailPayments(ctx, `SELECT `+railPaymentColumns+` FROM platforms f CROSS JOIN LATERAL (
		SELECT * FROM rail_payments WHERE platform_id = f.id AND id = $1 OFFSET 0) p ORDER BY p.kind`, id)
}

// railQueues uses rail_payments_queued: one probe for each account.
const railQueues = `
	WITH RECURSIVE queues AS (
		(SELECT connection, currency FROM rail_payments WHERE state = 'QUEUED' ORDER BY connection, currency LIMIT 1)
		UNION ALL
		SELECT following.connection, following.currency FROM queues q CROSS JOIN LATERAL (
			SELECT connection, currency FROM rail_payments WHERE state = 'QUEUED' AND (connection, currency) > (q.connection, q.currency)
			ORDER BY connection, currency LIMIT 1) AS following)
	SELECT connection, currency FROM queues`

// RailQueues implements connections.Store.
func (db *DB) RailQueues(ctx context.Context) ([]rail.AccountKey, error) {
	return storage.Collect(ctx, db.read, railQueues, nil, scanAccountKey)
}

// railTotals uses rail_payments_review, rail_payments_queued, rail_payments_handed_over and rail_payments_in_flight.
const railTotals = `
	SELECT connection, rail, currency, state, count(*), sum(amount) FROM (
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'REVIEW'
		UNION ALL
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'QUEUED'
		UNION ALL
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'HANDED_OVER'
		UNION ALL
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'SENT') AS open
	GROUP BY connection, rail, currency, state ORDER BY connection, rail, currency, state`

// RailTotals implements rails.Store.
func (db *DB) RailTotals(ctx context.Context) ([]ports.RailTotal, error) {
	return storage.Collect(ctx, db.read, railTotals, nil, func(rows pgx.Rows, t *ports.RailTotal) error {
		return rows.Scan(&t.Connection, &t.Rail, &t.Currency, &t.State, &t.Count, &t.Amount)
	})
}

// LockRailPayments implements uow.Tx.
func (u *Unit) LockRailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	locked, err := queryTable(ctx, u.db, u.query, storage.RailPayments, railPaymentsByKey+` ORDER BY platform_id, id, kind FOR UPDATE OF p`,
		storage.RailKeyColumns(keys)...)
	found := make(map[ports.RailPaymentKey]rail.Payment, len(keys))
	for _, p := range locked {
		found[storage.RailPaymentKey(p)] = p
	}
	return found, err
}

// lockRailQueue uses rail_payments_queued, in its order. The planner cannot estimate the CASE; of a comparison with the
// array it expects no rows, and then sorts the whole queue.
var lockRailQueue = `SELECT ` + railPaymentColumns +
	` FROM rail_payments p WHERE state = 'QUEUED' AND connection = $1 AND currency = $2 AND CASE WHEN rail = ANY ($3::text[]) THEN false WHEN rail = ANY ($4::text[]) THEN forced ELSE true END
		AND (NOT forced, recorded_at, id) > ($5, $6::timestamptz, $7::uuid)
	ORDER BY forced DESC, recorded_at, id LIMIT $8 FOR UPDATE`

// LockRailQueue implements connections.Tx.
func (u *Unit) LockRailQueue(ctx context.Context, key rail.AccountKey, except ports.RailQueueExcept, after rail.Payment,
	limit int) ([]rail.Payment, error) {
	isAfter := !after.RecordedAt.IsZero()
	since := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	if isAfter {
		since = pgtype.Timestamptz{Time: after.RecordedAt, Valid: true}
	}
	return queryTable(ctx, u.db, u.query, storage.RailPayments, lockRailQueue, key.Connection, key.Currency,
		append([]corridor.Rail{}, except.Stopped...), append([]corridor.Rail{}, except.Closed...),
		!after.Forced && isAfter, since, pgID(after.ID), limit)
}

// RailPausesNow implements connections.Tx.
func (u *Unit) RailPausesNow(ctx context.Context) ([]ports.RailPause, error) {
	return storage.Collect(ctx, u.query, storage.LatestPauses, nil, storage.ScanPause)
}

// CreateRailPayments implements connections.Tx.
func (u *Unit) CreateRailPayments(ctx context.Context, payments []rail.Payment) error {
	return u.writeRailPayments(ctx, insertRailPayment, payments)
}

// UpdateRailPayments implements connections.Tx.
func (u *Unit) UpdateRailPayments(ctx context.Context, payments []rail.Payment) error {
	return u.writeRailPayments(ctx, updateRailPayment, payments)
}

func (u *Unit) writeRailPayments(ctx context.Context, s schema.Statement[rail.Payment], payments []rail.Payment) error {
	for _, p := range payments {
		if err := write(ctx, u, s, p); err != nil {
			return err
		}
	}
	return nil
}

// railDecisions is the table rail_decisions.
var railDecisions = schema.New("rail_decisions", keyOfPlatform, func(d *ports.RailDecision) schema.Columns {
	p := &d.Payment
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &p.Platform}, {Name: "id", Field: &d.ID}, {Name: "payment_id", Field: &p.ID},
		{Name: "kind", Field: &p.Kind},
		{Name: "decision", Field: &d.Decision}, {Name: "state", Field: &p.State}, {Name: "wait", Field: &p.Wait},
		{Name: "reason", Field: &p.Reason},
		{Name: "note", Field: &d.Note}, {Name: "decided_at", Field: &d.At},
	}, schema.AuthorColumns(&d.Author), schema.ApprovalColumns(&d.Approval))
})

var insertRailDecision = railDecisions.Insert("")

// RecordRailDecision implements rails.Tx.
func (u *Unit) RecordRailDecision(ctx context.Context, d ports.RailDecision) error {
	return write(ctx, u, insertRailDecision, d)
}

// RailDecisions implements rails.Store. It uses rail_decisions_by_payment.
func (db *DB) RailDecisions(ctx context.Context, p ident.Platform, id uuid.UUID) ([]ports.RailDecision, error) {
	return selectRows(ctx, db, db.read, railDecisions, `WHERE platform_id = $1 AND payment_id = $2 ORDER BY decided_at, id`, p, id)
}

// sortedAccounts returns the keys without duplicates in the order in which accounts are locked.
func sortedAccounts(keys []rail.AccountKey) []rail.AccountKey {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, compareAccounts)
	return slices.Compact(sorted)
}
