package postgres

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

const railPaymentColumns = `p.platform_id, p.id, p.kind, p.rail, p.country, p.connection, p.currency, p.amount, p.state, p.wait, p.reason,
	p.reviewed, p.forced, p.sent_again, p.partner_id, p.recorded_at, p.handed_over_at, p.sent_at, p.settled_at, p.returned_at`

// railPaymentsByKey uses the primary key.
const railPaymentsByKey = `SELECT ` + railPaymentColumns + ` FROM rail_payments p
	JOIN unnest($1::uuid[], $2::uuid[], $3::text[]) AS k(platform_id, id, kind) USING (platform_id, id, kind)`

func scanRailPayment(rows pgx.Rows) (rail.Payment, error) {
	var p rail.Payment
	var platform, id pgtype.UUID
	var recorded, handedOver, sent, settled, returned pgtype.Timestamptz
	err := rows.Scan(&platform, &id, &p.Kind, &p.Rail, &p.Country, &p.Connection, &p.Currency, &p.Amount.Minor, &p.State, &p.Wait, &p.Reason,
		&p.Reviewed, &p.Forced, &p.SentAgain, &p.PartnerID, &recorded, &handedOver, &sent, &settled, &returned)
	p.Platform.SetUUID(platform.Bytes)
	p.ID, p.Amount.Currency, p.Back = id.Bytes, p.Currency, p.Kind.IsReturn()
	p.RecordedAt, p.HandedOverAt, p.SentAt, p.SettledAt, p.ReturnedAt = utcTime(recorded), utcTime(handedOver), utcTime(sent), utcTime(settled), utcTime(returned)
	return p, err
}

func railPaymentKey(p rail.Payment) ports.RailPaymentKey {
	return ports.RailPaymentKey{Platform: p.Platform, ID: p.ID, Kind: p.Kind}
}

func railKeyColumns(keys []ports.RailPaymentKey) []any {
	platforms, ids, kinds := make(idArray, len(keys)), make(idArray, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		platforms[i], ids[i], kinds[i] = pgID(k.Platform.UUID()), pgID(k.ID), string(k.Kind)
	}
	return []any{platforms, ids, kinds}
}

// RailPayments implements ports.RailPaymentReader.
func (db *DB) RailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	listed, err := db.readRailPayments(ctx, railPaymentsByKey, railKeyColumns(keys)...)
	found := make(map[ports.RailPaymentKey]rail.Payment, len(listed))
	for _, p := range listed {
		found[railPaymentKey(p)] = p
	}
	return found, err
}

func (db *DB) readRailPayments(ctx context.Context, query string, args ...any) ([]rail.Payment, error) {
	rows, err := db.pool.Query(ctx, query, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	if err != nil {
		return nil, err
	}
	var found []rail.Payment
	err = forEachRow(rows, func(rows pgx.Rows) error {
		p, err := scanRailPayment(rows)
		found = append(found, p)
		return err
	})
	return found, err
}

// WaitingRailPayments implements ports.RailPaymentReader. It uses rail_payments_review, rail_payments_queued,
// rail_payments_handed_over or rail_payments_in_flight.
func (db *DB) WaitingRailPayments(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error) {
	query := `SELECT ` + railPaymentColumns + ` FROM rail_payments p WHERE state = 'REVIEW' AND ($1 = '' OR connection = $1) ORDER BY recorded_at, id LIMIT $2`
	switch state {
	case rail.HandedOver:
		query = `SELECT ` + railPaymentColumns + ` FROM rail_payments p WHERE state = 'HANDED_OVER' AND ($1 = '' OR connection = $1) ORDER BY connection, currency, handed_over_at LIMIT $2`
	case rail.Sent:
		query = `SELECT ` + railPaymentColumns + ` FROM rail_payments p WHERE state = 'SENT' AND ($1 = '' OR connection = $1) ORDER BY connection, currency, sent_at LIMIT $2`
	case rail.Queued:
		query = `SELECT ` + railPaymentColumns + ` FROM rail_payments p WHERE state = 'QUEUED' AND ($1 = '' OR connection = $1) ORDER BY connection, currency, forced DESC, recorded_at, id LIMIT $2`
	default: // the others do not wait
	}
	return db.readRailPayments(ctx, query, connection, limit)
}

// RailPaymentsByID implements ports.RailPaymentReader. It uses the primary key, once for each platform.
func (db *DB) RailPaymentsByID(ctx context.Context, id uuid.UUID) ([]rail.Payment, error) {
	return db.readRailPayments(ctx, `SELECT `+railPaymentColumns+` FROM platforms f CROSS JOIN LATERAL (
		SELECT * FROM rail_payments WHERE platform_id = f.id AND id = $1 OFFSET 0) p ORDER BY p.kind`, pgID(id))
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

// RailQueues implements ports.RailPaymentReader.
func (db *DB) RailQueues(ctx context.Context) ([]rail.AccountKey, error) {
	rows, err := db.pool.Query(ctx, railQueues, pgx.QueryExecModeCacheStatement)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[rail.AccountKey])
}

// railTotals uses rail_payments_review, rail_payments_queued, rail_payments_handed_over and rail_payments_in_flight.
const railTotals = `
	SELECT connection, rail, currency, state, count(*), sum(amount)::text FROM (
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'REVIEW'
		UNION ALL
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'QUEUED'
		UNION ALL
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'HANDED_OVER'
		UNION ALL
		SELECT connection, rail, currency, state, amount FROM rail_payments WHERE state = 'SENT') AS open
	GROUP BY connection, rail, currency, state ORDER BY connection, rail, currency, state`

// RailTotals implements ports.RailPaymentReader.
func (db *DB) RailTotals(ctx context.Context) ([]ports.RailTotal, error) {
	rows, err := db.pool.Query(ctx, railTotals)
	if err != nil {
		return nil, err
	}
	var totals []ports.RailTotal
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var t ports.RailTotal
		var amount string
		if err := rows.Scan(&t.Connection, &t.Rail, &t.Currency, &t.State, &t.Count, &amount); err != nil {
			return err
		}
		var err error
		t.Amount, err = money.ParseTotal(amount)
		totals = append(totals, t)
		return err
	})
	return totals, err
}

// LockRailPayments implements ports.RailPaymentWriter.
func (u *unit) LockRailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	found := make(map[ports.RailPaymentKey]rail.Payment, len(keys))
	err := u.query(ctx, railPaymentsByKey+` ORDER BY platform_id, id, kind FOR UPDATE OF p`, railKeyColumns(keys), func(rows pgx.Rows) error {
		p, err := scanRailPayment(rows)
		found[railPaymentKey(p)] = p
		return err
	})
	return found, err
}

// lockRailQueue uses rail_payments_queued, in its order. The planner cannot estimate the CASE; of a comparison with the
// array it expects no rows, and then sorts the whole queue.
const lockRailQueue = `SELECT ` + railPaymentColumns + ` FROM rail_payments p WHERE state = 'QUEUED' AND connection = $1 AND currency = $2 AND CASE WHEN rail = ANY ($3::text[]) THEN false WHEN rail = ANY ($4::text[]) THEN forced ELSE true END
		AND (NOT forced, recorded_at, id) > ($5, $6::timestamptz, $7::uuid)
	ORDER BY forced DESC, recorded_at, id LIMIT $8 FOR UPDATE`

// LockRailQueue implements ports.RailPaymentWriter.
func (u *unit) LockRailQueue(ctx context.Context, key rail.AccountKey, except ports.RailQueueExcept, after rail.Payment, limit int) ([]rail.Payment, error) {
	var queue []rail.Payment
	names := func(rails []corridor.Rail) []string {
		texts := make([]string, len(rails))
		for i, r := range rails {
			texts[i] = string(r)
		}
		return texts
	}
	since := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	if !after.RecordedAt.IsZero() {
		since = pgtype.Timestamptz{Time: after.RecordedAt, Valid: true}
	}
	err := u.query(ctx, lockRailQueue, []any{key.Connection, string(key.Currency), names(except.Stopped), names(except.Closed), !after.Forced && !after.RecordedAt.IsZero(), since, pgID(after.ID), limit}, func(rows pgx.Rows) error {
		p, err := scanRailPayment(rows)
		queue = append(queue, p)
		return err
	})
	return queue, err
}

// RailPausesNow implements ports.RailPaymentWriter.
func (u *unit) RailPausesNow(ctx context.Context) ([]ports.RailPause, error) {
	var found []ports.RailPause
	err := u.query(ctx, latestPauses, nil, func(rows pgx.Rows) error {
		p, err := scanPause(rows)
		found = append(found, p)
		return err
	})
	return found, err
}

// CreateRailPayments implements ports.RailPaymentWriter. A payment that another process has recorded meanwhile fails the unit
// of work.
func (u *unit) CreateRailPayments(_ context.Context, payments []rail.Payment) error {
	for _, p := range payments {
		u.queueExec(`INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at, handed_over_at, sent_at, settled_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`, pgID(p.Platform.UUID()), pgID(p.ID), string(p.Kind), string(p.Rail), p.Country, p.Connection,
			string(p.Currency), p.Amount.Minor, string(p.State), string(p.Wait), p.Reason, pgTime(p.RecordedAt), nullTime(p.HandedOverAt), nullTime(p.SentAt), nullTime(p.SettledAt))
	}
	return nil
}

// UpdateRailPayments implements ports.RailPaymentWriter.
func (u *unit) UpdateRailPayments(_ context.Context, payments []rail.Payment) error {
	for _, p := range payments {
		u.queueExec(`UPDATE rail_payments SET connection = $4, state = $5, wait = $6, reason = $7, reviewed = $8, forced = $9, partner_id = $10,
				handed_over_at = $11, sent_at = $12, settled_at = $13, returned_at = $14, sent_again = $15
			WHERE platform_id = $1 AND id = $2 AND kind = $3`, pgID(p.Platform.UUID()), pgID(p.ID), string(p.Kind), p.Connection, string(p.State), string(p.Wait), p.Reason,
			p.Reviewed, p.Forced, p.PartnerID, nullTime(p.HandedOverAt), nullTime(p.SentAt), nullTime(p.SettledAt), nullTime(p.ReturnedAt), p.SentAgain)
	}
	return nil
}

// RecordRailDecision implements ports.RailPaymentWriter.
func (u *unit) RecordRailDecision(_ context.Context, d ports.RailDecision) error {
	p := d.Payment
	u.queueExec(`INSERT INTO rail_decisions (platform_id, id, payment_id, kind, decision, state, wait, reason, actor, note, decided_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		pgID(p.Platform.UUID()), pgID(d.ID), pgID(p.ID), string(p.Kind), string(d.Decision), string(p.State), string(p.Wait), p.Reason, d.Actor, d.Note, pgTime(d.At))
	return nil
}

// RailDecisions implements ports.RailPaymentReader. It uses rail_decisions_by_payment.
func (db *DB) RailDecisions(ctx context.Context, p ident.Platform, id uuid.UUID) ([]ports.RailDecision, error) {
	rows, err := db.pool.Query(ctx, `SELECT id, kind, decision, state, wait, reason, actor, note, decided_at FROM rail_decisions WHERE platform_id = $1 AND payment_id = $2 ORDER BY decided_at, id`,
		pgx.QueryExecModeCacheStatement, pgID(p.UUID()), pgID(id))
	if err != nil {
		return nil, err
	}
	var decisions []ports.RailDecision
	err = forEachRow(rows, func(rows pgx.Rows) error {
		d := ports.RailDecision{Payment: rail.Payment{ID: id, Route: rail.Route{Platform: p}}}
		var at pgtype.Timestamptz
		err := rows.Scan(&d.ID, &d.Payment.Kind, &d.Decision, &d.Payment.State, &d.Payment.Wait, &d.Payment.Reason, &d.Actor, &d.Note, &at)
		d.At = utcTime(at)
		decisions = append(decisions, d)
		return err
	})
	return decisions, err
}

// sortedAccounts returns the keys without duplicates in the order in which accounts are locked.
func sortedAccounts(keys []rail.AccountKey) []rail.AccountKey {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, compareAccounts)
	return slices.Compact(sorted)
}
