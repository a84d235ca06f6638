package ledgerdb

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

const (
	// Uses the primary keys of the partitions, merged.
	auditPostings = `
SELECT p.seq, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses, p.digest
FROM ledger_postings p
WHERE p.platform_id = $1 AND p.seq > $2 AND p.seq <= $3
ORDER BY p.seq LIMIT $4`

	// Uses the primary keys of the partitions, merged, and ledger_accounts_pkey.
	auditEntries = `
SELECT e.seq, e.entry_no, e.debit_account_id, d.path, d.currency, e.credit_account_id, c.path, c.currency, e.currency, e.amount
FROM ledger_entries e
LEFT JOIN ledger_accounts d ON d.platform_id = e.platform_id AND d.id = e.debit_account_id
LEFT JOIN ledger_accounts c ON c.platform_id = e.platform_id AND c.id = e.credit_account_id
WHERE e.platform_id = $1 AND (e.seq, e.entry_no) > ($2, $3) AND e.seq <= $4
ORDER BY e.seq, e.entry_no LIMIT $5`
)

// Postings implements ports.AuditView.
func (v *auditView) Postings(ctx context.Context, p ident.Platform, each func(ports.AuditPosting) error) error {
	return v.postingsBetween(ctx, p, math.MinInt64, math.MaxInt64, each)
}

// PostingsUpTo implements ports.AuditView.
func (v *auditView) PostingsUpTo(ctx context.Context, p ident.Platform, upto int64, each func(ports.AuditPosting) error) error {
	return v.postingsBetween(ctx, p, 0, upto, each)
}

// postingsBetween streams the postings with numbers above after and up to last, in batches,
// each merged with the entries in the same range of numbers.
func (v *auditView) postingsBetween(ctx context.Context, p ident.Platform, after, last int64, each func(ports.AuditPosting) error) error {
	for {
		batch, err := v.postingsAfter(ctx, p, after, last)
		if err != nil {
			return wrapError("audit postings", err)
		}
		upto := last
		if len(batch) == auditBatchSize {
			upto = batch[len(batch)-1].Seq
		}
		if err := v.mergeEntries(ctx, p, after, upto, batch, each); err != nil {
			return err
		}
		if upto == last {
			return nil
		}
		after = upto
	}
}

func (v *auditView) postingsAfter(ctx context.Context, platform ident.Platform, after, last int64) (batch []ports.AuditPosting, err error) {
	err = queryFreshPlan(ctx, v.tx, auditPostings, []any{platform, after, last, auditBatchSize}, func(rows pgx.Rows) error {
		p := ports.AuditPosting{Found: true, Posting: ledger.Posting{Platform: platform}}
		err := rows.Scan(&p.Seq, &p.Posting.ID, &p.Posting.Kind, &p.Posting.Transaction, &p.Posting.Effective, &p.Recorded,
			&p.Posting.Memo, &p.Posting.Reverses, &p.Digest)
		batch = append(batch, p)
		return err
	})
	return batch, err
}

func (v *auditView) mergeEntries(ctx context.Context, p ident.Platform, after, upto int64, batch []ports.AuditPosting,
	each func(ports.AuditPosting) error) error {
	var orphan ports.AuditPosting // entries without a posting, collected by number
	flush := func() error {
		if len(orphan.Entries) == 0 {
			return nil
		}
		complete := orphan
		orphan = ports.AuditPosting{}
		return each(complete)
	}
	err := v.entriesBetween(ctx, p, after, upto, func(seq int64, e ports.AuditEntry) error {
		if len(orphan.Entries) > 0 && orphan.Seq != seq {
			if err := flush(); err != nil {
				return err
			}
		}
		// The postings before this entry's are complete.
		for len(batch) > 0 && batch[0].Seq < seq {
			if err := each(batch[0]); err != nil {
				return err
			}
			batch = batch[1:]
		}
		if len(batch) > 0 && batch[0].Seq == seq {
			batch[0].Entries = append(batch[0].Entries, e)
			return nil
		}
		orphan.Seq, orphan.Entries = seq, append(orphan.Entries, e)
		return nil
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	for _, posting := range batch {
		if err := each(posting); err != nil {
			return err
		}
	}
	return nil
}

// entriesBetween streams the entries with numbers above after and up to upto. It reads a
// batch before it calls each, so that the connection is free for other queries.
func (v *auditView) entriesBetween(ctx context.Context, p ident.Platform, after, upto int64,
	each func(int64, ports.AuditEntry) error) error {
	type numbered struct {
		seq int64
		ports.AuditEntry
	}
	n := math.MaxInt16 // after all entries of the posting before the first
	for {
		var batch []numbered
		err := queryFreshPlan(ctx, v.tx, auditEntries, []any{p, after, int16(n), upto, entryBatchSize}, func(rows pgx.Rows) error {
			seq, e, err := scanAuditEntry(rows)
			batch = append(batch, numbered{seq, e})
			return err
		})
		if err != nil {
			return wrapError("audit entries", err)
		}
		for _, e := range batch {
			if err := each(e.seq, e.AuditEntry); err != nil {
				return err
			}
		}
		if len(batch) < entryBatchSize {
			return nil
		}
		after, n = batch[len(batch)-1].seq, batch[len(batch)-1].N
	}
}

// entryBatchSize is the number of entries held in memory at a time.
const entryBatchSize = 4 * auditBatchSize

func scanAuditEntry(rows pgx.Rows) (seq int64, e ports.AuditEntry, err error) {
	var (
		n                          int16
		debitPath, debitCurrency   pgtype.Text
		creditPath, creditCurrency pgtype.Text
		currency                   string
	)
	err = rows.Scan(&seq, &n, &e.Debit.Number, &debitPath, &debitCurrency, &e.Credit.Number, &creditPath, &creditCurrency,
		&currency, &e.Amount)
	e.N, e.Currency = int(n), money.Currency(currency)
	e.Debit.Found, e.Debit.Path, e.Debit.Currency = debitPath.Valid, debitPath.String, money.Currency(debitCurrency.String)
	e.Credit.Found, e.Credit.Path, e.Credit.Currency = creditPath.Valid, creditPath.String, money.Currency(creditCurrency.String)
	return seq, e, err
}
