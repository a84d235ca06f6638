package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// EvidenceLog stores the logs of evidence. Recording a fact never waits for its writes.
type EvidenceLog struct {
	*ledgerdb.CheckpointStore
	db *DB
}

var _ ports.EvidenceLog = (*EvidenceLog)(nil)

// EvidenceLog returns the logs of evidence.
func (db *DB) EvidenceLog() *EvidenceLog {
	return &EvidenceLog{ledgerdb.NewCheckpointStore(ledger.EvidenceLog, db.pool.Pool), db}
}

// selectPlatformsWithFacts reads one row a platform, and the queue, which is short.
const selectPlatformsWithFacts = `
	SELECT l.platform_id FROM ledger_log_state l LEFT JOIN ledger_evidence_state s ON s.platform_id = l.platform_id
	WHERE l.size > greatest(s.posting_seq, 0)
	UNION SELECT platform_id FROM ledger_evidence_queue
	ORDER BY platform_id`

// PlatformsWithFacts implements ports.EvidenceLog.
func (l *EvidenceLog) PlatformsWithFacts(ctx context.Context) (platforms []ident.Platform, err error) {
	return queryValues[ident.Platform](ctx, readOn(l.db.pool.Pool), selectPlatformsWithFacts)
}

const (
	insertEvidenceState = `INSERT INTO ledger_evidence_state (platform_id) VALUES ($1) ON CONFLICT DO NOTHING`
	// The lock of the row is the lock of the platform's log. The facts of a payment follow its postings, which are in
	// their own log first.
	lockEvidenceState = `
	SELECT s.size, s.partial_tiles, s.posting_seq, coalesce((SELECT l.size FROM ledger_log_state l WHERE l.platform_id = s.platform_id), 0)
	FROM ledger_evidence_state s WHERE s.platform_id = $1 FOR UPDATE OF s SKIP LOCKED`
	updateEvidenceState = `UPDATE ledger_evidence_state SET size = $2, partial_tiles = $3, posting_seq = $4 WHERE platform_id = $1`

	insertEvidenceLeaf = `INSERT INTO ledger_evidence (platform_id, seq, sealed_at, kinds, subjects, hashes, hints) VALUES ($1, $2, $3, $4, $5, $6, $7)`

	insertEvidenceCheckpoint = `
	INSERT INTO ledger_evidence_checkpoints (platform_id, size, sealed_at, root_hash, signed_note, previous_size)
	SELECT $1, $2, $3, $4, $5, greatest((SELECT c.size FROM ledger_evidence_checkpoints c WHERE c.platform_id = $1 ORDER BY c.size DESC LIMIT 1), 0)`
)

// SealEvidence implements ports.EvidenceLog. fn runs in one transaction that locks the platform's row.
func (l *EvidenceLog) SealEvidence(ctx context.Context, p ident.Platform, fn func(context.Context, ports.EvidenceWriter) error) (
	locked bool, err error) {
	platform := p
	err = pgx.BeginFunc(ctx, l.db.pool.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, textFormats); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertEvidenceState, platform); err != nil {
			return err
		}
		w := &evidenceWriter{db: l.db, tx: tx, platform: p}
		err := queryRows(ctx, tx, lockEvidenceState, []any{platform}, func(rows pgx.Rows) error {
			locked = true
			return rows.Scan(&w.size, &w.partialTiles, &w.postingSeq, &w.lastSeq)
		})
		if err != nil || !locked {
			return err
		}
		return fn(ctx, w)
	})
	if err != nil {
		err = fmt.Errorf("seal evidence: %w", err)
	}
	return locked, err
}

// EvidenceStatus implements ports.EvidenceLog.
func (l *EvidenceLog) EvidenceStatus(ctx context.Context, p ident.Platform) (status ports.EvidenceStatus, err error) {
	found, err := l.Checkpoints(ctx, p, ports.CheckpointFilter{Limit: 1})
	if err != nil || len(found.Checkpoints) == 0 {
		return status, err
	}
	status.Checkpoint = found.Checkpoints[0]
	return status, queryRows(ctx, l.db.pool.Pool, `SELECT published_size FROM ledger_evidence_state WHERE platform_id = $1`, []any{p},
		func(rows pgx.Rows) error { return rows.Scan(&status.PublishedSize) })
}

type evidenceWriter struct {
	db           *DB
	tx           pgx.Tx
	platform     ident.Platform
	size         int64
	partialTiles []byte
	// Payments are sealed up to the posting postingSeq, and are to be up to lastSeq.
	postingSeq, lastSeq int64
}

func (w *evidenceWriter) State() (int64, []byte) { return w.size, w.partialTiles }

const (
	// factsPerTake is the maximum number of facts that are taken from the queue at once.
	factsPerTake = 500
	// factsPerRead is the number of those that a statement reads: a fact may be a digest of many thousand rows.
	factsPerRead = 50
	// postingsPerTake is the number of postings whose facts are taken at once.
	postingsPerTake = 1_000
)

// Take implements ports.EvidenceWriter.
func (w *evidenceWriter) Take(ctx context.Context) ([]ledger.Fact, error) {
	facts, err := w.takeQueued(ctx)
	for taken := len(facts); err == nil && len(facts) == taken && w.postingSeq < w.lastSeq; {
		facts, err = w.appendPayments(ctx, facts)
	}
	return facts, err
}

// takeFromQueue uses the primary key. Facts of kinds that this version does not know stay for the server that does. One that
// is locked is about to have another version, which is sealed once it is committed.
const takeFromQueue = `
	WITH n AS MATERIALIZED (
		SELECT kind, subject FROM ledger_evidence_queue WHERE platform_id = $1 AND kind = ANY ($3) ORDER BY kind, subject LIMIT $2 FOR UPDATE SKIP LOCKED)
	DELETE FROM ledger_evidence_queue q USING n
	WHERE q.platform_id = $1 AND q.kind = n.kind AND q.subject = n.subject
	RETURNING q.kind, q.subject`

func (w *evidenceWriter) takeQueued(ctx context.Context) (facts []ledger.Fact, err error) {
	subjects := map[ledger.FactKind][]string{}
	kinds := make([]ledger.FactKind, len(queuedFacts))
	for i, f := range queuedFacts {
		kinds[i] = f.kind
	}
	err = queryRows(ctx, w.tx, takeFromQueue, []any{w.platform, factsPerTake, kinds}, func(rows pgx.Rows) error {
		var kind ledger.FactKind
		var subject string
		err := rows.Scan(&kind, &subject)
		subjects[kind] = append(subjects[kind], subject)
		return err
	})
	for _, f := range queuedFacts {
		for some := range slices.Chunk(subjects[f.kind], factsPerRead) {
			if err == nil {
				facts, err = w.appendFacts(ctx, facts, f.kind, some)
			}
		}
	}
	return facts, err
}

// appendFacts appends the facts of subjects. One that was recorded and does not exist is sealed as such: the check
// reports it as missing.
func (w *evidenceWriter) appendFacts(ctx context.Context, facts []ledger.Fact, kind ledger.FactKind,
	subjects []string) ([]ledger.Fact, error) {
	if len(subjects) == 0 {
		return facts, nil
	}
	found, err := w.db.readFacts(ctx, w.tx, w.platform, kind, subjects)
	if err != nil {
		return nil, err
	}
	for _, subject := range subjects {
		fact, exists := found[subject]
		switch {
		case fact.Unreadable != nil:
			return nil, fact.Unreadable
		case !exists:
			fact.Fact = ledger.NewFact(w.platform, kind, subject, nil)
		}
		facts = append(facts, fact.Fact)
	}
	return facts, nil
}

const (
	// takeTransactions reads postings by their primary keys. Postings of the other kinds follow one that is read.
	takeTransactions = `
	SELECT DISTINCT transaction_id::text FROM ledger_postings
	WHERE platform_id = $1 AND seq > $2 AND seq <= $3 AND ` + bringsTransaction + `
	ORDER BY 1`
	bringsTransaction = `transaction_id IS NOT NULL AND kind NOT IN ('delivered', 'returned', 'refund_owed', 'refund_paid', 'refund_failed')`
	// takeReceipts reads the receipts of these transactions $4, and those of postings to funding/unmatched. Uses the
	// primary keys.
	takeReceipts = `
	SELECT t.receipt_id::text FROM transactions t WHERE t.platform_id = $1 AND t.id = ANY ($4::text[]::uuid[]) AND t.receipt_id IS NOT NULL
	UNION SELECT u.receipt_id::text FROM ledger_postings p JOIN unmatched_funds u ON u.platform_id = p.platform_id AND u.posting_id = p.id
	WHERE p.platform_id = $1 AND p.seq > $2 AND p.seq <= $3 AND p.kind = 'unmatched_received'
	ORDER BY 1`
)

// appendPayments appends the facts of the payments of the next postings.
func (w *evidenceWriter) appendPayments(ctx context.Context, facts []ledger.Fact) ([]ledger.Fact, error) {
	from := w.postingSeq
	w.postingSeq = min(from+postingsPerTake, w.lastSeq)
	args := []any{w.platform, from, w.postingSeq}
	transactions, err := readTexts(ctx, w.tx, takeTransactions, args)
	if err != nil {
		return nil, err
	}
	receipts, err := readTexts(ctx, w.tx, takeReceipts, append(args, transactions))
	if err != nil {
		return nil, err
	}
	if facts, err = w.appendFacts(ctx, facts, ledger.FactTransaction, transactions); err != nil {
		return nil, err
	}
	if facts, err = w.appendFacts(ctx, facts, ledger.FactTexts, transactions); err != nil {
		return nil, err
	}
	return w.appendFacts(ctx, facts, ledger.FactReceipt, receipts)
}

// readTexts reads the single column of a query.
func readTexts(ctx context.Context, tx pgx.Tx, statement string, args []any) (texts []string, err error) {
	texts, err = queryValues[string](ctx, readOn(tx), statement, args...)
	if texts == nil {
		texts = []string{} // NULL is no array
	}
	return texts, err
}

// Add implements ports.EvidenceWriter.
func (w *evidenceWriter) Add(ctx context.Context, leaf ledger.EvidenceLeaf) error {
	kinds, subjects, hashes, hints := make([]string, len(leaf.Facts)), make([]string, len(leaf.Facts)), make([][]byte, len(leaf.Facts)),
		make([][]byte, len(leaf.Facts))
	for i, f := range leaf.Facts {
		kinds[i], subjects[i], hashes[i], hints[i] = string(f.Kind), f.Subject, f.Hash[:], f.Hints
	}
	_, err := w.tx.Exec(ctx, insertEvidenceLeaf, w.platform, leaf.Seq, leaf.Sealed, kinds, subjects, hashes, hints)
	return err
}

// Seal implements ports.EvidenceWriter.
func (w *evidenceWriter) Seal(ctx context.Context, c ports.SignedCheckpoint, partialTiles []byte) error {
	if c.Size > w.size {
		if _, err := w.tx.Exec(ctx, insertEvidenceCheckpoint, w.platform, c.Size, c.Sealed, c.Root[:], c.Note); err != nil {
			return err
		}
	}
	tag, err := w.tx.Exec(ctx, updateEvidenceState, w.platform, c.Size, partialTiles, w.postingSeq)
	if err == nil && tag.RowsAffected() != 1 {
		err = errors.New("the state of the log of evidence is gone")
	}
	return err
}
