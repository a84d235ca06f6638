package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

const insertRailReplies = `
	INSERT INTO rail_replies (platform_id, subject_id, replied_at, call, verdict, reason, accepted, retry_at,
		partner_id, partner_code, partner_text, returned_at, expected_at, seal)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[],
		$9::text[], $10::text[], $11::text[], $12::timestamptz[], $13::timestamptz[], $14::text[])`

// SaveRailReplies stores replies with one statement.
func (u *unit) SaveRailReplies(ctx context.Context, replies []ports.RailReply) error {
	if len(replies) == 0 {
		return nil
	}
	var platforms, subjects idArray
	var times, retryTimes, returned, expected timeArray
	var calls, verdicts, reasons, ids, codes, texts, seals []string
	var accepted []bool
	for _, a := range replies {
		seal, err := u.db.sealDigest(ctx, a.Digest())
		if err != nil {
			return err
		}
		platforms, subjects = append(platforms, pgID(a.Platform.UUID())), append(subjects, pgID(a.Subject))
		times, retryTimes = append(times, pgTime(a.At)), append(retryTimes, pgTime(a.RetryAt))
		calls, verdicts, reasons = append(calls, string(a.Call)), append(verdicts, string(a.Verdict)), append(reasons, string(a.Reason))
		accepted = append(accepted, a.Accepted)
		ids, codes, texts = append(ids, a.PartnerID), append(codes, a.Code), append(texts, a.Text)
		returned, expected = append(returned, pgTime(a.ReturnedAt)), append(expected, pgTime(a.ExpectedAt))
		seals = append(seals, seal)
	}
	u.queueExec(insertRailReplies, platforms, subjects, times, calls, verdicts, reasons, accepted, retryTimes, ids, codes, texts, returned, expected, seals)
	return nil
}

// RailReplies uses rail_replies_by_subject.
func (db *DB) RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]ports.RailReply, error) {
	rows, err := db.pool.Query(ctx, `
		SELECT `+replyColumns+` FROM rail_replies r
		WHERE platform_id = $1 AND subject_id = $2 ORDER BY replied_at LIMIT $3`, pgx.QueryExecModeCacheStatement, pgID(p.UUID()), pgID(subject), limit)
	if err != nil {
		return nil, err
	}
	var found []ports.RailReply
	err = forEachRow(rows, func(rows pgx.Rows) error {
		a := ports.RailReply{Platform: p, Subject: subject}
		err := scanReply(rows, &a)
		found = append(found, a)
		return err
	})
	return found, err
}

// replyColumns are those of a reply r, without its platform and subject.
const replyColumns = `r.replied_at, r.call, r.verdict, r.reason, r.accepted, r.retry_at, r.partner_id, r.partner_code, r.partner_text, r.returned_at, r.expected_at`

// scanReply reads replyColumns, and the columns after them into more.
func scanReply(rows pgx.Rows, a *ports.RailReply, more ...any) error {
	var call, verdict, reason string
	var retryAt, returnedAt, expectedAt *time.Time
	err := rows.Scan(append([]any{&a.At, &call, &verdict, &reason, &a.Accepted, &retryAt, &a.PartnerID, &a.Code, &a.Text, &returnedAt, &expectedAt}, more...)...)
	a.At, a.Call, a.RetryAt = a.At.UTC(), ports.RailCall(call), timeOrZero(retryAt)
	a.ReturnedAt, a.ExpectedAt = timeOrZero(returnedAt), timeOrZero(expectedAt)
	a.Verdict, a.Reason = ports.Verdict(verdict), transaction.FailureReason(reason)
	return err
}

// readPartnerIDs uses rail_replies_by_subject.
const readPartnerIDs = `
	SELECT k.platform_id, k.subject_id, last.partner_id
	FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, subject_id) CROSS JOIN LATERAL (
		SELECT r.partner_id FROM rail_replies r
		WHERE r.platform_id = k.platform_id AND r.subject_id = k.subject_id AND r.call = $3 AND r.partner_id <> ''
		ORDER BY r.replied_at DESC LIMIT 1) AS last`

// RailPartnerIDs reads the partner's ids of transactions.
func (db *DB) RailPartnerIDs(ctx context.Context, keys []ports.TransactionKey, call ports.RailCall) (map[ports.TransactionKey]string, error) {
	platforms, subjects := make(idArray, len(keys)), make(idArray, len(keys))
	for i, key := range keys {
		platforms[i], subjects[i] = pgID(key.Platform.UUID()), pgID(key.ID.UUID())
	}
	rows, err := db.pool.Query(ctx, readPartnerIDs, pgx.QueryExecModeCacheStatement, platforms, subjects, string(call))
	if err != nil {
		return nil, err
	}
	found := map[ports.TransactionKey]string{}
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		var platformID, subject pgtype.UUID
		var id string
		if err := rows.Scan(&platformID, &subject, &id); err != nil {
			return err
		}
		var key ports.TransactionKey
		key.Platform.SetUUID(platformID.Bytes)
		key.ID.SetUUID(subject.Bytes)
		found[key] = id
		return nil
	})
}
