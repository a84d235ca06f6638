package books

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// readPicked reads postings with their entries; %[1]s picks them, %[2]s is the order.
// Rides on ledger_entries_pkey, ledger_accounts_pkey and ledger_posting_reversed_once.
const readPicked = `
SELECT p.seq, p.id, p.kind, p.transaction_id, p.effective_at, p.recorded_at, p.memo, p.reverses,
       (SELECT r.id FROM ledger_postings r WHERE r.platform_id = $1 AND r.reverses = p.id AND r.reverses IS NOT NULL),
       d.path, c.path, e.currency, e.amount
FROM (%[1]s) p
JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = p.seq
JOIN ledger_accounts d ON d.platform_id = $1 AND d.id = e.debit_account
JOIN ledger_accounts c ON c.platform_id = $1 AND c.id = e.credit_account
ORDER BY p.seq %[2]s, e.n`

// Rides on ledger_postings_pkey.
const pickPosting = `SELECT * FROM ledger_postings WHERE platform_id = $1 AND id = $2`

// RecordedPosting is as ports.Finance says.
func (r *Reader) RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (found ports.RecordedPosting, there bool, err error) {
	err = r.with(ctx, func(q Querier) error {
		postings, err := readPostings(ctx, q, p, fmt.Sprintf(readPicked, pickPosting, "ASC"), []any{dbID(p.UUID()), dbID(id)})
		if there = len(postings) > 0; there {
			found = postings[0]
		}
		return err
	})
	if err != nil {
		return found, false, fmt.Errorf("read posting %s: %w", id, err)
	}
	return found, there, nil
}

// Postings is as ports.Finance says.
func (r *Reader) Postings(ctx context.Context, f ports.PostingFilter) (page ports.PostingPage, err error) {
	err = r.with(ctx, func(q Querier) error {
		s, err := postingStretch(ctx, q, f)
		if err != nil {
			return err
		}
		if f.After > 0 && f.Ascending {
			s.after = max(s.after, f.After)
		} else if f.After > 0 {
			s.upto = min(s.upto, f.After-1)
		}
		statement, args := pickPostings(f, s)
		page.Postings, err = readPostings(ctx, q, f.Platform, statement, args)
		return err
	})
	if err != nil {
		return page, fmt.Errorf("list postings: %w", err)
	}
	if page.More = len(page.Postings) > f.Limit; page.More {
		page.Postings = page.Postings[:f.Limit]
	}
	return page, nil
}

// frequent are the kinds that payments consist of. They stand like this in the
// condition of ledger_postings_of_rare_kind.
const frequent = `'jit_received', 'converted', 'delivered', 'deposit', 'transfer_in', 'transfer_out'`

// RareKinds is that condition, of postings p: whoever looks for rare kinds repeats it, so
// that the index can be used.
const RareKinds = "p.kind NOT IN (" + frequent + ")"

// pickPostings writes the statement for a filter. Rides on ledger_postings_of_transaction,
// transactions_of_customer, ledger_postings_by_memo, the indexes of references or
// ledger_postings_of_rare_kind, whatever is asked for, else on ledger_posting_seq_unique.
func pickPostings(f ports.PostingFilter, s stretch) (string, []any) {
	args := []any{dbID(f.Platform.UUID()), s.after, s.upto, f.Limit + 1}
	given := func(arg any) string {
		args = append(args, arg)
		return "$" + strconv.Itoa(len(args))
	}
	from := "ledger_postings p"
	where := []string{"p.platform_id = $1", "p.seq > $2", "p.seq <= $3"}
	if f.Kind != "" {
		where = append(where, "p.kind = "+given(string(f.Kind)))
		if !strings.Contains(frequent, "'"+string(f.Kind)+"'") {
			where = append(where, RareKinds)
		}
	}
	if !f.Transaction.IsZero() {
		where = append(where, "p.transaction_id = "+given(dbID(f.Transaction.UUID())))
	}
	if !f.Customer.IsZero() {
		from = "(SELECT t.id FROM transactions t WHERE t.platform_id = $1 AND t.customer_id = " + given(dbID(f.Customer.UUID())) +
			" OFFSET 0) t JOIN ledger_postings p ON p.platform_id = $1 AND p.transaction_id = t.id"
	}
	if f.By == ports.ByEffective && f.Span != (ports.Span{}) {
		where = append(where, "p.effective_at BETWEEN "+given(orEarliest(f.Span.From))+" AND "+given(orLatest(f.Span.To)))
	}
	order := "DESC"
	if f.Ascending {
		order = "ASC"
	}
	also := strings.Join(where, " AND ")
	if f.Memo == "" {
		pick := fmt.Sprintf("SELECT p.* FROM %s WHERE %s ORDER BY p.seq %s LIMIT $4", from, also, order)
		return fmt.Sprintf(readPicked, pick, order), args
	}
	memo := given(f.Memo)
	pick := fmt.Sprintf(`SELECT * FROM (
    SELECT p.* FROM %[1]s WHERE %[2]s AND p.memo = %[3]s AND (p.transaction_id IS NULL OR p.kind = 'unmatched_assigned')
    UNION ALL
    SELECT p.* FROM %[1]s WHERE %[2]s AND p.memo = %[3]s AND p.kind <> 'unmatched_assigned' AND p.transaction_id IN (
        SELECT q.transaction_id FROM quotes q WHERE q.platform_id = $1 AND q.reference = %[3]s AND q.reference <> ''
        UNION SELECT w.id FROM transactions w WHERE w.platform_id = $1 AND w.own_reference = %[3]s AND w.own_reference <> '')
) p ORDER BY p.seq %[4]s LIMIT $4`, from, also, memo, order)
	return fmt.Sprintf(readPicked, pick, order), args
}

const (
	// What a span of recorded time comes to in numbers of postings.
	stretchRecorded = `SELECT CASE WHEN $2::timestamptz IS NULL THEN 0 ELSE ledger_seq_at($1, $2) END,
       CASE WHEN $3::timestamptz IS NULL THEN 9223372036854775807 ELSE ledger_seq_at($1, $3) END`

	// Where postings that are astray and took effect in a span can be, of those outside
	// of a stretch. Rides on ledger_postings_astray.
	stretchAstray = `
SELECT least($4, coalesce((SELECT min(p.seq) - 1 FROM ledger_postings p
                           WHERE p.platform_id = $1 AND p.recorded_at < $2 AND p.effective_at BETWEEN $2 AND $3 AND ` + astray + `), $4)),
       greatest($5, coalesce((SELECT max(p.seq) FROM ledger_postings p
                              WHERE p.platform_id = $1 AND p.recorded_at > $3 AND p.effective_at BETWEEN $2 AND $3 AND ` + astray + `), $5))`
)

// recordedStretch is a span of recorded time, both ends in it, in numbers of postings.
func recordedStretch(ctx context.Context, q Querier, platform uuid.UUID, span ports.Span) (s stretch, err error) {
	if span == (ports.Span{}) {
		return stretch{0, math.MaxInt64}, nil
	}
	var before, upto pgtype.Timestamptz
	if !span.From.IsZero() {
		before = pgtype.Timestamptz{Time: span.From.UTC().Add(-time.Microsecond), Valid: true}
	}
	if !span.To.IsZero() {
		upto = pgtype.Timestamptz{Time: span.To.UTC(), Valid: true}
	}
	err = planned(ctx, q, stretchRecorded, []any{dbID(platform), before, upto}, func(rows pgx.Rows) error { return rows.Scan(&s.after, &s.upto) })
	return s, err
}

func postingStretch(ctx context.Context, q Querier, f ports.PostingFilter) (stretch, error) {
	if f.By == ports.ByEffective && narrow(f) {
		return stretch{0, math.MaxInt64}, nil
	}
	if f.By == ports.ByRecorded || f.Span == (ports.Span{}) {
		return recordedStretch(ctx, q, f.Platform.UUID(), f.Span)
	}
	s, err := recordedStretch(ctx, q, f.Platform.UUID(), tolerant(f.Span))
	if err != nil {
		return s, err
	}
	args := []any{dbID(f.Platform.UUID()), orEarliest(f.Span.From), orLatest(f.Span.To), s.after, s.upto}
	err = planned(ctx, q, stretchAstray, args, func(rows pgx.Rows) error { return rows.Scan(&s.after, &s.upto) })
	return s, err
}

// tolerant is the span in which all was recorded that took effect in a span and is not
// astray.
func tolerant(s ports.Span) ports.Span {
	if !s.From.IsZero() {
		s.From = s.From.Add(-tolerance)
	}
	if !s.To.IsZero() {
		s.To = s.To.Add(tolerance)
	}
	return s
}

func readPostings(ctx context.Context, q Querier, platform ident.Platform, statement string, args []any) (postings []ports.RecordedPosting, err error) {
	err = planned(ctx, q, statement, args, func(rows pgx.Rows) error {
		var (
			p                                 = ports.RecordedPosting{Posting: ledger.Posting{Platform: platform}}
			e                                 ledger.Entry
			transaction, reverses, reversedBy pgtype.UUID
			kind, currency                    string
		)
		if err := rows.Scan(&p.Seq, (*[16]byte)(&p.ID), &kind, &transaction, &p.Effective, &p.Recorded, &p.Memo, &reverses, &reversedBy,
			&e.Debit, &e.Credit, &currency, &e.Amount); err != nil {
			return err
		}
		e.Currency = money.Currency(currency)
		if n := len(postings); n > 0 && postings[n-1].Seq == p.Seq {
			postings[n-1].Entries = append(postings[n-1].Entries, e)
			return nil
		}
		p.Kind, p.Transaction, p.Reverses, p.ReversedBy = ledger.Kind(kind), transactionID(transaction), reverses.Bytes, reversedBy.Bytes
		p.Effective, p.Recorded, p.Entries = p.Effective.UTC(), p.Recorded.UTC(), []ledger.Entry{e}
		postings = append(postings, p)
		return nil
	})
	return postings, err
}

// narrow tells whether few postings are asked for, wherever they stand.
func narrow(f ports.PostingFilter) bool {
	return !f.Transaction.IsZero() || !f.Customer.IsZero() || f.Memo != ""
}
