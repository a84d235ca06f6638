package ledgerdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Audit streams the rows of the ledger tables. It reads in batches along the primary keys,
// so it needs little memory here and in the database, and takes no lock that blocks a
// writer.
type Audit struct {
	store *Store
	db    AuditSource
}

// AuditSource begins read-only transactions: a *pgxpool.Pool or a *pgx.Conn.
type AuditSource interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

var _ ports.LedgerAudit = (*Audit)(nil)

// NewAudit returns an audit of the ledger in the database of db.
func NewAudit(store *Store, db AuditSource) *Audit { return &Audit{store, db} }

// Snapshot implements ports.LedgerAudit. fn runs in one repeatable-read transaction without
// a statement timeout.
func (a *Audit) Snapshot(ctx context.Context, fn func(context.Context, ports.AuditView) error) (err error) {
	tx, err := a.db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("audit the ledger: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	for _, setting := range []string{"statement_timeout = 0", "idle_in_transaction_session_timeout = 0", disableSort} {
		if _, err := tx.Exec(ctx, "SET LOCAL "+setting); err != nil {
			return fmt.Errorf("audit the ledger: %w", err)
		}
	}
	if err := checkNothingArchived(ctx, tx); err != nil {
		return err
	}
	return fn(ctx, &auditView{a.store, tx})
}

// checkNothingArchived returns MONTH_ARCHIVED if any month is archived: an audit begins with
// the first posting.
func checkNothingArchived(ctx context.Context, tx pgx.Tx) error {
	var first, last period.Month
	err := queryFreshPlan(ctx, tx, `SELECT min(month), max(month) FROM ledger_archived_months`, nil,
		func(rows pgx.Rows) error { return rows.Scan(&first, &last) })
	if err == nil && !first.IsZero() {
		archived := "The month " + first.String() + " is"
		if first.Before(last) {
			archived = fmt.Sprintf("The months from %s to %s are", first, last)
		}
		err = fault.New(fault.MonthArchived,
			"%s archived, and the check needs all postings. Restore what is archived (causeway ledger restore), run the check, then archive it "+
				"again.", archived)
	}
	return err
}

// disableSort makes the planner read rows from the index that has them in order. Without
// statistics, on a young table, it would otherwise read all of another index and sort, for
// each batch.
const disableSort = "enable_sort = off"

type auditView struct {
	store *Store
	tx    pgx.Tx
}

// Finds platforms without a clock too. It steps from one platform to the next along the
// primary keys of ledger_accounts, ledger_log_checkpoints, and the partitions of
// ledger_postings and ledger_entries.
const auditPlatforms = `
WITH RECURSIVE a AS (
    (SELECT platform_id FROM ledger_accounts ORDER BY platform_id LIMIT 1)
    UNION ALL SELECT (SELECT t.platform_id FROM ledger_accounts t WHERE t.platform_id > a.platform_id ORDER BY t.platform_id LIMIT 1) FROM a WHERE a.platform_id IS NOT NULL
), p AS (
    (SELECT platform_id FROM ledger_postings ORDER BY platform_id LIMIT 1)
    UNION ALL SELECT (SELECT t.platform_id FROM ledger_postings t WHERE t.platform_id > p.platform_id ORDER BY t.platform_id LIMIT 1) FROM p WHERE p.platform_id IS NOT NULL
), e AS (
    (SELECT platform_id FROM ledger_entries ORDER BY platform_id LIMIT 1)
    UNION ALL SELECT (SELECT t.platform_id FROM ledger_entries t WHERE t.platform_id > e.platform_id ORDER BY t.platform_id LIMIT 1) FROM e WHERE e.platform_id IS NOT NULL
), h AS (
    (SELECT platform_id FROM ledger_log_checkpoints ORDER BY platform_id LIMIT 1)
    UNION ALL SELECT (SELECT t.platform_id FROM ledger_log_checkpoints t WHERE t.platform_id > h.platform_id ORDER BY t.platform_id LIMIT 1) FROM h WHERE h.platform_id IS NOT NULL
)
SELECT w.platform_id, c.platform_id IS NOT NULL, coalesce(c.seq, 0), nullif(c.recorded_at, '-infinity'), coalesce(m.seq, 0),
       (SELECT array_agg(n.first_seq - 1 ORDER BY n.month) FROM ledger_months n
        WHERE n.platform_id = w.platform_id AND n.first_seq > 1 AND n.month <= (m.months_complete_before AT TIME ZONE 'UTC')::date)
FROM (SELECT platform_id FROM a UNION SELECT platform_id FROM p UNION SELECT platform_id FROM e UNION SELECT platform_id FROM h UNION SELECT platform_id FROM ledger_clocks) w
LEFT JOIN ledger_clocks c ON c.platform_id = w.platform_id
LEFT JOIN ledger_snapshot_progress m ON m.platform_id = w.platform_id
WHERE w.platform_id IS NOT NULL
ORDER BY w.platform_id`

// Platforms implements ports.AuditView.
func (v *auditView) Platforms(ctx context.Context) (platforms []ports.AuditPlatform, err error) {
	err = queryFreshPlan(ctx, v.tx, auditPlatforms, nil, func(rows pgx.Rows) error {
		var p ports.AuditPlatform
		err := rows.Scan(&p.Platform, &p.HasClock, &p.Seq, &p.Recorded, &p.SnapshotSeq, &p.CompleteMonthEnds)
		platforms = append(platforms, p)
		return err
	})
	return platforms, wrapError("audit platforms", err)
}

// Uses ledger_postings_by_transaction, and continues after a posting of a transaction.
const auditPostedTransactions = `
SELECT p.transaction_id, p.seq, p.id, p.kind, p.effective_at, p.recorded_at, p.memo, p.digest
FROM ledger_postings p
WHERE p.platform_id = $1 AND (p.transaction_id, p.seq) > ($2, $3) AND p.transaction_id IS NOT NULL
ORDER BY p.transaction_id, p.seq
LIMIT $4`

// PostedTransactions implements ports.AuditView.
func (v *auditView) PostedTransactions(ctx context.Context, p ident.Platform, each func([]ports.PostedTransaction) error) error {
	var after ident.Transaction
	afterSeq, known := int64(math.MinInt64), transactionPostingsPerBatch
	var batch []ports.PostedTransaction
	for known == transactionPostingsPerBatch {
		known = 0
		err := queryFreshPlan(ctx, v.tx, auditPostedTransactions, []any{p, after.UUID(), afterSeq, transactionPostingsPerBatch},
			func(rows pgx.Rows) error {
				var posted transaction.Posted
				if err := rows.Scan(&after, &afterSeq, &posted.ID, &posted.Kind, &posted.Effective, &posted.Recorded, &posted.Memo,
					&posted.Digest); err != nil {
					return err
				}
				known++
				if n := len(batch); n == 0 || batch[n-1].Transaction != after {
					batch = append(batch, ports.PostedTransaction{Transaction: after})
				}
				last := &batch[len(batch)-1]
				last.Postings = append(last.Postings, posted)
				return nil
			})
		if err != nil {
			return wrapError("audit transactions", err)
		}
		complete := len(batch)
		if known == transactionPostingsPerBatch {
			complete-- // the last one may have more postings
		}
		if complete <= 0 {
			continue
		}
		if err := each(batch[:complete]); err != nil {
			return err
		}
		batch = append([]ports.PostedTransaction(nil), batch[complete:]...)
	}
	return nil
}

// transactionPostingsPerBatch is the number of postings of transactions held in memory at a time.
const transactionPostingsPerBatch = 3 * auditBatchSize

// Uses ledger_postings_by_reverses.
const auditReversals = `
SELECT p.id, p.reverses, p.seq, coalesce(x.seq, 0)
FROM ledger_postings p
LEFT JOIN ledger_posting_ids x ON x.platform_id = p.platform_id AND x.id = p.reverses
WHERE p.platform_id = $1 AND p.reverses IS NOT NULL AND (p.reverses, p.id) > ($2, $3)
ORDER BY p.reverses, p.id
LIMIT $4`

// Reversals implements ports.AuditView.
func (v *auditView) Reversals(ctx context.Context, p ident.Platform, each func(reversal, original ports.NumberedPosting,
	found bool) error) error {
	var after struct{ reverses, id [16]byte }
	for {
		type pair struct {
			reversal, original       postingKey
			reversalSeq, originalSeq int64
		}
		var pairs []pair
		var keys []postingKey
		args := []any{p, after.reverses, after.id, auditBatchSize}
		err := queryFreshPlan(ctx, v.tx, auditReversals, args, func(rows pgx.Rows) error {
			var x pair
			if err := rows.Scan(&after.id, &after.reverses, &x.reversalSeq, &x.originalSeq); err != nil {
				return err
			}
			x.reversal, x.original = postingKey{p, after.id}, postingKey{p, after.reverses}
			pairs, keys = append(pairs, x), append(keys, x.reversal, x.original)
			return nil
		})
		if err != nil {
			return wrapError("audit reversals", err)
		}
		if len(pairs) == 0 {
			return nil
		}
		stored, err := v.store.postings(ctx, v.tx, keys)
		if err != nil {
			return wrapError("audit reversals", err)
		}
		for _, x := range pairs {
			reversal, ok := stored[x.reversal]
			if !ok { // all its entries are missing
				reversal.ID, reversal.Platform, reversal.Reverses = x.reversal.id, p, x.original.id
			}
			original, found := stored[x.original]
			err := each(ports.NumberedPosting{Seq: x.reversalSeq, Posting: reversal},
				ports.NumberedPosting{Seq: x.originalSeq, Posting: original}, found)
			if err != nil {
				return err
			}
		}
	}
}

// auditBatchSize is the number of rows held in memory at a time.
const auditBatchSize = 1_000

func utc(t pgtype.Timestamptz) time.Time {
	if !t.Valid || t.InfinityModifier != pgtype.Finite {
		return time.Time{}
	}
	return t.Time.UTC()
}

// Uses ledger_log_state_pkey.
const auditLog = `SELECT size, partial_tiles FROM ledger_log_state WHERE platform_id = $1`

// Log implements ports.AuditView.
func (v *auditView) Log(ctx context.Context, p ident.Platform) (size int64, partialTiles []byte, err error) {
	err = queryFreshPlan(ctx, v.tx, auditLog, []any{p}, func(rows pgx.Rows) error { return rows.Scan(&size, &partialTiles) })
	return size, partialTiles, wrapError("audit the log", err)
}

// LogCheckpoints implements ports.AuditView.
func (v *auditView) LogCheckpoints(ctx context.Context, p ident.Platform, above int64, limit int) ([]ports.SignedCheckpoint, error) {
	return ReadCheckpoints(ctx, v.tx, ledger.PostingLog, p, ports.CheckpointFilter{Before: above, Ascending: true}, limit)
}

// LogTiles implements ports.AuditView.
func (v *auditView) LogTiles(ctx context.Context, p ident.Platform, tiles []ports.TileIndex) ([][]byte, error) {
	return readTiles(ctx, v.tx, p, tiles)
}

// LogKeys implements ports.AuditView.
func (v *auditView) LogKeys(ctx context.Context) ([]ports.CheckpointKey, error) {
	return ReadLogKeys(ctx, v.tx)
}

// ReadLogKeys reads the public halves of the keys that sign checkpoints, newest first.
func ReadLogKeys(ctx context.Context, q Querier) ([]ports.CheckpointKey, error) {
	stored, err := readCheckpointKeys(ctx, q)
	keys := make([]ports.CheckpointKey, len(stored))
	for i, s := range stored {
		keys[i] = s.CheckpointKey
	}
	return keys, err
}
