package ledgerdb

import (
	"context"
	"math"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

const (
	// Rides on the primary keys of the months, side by side.
	auditPostings = `
SELECT p.seq, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses, p.digest
FROM ledger_postings p
WHERE p.platform_id = $1 AND p.seq > $2 AND p.seq <= $3
ORDER BY p.seq LIMIT $4`

	// Rides on the primary keys of the months, side by side, and ledger_accounts_pkey.
	auditEntries = `
SELECT e.seq, e.entry_no, e.debit_account_id, d.path, d.currency, e.credit_account_id, c.path, c.currency, e.currency, e.amount
FROM ledger_entries e
LEFT JOIN ledger_accounts d ON d.platform_id = e.platform_id AND d.id = e.debit_account_id
LEFT JOIN ledger_accounts c ON c.platform_id = e.platform_id AND c.id = e.credit_account_id
WHERE e.platform_id = $1 AND (e.seq, e.entry_no) > ($2, $3) AND e.seq <= $4
ORDER BY e.seq, e.entry_no LIMIT $5`
)

// Postings is as ports.AuditView says.
func (v *auditView) Postings(ctx context.Context, p ident.Platform, each func(ports.AuditPosting) error) error {
	return v.postingsBetween(ctx, p, math.MinInt64, math.MaxInt64, each)
}

// PostingsUpTo is as ports.AuditView says.
func (v *auditView) PostingsUpTo(ctx context.Context, p ident.Platform, upto int64, each func(ports.AuditPosting) error) error {
	return v.postingsBetween(ctx, p, 0, upto, each)
}

// postingsBetween streams the postings with a number above one and up to another, step
// by step, merged with the entries in the same range of numbers.
func (v *auditView) postingsBetween(ctx context.Context, p ident.Platform, after, last int64, each func(ports.AuditPosting) error) error {
	for {
		step, err := v.postingsAfter(ctx, p, after, last)
		if err != nil {
			return wrapError("audit postings", err)
		}
		upto := last
		if len(step) == auditBatchSize {
			upto = step[len(step)-1].Seq
		}
		if err := v.mergeEntries(ctx, p, after, upto, step, each); err != nil {
			return err
		}
		if upto == last {
			return nil
		}
		after = upto
	}
}

func (v *auditView) postingsAfter(ctx context.Context, platform ident.Platform, after, last int64) (step []ports.AuditPosting, err error) {
	err = queryFreshPlan(ctx, v.tx, auditPostings, []any{pgUUID(platform.UUID()), after, last, auditBatchSize}, func(rows pgx.Rows) error {
		var (
			p                     = ports.AuditPosting{Found: true}
			id                    [16]byte
			kind                  string
			transaction, reverses pgtype.UUID
			effective, recorded   pgtype.Timestamptz
		)
		if err := rows.Scan(&p.Seq, &id, &kind, &transaction, &effective, &recorded, &p.Posting.Memo, &reverses, &p.Digest); err != nil {
			return err
		}
		p.Recorded = utc(recorded)
		p.Posting.ID, p.Posting.Platform, p.Posting.Kind = id, platform, ledger.Kind(kind)
		p.Posting.Transaction, p.Posting.Reverses, p.Posting.Effective = transactionID(transaction), uuid.UUID(reverses.Bytes), utc(effective)
		step = append(step, p)
		return nil
	})
	return step, err
}

func (v *auditView) mergeEntries(ctx context.Context, p ident.Platform, after, upto int64, step []ports.AuditPosting, each func(ports.AuditPosting) error) error {
	var orphan ports.AuditPosting // entries that no posting owns, gathered by number
	flush := func() error {
		if len(orphan.Entries) == 0 {
			return nil
		}
		lost := orphan
		orphan = ports.AuditPosting{}
		return each(lost)
	}
	err := v.entriesBetween(ctx, p, after, upto, func(seq int64, e ports.AuditEntry) error {
		if len(orphan.Entries) > 0 && orphan.Seq != seq {
			if err := flush(); err != nil {
				return err
			}
		}
		// Whatever comes before this entry's posting is complete.
		for len(step) > 0 && step[0].Seq < seq {
			if err := each(step[0]); err != nil {
				return err
			}
			step = step[1:]
		}
		if len(step) > 0 && step[0].Seq == seq {
			step[0].Entries = append(step[0].Entries, e)
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
	for _, posting := range step {
		if err := each(posting); err != nil {
			return err
		}
	}
	return nil
}

// entriesBetween streams the entries with a number above one and up to another. It
// holds some and none is being read while it calls, so that the caller may ask for
// something else meanwhile.
func (v *auditView) entriesBetween(ctx context.Context, p ident.Platform, after, upto int64, each func(int64, ports.AuditEntry) error) error {
	type numbered struct {
		seq int64
		ports.AuditEntry
	}
	n := math.MaxInt16 // of the number before the first
	for {
		var held []numbered
		err := queryFreshPlan(ctx, v.tx, auditEntries, []any{pgUUID(p.UUID()), after, int16(n), upto, entryBatchSize}, func(rows pgx.Rows) error {
			seq, e, err := scanAuditEntry(rows)
			held = append(held, numbered{seq, e})
			return err
		})
		if err != nil {
			return wrapError("audit entries", err)
		}
		for _, e := range held {
			if err := each(e.seq, e.AuditEntry); err != nil {
				return err
			}
		}
		if len(held) < entryBatchSize {
			return nil
		}
		after, n = held[len(held)-1].seq, held[len(held)-1].N
	}
}

// entryBatchSize is how many entries are held at once.
const entryBatchSize = 4 * auditBatchSize

func scanAuditEntry(rows pgx.Rows) (seq int64, e ports.AuditEntry, err error) {
	var (
		n                          int16
		debitPath, debitCurrency   pgtype.Text
		creditPath, creditCurrency pgtype.Text
		currency                   string
	)
	err = rows.Scan(&seq, &n, &e.Debit.Number, &debitPath, &debitCurrency, &e.Credit.Number, &creditPath, &creditCurrency, &currency, &e.Amount)
	e.N, e.Currency = int(n), money.Currency(currency)
	e.Debit.Found, e.Debit.Path, e.Debit.Currency = debitPath.Valid, debitPath.String, money.Currency(debitCurrency.String)
	e.Credit.Found, e.Credit.Path, e.Credit.Currency = creditPath.Valid, creditPath.String, money.Currency(creditCurrency.String)
	return seq, e, err
}

func toKinds(kinds []string) []ledger.Kind {
	of := make([]ledger.Kind, len(kinds))
	for i, k := range kinds {
		of[i] = ledger.Kind(k)
	}
	return of
}
