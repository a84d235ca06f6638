package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// activities reads what people have done, newest first. Each part reads the newest of its table by the primary key, whose ids are in the
// order of time, and stops after a page. A change of a month has a number, of which an id is made.
const activities = `
	SELECT id, at, actor, action, note, subject_id, subject FROM (
		(SELECT id, at, actor, action, '' AS note, subject_id, subject FROM operator_actions
			WHERE platform_id = $1 AND id > $2 AND id < $3 AND ($4 = '' OR strpos(lower(actor), $4) > 0)
				AND ($5::uuid IS NULL OR subject_id = $5) ORDER BY id DESC LIMIT $6)
		UNION ALL
		(SELECT id, at, actor, action || '_JOB', reason, job_id, step FROM job_actions
			WHERE platform_id = $1 AND id > $2 AND id < $3 AND ($4 = '' OR strpos(lower(actor), $4) > 0)
				AND ($5::uuid IS NULL OR job_id = $5 OR $5 = ANY (subjects)) ORDER BY id DESC LIMIT $6)
		UNION ALL
		(SELECT id, decided_at, actor, decision || '_' || kind, note, payment_id, '' FROM rail_decisions
			WHERE platform_id = $1 AND id > $2 AND id < $3 AND ($4 = '' OR strpos(lower(actor), $4) > 0)
				AND ($5::uuid IS NULL OR payment_id = $5) ORDER BY id DESC LIMIT $6)
		UNION ALL
		(SELECT id, reviewed_at, actor, 'REVIEW_' || verdict, '', coalesce(verification_id, owner_id), 'Customer:' || customer_id
			FROM verification_reviews
			WHERE platform_id = $1 AND id > $2 AND id < $3 AND ($4 = '' OR strpos(lower(actor), $4) > 0)
				AND ($5::uuid IS NULL OR $5 IN (verification_id, owner_id, customer_id)) ORDER BY id DESC LIMIT $6)
		UNION ALL
		(SELECT id, created_at, coalesce(nullif(proposer, ''), 'Token:' || proposer_token_id), 'PROPOSE_' || action,
			lower(status) || CASE WHEN decided_at IS NULL THEN '' ELSE ' by ' || coalesce(nullif(decider, ''), 'Token:' || decider_token_id) END,
			id, operation FROM ledger_proposals
			WHERE platform_id = $1 AND id > $2 AND id < $3 AND ($4 = '' OR strpos(lower(proposer), $4) > 0 OR strpos(lower(decider), $4) > 0)
				AND ($5::uuid IS NULL OR id = $5) ORDER BY id DESC LIMIT $6)
		UNION ALL
		(SELECT * FROM (SELECT (lpad(to_hex((extract(epoch FROM changed_at) * 1000)::bigint), 12, '0') || '70008000' ||
				lpad(to_hex(id), 12, '0'))::uuid AS id, changed_at, coalesce(nullif(actor, ''), 'Token:' || token_id),
				upper(replace(action, '-', '_')) || '_MONTH', note, '00000000-0000-0000-0000-000000000000'::uuid AS subject_id,
				to_char(month, 'YYYY-MM')
			FROM ledger_period_changes WHERE platform_id = $1 AND ($4 = '' OR strpos(lower(actor), $4) > 0)) AS months
			WHERE id > $2 AND id < $3 AND $5::uuid IS NULL ORDER BY id DESC LIMIT $6)
	) AS all_of_them ORDER BY id DESC LIMIT $6`

// Activities implements activity.Store.
func (db *DB) Activities(ctx context.Context, f ports.ActivityFilter) ([]ports.Activity, error) {
	from, to := idAt(f.At.From), f.After
	if end := idAt(f.At.To); !f.At.To.IsZero() && (to == uuid.Nil || string(end[:]) < string(to[:])) {
		to = end
	}
	if to == uuid.Nil {
		to = uuid.Max
	}
	var subject *uuid.UUID
	if f.SubjectID != uuid.Nil {
		subject = &f.SubjectID
	}
	return storage.Collect(ctx, db.queryRows, activities, []any{f.Platform.UUID(), from, to, f.Actor, subject, f.Limit},
		func(rows pgx.Rows, a *ports.Activity) error {
			return rows.Scan(&a.ID, &a.At, &a.Actor, &a.Action, &a.Note, &a.SubjectID, &a.Subject)
		})
}
