package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

var _ ports.EvidenceAudit = (*DB)(nil)

// EvidenceSnapshot implements ports.EvidenceAudit.
func (db *DB) EvidenceSnapshot(ctx context.Context, fn func(context.Context, ports.EvidenceView) error) error {
	return db.auditSnapshot(ctx, func(tx pgx.Tx) error { return fn(ctx, &evidenceView{db, tx}) })
}

// auditSnapshot calls fn in one repeatable-read transaction without a statement timeout.
func (db *DB) auditSnapshot(ctx context.Context, fn func(pgx.Tx) error) (err error) {
	tx, err := db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin the audit: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; "+textFormats); err != nil {
		return fmt.Errorf("begin the audit: %w", err)
	}
	return fn(tx)
}

type evidenceView struct {
	db *DB
	tx pgx.Tx
}

// selectEvidencePlatforms steps from one platform to the next along the primary keys.
const selectEvidencePlatforms = `
	WITH RECURSIVE e AS (
		(SELECT platform_id FROM ledger_evidence ORDER BY platform_id LIMIT 1)
		UNION ALL SELECT (SELECT t.platform_id FROM ledger_evidence t WHERE t.platform_id > e.platform_id ORDER BY t.platform_id LIMIT 1) FROM e WHERE e.platform_id IS NOT NULL
	), c AS (
		(SELECT platform_id FROM ledger_evidence_checkpoints ORDER BY platform_id LIMIT 1)
		UNION ALL SELECT (SELECT t.platform_id FROM ledger_evidence_checkpoints t WHERE t.platform_id > c.platform_id ORDER BY t.platform_id LIMIT 1) FROM c WHERE c.platform_id IS NOT NULL
	)
	SELECT platform_id FROM e WHERE platform_id IS NOT NULL UNION SELECT platform_id FROM c WHERE platform_id IS NOT NULL
	UNION SELECT platform_id FROM ledger_evidence_state UNION SELECT platform_id FROM ledger_evidence_queue UNION SELECT platform_id FROM ledger_clocks
	ORDER BY platform_id`

// EvidencePlatforms implements ports.EvidenceView.
func (v *evidenceView) EvidencePlatforms(ctx context.Context) (platforms []ident.Platform, err error) {
	return queryValues[ident.Platform](ctx, readOn(v.tx), selectEvidencePlatforms)
}

// EvidenceLog implements ports.EvidenceView.
func (v *evidenceView) EvidenceLog(ctx context.Context, p ident.Platform) (size int64, edge []byte, err error) {
	err = queryRows(ctx, v.tx, `SELECT size, partial_tiles FROM ledger_evidence_state WHERE platform_id = $1`, []any{p},
		func(rows pgx.Rows) error { return rows.Scan(&size, &edge) })
	return size, edge, err
}

// EvidenceCheckpoints implements ports.EvidenceView.
func (v *evidenceView) EvidenceCheckpoints(ctx context.Context, p ident.Platform, above int64,
	limit int) ([]ports.SignedCheckpoint, error) {
	return ledgerdb.ReadCheckpoints(ctx, v.tx, ledger.EvidenceLog, p, ports.CheckpointFilter{Before: above, Ascending: true}, limit)
}

// LogKeys implements ports.EvidenceView.
func (v *evidenceView) LogKeys(ctx context.Context) ([]ports.CheckpointKey, error) {
	return ledgerdb.ReadLogKeys(ctx, v.tx)
}

// evidenceLeavesPerRead is the number of leaves that are read at once.
const evidenceLeavesPerRead = 20

// Leaves implements ports.EvidenceView. It uses the primary key.
func (v *evidenceView) Leaves(ctx context.Context, p ident.Platform, each func(ledger.EvidenceLeaf) error) error {
	for after := int64(0); ; {
		var batch []ledger.EvidenceLeaf
		err := queryRows(
			ctx, v.tx, `SELECT seq, sealed_at, kinds, subjects, hashes, hints FROM ledger_evidence WHERE platform_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
			[]any{p, after, evidenceLeavesPerRead}, func(rows pgx.Rows) error {
				leaf, err := scanEvidenceLeaf(rows, p)
				batch = append(batch, leaf)
				return err
			})
		if err != nil {
			return err
		}
		for _, leaf := range batch {
			if err := each(leaf); err != nil {
				return err
			}
		}
		if len(batch) < evidenceLeavesPerRead {
			return nil
		}
		after = batch[len(batch)-1].Seq
	}
}

func scanEvidenceLeaf(rows pgx.Rows, p ident.Platform) (ledger.EvidenceLeaf, error) {
	leaf := ledger.EvidenceLeaf{Platform: p}
	var kinds, subjects []string
	var hashes, hints [][]byte
	if err := rows.Scan(&leaf.Seq, &leaf.Sealed, &kinds, &subjects, &hashes, &hints); err != nil {
		return leaf, err
	}
	for i := range kinds {
		f := ledger.Fact{Kind: ledger.FactKind(kinds[i])}
		// The arrays have one length, unless they were changed: then the leaf does not have its hash.
		if i < len(subjects) {
			f.Subject = subjects[i]
		}
		if i < len(hashes) {
			copy(f.Hash[:], hashes[i])
		}
		if i < len(hints) {
			f.Hints = hints[i]
		}
		leaf.Facts = append(leaf.Facts, f)
	}
	return leaf, nil
}

// Facts implements ports.EvidenceView.
func (v *evidenceView) Facts(ctx context.Context, p ident.Platform, kind ledger.FactKind,
	subjects []string) (map[string]ports.StoredFact, error) {
	return v.db.readFacts(ctx, v.tx, p, kind, subjects)
}

// QueuedKinds implements ports.EvidenceView.
func (v *evidenceView) QueuedKinds() (kinds, versions []ledger.FactKind) {
	for _, f := range queuedFacts {
		if f.versions {
			versions = append(versions, f.kind)
		} else {
			kinds = append(kinds, f.kind)
		}
	}
	return kinds, versions
}

// QueuedSubjects implements ports.EvidenceView. It uses the primary key.
func (v *evidenceView) QueuedSubjects(ctx context.Context, p ident.Platform, kind ledger.FactKind) (map[string]bool, error) {
	queued := map[string]bool{}
	return queued, queryRows(ctx, v.tx, `SELECT subject FROM ledger_evidence_queue WHERE platform_id = $1 AND kind = $2`, []any{p, kind},
		func(rows pgx.Rows) error {
			var subject string
			err := rows.Scan(&subject)
			queued[subject] = true
			return err
		})
}

// subjectsPerRead is the number of subjects that are read at once.
const subjectsPerRead = 10_000

// Subjects implements ports.EvidenceView. It uses the primary keys. Those of a platform whose earlier facts are not
// queued yet are passed as queued.
func (v *evidenceView) Subjects(ctx context.Context, p ident.Platform, kind ledger.FactKind, each func(string, bool) error) error {
	f, known := queuedFactOf(kind)
	if !known {
		return nil
	}
	statement, args, last := f.after(true), []any{p, kind, subjectsPerRead}, ""
	for {
		var subjects []string
		var queued []bool
		err := queryRows(ctx, v.tx, statement, args, func(rows pgx.Rows) error {
			var isQueued bool
			err := rows.Scan(&last, &isQueued)
			subjects, queued = append(subjects, last), append(queued, isQueued)
			return err
		})
		if err != nil {
			return err
		}
		for i, subject := range subjects { // each may read
			if err := each(subject, queued[i]); err != nil {
				return err
			}
		}
		if len(subjects) < subjectsPerRead {
			return nil
		}
		statement, args = f.after(false), args[:3:3]
		for _, value := range f.split(last) {
			args = append(args, value)
		}
	}
}

// selectSkippedPayments scans the postings and the leaves. Postings from before the first leaf may be from before
// there was evidence.
const selectSkippedPayments = `
	SELECT CASE WHEN u.receipt_id IS NULL THEN $2::text ELSE $3::text END, CASE WHEN u.receipt_id IS NULL THEN transaction_id ELSE u.receipt_id END::text
	FROM ledger_postings p LEFT JOIN unmatched_funds u ON p.kind = 'unmatched_received' AND u.platform_id = p.platform_id AND u.posting_id = p.id
	WHERE p.platform_id = $1 AND p.seq <= (SELECT posting_seq FROM ledger_evidence_state WHERE platform_id = $1)
	  AND p.recorded_at > (SELECT sealed_at FROM ledger_evidence WHERE platform_id = $1 ORDER BY seq LIMIT 1)
	  AND (u.receipt_id IS NOT NULL OR ` + bringsTransaction + `)
	EXCEPT SELECT f.kind, f.subject FROM ledger_evidence e CROSS JOIN LATERAL unnest(e.kinds, e.subjects) f (kind, subject)
	WHERE e.platform_id = $1 AND f.kind IN ($2::text, $3::text)
	ORDER BY 1, 2`

// SkippedPayments implements ports.EvidenceView.
func (v *evidenceView) SkippedPayments(ctx context.Context, p ident.Platform, each func(ledger.FactKind, string) error) error {
	args := []any{p, ledger.FactTransaction, ledger.FactReceipt}
	return queryRows(ctx, v.tx, selectSkippedPayments, args, func(rows pgx.Rows) error {
		var kind ledger.FactKind
		var subject string
		if err := rows.Scan(&kind, &subject); err != nil {
			return err
		}
		return each(kind, subject)
	})
}

// selectUnmatchedWithoutReceipt uses ledger_postings_by_rare_kind and the primary keys.
const selectUnmatchedWithoutReceipt = `
	SELECT p.id FROM ledger_postings p
	WHERE p.platform_id = $1 AND p.kind = 'unmatched_received' AND ` + ledgerdb.RareKindsCondition + ` AND NOT EXISTS (
		SELECT FROM unmatched_funds u JOIN receipts r ON r.platform_id = u.platform_id AND r.id = u.receipt_id
		WHERE u.platform_id = p.platform_id AND u.posting_id = p.id)
	ORDER BY p.seq`

// UnmatchedWithoutReceipt implements ports.EvidenceView.
func (v *evidenceView) UnmatchedWithoutReceipt(ctx context.Context, p ident.Platform, each func(uuid.UUID) error) error {
	return queryRows(ctx, v.tx, selectUnmatchedWithoutReceipt, []any{p}, func(rows pgx.Rows) error {
		var posting uuid.UUID
		if err := rows.Scan(&posting); err != nil {
			return err
		}
		return each(posting)
	})
}

// selectDanglingMatches looks up each match and what was matched by the primary keys.
const selectDanglingMatches = `
	SELECT 'match', m.id::text, 'reconciliation' FROM reconciliation_matches m WHERE m.platform_id = $1
		AND NOT EXISTS (SELECT FROM reconciliations r WHERE r.platform_id = m.platform_id AND r.id = m.reconciliation_id)
	UNION ALL SELECT 'matched line', l.line_id::text, 'match' FROM reconciliation_matched_lines l WHERE l.platform_id = $1
		AND NOT EXISTS (SELECT FROM reconciliation_matches m WHERE m.platform_id = l.platform_id AND m.id = l.match_id)
	UNION ALL SELECT 'matched entry', concat_ws('/', e.account, e.seq, e.entry_no), 'match' FROM reconciliation_matched_entries e WHERE e.platform_id = $1
		AND NOT EXISTS (SELECT FROM reconciliation_matches m WHERE m.platform_id = e.platform_id AND m.id = e.match_id)`

// DanglingMatches implements ports.EvidenceView.
func (v *evidenceView) DanglingMatches(ctx context.Context, p ident.Platform, each func(what, id, without string) error) error {
	return queryRows(ctx, v.tx, selectDanglingMatches, []any{p}, func(rows pgx.Rows) error {
		var what, id, without string
		if err := rows.Scan(&what, &id, &without); err != nil {
			return err
		}
		return each(what, id, without)
	})
}

// selectUnsealedFacts counts the queued facts and the postings whose payments are not sealed. Uses the primary keys.
const selectUnsealedFacts = `
	SELECT q.queued + greatest(c.seq - greatest(s.posting_seq, 0), 0), least(q.since,
		(SELECT p.recorded_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = greatest(s.posting_seq, 0) + 1))
	FROM (SELECT count(*) AS queued, min(queued_at) AS since FROM ledger_evidence_queue WHERE platform_id = $1) q
	LEFT JOIN ledger_evidence_state s ON s.platform_id = $1
	LEFT JOIN ledger_clocks c ON c.platform_id = $1`

// Unsealed implements ports.EvidenceView.
func (v *evidenceView) Unsealed(ctx context.Context, p ident.Platform) (count int64, since time.Time, err error) {
	err = queryRows(ctx, v.tx, selectUnsealedFacts, []any{p}, func(rows pgx.Rows) error {
		return rows.Scan(schema.Optional(&count), &since)
	})
	return count, since, err
}
