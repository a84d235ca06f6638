package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/ports"
)

const (
	countAuditedTransactions = `SELECT count(*) FROM transactions WHERE platform_id BETWEEN $1 AND $2`

	// selectStatusMismatches reads both tables once, each along its primary key, and looks up the rows of the other by its own.
	selectStatusMismatches = `
	SELECT t.platform_id, t.id, t.status, t.direction, false FROM transactions t
	WHERE t.platform_id BETWEEN $1 AND $2 AND NOT EXISTS (SELECT FROM transaction_statuses s
		WHERE s.platform_id = t.platform_id AND s.status = t.status AND s.direction = t.direction AND s.id = t.id)
	UNION ALL SELECT s.platform_id, s.id, s.status, s.direction, true FROM transaction_statuses s
	WHERE s.platform_id BETWEEN $1 AND $2 AND NOT EXISTS (SELECT FROM transactions t
		WHERE t.platform_id = s.platform_id AND t.id = s.id AND t.status = s.status AND t.direction = s.direction)`
)

// StatusMismatches implements audit.PaymentAudit.
func (db *DB) StatusMismatches(ctx context.Context, of ident.Platform, each func(ports.StatusMismatch) error) (n int64, err error) {
	first, last := platformRange(of)
	args := []any{first, last}
	return n, db.auditSnapshot(ctx, func(tx pgx.Tx) error {
		if err := queryRows(ctx, tx, countAuditedTransactions, args, func(rows pgx.Rows) error { return rows.Scan(&n) }); err != nil {
			return err
		}
		return queryRows(ctx, tx, selectStatusMismatches, args, func(rows pgx.Rows) error {
			var m ports.StatusMismatch
			if err := rows.Scan(&m.Platform, &m.Transaction, &m.Status, &m.Direction, &m.Listed); err != nil {
				return err
			}
			return each(m)
		})
	})
}

// selectAuditedReplies uses rail_replies_by_subject.
var selectAuditedReplies = `SELECT ` + railReplies.Names("r") + `, r.seal FROM rail_replies r WHERE r.platform_id BETWEEN $1 AND $2`

// ChangedReplies implements audit.PaymentAudit. What it reads is passed row by row, and not kept.
func (db *DB) ChangedReplies(ctx context.Context, of ident.Platform, each func(ports.ChangedReply) error) (n, withoutKey int64, err error) {
	first, last := platformRange(of)
	return n, withoutKey, db.auditSnapshot(ctx, func(tx pgx.Tx) error {
		return queryRows(ctx, tx, selectAuditedReplies, []any{first, last}, func(rows pgx.Rows) error {
			var r ports.ChangedReply
			var seal string
			var err error
			if err := sealed.ScanStored(rows, railReplies.Columns(&r.RailReply), &seal); err != nil {
				return err
			}
			if r.Unsealed = seal == ""; r.Unsealed {
				return each(r)
			}
			same := false
			if withoutKey == 0 { // the next are not tried
				same, err = db.isSealOf(ctx, seal, r.Digest(), writtenAt(r.RailReply))
			}
			switch {
			case withoutKey > 0 || isWithoutKey(err):
				withoutKey++
				return nil
			case err != nil:
				return err
			}
			if n++; same {
				return nil
			}
			return each(r)
		})
	})
}

// writtenAt is the earliest time at which a reply can have been written: that of the id of its payment, if it is later than the
// one that it states.
func writtenAt(r ports.RailReply) time.Time {
	if r.Subject.Version() == 7 && timeOfID(r.Subject).After(r.At) {
		return timeOfID(r.Subject)
	}
	return r.At
}

// selectMissingReplies uses ledger_postings_by_rare_kind, in the partitions since $3, and the keys of the other tables. A payout
// whose money was taken back may have been stopped, and then its refund pays that; a payment to a UMA address may have been
// declined by its receiver. Neither needs a reply.
const selectMissingReplies = `
	SELECT p.platform_id, p.transaction_id, p.kind
	FROM ledger_postings p JOIN transactions t ON t.platform_id = p.platform_id AND t.id = p.transaction_id
	WHERE p.platform_id BETWEEN $1 AND $2 AND p.recorded_at >= $3 AND ` + ledgerdb.RareKindsCondition +
	` AND p.kind IN ('returned', 'refund_owed', 'refund_failed')
	  AND (p.kind <> 'refund_owed' OR t.stage = 'CONVERTED' AND t.destination_uma = '')
	  AND (p.kind = 'returned' OR NOT EXISTS (SELECT FROM receivables o WHERE o.platform_id = p.platform_id AND o.transaction_id = p.transaction_id))
	  AND NOT EXISTS (SELECT FROM rail_replies r WHERE r.platform_id = p.platform_id AND r.subject_id = p.transaction_id
		AND r.verdict IN ('RETURNED', 'REFUSED', 'CANCELLED') AND (r.call = 'REFUND') = (p.kind = 'refund_failed')
		AND (r.verdict = 'RETURNED' OR p.kind <> 'returned'))`

// MissingReplies implements audit.PaymentAudit.
func (db *DB) MissingReplies(ctx context.Context, of ident.Platform, since time.Time, each func(ports.MissingReply) error) error {
	first, last := platformRange(of)
	return db.auditSnapshot(ctx, func(tx pgx.Tx) error {
		return queryRows(ctx, tx, selectMissingReplies, []any{first, last, since}, func(rows pgx.Rows) error {
			var m ports.MissingReply
			if err := rows.Scan(&m.Platform, &m.Transaction, &m.Kind); err != nil {
				return err
			}
			return each(m)
		})
	})
}
